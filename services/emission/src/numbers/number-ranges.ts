import type { NumberRange } from '@ecf/contracts';
import {
  type CalendarDate,
  type DocumentNode,
  type EcfType,
  type Fault,
  faultOf,
  formatDocumentDate,
  groupOf,
  ISSUING_RULES,
  parseDocumentDate,
  textOf,
  toCalendarDate,
} from '@ecf/domain';
import type { DocumentKey } from '../attempt/attempt.js';
import { later, OVERDUE_MS } from '../attempt/transitions.js';

/**
 * Checks the number and its expiry against the registered ranges, if there are any for the environment and type.
 * Source: Descripción Técnica v1.6 p.20 (not authorised, expired); Formato e-CF v1.0 p.6 (expiry as authorised).
 */
export function checkNumberRanges(
  ranges: readonly NumberRange[],
  { env, encf }: DocumentKey,
  type: EcfType,
  tree: DocumentNode,
  today: CalendarDate,
): Fault[] {
  const registered = ranges.filter((range) => range.env === env && range.ecf_type === type);
  if (registered.length === 0) return [];
  const idDoc = `${groupOf(tree, 'ECF') === null ? 'RFCE' : 'ECF'}.Encabezado.IdDoc`;
  const range = registered.find(({ from, to }) => from <= encf && encf <= to);
  if (range === undefined) {
    return [
      faultOf(
        ISSUING_RULES.numberNotInRange,
        `${idDoc}.eNCF`,
        `${encf} is not in a range registered for type ${type} in ${env}`,
      ),
    ];
  }
  const faults: Fault[] = [];
  if (range.expires !== null && range.expires < today) {
    faults.push(
      faultOf(
        ISSUING_RULES.numberExpired,
        `${idDoc}.eNCF`,
        `the range of ${encf} expired on ${formatDocumentDate(range.expires)}`,
      ),
    );
  }
  return [...faults, ...checkStatedExpiry([range], tree)];
}

/** Checks the expiry that a document states against the ranges from which its number may come. */
export function checkStatedExpiry(ranges: readonly NumberRange[], tree: DocumentNode): Fault[] {
  const stated = statedExpiry(tree);
  if (stated === null || ranges.some(({ expires }) => expires === null || expires === stated)) return [];
  const expiries = ranges.flatMap(({ expires }) => (expires === null ? [] : [formatDocumentDate(expires)]));
  const registered = [...new Set(expiries)].join(' or ');
  return [
    faultOf(
      ISSUING_RULES.numberExpiry,
      'ECF.Encabezado.IdDoc.FechaVencimientoSecuencia',
      `FechaVencimientoSecuencia must be ${registered}, as registered for the range`,
    ),
  ];
}

/** The warning about a document that may be sent up to 72 hours after the authority's return: its range ends before. */
export function rangeEndWarnings(
  ranges: readonly NumberRange[],
  { env, encf }: DocumentKey,
  type: EcfType,
  tree: DocumentNode,
  now: Date,
): Fault[] {
  const range = ranges.find((one) => one.env === env && one.ecf_type === type && one.from <= encf && encf <= one.to);
  const expires = range?.expires ?? statedExpiry(tree);
  if (expires === null || expires > toCalendarDate(later(now, OVERDUE_MS))) return [];
  const message = `the range of ${encf} ends on ${formatDocumentDate(expires)}, within 72 hours; the authority may refuse the document if it is sent after that day`;
  return [faultOf(ISSUING_RULES.numberEndsSoon, 'ECF.Encabezado.IdDoc.FechaVencimientoSecuencia', message)];
}

function statedExpiry(tree: DocumentNode): CalendarDate | null {
  const idDoc = groupOf(groupOf(groupOf(tree, 'ECF'), 'Encabezado'), 'IdDoc');
  const text = textOf(idDoc, 'FechaVencimientoSecuencia');
  return text === null ? null : parseDocumentDate(text);
}

import type { NumberRange } from '@ecf/contracts';
import {
  type CalendarDate,
  type DocumentNode,
  type EcfType,
  type Fault,
  faultOf,
  groupOf,
  ISSUING_RULES,
  parseDocumentDate,
  textOf,
} from '@ecf/domain';
import type { DocumentKey } from '../attempt/attempt.js';

/**
 * Checks the number and its expiry against the registered ranges. Without a range for the environment and type,
 * nothing is checked. Source: Descripción Técnica v1.6 p.20 (not authorised, expired); Formato e-CF v1.0 p.6 (expiry
 * as authorised).
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
        `${encf} is in none of the ranges registered for type ${type} in ${env}`,
      ),
    ];
  }
  const faults: Fault[] = [];
  if (range.expires !== null && range.expires < today) {
    faults.push(
      faultOf(ISSUING_RULES.numberExpired, `${idDoc}.eNCF`, `the range of ${encf} expired on ${range.expires}`),
    );
  }
  const stated = statedExpiry(tree);
  if (range.expires !== null && stated !== null && stated !== range.expires) {
    faults.push(
      faultOf(
        ISSUING_RULES.numberExpiry,
        `${idDoc}.FechaVencimientoSecuencia`,
        `FechaVencimientoSecuencia must be the registered ${range.expires}`,
      ),
    );
  }
  return faults;
}

function statedExpiry(tree: DocumentNode): CalendarDate | null {
  const idDoc = groupOf(groupOf(groupOf(tree, 'ECF'), 'Encabezado'), 'IdDoc');
  const text = textOf(idDoc, 'FechaVencimientoSecuencia');
  return text === null ? null : parseDocumentDate(text);
}

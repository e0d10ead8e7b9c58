import { randomUUID } from 'node:crypto';
import type { NumberRange } from '@ecf/contracts';
import {
  type CalendarDate,
  type DocumentNode,
  type EcfType,
  type Environment,
  type Fault,
  formatDocumentDate,
  groupOf,
} from '@ecf/domain';
import { asSingle, isAbsent, writeXml } from '@ecf/ecf-xml';
import { EmissionError, overtaken, requireCaller } from '../errors.js';
import { contentHashOf } from '../issue/compare-documents.js';
import type { Invoice } from '../issue/invoice-json.js';
import type { Drawn, KeyScope, NumberStore } from './ports.js';

type Group = Readonly<Record<string, unknown>>;

/** The place of the number in a document. */
const ID_DOC = ['ECF', 'Encabezado', 'IdDoc'] as const;
/** Placeholders for the number and its expiry while the document is checked before the draw. */
const ANY_SEQUENCE = '0000000001';
const ANY_EXPIRY = '31-12-2099';
/** Types whose numbers do not expire. Source: Formato e-CF v1.0 p.12, FechaVencimientoSecuencia. */
const WITHOUT_EXPIRY: readonly unknown[] = ['32', '34'];
/** Pause while another call with the same key is in progress, and tries: 20 seconds, twice as long as a number stays reserved. */
const BUSY_PAUSE_MS = 50;
const MAX_TRIES = 400;

/** Whether the parsed document leaves its number to the service. The later check refuses a value that is not a document. */
export function leavesNumberOpen(document: unknown): boolean {
  const idDoc = idDocOf(document);
  return idDoc !== null && isAbsent(idDoc.eNCF);
}

/** The warning about an eNCF of blanks, which counts as absent; none if it is left out or empty. */
export function blankNumberWarnings(document: unknown): Fault[] {
  const stated = [idDocOf(document)?.eNCF].flat(Number.POSITIVE_INFINITY);
  if (!stated.some((text) => typeof text === 'string' && text !== '')) return [];
  const message = 'eNCF holds only blanks, which count as absent; the document gets the next number of a range.';
  const [path, source] = ['ECF.Encabezado.IdDoc.eNCF', 'XML 1.0, 2.11; .NET XmlDocument'];
  return [{ path, rule: 'schema.blanks', code: null, message, source, severity: 'warning' }];
}

/** The parsed document under a placeholder for the number to be drawn. */
export function underAnyNumber(document: unknown): unknown {
  const type = asSingle(idDocOf(document)?.TipoeCF);
  return underNumber(document, `E${String(type)}${ANY_SEQUENCE}`, ANY_EXPIRY);
}

/** The parsed document with its number, and with its expiry if it states none and its type has one. */
export function underNumber(document: unknown, encf: string, expiry: string | null): unknown {
  function fill(value: unknown, [name, ...rest]: readonly string[]): unknown {
    const group = asSingle(value) as Group;
    if (name !== undefined) return { ...group, [name]: fill(group[name], rest) };
    const hasExpiry = !WITHOUT_EXPIRY.includes(String(asSingle(group.TipoeCF)));
    const fillsExpiry = hasExpiry && expiry !== null && isAbsent(group.FechaVencimientoSecuencia);
    return { ...group, eNCF: encf, ...(fillsExpiry ? { FechaVencimientoSecuencia: expiry } : {}) };
  }
  return fill(document, ID_DOC);
}

/** The checked invoice without what {@link underAnyNumber} filled in, for a dry run and for the comparison of repeats. */
export function withoutNumber(invoice: Invoice, document: unknown): Invoice {
  const ecf = groupOf(invoice.tree, 'ECF') as DocumentNode;
  const header = groupOf(ecf, 'Encabezado') as DocumentNode;
  const { eNCF: _, ...idDoc } = groupOf(header, 'IdDoc') as DocumentNode;
  if (isAbsent(idDocOf(document)?.FechaVencimientoSecuencia)) delete idDoc.FechaVencimientoSecuencia;
  const tree: DocumentNode = { ECF: { ...ecf, Encabezado: { ...header, IdDoc: idDoc } } };
  const written = writeXml(tree);
  return { ...invoice, tree, written, contentHash: contentHashOf(written.canonical) };
}

/**
 * The ranges that numbers can be drawn from.
 *
 * @throws EmissionError 400 if none is registered for the environment and type, 409 `range_expired` if all are expired
 */
export function openRanges(
  ranges: readonly NumberRange[],
  env: Environment,
  type: EcfType,
  today: CalendarDate,
): NumberRange[] {
  const registered = ranges.filter((range) => range.env === env && range.ecf_type === type);
  if (registered.length === 0) {
    const message = `eNCF is required, because no range is registered for type ${type} in ${env}; state the number, or have the range registered`;
    throw new EmissionError('invalid_document', `ECF.Encabezado.IdDoc.eNCF: ${message}.`, {
      faults: [
        {
          path: 'ECF.Encabezado.IdDoc.eNCF',
          rule: 'schema.required',
          code: null,
          message,
          source: 'XSD e-CF v1.0',
          severity: 'error',
        },
      ],
    });
  }
  const open = registered.filter(({ expires }) => expires === null || expires >= today);
  if (open.length === 0) throw expired(type, env);
  return open;
}

/** Whether documents of the type have to state their expiry themselves, because the ranges have none. */
export function needsStatedExpiry(type: EcfType, open: readonly NumberRange[]): boolean {
  return !WITHOUT_EXPIRY.includes(type) && open.every(({ expires }) => expires === null);
}

/** The end of the numbers: `range_expired` if an expired range is registered beside the used ranges. */
export function noNumberLeft(
  ranges: readonly NumberRange[],
  open: readonly NumberRange[],
  env: Environment,
  type: EcfType,
) {
  const registered = ranges.filter((range) => range.env === env && range.ecf_type === type);
  if (registered.length > open.length) return expired(type, env);
  return new EmissionError(
    'range_exhausted',
    `Every number of the ranges registered for type ${type} in ${env} is used. Request a range from the authority and register it.`,
  );
}

function expired(type: EcfType, env: Environment): EmissionError {
  return new EmissionError(
    'range_expired',
    `The remaining numbers of type ${type} in ${env} have expired. Request a range from the authority and register it.`,
  );
}

/** The answer to a submission without number and without key; `why` names what has no number. */
export function keyRequired(why = 'the document has no eNCF'): EmissionError {
  const msg = `${why}, so this header is required: 1 to 255 printable characters that name the content. With it, a repeat finds the number that was given`;
  return new EmissionError('idempotency_key_required', `header.idempotency-key: ${msg}`, {
    items: [{ loc: ['header', 'idempotency-key'], msg, type: 'missing' }],
  });
}

/** The drawn number is not used: it went to another document before the commit, or this sale has one. */
export class NumberLost extends Error {}

export interface DrawnNumber {
  readonly encf: string;
  /** Expiry as a document states it, DD-MM-YYYY; null if the range has none. */
  readonly expiry: string | null;
  readonly drawn: Drawn;
}

/**
 * Draws the next number. Waits while another call with the same key is in progress; null if that call used a number. `restored`:
 * after a restore the numbers have not been compared with the authority yet.
 *
 * @param signal aborted when the caller leaves
 */
export async function drawNumber(
  numbers: Pick<NumberStore, 'draw'>,
  sleep: (ms: number) => Promise<void>,
  scope: KeyScope,
  { issuerRnc, ecfType, contentHash }: { issuerRnc: string; ecfType: EcfType; contentHash: string },
  open: readonly NumberRange[],
  signal?: AbortSignal,
): Promise<DrawnNumber | 'none' | 'restored' | null> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    requireCaller(signal);
    const token = randomUUID();
    const draw = await numbers.draw({ ...scope, issuerRnc, ecfType, token, ranges: open });
    if (draw.outcome === 'none' || draw.outcome === 'restored') return draw.outcome;
    if (draw.outcome === 'bound') return null;
    if (draw.outcome === 'drawn') {
      const { encf, run } = draw;
      const expires = open.find(({ from, to }) => from <= encf && encf <= to)?.expires ?? null;
      const expiry = expires === null ? null : formatDocumentDate(expires as CalendarDate);
      return { encf, expiry, drawn: { token, idempotencyKey: scope.idempotencyKey, contentHash, run } };
    }
    await sleep(BUSY_PAUSE_MS);
  }
  throw overtaken('Another request with this idempotency-key is in progress.');
}

function idDocOf(document: unknown): Group | null {
  let value = asSingle(document);
  for (const name of ID_DOC) value = isGroup(value) && Object.hasOwn(value, name) ? asSingle(value[name]) : undefined;
  return isGroup(value) ? value : null;
}

function isGroup(value: unknown): value is Group {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

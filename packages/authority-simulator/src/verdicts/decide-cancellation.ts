import { type DocumentNode, type Environment, groupOf, groupsOf, isEcfType, isEncf, isRnc, textOf } from '@ecf/domain';
import type { AnnulledRange } from '../ledger/submission.js';
import { mayActFor } from '../ledger/taxpayer-register.js';
import type { Simulation } from '../simulation.js';
import type { Arrival } from './decision.js';
import { schemaMessage } from './schema-messages.js';
import { readSigned, signerOf } from './signed-document.js';
import { TEXTS } from './texts.js';
import type { Verdict } from './verdict.js';

interface CancellationDecision {
  readonly verdict: Verdict;
  readonly rnc: string | null;
  /** The annulled numbers; null: none. */
  readonly annulled: readonly AnnulledRange[] | null;
}

type Services = Pick<Simulation, 'ledger' | 'taxpayers' | 'signatures'>;

const ALL_USED = 'Las secuencias que está intentando anular han sido utilizadas';
const NONE_POSSIBLE = 'No fue posible anular las siguientes secuencias';
const ALL_ANNULLED = 'Las secuencias fueron anuladas correctamente';
const SOME_ANNULLED = `${ALL_ANNULLED}. Con excepción de las secuencias del detalle`;

/** Decides on a cancellation of numbers. Texts: technical description pp.31-32. */
export function decideCancellation(services: Services, { env, filename, bytes, now }: Arrival): CancellationDecision {
  const document = readSigned(bytes, now);
  const root = groupOf(document?.tree ?? null, 'ANECF');
  const stated = textOf(groupOf(root, 'Encabezado'), 'RncEmisor');
  const rnc = stated !== null && isRnc(stated) ? stated : null;
  const refuse = (text: string): CancellationDecision => ({ verdict: refused([text]), rnc, annulled: null });
  if (!/\.xml$/i.test(filename)) return refuse('Tipo de archivo no valido, favor proveer un XML');
  if (!document || !root || document.refusedBeyondSchema) return refuse(TEXTS.format.text);
  if (document.checked.faults.length > 0) return refuse(schemaMessage(document.checked.faults, document.tree).text);
  const signer = signerOf(document, services.signatures);
  if (!signer) return refuse('La firma del documento no es válida');
  if (rnc === null) return refuse(TEXTS.format.text);
  const issuer = services.taxpayers.find(rnc);
  if (!mayActFor(services.taxpayers, signer.holder, rnc)) {
    return refuse('El RNC del certificado no está delegado para realizar transacciones para el RNC');
  }
  if (issuer?.active === false) return refuse(TEXTS.inactiveIssuer.text);
  if (issuer?.electronic === false) return refuse(TEXTS.notElectronic.text);
  const ranges = rangesOf(root);
  if (typeof ranges === 'string') return refuse(ranges);
  return { rnc, ...annul(services, env, rnc, ranges) };
}

function refused(texts: readonly string[]): Verdict {
  return { code: '2', status: 'Rechazada', messages: texts.map((text) => ({ code: '2', text })), sequenceUsed: false };
}

function accepted(status: string, texts: readonly string[]): Verdict {
  return { code: '1', status, messages: texts.map((text) => ({ code: '1', text })), sequenceUsed: false };
}

/** The ranges of all lines, or a sentence about the first wrong one. Rules: technical description pp.31-32. */
function rangesOf(root: DocumentNode): AnnulledRange[] | string {
  const ranges: AnnulledRange[] = [];
  const lines = groupsOf(groupOf(root, 'DetalleAnulacion'), 'Anulacion');
  for (const [index, line] of lines.entries()) {
    if (Number(firstText(line, 'NoLinea')) !== index + 1) {
      return 'El campo NoLinea no es válido, no cumple orden secuencial.';
    }
    const type = textOf(line, 'TipoeCF');
    for (const row of groupsOf(groupOf(line, 'TablaRangoSecuenciasAnuladaseNCF'), 'Secuencias')) {
      const range = rangeOf(type, textOf(row, 'SecuenciaeNCFDesde'), textOf(row, 'SecuenciaeNCFHasta'));
      if (typeof range === 'string') return range;
      ranges.push(range);
    }
  }
  // The authority publishes no rule about wrong counts or repeated numbers, so neither causes a refusal.
  return joined(ranges);
}

function rangeOf(type: string | null, first: string | null, last: string | null): AnnulledRange | string {
  const fits = (encf: string | null): encf is string =>
    encf !== null && isEncf(encf) && encf.slice(1, 3) === type && Number(encf.slice(3)) > 0;
  if (!isEcfType(type) || !fits(first) || !fits(last)) return 'El tipo de comprobante no es válido';
  const [from, to] = [Number(first.slice(3)), Number(last.slice(3))];
  if (from > to) return 'El valor del campoSecuenciaeNCFDesde es mayor al del campo SecuenciaeNCFHasta';
  return { type, from, to };
}

/** The schema allows a repeated NoLinea, so it may be a list. */
function firstText(line: DocumentNode, name: string): string | null {
  const value = line[name];
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' ? first : null;
}

/** Annuls every free number; names the used, annulled and unauthorised ones. */
function annul(
  { ledger, taxpayers }: Services,
  env: Environment,
  rnc: string,
  asked: readonly AnnulledRange[],
): Pick<CancellationDecision, 'verdict' | 'annulled'> {
  const { numbers } = ledger;
  const types = [...new Set(asked.map(({ type }) => type))];
  const taken = numbers.taken(env, rnc).filter(({ type }) => types.includes(type));
  const gone = types.flatMap((type) => numbers.annulledIn(env, rnc, type));
  const free = authorised(taxpayers, env, rnc, without(asked, [...taken, ...gone]));
  const used = count(asked) - count(without(asked, taken));
  const failed = without(asked, free).map(({ type, from, to }) => describe(type, from, to));
  if (failed.length === 0) return { verdict: accepted('Aceptada', [ALL_ANNULLED]), annulled: free };
  if (free.length > 0)
    return { verdict: accepted('Aceptada parcialmente', [SOME_ANNULLED, ...failed]), annulled: free };
  const heading = used === count(asked) ? ALL_USED : NONE_POSSIBLE;
  return { verdict: refused([heading, ...failed]), annulled: null };
}

function authorised(
  taxpayers: Services['taxpayers'],
  env: Environment,
  rnc: string,
  ranges: readonly AnnulledRange[],
): AnnulledRange[] {
  const registered = taxpayers.find(rnc)?.ranges ?? null;
  if (registered === null) return [...ranges];
  const known = registered
    .filter((range) => range.env === null || range.env === env)
    .map(({ ecf_type, from, to }) => ({ type: ecf_type, from, to }));
  return without(ranges, without(ranges, known));
}

function describe(type: string, from: number, to: number): string {
  const encf = (sequence: number): string => `E${type}${String(sequence).padStart(10, '0')}`;
  return from === to ? encf(from) : `${encf(from)} - ${encf(to)}`;
}

/** The ranges without the others; in the order of the ranges, ascending within each. */
export function without(ranges: readonly AnnulledRange[], others: readonly AnnulledRange[]): AnnulledRange[] {
  const cuts = merged(others);
  return ranges.flatMap((range) => {
    const left: AnnulledRange[] = [];
    const ofType = cuts.get(range.type) ?? [];
    let from = range.from;
    for (let index = firstReaching(ofType, from); index < ofType.length; index++) {
      const cut = ofType[index];
      if (!cut || cut.from > range.to) break;
      if (cut.from > from) left.push({ type: range.type, from, to: cut.from - 1 });
      from = cut.to + 1;
    }
    if (from <= range.to) left.push({ type: range.type, from, to: range.to });
    return left;
  });
}

/** How many numbers the ranges have together. */
export function count(ranges: readonly AnnulledRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
}

/** The same numbers, each in one range; ascending within a type. */
export function joined(ranges: readonly AnnulledRange[]): AnnulledRange[] {
  return [...merged(ranges).values()].flat();
}

/** The ranges of each type, ascending; overlapping ones are joined. */
function merged(ranges: readonly AnnulledRange[]): Map<string, AnnulledRange[]> {
  const byType = new Map<string, AnnulledRange[]>();
  for (const range of [...ranges].sort((a, b) => a.from - b.from)) {
    const list = byType.get(range.type) ?? [];
    const last = list.at(-1);
    if (last && range.from <= last.to) list[list.length - 1] = { ...last, to: Math.max(last.to, range.to) };
    else list.push(range);
    byType.set(range.type, list);
  }
  return byType;
}

/** Index of the first of the disjoint, ascending ranges that ends at the number or after it. */
function firstReaching(ranges: readonly AnnulledRange[], number: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.to ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

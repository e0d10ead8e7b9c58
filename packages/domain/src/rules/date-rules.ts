import { type DocumentNode, groupOf, textOf } from '../document-tree.js';
import { parseDocumentDate, parseSignatureDateTime } from '../dominican-time.js';
import { ECF_TYPES } from '../identifiers.js';
import type { DocumentKind, DocumentRule } from './rule.js';
import { FORMAT_SINCE, format } from './sources.js';

/** A date or date and time somewhere in a document, as written. */
export interface WrittenDate {
  path: string;
  text: string;
}

/** The dates of a document that are not in order, and its signature time. */
export interface DocumentDates {
  /** Shaped like a date, but no day of the calendar. */
  impossible: readonly WrittenDate[];
  /** A day of the calendar, written with one digit for day or month. */
  short: readonly WrittenDate[];
  /** FechaHoraFirma; null where the document has none or it is no time. */
  signedAt: { text: string; instant: Date } | null;
  now: Date;
}

const EVERY_DOCUMENT: readonly DocumentKind[] = [...ECF_TYPES, 'RFCE', 'ACECF', 'ANECF', 'ARECF'];

/** Clocks that run ahead by less are not held against a document. */
const CLOCK_SKEW_MS = 10 * 60_000;

export const DATE_RULES: readonly DocumentRule<DocumentDates>[] = [
  {
    name: 'business.calendar-date',
    code: null,
    appliesTo: EVERY_DOCUMENT,
    verdict: 'rejects',
    source: `${format('6')}, 12, 58: dates are days of the calendar`,
    since: FORMAT_SINCE,
    summary: 'A date that has the right shape exists in the calendar.',
    check({ impossible }, report) {
      for (const { path, text } of impossible) report(path, `${text} is no day of the calendar`);
    },
  },
  {
    name: 'business.date-two-digits',
    code: null,
    appliesTo: ECF_TYPES,
    verdict: 'conditional',
    source: `${format('12')}: dd-MM-yyyy; the schema tolerates one digit`,
    since: FORMAT_SINCE,
    summary: 'Day and month of a date have two digits.',
    check({ short }, report) {
      for (const { path, text } of short) report(path, `${text} is not written as DD-MM-YYYY`);
    },
  },
  {
    name: 'business.signature-time-in-future',
    code: null,
    appliesTo: ECF_TYPES,
    verdict: 'rejects',
    source: format('58'),
    since: FORMAT_SINCE,
    summary: 'FechaHoraFirma (Dominican time, UTC-4) is not later than now; clocks may differ by ten minutes.',
    check({ signedAt, now }, report) {
      if (signedAt !== null && signedAt.instant.getTime() > now.getTime() + CLOCK_SKEW_MS) {
        report('ECF.FechaHoraFirma', `FechaHoraFirma ${signedAt.text} lies in the future; it is Dominican time, UTC-4`);
      }
    },
  },
];

/** Groups with dates: their path and the dates in them. */
type Places = readonly { path: string; steps: readonly string[]; names: readonly string[] }[];

const ECF_DATES: Places = [
  place('ECF.Encabezado.IdDoc', ['FechaVencimientoSecuencia', 'FechaLimitePago', 'FechaDesde', 'FechaHasta']),
  place('ECF.Encabezado.Emisor', ['FechaEmision']),
  place('ECF.Encabezado.Comprador', ['FechaEntrega', 'FechaOrdenCompra']),
  place('ECF.Encabezado.InformacionesAdicionales', ['FechaEmbarque']),
  place('ECF.InformacionReferencia', ['FechaNCFModificado']),
  place('ECF', ['FechaHoraFirma']),
];

const ITEM_DATES = ['FechaElaboracion', 'FechaVencimientoItem'];

const COMPANION_DATES: Readonly<Record<string, Places>> = {
  RFCE: [place('RFCE.Encabezado.Emisor', ['FechaEmision'])],
  ACECF: [place('ACECF.DetalleAprobacionComercial', ['FechaEmision', 'FechaHoraAprobacionComercial'])],
  ANECF: [place('ANECF.Encabezado', ['FechaHoraAnulacioneNCF'])],
  ARECF: [place('ARECF.DetalleAcusedeRecibo', ['FechaHoraAcuseRecibo'])],
};

function place(path: string, names: readonly string[]): Places[number] {
  return { path, steps: path.split('.').slice(1), names };
}

/** The dates of an e-CF. */
export function ecfDates(root: DocumentNode | null, items: readonly DocumentNode[], now: Date): DocumentDates {
  const dates = new Dates(now);
  dates.addAll(root, ECF_DATES);
  items.forEach((item, index) => {
    if (item.FechaElaboracion === undefined && item.FechaVencimientoItem === undefined) return;
    for (const name of ITEM_DATES) dates.add(`ECF.DetallesItems.Item[${index + 1}]`, item, name);
  });
  return dates;
}

/** The dates of a companion document. */
export function companionDates(kind: string, root: DocumentNode | null, now: Date): DocumentDates {
  const dates = new Dates(now);
  dates.addAll(root, COMPANION_DATES[kind] ?? []);
  return dates;
}

class Dates implements DocumentDates {
  readonly impossible: WrittenDate[] = [];
  readonly short: WrittenDate[] = [];

  signedAt: DocumentDates['signedAt'] = null;

  constructor(readonly now: Date) {}

  addAll(root: DocumentNode | null, places: Places): void {
    for (const { path, steps, names } of places) {
      let node = root;
      for (const step of steps) node = groupOf(node, step);
      if (node === null) continue;
      for (const name of names) if (node[name] !== undefined) this.add(path, node, name);
    }
  }

  /** Files the date under what is wrong with it; the schema speaks of what does not look like a date at all. */
  add(path: string, node: DocumentNode, name: string): void {
    const text = textOf(node, name);
    if (text === null) return;
    const hasTime = name.startsWith('FechaHora');
    const instant = hasTime ? parseSignatureDateTime(text) : null;
    if (instant !== null && name === 'FechaHoraFirma') this.signedAt = { text, instant };
    const exists = hasTime ? instant !== null : parseDocumentDate(text) !== null;
    if (!exists && SHAPE.test(text)) this.impossible.push({ path: `${path}.${name}`, text });
    if (exists && !hasTime && text.trim().length < 10) this.short.push({ path: `${path}.${name}`, text });
  }
}

const SHAPE = /^\s*[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}(?: [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2})?\s*$/;

import { type DocumentNode, groupOf, groupsOf, textOf } from '../document-tree.js';
import { parseDocumentDate, parseSignatureDateTime } from '../dominican-time.js';
import { ECF_TYPES } from '../identifiers.js';
import type { DocumentKind, DocumentRule } from './rule.js';
import { FORMAT_SINCE, format } from './sources.js';

/** A date or date and time somewhere in a document, as written. */
export interface WrittenDate {
  path: string;
  text: string;
  hasTime: boolean;
}

export interface DocumentDates {
  dates: readonly WrittenDate[];
  /** FechaHoraFirma; null where the document has none. */
  signedAt: WrittenDate | null;
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
    check({ dates }, report) {
      for (const date of dates) {
        if (isShaped(date) && !exists(date)) report(date.path, `${date.text} is no day of the calendar`);
      }
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
    check({ dates }, report) {
      for (const date of dates) {
        if (!date.hasTime && date.text.trim().length < 10 && exists(date)) {
          report(date.path, `${date.text} is not written as DD-MM-YYYY`);
        }
      }
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
      const instant = signedAt && parseSignatureDateTime(signedAt.text);
      if (signedAt && instant && instant.getTime() > now.getTime() + CLOCK_SKEW_MS) {
        report(signedAt.path, `FechaHoraFirma ${signedAt.text} lies in the future; it is Dominican time, UTC-4`);
      }
    },
  },
];

const SHAPE = /^\s*[0-9]{1,2}-[0-9]{1,2}-[0-9]{4}(?: [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2})?\s*$/;

/** The schema speaks of anything that does not look like a date. */
function isShaped(date: WrittenDate): boolean {
  return SHAPE.test(date.text);
}

function exists(date: WrittenDate): boolean {
  return (date.hasTime ? parseSignatureDateTime(date.text) : parseDocumentDate(date.text)) !== null;
}

const ECF_DATES: readonly (readonly [path: readonly string[], names: readonly string[]])[] = [
  [
    ['Encabezado', 'IdDoc'],
    ['FechaVencimientoSecuencia', 'FechaLimitePago', 'FechaDesde', 'FechaHasta'],
  ],
  [['Encabezado', 'Emisor'], ['FechaEmision']],
  [
    ['Encabezado', 'Comprador'],
    ['FechaEntrega', 'FechaOrdenCompra'],
  ],
  [['Encabezado', 'InformacionesAdicionales'], ['FechaEmbarque']],
  [['InformacionReferencia'], ['FechaNCFModificado']],
];

const ITEM_DATES = ['FechaElaboracion', 'FechaVencimientoItem'];

const COMPANION_DATES: Readonly<
  Record<string, readonly (readonly [path: readonly string[], names: readonly string[]])[]>
> = {
  RFCE: [[['Encabezado', 'Emisor'], ['FechaEmision']]],
  ACECF: [[['DetalleAprobacionComercial'], ['FechaEmision', 'FechaHoraAprobacionComercial']]],
  ANECF: [[['Encabezado'], ['FechaHoraAnulacioneNCF']]],
  ARECF: [[['DetalleAcusedeRecibo'], ['FechaHoraAcuseRecibo']]],
};

/** The dates of an e-CF. */
export function ecfDates(root: DocumentNode | null, now: Date): DocumentDates {
  const dates = collect('ECF', root, ECF_DATES);
  groupsOf(groupOf(root, 'DetallesItems'), 'Item').forEach((item, index) => {
    for (const name of ITEM_DATES) add(dates, `ECF.DetallesItems.Item[${index + 1}]`, item, name);
  });
  const text = textOf(root, 'FechaHoraFirma');
  const signedAt = text === null ? null : { path: 'ECF.FechaHoraFirma', text, hasTime: true };
  if (signedAt) dates.push(signedAt);
  return { dates, signedAt, now };
}

/** The dates of a companion document. */
export function companionDates(kind: string, root: DocumentNode | null, now: Date): DocumentDates {
  return { dates: collect(kind, root, COMPANION_DATES[kind] ?? []), signedAt: null, now };
}

function collect(rootName: string, root: DocumentNode | null, places: typeof ECF_DATES): WrittenDate[] {
  const dates: WrittenDate[] = [];
  for (const [path, names] of places) {
    let node = root;
    for (const step of path) node = groupOf(node, step);
    if (node === null) continue;
    for (const name of names) add(dates, `${rootName}.${path.join('.')}`, node, name);
  }
  return dates;
}

function add(dates: WrittenDate[], path: string, node: DocumentNode, name: string): void {
  const text = textOf(node, name);
  if (text !== null) dates.push({ path: `${path}.${name}`, text, hasTime: name.startsWith('FechaHora') });
}

import { type DocumentNode, groupOf } from '../document/document-tree.js';
import { ECF_TYPES } from '../identifiers.js';
import {
  type CalendarDate,
  parseDocumentDate,
  parseSignatureDateTime,
  toCalendarDate,
} from '../time/dominican-time.js';
import type { EcfView } from './ecf/ecf-view.js';
import type { DocumentKind, DocumentRule } from './rule.js';
import { FORMAT_SINCE, format } from './sources.js';

/** A date or date and time somewhere in a document, as written. */
interface WrittenDate {
  path: string;
  text: string;
}

/** The wrong dates of a document, and its signature time. */
interface DocumentDates {
  /** No day of the calendar. */
  impossible: readonly WrittenDate[];
  /** A day of the calendar, written with one digit for day or month. */
  short: readonly WrittenDate[];
  /** FechaHoraFirma; null if the document has none or it is not a time. */
  signedAt: { text: string; instant: Date } | null;
  /** FechaEmision and FechaVencimientoSecuencia; null if the document has none or it is not a day. */
  issued: StatedDay | null;
  expires: StatedDay | null;
  now: Date;
}

/** A day of the calendar as a document states it. */
interface StatedDay extends WrittenDate {
  day: CalendarDate;
}

const EVERY_DOCUMENT: readonly DocumentKind[] = [...ECF_TYPES, 'RFCE', 'ACECF', 'ANECF', 'ARECF'];

/** Official certification cases are dated from 2018 on, and no e-CF is older. */
const FIRST_DAY: CalendarDate = '2018-01-01';

/** How far the clock of a signer may be ahead of our clock. */
const CLOCK_SKEW_MS = 10 * 60_000;

/** A caller's time may be this far ahead of our clock. */
const STATED_SKEW_MS = 5 * 60_000;

/**
 * Whether a time at which a caller says it decided something (an approval, a cancellation) is still to come. The schemas
 * allow it, but receivers verify our signature at that time.
 */
export function isStillToCome(stated: Date, now: Date): boolean {
  return stated.getTime() > now.getTime() + STATED_SKEW_MS;
}

export const DATE_RULES: readonly DocumentRule<DocumentDates>[] = [
  {
    name: 'business.calendar-date',
    code: null,
    appliesTo: EVERY_DOCUMENT,
    verdict: 'warns',
    source: `${format('6')}, 12, 58: dates are days of the calendar`,
    since: FORMAT_SINCE,
    summary: 'A date is a day of the calendar, also where the schema lets other characters pass.',
    check({ impossible }, report) {
      for (const { path, text } of impossible) report(path, `${text} is not a day of the calendar`);
    },
  },
  {
    name: 'business.date-two-digits',
    code: null,
    appliesTo: ECF_TYPES,
    verdict: 'warns',
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
    verdict: 'warns',
    source: format('58'),
    since: FORMAT_SINCE,
    summary: 'FechaHoraFirma (Dominican time, UTC-4) is not later than now; clocks may differ by ten minutes.',
    check({ signedAt, now }, report) {
      if (signedAt !== null && signedAt.instant.getTime() > now.getTime() + CLOCK_SKEW_MS) {
        report(
          'ECF.FechaHoraFirma',
          `FechaHoraFirma ${signedAt.text} is in the future; write it in Dominican time (UTC-4)`,
        );
      }
    },
  },
  {
    name: 'business.issue-date-in-future',
    code: null,
    appliesTo: [...ECF_TYPES, 'RFCE'],
    verdict: 'warns',
    source: `${format('12')}, 58: a document is signed when it is issued, or later`,
    since: FORMAT_SINCE,
    summary: 'FechaEmision is not later than today (Dominican time).',
    check({ issued, now }, report) {
      if (issued === null || issued.day <= toCalendarDate(new Date(now.getTime() + CLOCK_SKEW_MS))) return;
      report(issued.path, `FechaEmision ${issued.text} lies in the future`);
    },
  },
  {
    name: 'business.issue-date-before-ecf',
    code: null,
    appliesTo: [...ECF_TYPES, 'RFCE'],
    verdict: 'warns',
    source: `${format('12')}: not before the issuer became an electronic issuer; the oldest certification cases are of 2018`,
    since: FORMAT_SINCE,
    summary: 'FechaEmision is not before 2018, when there were no electronic documents.',
    check({ issued }, report) {
      if (issued === null || issued.day >= FIRST_DAY) return;
      report(issued.path, `FechaEmision ${issued.text} is before 2018, when there were no electronic documents`);
    },
  },
  {
    name: 'business.issue-date-after-expiry',
    code: null,
    appliesTo: ECF_TYPES,
    verdict: 'warns',
    source: `${format('6')}, 12; Descripción Técnica v1.6 p.20`,
    since: FORMAT_SINCE,
    summary: 'FechaEmision is not later than FechaVencimientoSecuencia.',
    check({ issued, expires }, report) {
      if (issued === null || expires === null || issued.day <= expires.day) return;
      report(issued.path, `FechaEmision ${issued.text} is after FechaVencimientoSecuencia ${expires.text}`);
    },
  },
  {
    name: 'business.stated-expiry-passed',
    code: null,
    appliesTo: ECF_TYPES,
    verdict: 'warns',
    source: 'Descripción Técnica v1.6 p.20',
    since: '2023-06',
    summary: 'FechaVencimientoSecuencia has not passed on the day of the check (Dominican time).',
    check({ expires, now }, report) {
      if (expires === null || expires.day >= toCalendarDate(now)) return;
      report(
        expires.path,
        `FechaVencimientoSecuencia ${expires.text} has passed; the authority refuses numbers after their expiry`,
      );
    },
  },
];

/** An element with a date, or a date and time. */
interface DateElement {
  name: string;
  hasTime: boolean;
}

/** A group with dates: its path, how to reach it, and the dates in it. */
interface DateGroup<Document> {
  path: string;
  group(document: Document): DocumentNode | null;
  dates: readonly DateElement[];
}

const ECF_DATES: readonly DateGroup<EcfView>[] = [
  dateGroup('ECF.Encabezado.IdDoc', (ecf) => ecf.idDoc, [
    'FechaVencimientoSecuencia',
    'FechaLimitePago',
    'FechaDesde',
    'FechaHasta',
  ]),
  dateGroup('ECF.Encabezado.Emisor', (ecf) => ecf.issuer, ['FechaEmision']),
  dateGroup('ECF.Encabezado.Comprador', (ecf) => ecf.buyer, ['FechaEntrega', 'FechaOrdenCompra']),
  dateGroup(
    'ECF.Encabezado.InformacionesAdicionales',
    (ecf) => groupOf(groupOf(ecf.root, 'Encabezado'), 'InformacionesAdicionales'),
    ['FechaEmbarque'],
  ),
  dateGroup('ECF.InformacionReferencia', (ecf) => ecf.reference, ['FechaNCFModificado']),
  dateGroup('ECF', (ecf) => ecf.root, ['FechaHoraFirma']),
];

const LINE_DATES = dateElements(['FechaElaboracion', 'FechaVencimientoItem']);

const COMPANION_DATES: Readonly<Record<string, DateGroup<DocumentNode | null>>> = {
  RFCE: dateGroup('RFCE.Encabezado.Emisor', (root) => groupOf(groupOf(root, 'Encabezado'), 'Emisor'), ['FechaEmision']),
  ACECF: dateGroup('ACECF.DetalleAprobacionComercial', (root) => groupOf(root, 'DetalleAprobacionComercial'), [
    'FechaEmision',
    'FechaHoraAprobacionComercial',
  ]),
  ANECF: dateGroup('ANECF.Encabezado', (root) => groupOf(root, 'Encabezado'), ['FechaHoraAnulacioneNCF']),
  ARECF: dateGroup('ARECF.DetalleAcusedeRecibo', (root) => groupOf(root, 'DetalleAcusedeRecibo'), [
    'FechaHoraAcuseRecibo',
  ]),
};

function dateGroup<Document>(
  path: string,
  group: (document: Document) => DocumentNode | null,
  names: readonly string[],
): DateGroup<Document> {
  return { path, group, dates: dateElements(names) };
}

function dateElements(names: readonly string[]): DateElement[] {
  return names.map((name) => ({ name, hasTime: name.startsWith('FechaHora') }));
}

/** The dates of an e-CF. */
export function ecfDates(ecf: EcfView, now: Date): DocumentDates {
  const dates = new Dates(now);
  for (const { path, group, dates: names } of ECF_DATES) dates.addAll(path, group(ecf), names);
  for (const { node, position } of ecf.lines) {
    if (node.FechaElaboracion === undefined && node.FechaVencimientoItem === undefined) continue;
    dates.addAll(`ECF.DetallesItems.Item[${position}]`, node, LINE_DATES);
  }
  return dates;
}

/** The dates of a companion document. */
export function companionDates(kind: string, root: DocumentNode | null, now: Date): DocumentDates {
  const dates = new Dates(now);
  const group = COMPANION_DATES[kind];
  if (group !== undefined) dates.addAll(group.path, group.group(root), group.dates);
  return dates;
}

class Dates implements DocumentDates {
  readonly impossible: WrittenDate[] = [];
  readonly short: WrittenDate[] = [];

  signedAt: DocumentDates['signedAt'] = null;
  issued: StatedDay | null = null;
  expires: StatedDay | null = null;

  constructor(readonly now: Date) {}

  addAll(path: string, group: DocumentNode | null, dates: readonly DateElement[]): void {
    if (group === null) return;
    for (const { name, hasTime } of dates) {
      const text = group[name];
      if (typeof text === 'string') this.add(path, name, hasTime, text);
    }
  }

  /** Reports the fault of a date. A text that is not a date has a structural fault already. */
  private add(path: string, name: string, hasTime: boolean, text: string): void {
    const instant = hasTime ? parseSignatureDateTime(text) : null;
    if (instant !== null && name === 'FechaHoraFirma') this.signedAt = { text, instant };
    const day = hasTime ? null : parseDocumentDate(text);
    if (day !== null && name === 'FechaEmision') this.issued = { path: `${path}.${name}`, text, day };
    if (day !== null && name === 'FechaVencimientoSecuencia') this.expires = { path: `${path}.${name}`, text, day };
    const exists = hasTime ? instant !== null : day !== null;
    if (!exists) this.impossible.push({ path: `${path}.${name}`, text });
    if (exists && !hasTime && text.trim().length < 10) this.short.push({ path: `${path}.${name}`, text });
  }
}

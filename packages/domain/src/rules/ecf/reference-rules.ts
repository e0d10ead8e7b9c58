import { integerOf, textOf } from '../../document/document-tree.js';
import { ECF_TYPES, type EcfType, encfType, isEncf } from '../../identifiers.js';
import { daysBetween, parseDocumentDate } from '../../time/dominican-time.js';
import { type DocumentKind, type DocumentRule, NOTES, type Report } from '../rule.js';
import { FORMAT_SINCE, format, OBSERVED_SINCE, observed, rejectedWith } from '../sources.js';
import type { EcfView } from './ecf-view.js';

const REFERENCE = 'ECF.InformacionReferencia';
const NOT_NOTES: readonly DocumentKind[] = ECF_TYPES.filter((type) => !NOTES.includes(type));

/** Types in which the authority was seen to refuse a code of another type. */
const SEEN_WITH_CODES: readonly DocumentKind[] = ['31', '33', '34'];

/** Days after which a credit note no longer returns ITBIS. Source: Formato e-CF v1.0 p.7; Informe Técnico p.17. */
export const CREDIT_NOTE_DAYS = 30;

/** References to other documents, as far as one document shows them. */
export const REFERENCE_RULES: readonly DocumentRule<EcfView>[] = [
  {
    name: 'business.reference-incomplete',
    code: null,
    appliesTo: NOT_NOTES,
    verdict: 'warns',
    source: `${format('56')}-57`,
    since: FORMAT_SINCE,
    summary:
      'InformacionReferencia has NCFModificado and CodigoModificacion, and FechaNCFModificado unless the code is 4 (contingency).',
    check(ecf, report) {
      if (ecf.reference === null) return;
      const contingency = modificationCode(ecf) === '4';
      for (const name of ['NCFModificado', 'FechaNCFModificado', 'CodigoModificacion']) {
        if (textOf(ecf.reference, name) !== null || (contingency && name === 'FechaNCFModificado')) continue;
        report(`${REFERENCE}.${name}`, `InformacionReferencia requires ${name}`);
      }
    },
  },
  {
    name: 'business.modified-number-format',
    code: null,
    appliesTo: ECF_TYPES,
    verdict: 'warns',
    source: format('56'),
    since: FORMAT_SINCE,
    summary:
      'NCFModificado has 11 characters (B and ten digits), 13 (E and twelve digits) or 19 (a letter and 18 digits).',
    check(ecf, report) {
      const number = textOf(ecf.reference, 'NCFModificado');
      if (number !== null && !NUMBERS.some((shape) => shape.test(number))) {
        report(
          `${REFERENCE}.NCFModificado`,
          `${number} is not the number of a fiscal receipt: expected are E and 12 digits, B and 10 digits, or a letter and 18 digits`,
        );
      }
    },
  },
  {
    name: 'business.modification-code',
    code: null,
    appliesTo: SEEN_WITH_CODES,
    verdict: 'rejects',
    evidence: rejectedWith(null, 'El código de modificación no puede ser utilizado en este tipo de comprobante'),
    source: observed(`${format('57')} fn.80-81`),
    since: FORMAT_SINCE,
    summary: 'In notes (33, 34) CodigoModificacion is 1 to 4, in type 31 it is 4 (contingency) or 5.',
    check: checkModificationCode,
  },
  {
    name: 'business.modification-code-other-types',
    code: null,
    appliesTo: NOT_NOTES.filter((type) => !SEEN_WITH_CODES.includes(type)),
    verdict: 'warns',
    source: `${format('57')} fn.80-81`,
    since: FORMAT_SINCE,
    summary: 'Elsewhere CodigoModificacion is 4 (contingency).',
    check: checkModificationCode,
  },
  {
    name: 'business.debit-note-annuls',
    code: '64',
    appliesTo: ['33'],
    verdict: 'rejects',
    evidence: rejectedWith('64'),
    source: observed(format('57')),
    since: OBSERVED_SINCE,
    summary: 'A debit note does not annul (CodigoModificacion 1).',
    check(ecf, report) {
      if (modificationCode(ecf) === '1') {
        report(
          `${REFERENCE}.CodigoModificacion`,
          'a debit note cannot annul (CodigoModificacion 1); a credit note can',
        );
      }
    },
  },
  {
    name: 'business.note-on-note',
    code: '613',
    appliesTo: ['33', '34'],
    verdict: 'rejects',
    evidence: rejectedWith('613'),
    source: observed(format('56')),
    since: OBSERVED_SINCE,
    summary: 'A note does not modify another electronic note.',
    check(ecf, report) {
      const type = modifiedType(ecf);
      if (type !== null && NOTES.includes(type) && modificationCode(ecf) !== '4') {
        report(`${REFERENCE}.NCFModificado`, `a note cannot modify another note (type ${type})`);
      }
    },
  },
  {
    name: 'business.electronic-replacement',
    code: '613',
    appliesTo: ECF_TYPES,
    verdict: 'rejects',
    evidence: rejectedWith('613'),
    source: observed(`${format('57')} fn.80-81`),
    since: OBSERVED_SINCE,
    summary: 'CodigoModificacion 4 replaces a paper number issued in contingency, never an electronic one.',
    check(ecf, report) {
      const number = textOf(ecf.reference, 'NCFModificado');
      if (modificationCode(ecf) === '4' && number !== null && isEncf(number)) {
        report(
          `${REFERENCE}.NCFModificado`,
          `CodigoModificacion 4 replaces a paper number, but ${number} is electronic`,
        );
      }
    },
  },
  {
    name: 'business.consumer-reference',
    code: null,
    appliesTo: ['31'],
    verdict: 'warns',
    source: `${format('57')} fn.80-81`,
    since: FORMAT_SINCE,
    summary: 'CodigoModificacion 5 refers to a consumer e-CF (type 32).',
    check(ecf, report) {
      const type = modifiedType(ecf);
      if (modificationCode(ecf) === '5' && type !== null && type !== '32') {
        report(
          `${REFERENCE}.NCFModificado`,
          `CodigoModificacion 5 refers to a type 32, but NCFModificado is of type ${type}`,
        );
      }
    },
  },
  {
    name: 'business.other-taxpayer',
    code: '614',
    appliesTo: ECF_TYPES,
    verdict: 'warns',
    source: observed(`${format('56')}-57`),
    since: OBSERVED_SINCE,
    summary: 'RNCOtroContribuyente appears only if the modified number belongs to another RNC than the issuer.',
    check(ecf, report) {
      const other = textOf(ecf.reference, 'RNCOtroContribuyente');
      if (other !== null && other === textOf(ecf.issuer, 'RNCEmisor')) {
        report(
          `${REFERENCE}.RNCOtroContribuyente`,
          `${other} is the issuer; leave RNCOtroContribuyente out, because the authority may not find the reference`,
        );
      }
    },
  },
  {
    name: 'business.credit-note-indicator',
    code: '156',
    appliesTo: ['34'],
    verdict: 'rejects',
    evidence: rejectedWith('156'),
    source: observed(`${format('7')}; Informe Técnico e-CF v1.0 p.17`),
    since: FORMAT_SINCE,
    summary: 'IndicadorNotaCredito is 0 up to 30 calendar days after FechaNCFModificado, 1 later.',
    check(ecf, report) {
      const indicator = integerOf(ecf.idDoc, 'IndicadorNotaCredito');
      const days = daysSinceModified(ecf);
      if (days === null || (indicator !== '0' && indicator !== '1') || modificationCode(ecf) === '4') return;
      const expected = days > CREDIT_NOTE_DAYS ? '1' : '0';
      if (indicator !== expected) {
        report(
          'ECF.Encabezado.IdDoc.IndicadorNotaCredito',
          `IndicadorNotaCredito is ${indicator}; it must be ${expected}, because the note is ${days} days after the modified document`,
        );
      }
    },
  },
  {
    name: 'business.reference-date-order',
    code: '634',
    appliesTo: NOTES,
    verdict: 'warns',
    source: observed(format('57')),
    since: OBSERVED_SINCE,
    summary: 'FechaNCFModificado, the date of the modified document, is not after FechaEmision of the note.',
    check(ecf, report) {
      const days = daysSinceModified(ecf);
      if (days !== null && days < 0) {
        report(
          `${REFERENCE}.FechaNCFModificado`,
          `FechaNCFModificado ${textOf(ecf.reference, 'FechaNCFModificado')} is after FechaEmision ${textOf(ecf.issuer, 'FechaEmision')}`,
        );
      }
    },
  },
];

function checkModificationCode(ecf: EcfView, report: Report): void {
  const code = modificationCode(ecf);
  if (code !== null && !modificationCodes(ecf.type).includes(code) && /^[1-5]$/.test(code)) {
    report(
      `${REFERENCE}.CodigoModificacion`,
      `CodigoModificacion ${code} is not allowed in type ${ecf.type}; use ${modificationCodes(ecf.type).join(', ')}`,
    );
  }
}

const NUMBERS = [/^E[0-9]{12}$/, /^B[0-9]{10}$/, /^[A-Z][0-9]{18}$/];

function modificationCode(ecf: EcfView): string | null {
  return integerOf(ecf.reference, 'CodigoModificacion');
}

function modificationCodes(type: EcfType): readonly string[] {
  if (NOTES.includes(type)) return ['1', '2', '3', '4'];
  return type === '31' ? ['4', '5'] : ['4'];
}

function modifiedType(ecf: EcfView): EcfType | null {
  return encfType(textOf(ecf.reference, 'NCFModificado') ?? '');
}

function daysSinceModified(ecf: EcfView): number | null {
  const modified = parseDocumentDate(textOf(ecf.reference, 'FechaNCFModificado') ?? '');
  const issued = parseDocumentDate(textOf(ecf.issuer, 'FechaEmision') ?? '');
  return modified && issued ? daysBetween(modified, issued) : null;
}

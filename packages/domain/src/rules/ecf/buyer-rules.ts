import { Decimal } from '../../amounts/decimal.js';
import { textOf } from '../../document/document-tree.js';
import { encfType } from '../../identifiers.js';
import { SUMMARY_LIMIT } from '../../submission-route.js';
import { areDigits } from '../../text/digits.js';
import type { DocumentRule } from '../rule.js';
import { FORMAT_SINCE, format, OBSERVED_SINCE, observed, rejectedWith, requiredBySchema } from '../sources.js';
import type { EcfView } from './ecf-view.js';

const BUYER = 'ECF.Encabezado.Comprador';

/** Every document of these types names its buyer by RNC, so a note about one must name it too. */
const ALWAYS_WITH_RNC = new Set(['31', '41', '45']);

/** Rules about the buyer and about addresses. */
export const BUYER_RULES: readonly DocumentRule<EcfView>[] = [
  {
    name: 'business.buyer-one-identifier',
    code: null,
    appliesTo: ['32', '33', '34', '44', '46'],
    verdict: 'warns',
    source: `${format('13')} fn.7-9`,
    since: FORMAT_SINCE,
    summary: 'RNCComprador and IdentificadorExtranjero exclude each other.',
    check(ecf, report) {
      if (textOf(ecf.buyer, 'RNCComprador') !== null && textOf(ecf.buyer, 'IdentificadorExtranjero') !== null) {
        report(`${BUYER}.IdentificadorExtranjero`, 'a buyer has RNCComprador or IdentificadorExtranjero, not both');
      }
    },
  },
  {
    name: 'business.large-consumer-buyer-id',
    code: '1381',
    appliesTo: ['32'],
    verdict: 'rejects',
    evidence: rejectedWith('1381'),
    source: observed(`${format('12')}-13`),
    since: FORMAT_SINCE,
    summary: 'A type 32 of 250,000.00 or more identifies its buyer (RNCComprador or IdentificadorExtranjero).',
    check(ecf, report) {
      if (isLarge(ecf) && !hasBuyerId(ecf)) {
        report(
          `${BUYER}.RNCComprador`,
          `a type 32 of 250,000.00 or more (${ecf.total('MontoTotal')?.toFixed(2)}) requires RNCComprador or IdentificadorExtranjero`,
        );
      }
    },
  },
  {
    name: 'business.large-consumer-buyer-name',
    code: null,
    appliesTo: ['32', '34'],
    verdict: 'warns',
    source: format('13'),
    since: FORMAT_SINCE,
    summary:
      'A type 32 of 250,000.00 or more, and a credit note of such an amount on one, names its buyer (RazonSocialComprador).',
    check(ecf, report) {
      if (!isLarge(ecf) || (ecf.type === '34' && modifiedType(ecf) !== '32')) return;
      if (textOf(ecf.buyer, 'RazonSocialComprador') === null) {
        report(
          `${BUYER}.RazonSocialComprador`,
          `a total of 250,000.00 or more (${ecf.total('MontoTotal')?.toFixed(2)}) requires RazonSocialComprador`,
        );
      }
    },
  },
  {
    name: 'business.large-note-buyer-id',
    code: '1381',
    appliesTo: ['34'],
    verdict: 'warns',
    source: observed(`${format('12')}-13`),
    since: FORMAT_SINCE,
    summary: 'A credit note of 250,000.00 or more on a type 32 identifies the buyer, as that document had to.',
    check(ecf, report) {
      if (isLarge(ecf) && modifiedType(ecf) === '32' && !hasBuyerId(ecf)) {
        report(
          `${BUYER}.RNCComprador`,
          'the modified type 32 is of 250,000.00 or more and identifies its buyer, so the note must identify it too',
        );
      }
    },
  },
  {
    name: 'business.note-buyer-id',
    code: '615',
    appliesTo: ['33', '34'],
    verdict: 'warns',
    source: observed(format('12')),
    since: OBSERVED_SINCE,
    summary: 'A note on a type 31, 41 or 45 carries the RNC of that document’s buyer.',
    check(ecf, report) {
      const type = modifiedType(ecf);
      if (type !== null && ALWAYS_WITH_RNC.has(type) && textOf(ecf.buyer, 'RNCComprador') === null) {
        report(
          `${BUYER}.RNCComprador`,
          `the modified document is of type ${type}, so RNCComprador is required and must be that of its buyer`,
        );
      }
    },
  },
  {
    name: 'business.special-regime-buyer-id',
    code: '1381',
    appliesTo: ['44'],
    verdict: 'rejects',
    evidence: rejectedWith('1381'),
    source: observed(format('12')),
    since: OBSERVED_SINCE,
    summary: 'A type 44 identifies its buyer (RNCComprador or IdentificadorExtranjero).',
    check(ecf, report) {
      if (ecf.root && !hasBuyerId(ecf))
        report(`${BUYER}.RNCComprador`, 'a type 44 requires RNCComprador or IdentificadorExtranjero');
    },
  },
  {
    name: 'business.summary-buyer',
    code: null,
    appliesTo: ['32'],
    verdict: 'rejects',
    evidence: requiredBySchema('RFCE 32 v.1.0.xsd, Comprador; Descripción Técnica v1.6 p.59 refuses it empty'),
    source: 'Formato RFCE v1.0 pp.4-12; Descripción Técnica v1.6 p.59: no empty tags',
    since: '2023-06',
    summary:
      'A type 32 below 250,000.00 whose Comprador is present has one of RNCComprador, IdentificadorExtranjero and RazonSocialComprador.',
    check(ecf, report) {
      const total = ecf.total('MontoTotal');
      if (ecf.buyer && total && total.compare(SUMMARY_LIMIT) < 0 && !hasBuyerId(ecf)) {
        if (textOf(ecf.buyer, 'RazonSocialComprador') === null) {
          report(
            `${BUYER}.RazonSocialComprador`,
            'Comprador names no buyer; below 250,000.00 RazonSocialComprador is enough',
          );
        }
      }
    },
  },
  {
    name: 'business.province-code',
    code: null,
    appliesTo: ['31', '32', '33', '34', '41', '43', '44', '45', '46', '47'],
    verdict: 'warns',
    source: `${format('63')}-84: one list of codes serves provinces and municipalities`,
    since: FORMAT_SINCE,
    summary: 'Provincia holds the code of a province (it ends in 0000), not of a municipality.',
    check(ecf, report) {
      const places = [
        { path: 'ECF.Encabezado.Emisor.Provincia', code: textOf(ecf.issuer, 'Provincia') },
        { path: `${BUYER}.ProvinciaComprador`, code: textOf(ecf.buyer, 'ProvinciaComprador') },
      ];
      for (const { path, code } of places) {
        if (code !== null && code.length === 6 && !code.endsWith('0000') && areDigits(code, 0, 6)) {
          report(path, `${code} is the code of a municipality; the code of its province is ${code.slice(0, 2)}0000`);
        }
      }
    },
  },
];

function isLarge(ecf: EcfView): boolean {
  return (ecf.total('MontoTotal') ?? Decimal.ZERO).compare(SUMMARY_LIMIT) >= 0;
}

function hasBuyerId(ecf: EcfView): boolean {
  return textOf(ecf.buyer, 'RNCComprador') !== null || textOf(ecf.buyer, 'IdentificadorExtranjero') !== null;
}

function modifiedType(ecf: EcfView): string | null {
  return encfType(textOf(ecf.reference, 'NCFModificado') ?? '');
}

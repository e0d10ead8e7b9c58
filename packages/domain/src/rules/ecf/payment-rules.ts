import { groupOf, groupsOf, integerOf, textOf } from '../../document/document-tree.js';
import { ECF_TYPES } from '../../identifiers.js';
import { formatDocumentDate, parseDocumentDate } from '../../time/dominican-time.js';
import type { DocumentRule } from '../rule.js';
import { FORMAT_SINCE, format, OBSERVED_SINCE, observed, rejectedWith } from '../sources.js';
import type { EcfView, Line } from './ecf-view.js';

const ID_DOC = 'ECF.Encabezado.IdDoc';

/** Rules about income, payment and period, all in IdDoc. */
export const PAYMENT_RULES: readonly DocumentRule<EcfView>[] = [
  {
    name: 'business.income-type-required',
    code: '181',
    appliesTo: ['33', '34'],
    verdict: 'warns',
    source: observed(format('7')),
    since: FORMAT_SINCE,
    summary: 'TipoIngresos is present in debit and credit notes too.',
    check(ecf, report) {
      if (ecf.idDoc && textOf(ecf.idDoc, 'TipoIngresos') === null) {
        report(
          `${ID_DOC}.TipoIngresos`,
          'TipoIngresos is missing; the authority accepts most notes without it but has refused one',
        );
      }
    },
  },
  {
    name: 'business.payment-type-required',
    code: null,
    appliesTo: ['41'],
    verdict: 'warns',
    source: observed(format('8')),
    since: FORMAT_SINCE,
    summary: 'TipoPago is present in type 41 too.',
    check(ecf, report) {
      if (ecf.idDoc && textOf(ecf.idDoc, 'TipoPago') === null) {
        report(
          `${ID_DOC}.TipoPago`,
          'TipoPago is missing; a type 41 without it may be refused, although the schema allows it',
        );
      }
    },
  },
  {
    name: 'business.payment-due-date-required',
    code: '1100',
    appliesTo: ['31', '32', '33', '34', '41', '44', '45', '46'],
    verdict: 'rejects',
    evidence: rejectedWith('1100'),
    source: observed(format('8')),
    since: FORMAT_SINCE,
    summary: 'FechaLimitePago is present when TipoPago is 2 (credit).',
    check(ecf, report) {
      if (ecf.paymentType === '2' && textOf(ecf.idDoc, 'FechaLimitePago') === null) {
        report(`${ID_DOC}.FechaLimitePago`, 'TipoPago is 2 (credit), so FechaLimitePago is required');
      }
    },
  },
  {
    name: 'business.payment-due-date-early',
    code: '1100',
    appliesTo: ['31', '32', '33', '34', '41', '44', '45', '46', '47'],
    verdict: 'rejects',
    evidence: rejectedWith('1100'),
    source: observed(format('8')),
    since: FORMAT_SINCE,
    summary: 'FechaLimitePago is not before FechaEmision when TipoPago is 2.',
    check(ecf, report) {
      if (ecf.paymentType !== '2') return;
      const due = parseDocumentDate(textOf(ecf.idDoc, 'FechaLimitePago') ?? '');
      const issued = parseDocumentDate(textOf(ecf.issuer, 'FechaEmision') ?? '');
      if (due && issued && due < issued) {
        report(
          `${ID_DOC}.FechaLimitePago`,
          `FechaLimitePago ${formatDocumentDate(due)} is before FechaEmision ${formatDocumentDate(issued)}`,
        );
      }
    },
  },
  {
    name: 'business.free-credit-invoice',
    code: null,
    appliesTo: ['31'],
    verdict: 'warns',
    source: format('8'),
    since: FORMAT_SINCE,
    summary: 'TipoPago 3 (free of charge) is not valid for type 31.',
    check(ecf, report) {
      if (ecf.paymentType === '3') {
        report(`${ID_DOC}.TipoPago`, 'TipoPago 3 (free of charge) is not valid for type 31');
      }
    },
  },
  {
    name: 'business.voucher-payment',
    code: null,
    appliesTo: ['31', '33', '41', '44', '45', '46', '47'],
    verdict: 'warns',
    source: format('8'),
    since: FORMAT_SINCE,
    summary: 'FormaPago 5 (vouchers) appears in type 32 only.',
    check(ecf, report) {
      groupsOf(groupOf(ecf.idDoc, 'TablaFormasPago'), 'FormaDePago').forEach((form, index) => {
        if (integerOf(form, 'FormaPago') === '5') {
          report(
            `${ID_DOC}.TablaFormasPago.FormaDePago[${index + 1}].FormaPago`,
            `FormaPago 5 (vouchers) is for type 32 only; this document is of type ${ecf.type}`,
          );
        }
      });
    },
  },
  {
    name: 'business.period-order',
    code: null,
    appliesTo: ECF_TYPES.filter((type) => type !== '41' && type !== '43'),
    verdict: 'warns',
    source: format('9'),
    since: FORMAT_SINCE,
    summary: 'FechaDesde is not after FechaHasta.',
    check(ecf, report) {
      const from = parseDocumentDate(textOf(ecf.idDoc, 'FechaDesde') ?? '');
      const to = parseDocumentDate(textOf(ecf.idDoc, 'FechaHasta') ?? '');
      if (from && to && from > to) {
        const days = `FechaDesde ${formatDocumentDate(from)} is after FechaHasta ${formatDocumentDate(to)}`;
        report(`${ID_DOC}.FechaDesde`, days);
      }
    },
  },
  {
    name: 'business.taxed-indicator-required',
    code: '176',
    appliesTo: ['31', '32', '33', '34', '41', '45'],
    verdict: 'rejects',
    evidence: rejectedWith('176'),
    source: observed(format('7')),
    since: OBSERVED_SINCE,
    summary: 'IndicadorMontoGravado is present where the totals carry ITBIS.',
    check(ecf, report) {
      if (lacksTaxedIndicator(ecf) && totalsItbis(ecf)) {
        report(
          `${ID_DOC}.IndicadorMontoGravado`,
          'the totals have ITBIS, so IndicadorMontoGravado is required: 0 if the amounts of the lines exclude ITBIS, 1 if they include it',
        );
      }
    },
  },
  {
    name: 'business.taxed-indicator-lines',
    code: '176',
    appliesTo: ['31', '32', '33', '34', '41', '45'],
    verdict: 'warns',
    source: format('7'),
    since: FORMAT_SINCE,
    summary: 'IndicadorMontoGravado is present where a line is taxed, also when the totals carry no ITBIS.',
    check(ecf, report) {
      if (!lacksTaxedIndicator(ecf) || totalsItbis(ecf) || !ecf.lines.some(isTaxed)) return;
      report(
        `${ID_DOC}.IndicadorMontoGravado`,
        'lines are taxed (IndicadorFacturacion 1 or 2), so IndicadorMontoGravado should be present',
      );
    },
  },
];

const ITBIS_TOTALS = ['TotalITBIS', 'TotalITBIS1', 'TotalITBIS2'];

function lacksTaxedIndicator(ecf: EcfView): boolean {
  return ecf.idDoc !== null && textOf(ecf.idDoc, 'IndicadorMontoGravado') === null;
}

function totalsItbis(ecf: EcfView): boolean {
  return ITBIS_TOTALS.some((name) => ecf.totalOrZero(name).sign() > 0);
}

function isTaxed({ indicator, amount }: Line): boolean {
  return (indicator === '1' || indicator === '2') && (amount?.sign() ?? 0) > 0;
}

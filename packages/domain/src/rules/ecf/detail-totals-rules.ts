import { Decimal } from '../../amounts/decimal.js';
import { groupOf, groupsOf, integerOf, textOf } from '../../document/document-tree.js';
import { ECF_TYPES } from '../../identifiers.js';
import type { DocumentKind, DocumentRule } from '../rule.js';
import { FORMAT_SINCE, format, OBSERVED_SINCE, observed, rejectedWith } from '../sources.js';
import { sumRule } from '../sum-rule.js';
import { decimalOf, type EcfView } from './ecf-view.js';
import { isWithheld } from './line-rules.js';

const TOTALS = 'ECF.Encabezado.Totales';
const WITH_ITBIS: readonly DocumentKind[] = ['31', '32', '33', '34', '41', '45'];
const LINES = 'the sum of its lines, less global discounts, plus surcharges';

/** Totals that follow from the lines of detail. */
export const DETAIL_TOTALS_RULES: readonly DocumentRule<EcfView>[] = [
  {
    name: 'business.exempt-total-required',
    code: '1960',
    appliesTo: ['31', '32', '33', '34', '41', '43', '44', '45', '47'],
    verdict: 'rejects',
    evidence: rejectedWith('1960'),
    source: observed(format('20')),
    since: OBSERVED_SINCE,
    summary:
      'MontoExento is present when a line is exempt (IndicadorFacturacion 4), whatever its amount; not in a note that corrects text alone.',
    check(ecf, report) {
      if (ecf.totals === null || ecf.correctsText || textOf(ecf.totals, 'MontoExento') !== null) return;
      if (ecf.lines.some((line) => line.indicator === '4')) {
        report(`${TOTALS}.MontoExento`, 'there are exempt lines (IndicadorFacturacion 4), so MontoExento is required');
      }
    },
  },
  {
    name: 'business.itbis-withheld-total-required',
    code: '260',
    appliesTo: ['31', '33', '34', '41'],
    verdict: 'rejects',
    evidence: rejectedWith('260'),
    source: observed(`${format('27')}, 36 fn.53`),
    since: OBSERVED_SINCE,
    summary:
      'TotalITBISRetenido is present when a line withholds (IndicadorAgenteRetencionoPercepcion 1); 0 is allowed.',
    check(ecf, report) {
      if (ecf.totals === null || textOf(ecf.totals, 'TotalITBISRetenido') !== null) return;
      if (ecf.lines.some(isWithheld)) {
        report(
          `${TOTALS}.TotalITBISRetenido`,
          'lines withhold ITBIS, so TotalITBISRetenido is required; write 0.00 if no amount is withheld',
        );
      }
    },
  },
  {
    name: 'business.isr-withheld-total-required',
    code: '11170',
    appliesTo: ['47'],
    verdict: 'rejects',
    evidence: rejectedWith('11170'),
    source: observed(format('27')),
    since: OBSERVED_SINCE,
    summary: 'A type 47 has TotalISRRetencion.',
    check(ecf, report) {
      if (ecf.totals && textOf(ecf.totals, 'TotalISRRetencion') === null) {
        report(`${TOTALS}.TotalISRRetencion`, 'a type 47 requires TotalISRRetencion');
      }
    },
  },
  {
    name: 'business.text-correction-total',
    code: null,
    appliesTo: ['34'],
    verdict: 'warns',
    source: `${format('44')} fn.74`,
    since: FORMAT_SINCE,
    summary: 'A credit note that corrects text only (CodigoModificacion 2) has MontoTotal 0.',
    check(ecf, report) {
      const total = ecf.total('MontoTotal');
      if (ecf.correctsText && total !== null && !total.isZero()) {
        report(
          `${TOTALS}.MontoTotal`,
          `CodigoModificacion 2 corrects text only: MontoTotal must be 0.00, not ${total.toFixed(2)}`,
        );
      }
    },
  },
  sumRule<EcfView>({
    name: 'business.base-18',
    code: '1934',
    appliesTo: WITH_ITBIS,
    source: observed(format('19')),
    since: FORMAT_SINCE,
    summary: 'MontoGravadoI1 is the sum of the lines at 18 %, without ITBIS, less global discounts, plus surcharges.',
    field: 'MontoGravadoI1',
    made: LINES,
    absent: 'zero',
    expected: (ecf) => base(ecf, '1'),
  }),
  sumRule<EcfView>({
    name: 'business.base-16',
    code: null,
    appliesTo: WITH_ITBIS,
    source: format('19'),
    since: FORMAT_SINCE,
    summary: 'MontoGravadoI2 is the sum of the lines at 16 %, without ITBIS, less global discounts, plus surcharges.',
    field: 'MontoGravadoI2',
    made: LINES,
    absent: 'zero',
    expected: (ecf) => base(ecf, '2'),
  }),
  sumRule<EcfView>({
    name: 'business.base-0',
    code: null,
    appliesTo: [...WITH_ITBIS, '46'],
    source: format('20'),
    since: FORMAT_SINCE,
    summary: 'MontoGravadoI3 is the sum of the lines at 0 % less global discounts, plus surcharges.',
    field: 'MontoGravadoI3',
    made: LINES,
    absent: 'zero',
    expected: (ecf) => base(ecf, '3'),
  }),
  sumRule<EcfView>({
    name: 'business.exempt-total',
    code: null,
    appliesTo: ECF_TYPES.filter((type) => type !== '46'),
    source: format('20'),
    since: FORMAT_SINCE,
    summary: 'MontoExento is the sum of the exempt lines less global discounts, plus surcharges.',
    field: 'MontoExento',
    made: LINES,
    absent: 'skip',
    expected: (ecf) => base(ecf, '4'),
  }),
  sumRule<EcfView>({
    name: 'business.non-billable-total',
    code: null,
    appliesTo: ['31', '32', '33', '34', '44', '45', '46'],
    source: format('26'),
    since: FORMAT_SINCE,
    summary: 'MontoNoFacturable is the sum of the lines with IndicadorFacturacion 0.',
    field: 'MontoNoFacturable',
    made: 'the sum of the lines with IndicadorFacturacion 0',
    absent: 'zero',
    expected: (ecf) => (ecf.correctsText || ecf.lines.length === 0 ? [] : known(ecf.lineSum('0'))),
  }),
  sumRule<EcfView>({
    name: 'business.payable-amount',
    code: null,
    appliesTo: ECF_TYPES,
    source: format('26'),
    since: FORMAT_SINCE,
    summary: 'ValorPagar is MontoTotal − MontoAvancePago + SaldoAnterior, less discounts under Norma 10-07.',
    field: 'ValorPagar',
    made: 'MontoTotal − MontoAvancePago + SaldoAnterior',
    absent: 'skip',
    expected: payable,
  }),
  sumRule<EcfView>({
    name: 'business.itbis-withheld-total',
    code: null,
    appliesTo: ['31', '33', '34', '41'],
    source: format('27'),
    since: FORMAT_SINCE,
    summary: 'TotalITBISRetenido is the sum of MontoITBISRetenido.',
    field: 'TotalITBISRetenido',
    made: 'the sum of MontoITBISRetenido',
    absent: 'skip',
    expected: (ecf) => withheld(ecf, 'MontoITBISRetenido'),
  }),
  sumRule<EcfView>({
    name: 'business.isr-withheld-total',
    code: null,
    appliesTo: ['31', '33', '34', '41', '47'],
    source: format('27'),
    since: FORMAT_SINCE,
    summary: 'TotalISRRetencion is the sum of MontoISRRetenido.',
    field: 'TotalISRRetencion',
    made: 'the sum of MontoISRRetenido',
    absent: 'zero',
    expected: (ecf) =>
      ecf.type === '47' && ecf.total('TotalISRRetencion') === null ? [] : withheld(ecf, 'MontoISRRetenido'),
  }),
  sumRule<EcfView>({
    name: 'business.pages-total',
    code: null,
    appliesTo: ECF_TYPES,
    source: format('25'),
    since: FORMAT_SINCE,
    summary: 'With pagination, MontoTotal is the sum of MontoSubtotalPagina.',
    field: 'MontoTotal',
    made: 'the sum of MontoSubtotalPagina',
    absent: 'skip',
    expected: pages,
  }),
];

const [DIVISOR_18, DIVISOR_16, HUNDRED] = [Decimal.of('1.18'), Decimal.of('1.16'), Decimal.of('100')];

/**
 * The divisor of an amount with ITBIS at 18 %; under Norma 10-07 the telecommunication taxes 002 and 004 are in it too.
 * Source: Formato e-CF v1.0 pp.19, 24.
 */
export function divisorAt18(ecf: EcfView): Decimal {
  if (!ecf.taxIncluded) return Decimal.ONE;
  if (!ecf.norma1007) return DIVISOR_18;
  let divisor = DIVISOR_18;
  for (const tax of ecf.taxes) {
    const code = textOf(tax, 'TipoImpuesto');
    const rate = decimalOf(tax, 'TasaImpuestoAdicional');
    if ((code === '002' || code === '004') && rate !== null) divisor = divisor.plus(rate.dividedBy(HUNDRED));
  }
  return divisor;
}

/**
 * The amount without ITBIS of the lines with an IndicadorFacturacion from 1 to 4, not rounded; null if it cannot be known. The
 * global discount is subtracted after the division, itself undivided. Source: Formato e-CF v1.0 p.19.
 */
export function baseOf(ecf: EcfView, indicator: string): Decimal | null {
  const lines = ecf.lineSum(indicator);
  const adjustments = ecf.adjustmentSum(indicator);
  if (lines === null || adjustments === null) return null;
  const divisor = divisorOf(ecf, indicator);
  return (divisor === Decimal.ONE ? lines : lines.dividedBy(divisor)).plus(adjustments);
}

function divisorOf(ecf: EcfView, indicator: string): Decimal {
  if (indicator === '1') return divisorAt18(ecf);
  return indicator === '2' && ecf.taxIncluded ? DIVISOR_16 : Decimal.ONE;
}

function base(ecf: EcfView, indicator: string): readonly Decimal[] {
  if (ecf.correctsText || ecf.allInclusive || ecf.lines.length === 0) return [];
  return known(baseOf(ecf, indicator));
}

function payable(ecf: EcfView): readonly Decimal[] {
  const total = ecf.total('MontoTotal');
  if (total === null || ecf.correctsText) return [];
  let amount = total.minus(ecf.totalOrZero('MontoAvancePago')).plus(ecf.totalOrZero('SaldoAnterior'));
  for (const entry of ecf.adjustments) if (entry.norma1007 && entry.amount) amount = amount.plus(entry.amount);
  // Amounts that are not billable are payable, so issuers may add them.
  const nonBillable = ecf.total('MontoNoFacturable');
  return nonBillable === null ? [amount] : [amount, amount.plus(nonBillable)];
}

function withheld(ecf: EcfView, name: string): readonly Decimal[] {
  let total = Decimal.ZERO;
  for (const { withholding } of ecf.lines) {
    if (withholding === null) continue;
    if (integerOf(withholding, 'IndicadorAgenteRetencionoPercepcion') === '2') return [];
    total = total.plus(decimalOf(withholding, name) ?? Decimal.ZERO);
  }
  return [total];
}

function pages(ecf: EcfView): readonly Decimal[] {
  const list = groupsOf(groupOf(ecf.root, 'Paginacion'), 'Pagina');
  if (list.length === 0 || ecf.correctsText) return [];
  let total = Decimal.ZERO;
  for (const page of list) {
    const amount = decimalOf(page, 'MontoSubtotalPagina');
    if (amount === null) return [];
    total = total.plus(amount);
  }
  return [total];
}

function known(value: Decimal | null): readonly Decimal[] {
  return value === null ? [] : [value];
}

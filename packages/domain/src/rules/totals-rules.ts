import { Decimal, sum } from '../amounts/decimal.js';
import { ITBIS_RATES } from '../amounts/itbis-rates.js';
import { textOf } from '../document/document-tree.js';
import { ECF_TYPES } from '../identifiers.js';
import { decimalOf } from './ecf/ecf-view.js';
import type { DocumentKind, DocumentRule } from './rule.js';
import { FORMAT_SINCE, format, OBSERVED_SINCE, observed, rejectedWith } from './sources.js';
import type { TotalsView } from './sum-rule.js';
import { sumRule } from './sum-rule.js';

const WITH_ITBIS: readonly DocumentKind[] = ['31', '32', '33', '34', '41', '45', 'RFCE'];
const WITH_TAXED: readonly DocumentKind[] = [...WITH_ITBIS, '46'];
const WITH_ADDITIONAL: readonly DocumentKind[] = ['31', '32', '33', '34', '44', '45', 'RFCE'];

/** Arithmetic inside Totales, the same in e-CF and consumer summaries. */
export const TOTALS_RULES: readonly DocumentRule<TotalsView>[] = [
  {
    name: 'business.taxed-breakdown-required',
    code: '1930',
    appliesTo: WITH_ITBIS.filter((kind) => kind !== 'RFCE'),
    verdict: 'rejects',
    evidence: rejectedWith('1930'),
    source: observed(`${format('18')}-20`),
    since: OBSERVED_SINCE,
    summary: 'MontoGravadoTotal is broken down into MontoGravadoI1, I2 and I3.',
    check(view, report) {
      if (lacksBreakdown(view)) {
        report(
          `${view.totalsPath}.MontoGravadoI1`,
          'MontoGravadoTotal must be broken down into MontoGravadoI1, I2 and I3',
        );
      }
    },
  },
  {
    name: 'business.taxed-breakdown',
    code: null,
    appliesTo: ['46', 'RFCE'],
    verdict: 'warns',
    source: `${format('18')}-20`,
    since: FORMAT_SINCE,
    summary: 'MontoGravadoTotal of a type 46 or a summary is broken down too.',
    check(view, report) {
      if (lacksBreakdown(view)) {
        report(`${view.totalsPath}.MontoGravadoTotal`, 'MontoGravadoTotal should be broken down by rate');
      }
    },
  },
  {
    name: 'business.itbis-rate',
    code: null,
    appliesTo: WITH_TAXED.filter((kind) => kind !== 'RFCE'),
    verdict: 'warns',
    source: `${format('20')}-21`,
    since: FORMAT_SINCE,
    summary: 'ITBIS1 is 18, ITBIS2 is 16, ITBIS3 is 0, wherever there is an amount at that rate.',
    check(view, report) {
      for (const { name, rate, base } of RATES) {
        const declared = view.total(name);
        if (declared !== null && !declared.equals(rate) && view.totalOrZero(base).sign() > 0) {
          report(`${view.totalsPath}.${name}`, `${name} is ${declared.toFixed(0)}, but the rate is ${rate.toFixed(0)}`);
        }
      }
    },
  },
  sumRule({
    name: 'business.taxed-total',
    code: null,
    appliesTo: WITH_TAXED,
    source: format('18'),
    since: FORMAT_SINCE,
    summary: 'MontoGravadoTotal is MontoGravadoI1 + I2 + I3.',
    field: 'MontoGravadoTotal',
    made: 'MontoGravadoI1 + MontoGravadoI2 + MontoGravadoI3',
    absent: 'zero',
    expected: (view) => (hasBreakdown(view) ? [taxedParts(view)] : []),
  }),
  sumRule({
    name: 'business.itbis-18',
    code: '11014',
    appliesTo: WITH_ITBIS,
    source: observed(format('21')),
    since: FORMAT_SINCE,
    summary: 'TotalITBIS1 is 18 % of MontoGravadoI1 and of the selective taxes 006 to 039.',
    field: 'TotalITBIS1',
    made: '18 % of MontoGravadoI1 and selective taxes',
    absent: 'zero',
    expected: (view) => {
      const base = view.total('MontoGravadoI1');
      if (base === null && (view.total('TotalITBIS1') === null || !hasBreakdown(view))) return [];
      return [(base ?? Decimal.ZERO).plus(selectiveTaxes(view)).times(ITBIS_RATES['1'])];
    },
  }),
  sumRule({
    name: 'business.itbis-16',
    code: '11034',
    appliesTo: WITH_ITBIS,
    source: observed(format('21')),
    since: FORMAT_SINCE,
    summary: 'TotalITBIS2 is 16 % of MontoGravadoI2.',
    field: 'TotalITBIS2',
    made: '16 % of MontoGravadoI2',
    absent: 'zero',
    expected: (view) => {
      const base = view.total('MontoGravadoI2');
      if (base === null && (view.total('TotalITBIS2') === null || !hasBreakdown(view))) return [];
      return [(base ?? Decimal.ZERO).times(ITBIS_RATES['2'])];
    },
  }),
  sumRule({
    name: 'business.itbis-0',
    code: null,
    appliesTo: WITH_TAXED,
    source: format('21'),
    since: FORMAT_SINCE,
    summary: 'TotalITBIS3 is zero.',
    field: 'TotalITBIS3',
    made: 'the rate 0 %',
    absent: 'skip',
    expected: () => [Decimal.ZERO],
  }),
  sumRule({
    name: 'business.itbis-total',
    code: null,
    appliesTo: WITH_TAXED,
    source: format('21'),
    since: FORMAT_SINCE,
    summary: 'TotalITBIS is TotalITBIS1 + 2 + 3.',
    field: 'TotalITBIS',
    made: 'TotalITBIS1 + TotalITBIS2 + TotalITBIS3',
    absent: 'zero',
    expected: (view) => [itbisParts(view)],
  }),
  sumRule({
    name: 'business.additional-tax-total',
    code: null,
    appliesTo: WITH_ADDITIONAL,
    source: format('21'),
    since: FORMAT_SINCE,
    summary: 'MontoImpuestoAdicional is the sum of all additional taxes.',
    field: 'MontoImpuestoAdicional',
    made: 'the sum of ImpuestosAdicionales',
    absent: 'zero',
    expected: (view) => [additionalTaxes(view)],
  }),
  sumRule({ ...totalAmount('business.total-amount', '11105'), appliesTo: ECF_TYPES }),
  sumRule({ ...totalAmount('business.summary-total-amount', '3205'), appliesTo: ['RFCE'] }),
  sumRule({
    name: 'business.period-amount',
    code: '11123',
    appliesTo: [...ECF_TYPES, 'RFCE'],
    source: observed(format('26')),
    since: FORMAT_SINCE,
    summary: 'MontoPeriodo is MontoTotal + MontoNoFacturable.',
    field: 'MontoPeriodo',
    made: 'MontoTotal + MontoNoFacturable',
    absent: 'skip',
    expected: (view) => {
      const total = view.total('MontoTotal');
      return total === null ? [] : [total.plus(view.totalOrZero('MontoNoFacturable'))];
    },
  }),
];

const RATES = [
  { name: 'ITBIS1', rate: Decimal.of('18'), base: 'MontoGravadoI1' },
  { name: 'ITBIS2', rate: Decimal.of('16'), base: 'MontoGravadoI2' },
  { name: 'ITBIS3', rate: Decimal.ZERO, base: 'MontoGravadoI3' },
];

function totalAmount(name: 'business.total-amount' | 'business.summary-total-amount', code: string) {
  return {
    name,
    code,
    source: observed(format('25')),
    since: FORMAT_SINCE,
    summary: 'MontoTotal is MontoGravadoTotal + MontoExento + TotalITBIS + MontoImpuestoAdicional.',
    field: 'MontoTotal',
    made: 'MontoGravadoTotal + MontoExento + TotalITBIS + MontoImpuestoAdicional',
    absent: 'skip' as const,
    expected: (view: TotalsView) => [
      sum([
        view.total('MontoGravadoTotal') ?? taxedParts(view),
        view.totalOrZero('MontoExento'),
        view.total('TotalITBIS') ?? itbisParts(view),
        view.total('MontoImpuestoAdicional') ?? additionalTaxes(view),
      ]),
    ],
  };
}

const BREAKDOWN = ['MontoGravadoI1', 'MontoGravadoI2', 'MontoGravadoI3'];

function hasBreakdown(view: TotalsView): boolean {
  for (const name of BREAKDOWN) if (view.total(name) !== null) return true;
  return false;
}

function lacksBreakdown(view: TotalsView): boolean {
  return view.totalOrZero('MontoGravadoTotal').sign() > 0 && !hasBreakdown(view);
}

function taxedParts(view: TotalsView): Decimal {
  return totalOf(view, BREAKDOWN);
}

function itbisParts(view: TotalsView): Decimal {
  return totalOf(view, ITBIS_PARTS);
}

const ITBIS_PARTS = ['TotalITBIS1', 'TotalITBIS2', 'TotalITBIS3'];

function totalOf(view: TotalsView, names: readonly string[]): Decimal {
  let total = Decimal.ZERO;
  for (const name of names) total = total.plus(view.totalOrZero(name));
  return total;
}

const TAX_AMOUNTS = [
  'MontoImpuestoSelectivoConsumoEspecifico',
  'MontoImpuestoSelectivoConsumoAdvalorem',
  'OtrosImpuestosAdicionales',
];

function additionalTaxes(view: TotalsView): Decimal {
  return taxAmounts(view, () => true);
}

/** Selective consumption taxes, which belong to the base of ITBIS. Source: Formato e-CF v1.0 p.21. */
function selectiveTaxes(view: TotalsView): Decimal {
  return taxAmounts(view, (code) => code !== null && code >= '006' && code <= '039');
}

function taxAmounts(view: TotalsView, counts: (code: string | null) => boolean): Decimal {
  let total = Decimal.ZERO;
  for (const tax of view.taxes) {
    if (!counts(textOf(tax, 'TipoImpuesto'))) continue;
    for (const name of TAX_AMOUNTS) total = total.plus(decimalOf(tax, name) ?? Decimal.ZERO);
  }
  return total;
}

import { Decimal } from '../../amounts/decimal.js';
import { textOf } from '../../document/document-tree.js';
import type { DocumentKind, DocumentRule, Report } from '../rule.js';
import {
  FORMAT_SINCE,
  format,
  OBSERVED_SINCE,
  observed,
  REPORT_SINCE,
  rejectedWith,
  report as technicalReport,
} from '../sources.js';
import { isWithin } from '../sum-rule.js';
import { additionalTaxAmounts, declaredTaxes } from './additional-tax-amounts.js';
import { decimalOf, type EcfView } from './ecf-view.js';
import { isBulk } from './line-rules.js';

const ENTRY = 'ECF.Encabezado.Totales.ImpuestosAdicionales.ImpuestoAdicional';
const WITH_ADDITIONAL: readonly DocumentKind[] = ['31', '32', '33', '34', '44', '45'];
const WITH_SELECTIVE: readonly DocumentKind[] = ['31', '32', '33', '34', '45'];

/** Additional taxes (ImpuestosAdicionales) against the lines that carry them. */
export const ADDITIONAL_TAX_RULES: readonly DocumentRule<EcfView>[] = [
  {
    name: 'business.special-regime-taxes',
    code: null,
    appliesTo: ['44'],
    verdict: 'warns',
    source: `${format('21')}-24`,
    since: FORMAT_SINCE,
    summary: 'A type 44 carries only the additional taxes 001 to 005.',
    check(ecf, report) {
      ecf.taxes.forEach((tax, index) => {
        const code = textOf(tax, 'TipoImpuesto');
        if (code !== null && code > '005') {
          report(`${ENTRY}[${index + 1}].TipoImpuesto`, `a type 44 carries only the taxes 001 to 005, not ${code}`);
        }
      });
      for (const line of ecf.lines) {
        line.taxes.forEach((code, index) => {
          if (code > '005') {
            report(
              line.path(`TablaImpuestoAdicional.ImpuestoAdicional[${index + 1}].TipoImpuesto`),
              `a type 44 carries only the taxes 001 to 005, not ${code}`,
            );
          }
        });
      }
    },
  },
  {
    name: 'business.ad-valorem-without-specific',
    code: null,
    appliesTo: WITH_SELECTIVE,
    verdict: 'warns',
    source: `${format('22')} fn.23, 23 fn.24`,
    since: FORMAT_SINCE,
    summary:
      'An ad valorem tax (023 to 039) comes with the amount of its specific tax (006 to 022), unless sold in bulk.',
    check(ecf, report) {
      for (const [adValorem, specific, goods] of PAIRS) {
        const index = ecf.taxes.findIndex((tax) => isAmong(tax, adValorem));
        if (index < 0 || ecf.taxes.some((tax) => isAmong(tax, specific) && hasSpecificAmount(tax))) continue;
        const carriers = ecf.lines.filter((line) => line.taxes.some((code) => within(code, adValorem)));
        if (carriers.length > 0 && carriers.every(isBulk)) continue;
        report(
          `${ENTRY}[${index + 1}].TipoImpuesto`,
          `the ad valorem tax on ${goods} needs MontoImpuestoSelectivoConsumoEspecifico of a code ${specific[0]} to ${specific[1]}`,
        );
      }
    },
  },
  {
    name: 'business.additional-tax-detail',
    code: '0',
    appliesTo: WITH_ADDITIONAL,
    verdict: 'rejects',
    evidence: rejectedWith('0', 'OtrosImpuestosAdicionales para el Tipo de Impuesto'),
    source: observed(`${format('22')}-24, 42`),
    since: OBSERVED_SINCE,
    summary:
      'OtrosImpuestosAdicionales of a tax 001 to 005 agrees with the lines that carry it, if there are no global discounts or surcharges.',
    check(ecf, report) {
      if (!isPlain(ecf)) return;
      compare(ecf, report, (code) => code <= '005');
    },
  },
  {
    name: 'business.additional-tax-rate',
    code: null,
    appliesTo: WITH_ADDITIONAL,
    verdict: 'warns',
    source: `${format('22')}-24`,
    since: FORMAT_SINCE,
    summary:
      'TasaImpuestoAdicional is the rate of its tax: 001 10, 002 2, 003 16, 004 10, 005 17, 023 to 035 10, 036 to 039 20; those of 006 to 022 change each quarter.',
    check(ecf, report) {
      ecf.taxes.forEach((tax, index) => {
        const code = textOf(tax, 'TipoImpuesto');
        const rate = decimalOf(tax, 'TasaImpuestoAdicional');
        const official = code === null ? undefined : fixedRate(code);
        if (rate !== null && official !== undefined && !rate.equals(official)) {
          report(
            `${ENTRY}[${index + 1}].TasaImpuestoAdicional`,
            `TasaImpuestoAdicional is ${rate.toFixed(2)}, but the rate of tax ${code} is ${official.toFixed(2)}`,
          );
        }
      });
    },
  },
  {
    name: 'business.additional-tax-amount',
    code: null,
    appliesTo: WITH_ADDITIONAL,
    verdict: 'warns',
    source: `${format('22')}-24; ${technicalReport('23')}-30`,
    since: REPORT_SINCE,
    summary:
      'The amount of a selective tax, or of any additional tax where there are global discounts or surcharges, follows from the lines that carry it.',
    check(ecf, report) {
      if (ecf.correctsText || ecf.allInclusive || ecf.lines.length === 0) return;
      const plain = isPlain(ecf);
      compare(ecf, report, (code) => code > '005' || !plain);
    },
  },
];

/** True if the document determines how its taxes 001 to 005 are computed. */
function isPlain(ecf: EcfView): boolean {
  return !ecf.correctsText && !ecf.allInclusive && ecf.adjustments.length === 0 && ecf.lines.length > 0;
}

/** Compares the declared amounts of some taxes with what the lines give, a tax on no line giving nothing. */
function compare(ecf: EcfView, report: Report, counts: (code: string) => boolean): void {
  if (ecf.taxes.length === 0) return;
  const expected = additionalTaxAmounts(ecf);
  for (const [code, { amount, field, position }] of declaredTaxes(ecf)) {
    if (!counts(code)) continue;
    const amounts = expected.get(code) ?? (isCarried(ecf, code) ? [] : [Decimal.ZERO]);
    if (amounts.length === 0 || amounts.some((candidate) => isWithin(amount, candidate, ecf.tolerance))) continue;
    report(
      `${ENTRY}[${position}].${field}`,
      `${field} of tax ${code} is ${amount.toFixed(2)}; expected ${amounts[0]!.toFixed(2)}, computed from the lines (tolerance ${ecf.tolerance.toFixed(2)})`,
    );
  }
}

function isCarried(ecf: EcfView, code: string): boolean {
  return ecf.lines.some((line) => line.taxes.includes(code));
}

type Range = readonly [first: string, last: string];

const PAIRS: readonly (readonly [adValorem: Range, specific: Range, goods: string])[] = [
  [['023', '035'], ['006', '018'], 'alcohol'],
  [['036', '039'], ['019', '022'], 'cigarettes'],
];

const [TEN, TWENTY] = [Decimal.of('10'), Decimal.of('20')];

const RATES: Readonly<Record<string, Decimal>> = {
  '001': TEN,
  '002': Decimal.of('2'),
  '003': Decimal.of('16'),
  '004': TEN,
  '005': Decimal.of('17'),
};

function fixedRate(code: string): Decimal | undefined {
  if (code >= '036' && code <= '039') return TWENTY;
  return code >= '023' && code <= '035' ? TEN : RATES[code];
}

function within(code: string, [first, last]: Range): boolean {
  return code >= first && code <= last;
}

function isAmong(tax: Parameters<typeof textOf>[0], range: Range): boolean {
  const code = textOf(tax, 'TipoImpuesto');
  return code !== null && within(code, range);
}

function hasSpecificAmount(tax: Parameters<typeof textOf>[0]): boolean {
  return textOf(tax, 'MontoImpuestoSelectivoConsumoEspecifico') !== null;
}

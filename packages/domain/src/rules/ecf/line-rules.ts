import { Decimal } from '../../amounts/decimal.js';
import { integerOf, textOf } from '../../document/document-tree.js';
import { ECF_TYPES } from '../../identifiers.js';
import type { BusinessRule, DocumentRule, Report } from '../rule.js';
import {
  FORMAT_SINCE,
  format,
  OBSERVED_SINCE,
  observed,
  REPORT_SINCE,
  rejectedWith,
  report as technicalReport,
} from '../sources.js';
import { decimalOf, type EcfView, type Line } from './ecf-view.js';

/** A rule over one line of detail. */
export interface LineRule extends BusinessRule {
  checkLine(line: Line, ecf: EcfView, report: Report): void;
}

/** Official tolerance of a line. Source: Informe Técnico e-CF p.21. */
export const LINE_TOLERANCE = Decimal.of('1.00');

/** Rules over all lines of detail together. */
export const LINE_NUMBER_RULES: readonly DocumentRule<EcfView>[] = [
  {
    name: 'business.line-number-repeated',
    code: null,
    appliesTo: ECF_TYPES,
    verdict: 'warns',
    source: format('35'),
    since: FORMAT_SINCE,
    summary: 'Each NumeroLinea appears once.',
    check(ecf, report) {
      const seen = new Set<string>();
      for (const line of ecf.lines) {
        const number = integerOf(line.node, 'NumeroLinea');
        if (number === null) continue;
        if (seen.has(number)) report(line.path('NumeroLinea'), `NumeroLinea ${number} appears in an earlier line too`);
        seen.add(number);
      }
    },
  },
];

export const LINE_RULES: readonly LineRule[] = [
  indicatorRule('business.exempt-lines-only', '244', ['43', '47'], ['4'], observed(`${format('36')} fn.50`)),
  indicatorRule('business.special-regime-exempt-lines', null, ['44'], ['4', '0'], `${format('36')} fn.50`),
  indicatorRule('business.export-zero-rate-lines', null, ['46'], ['3', '0'], `${format('36')} fn.51`),
  {
    name: 'business.services-only',
    code: '294',
    appliesTo: ['47'],
    verdict: 'rejects',
    evidence: rejectedWith('294'),
    source: observed(`${format('37')} fn.54`),
    since: FORMAT_SINCE,
    summary: 'Lines of a type 47 are services (IndicadorBienoServicio 2).',
    checkLine(line, _ecf, report) {
      if (integerOf(line.node, 'IndicadorBienoServicio') === '1') {
        report(line.path('IndicadorBienoServicio'), 'a type 47 is for services: IndicadorBienoServicio must be 2');
      }
    },
  },
  {
    name: 'business.isr-withheld-services-only',
    code: null,
    appliesTo: ['41'],
    verdict: 'warns',
    source: format('36'),
    since: FORMAT_SINCE,
    summary:
      'A line of a type 41 withholds income tax (MontoISRRetenido) only where it is a service (IndicadorBienoServicio 2).',
    checkLine(line, _ecf, report) {
      if (line.withholding === null || integerOf(line.node, 'IndicadorBienoServicio') !== '1') return;
      const withheld = decimalOf(line.withholding, 'MontoISRRetenido');
      if (withheld !== null && !withheld.isZero()) {
        report(
          line.path('Retencion.MontoISRRetenido'),
          'income tax is withheld on services alone, and this line is a good (IndicadorBienoServicio 1)',
        );
      }
    },
  },
  {
    name: 'business.itbis-withheld-required',
    code: '260',
    appliesTo: ['31', '33', '34', '41'],
    verdict: 'rejects',
    evidence: rejectedWith('260'),
    source: observed(`${format('36')} fn.53`),
    since: FORMAT_SINCE,
    summary: 'A line with IndicadorAgenteRetencionoPercepcion 1 says MontoITBISRetenido, 0 when it is exempt.',
    checkLine(line, _ecf, report) {
      if (isWithheld(line) && textOf(line.withholding, 'MontoITBISRetenido') === null) {
        report(
          line.path('Retencion.MontoITBISRetenido'),
          'MontoITBISRetenido is needed where ITBIS is withheld, 0.00 for an exempt line',
        );
      }
    },
  },
  {
    name: 'business.line-amount',
    code: null,
    appliesTo: ECF_TYPES,
    verdict: 'warns',
    source: `${format('44')}; ${technicalReport('21')}: tolerance 1.00 a line`,
    since: REPORT_SINCE,
    summary: 'MontoItem is PrecioUnitarioItem × CantidadItem − DescuentoMonto + RecargoMonto, within 1.00.',
    checkLine(line, ecf, report) {
      if (ecf.correctsText || line.amount === null) return;
      const expected = amountOf(line);
      if (expected === null || line.amount.equals(expected)) return;
      const rounded = expected.round(2);
      if (line.amount.minus(rounded).abs().compare(LINE_TOLERANCE) > 0) {
        report(
          line.path('MontoItem'),
          `MontoItem is ${line.amount.toFixed(2)}; expected ${rounded.toFixed(2)}: price × quantity − discount + surcharge`,
        );
      }
    },
  },
  {
    name: 'business.subquantity-required',
    code: '2150',
    appliesTo: ['31', '32', '33', '34', '45'],
    verdict: 'rejects',
    evidence: rejectedWith('2150'),
    source: observed(`${format('37')}-39`),
    since: OBSERVED_SINCE,
    summary: 'A line with a specific tax on alcohol (006 to 018) has TablaSubcantidad, unless it is sold in bulk.',
    checkLine(line, _ecf, report) {
      if (line.node.TablaSubcantidad === undefined && !isBulk(line) && line.taxes.some(isAlcoholSpecific)) {
        report(line.path('TablaSubcantidad'), 'the specific tax on alcohol needs TablaSubcantidad');
      }
    },
  },
  {
    name: 'business.selective-tax-data',
    code: null,
    appliesTo: ['31', '32', '33', '34', '45'],
    verdict: 'warns',
    source: `${format('37')}-39`,
    since: FORMAT_SINCE,
    summary:
      'A line with a selective tax says what the tax is computed from: CantidadReferencia, GradosAlcohol (006 to 018), PrecioUnitarioReferencia (023 to 039), unless alcohol is sold in bulk.',
    checkLine(line, _ecf, report) {
      for (const code of line.taxes) {
        if (code < '006' || code > '039' || (isBulk(line) && !isCigarettes(code))) continue;
        for (const name of selectiveTaxData(code)) {
          if (line.node[name] === undefined) report(line.path(name), `the tax ${code} is computed from ${name}`);
        }
      }
    },
  },
];

/** PrecioUnitarioItem × CantidadItem − DescuentoMonto + RecargoMonto, not rounded; null without price or quantity. */
export function amountOf(line: Line): Decimal | null {
  const price = line.decimal('PrecioUnitarioItem');
  const quantity = line.decimal('CantidadItem');
  if (price === null || quantity === null) return null;
  let amount = price.times(quantity);
  if (line.node.DescuentoMonto !== undefined) amount = amount.minus(line.decimal('DescuentoMonto') ?? Decimal.ZERO);
  if (line.node.RecargoMonto !== undefined) amount = amount.plus(line.decimal('RecargoMonto') ?? Decimal.ZERO);
  return amount;
}

function selectiveTaxData(code: string): readonly string[] {
  if (code >= '023') return ['CantidadReferencia', 'PrecioUnitarioReferencia'];
  return isAlcoholSpecific(code) ? ['CantidadReferencia', 'GradosAlcohol'] : ['CantidadReferencia'];
}

/** Codes 019 to 022 (specific) and 036 to 039 (ad valorem). */
function isCigarettes(code: string): boolean {
  return (code >= '019' && code <= '022') || code >= '036';
}

/** IndicadorAgenteRetencionoPercepcion 1 (withholding). */
export function isWithheld(line: Line): boolean {
  return line.withholding !== null && integerOf(line.withholding, 'IndicadorAgenteRetencionoPercepcion') === '1';
}

/** UnidadMedida 18, sold in bulk (granel). */
export function isBulk(line: Line): boolean {
  return integerOf(line.node, 'UnidadMedida') === '18';
}

/** Codes 006 to 018: specific tax on alcohol. */
export function isAlcoholSpecific(code: string): boolean {
  return code >= '006' && code <= '018';
}

function indicatorRule(
  name: BusinessRule['name'],
  code: string | null,
  appliesTo: BusinessRule['appliesTo'],
  allowed: readonly string[],
  source: string,
): LineRule {
  const list = allowed.join(' or ');
  return {
    name,
    code,
    appliesTo,
    ...(code === null ? { verdict: 'warns' } : { verdict: 'rejects', evidence: rejectedWith(code) }),
    source,
    since: FORMAT_SINCE,
    summary: `Lines of type ${appliesTo.join(' and ')} have IndicadorFacturacion ${list}.`,
    checkLine(line, ecf, report) {
      if (line.indicator !== null && !allowed.includes(line.indicator)) {
        report(
          line.path('IndicadorFacturacion'),
          `IndicadorFacturacion is ${line.indicator}, a type ${ecf.type} allows ${list} only`,
        );
      }
    },
  };
}

import type { Decimal } from '../../amounts/decimal.js';
import { type DocumentNode, groupOf, groupsOf, textOf } from '../../document/document-tree.js';
import { ECF_TYPES } from '../../identifiers.js';
import type { DocumentRule, Report } from '../rule.js';
import { FORMAT_SINCE, format, REPORT_SINCE, report as technicalReport } from '../sources.js';
import { isWithin } from '../sum-rule.js';
import { decimalOf, type EcfView } from './ecf-view.js';
import { LINE_TOLERANCE } from './line-rules.js';

const HEADER = 'ECF.Encabezado.OtraMoneda';

/** Amounts in another currency: the DOP amount divided by the rate. */
export const CURRENCY_RULES: readonly DocumentRule<EcfView>[] = [
  {
    name: 'business.currency-required',
    code: null,
    appliesTo: ECF_TYPES,
    verdict: 'warns',
    source: `${format('27')}-28`,
    since: FORMAT_SINCE,
    summary: 'OtraMoneda has TipoMoneda and TipoCambio.',
    check(ecf, report) {
      if (ecf.otherCurrency === null) return;
      for (const name of ['TipoMoneda', 'TipoCambio']) {
        if (textOf(ecf.otherCurrency, name) === null) report(`${HEADER}.${name}`, `OtraMoneda needs ${name}`);
      }
    },
  },
  {
    name: 'business.currency-without-header',
    code: null,
    appliesTo: ECF_TYPES,
    verdict: 'warns',
    source: `${format('27')}-28, 43, 48-49`,
    since: FORMAT_SINCE,
    summary:
      'Amounts in another currency, other than zero, on lines or global adjustments come with Encabezado.OtraMoneda.',
    check(ecf, report) {
      if (ecf.otherCurrency !== null || ecf.root === null) return;
      const line = ecf.lines.find(({ node }) => {
        const detail = groupOf(node, 'OtraMonedaDetalle');
        return detail !== null && DETAIL.some(([name]) => isAmount(detail, name));
      });
      const entry = ecf.adjustments.find(({ node }) => isAmount(node, 'MontoDescuentooRecargoOtraMoneda'));
      if (line)
        report(
          line.path('OtraMonedaDetalle'),
          'amounts in another currency need Encabezado.OtraMoneda with TipoMoneda and TipoCambio',
        );
      if (entry) {
        report(
          `ECF.DescuentosORecargos.DescuentoORecargo[${entry.position}].MontoDescuentooRecargoOtraMoneda`,
          'amounts in another currency need Encabezado.OtraMoneda with TipoMoneda and TipoCambio',
        );
      }
    },
  },
  {
    name: 'business.currency-amount',
    code: null,
    appliesTo: ECF_TYPES,
    verdict: 'warns',
    source: `${format('28')}-33, 43; ${technicalReport('26')}`,
    since: REPORT_SINCE,
    summary: 'An amount in another currency is the DOP amount divided by TipoCambio, rounded to two decimals.',
    check(ecf, report) {
      const rate = decimalOf(ecf.otherCurrency, 'TipoCambio');
      if (rate === null || rate.sign() <= 0) return;
      const converted = { rate, tolerance: ecf.tolerance, report };
      for (const [name, dop] of TOTALS) compare(converted, HEADER, ecf.otherCurrency, name, ecf.total(dop), dop);
      compareTaxes(ecf, converted);
      const onLine = { rate, tolerance: LINE_TOLERANCE, report };
      for (const line of ecf.lines) {
        const detail = groupOf(line.node, 'OtraMonedaDetalle');
        if (detail === null) continue;
        for (const [name, dop] of DETAIL) {
          if (detail[name] === undefined) continue;
          compare(onLine, line.path('OtraMonedaDetalle'), detail, name, line.decimal(dop), dop);
        }
      }
      for (const { node, position } of ecf.adjustments) {
        const path = `ECF.DescuentosORecargos.DescuentoORecargo[${position}]`;
        const amount = decimalOf(node, 'MontoDescuentooRecargo');
        compare(onLine, path, node, 'MontoDescuentooRecargoOtraMoneda', amount, 'MontoDescuentooRecargo');
      }
    },
  },
];

function isAmount(node: DocumentNode, name: string): boolean {
  return (decimalOf(node, name)?.sign() ?? 0) > 0;
}

type Pairs = readonly (readonly [name: string, dop: string])[];

const TOTALS: Pairs = [
  ['MontoGravadoTotalOtraMoneda', 'MontoGravadoTotal'],
  ['MontoGravado1OtraMoneda', 'MontoGravadoI1'],
  ['MontoGravado2OtraMoneda', 'MontoGravadoI2'],
  ['MontoGravado3OtraMoneda', 'MontoGravadoI3'],
  ['MontoExentoOtraMoneda', 'MontoExento'],
  ['TotalITBISOtraMoneda', 'TotalITBIS'],
  ['TotalITBIS1OtraMoneda', 'TotalITBIS1'],
  ['TotalITBIS2OtraMoneda', 'TotalITBIS2'],
  ['TotalITBIS3OtraMoneda', 'TotalITBIS3'],
  ['MontoImpuestoAdicionalOtraMoneda', 'MontoImpuestoAdicional'],
  ['MontoTotalOtraMoneda', 'MontoTotal'],
];

const DETAIL: Pairs = [
  ['PrecioOtraMoneda', 'PrecioUnitarioItem'],
  ['DescuentoOtraMoneda', 'DescuentoMonto'],
  ['RecargoOtraMoneda', 'RecargoMonto'],
  ['MontoItemOtraMoneda', 'MontoItem'],
];

const TAXES: Pairs = [
  ['MontoImpuestoSelectivoConsumoEspecificoOtraMoneda', 'MontoImpuestoSelectivoConsumoEspecifico'],
  ['MontoImpuestoSelectivoConsumoAdvaloremOtraMoneda', 'MontoImpuestoSelectivoConsumoAdvalorem'],
  ['OtrosImpuestosAdicionalesOtraMoneda', 'OtrosImpuestosAdicionales'],
];

interface Conversion {
  rate: Decimal;
  tolerance: Decimal;
  report: Report;
}

function compare(
  { rate, tolerance, report }: Conversion,
  path: string,
  node: DocumentNode | null,
  name: string,
  dop: Decimal | null,
  dopName: string,
): void {
  const declared = decimalOf(node, name);
  if (declared === null || dop === null) return;
  const expected = dop.dividedBy(rate);
  if (isWithin(declared, expected, tolerance)) return;
  report(
    `${path}.${name}`,
    `${name} is ${declared.toFixed(2)}; expected ${expected.toFixed(2)}: ${dopName} ${dop.toFixed(2)} / ${rate.toFixed(4)}`,
  );
}

/** Taxes in another currency belong to the DOP entry with the same code; a repeated code is not checked. */
function compareTaxes(ecf: EcfView, conversion: Conversion): void {
  const group = groupOf(ecf.otherCurrency, 'ImpuestosAdicionalesOtraMoneda');
  groupsOf(group, 'ImpuestoAdicionalOtraMoneda').forEach((tax, index) => {
    const code = textOf(tax, 'TipoImpuestoOtraMoneda');
    const same = ecf.taxes.filter((entry) => code !== null && textOf(entry, 'TipoImpuesto') === code);
    if (same.length !== 1) return;
    const path = `${HEADER}.ImpuestosAdicionalesOtraMoneda.ImpuestoAdicionalOtraMoneda[${index + 1}]`;
    for (const [name, dop] of TAXES) compare(conversion, path, tax, name, decimalOf(same[0]!, dop), dop);
  });
}

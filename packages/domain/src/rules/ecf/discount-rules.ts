import { Decimal } from '../../amounts/decimal.js';
import { type DocumentNode, groupOf, groupsOf, textOf } from '../../document/document-tree.js';
import type { DocumentKind, DocumentRule } from '../rule.js';
import { FORMAT_SINCE, format, OBSERVED_SINCE, observed, rejectedWith } from '../sources.js';
import { decimalOf, type EcfView, type Line } from './ecf-view.js';
import { LINE_TOLERANCE, type LineRule } from './line-rules.js';

const WITH_TABLES: readonly DocumentKind[] = ['31', '32', '33', '34', '41', '44', '45', '46'];

interface TableNames {
  amount: string;
  table: string;
  entry: string;
  kind: string;
  percentage: string;
  entryAmount: string;
}

const DISCOUNT: TableNames = {
  amount: 'DescuentoMonto',
  table: 'TablaSubDescuento',
  entry: 'SubDescuento',
  kind: 'TipoSubDescuento',
  percentage: 'SubDescuentoPorcentaje',
  entryAmount: 'MontoSubDescuento',
};

const SURCHARGE: TableNames = {
  amount: 'RecargoMonto',
  table: 'TablaSubRecargo',
  entry: 'SubRecargo',
  kind: 'TipoSubRecargo',
  percentage: 'SubRecargoPorcentaje',
  entryAmount: 'MontoSubRecargo',
};

/** Discounts and surcharges of a line: amount, table and entries agree. */
export const LINE_DISCOUNT_RULES: readonly LineRule[] = [
  tableRule('business.line-discount-table', '2020', DISCOUNT),
  tableRule('business.line-surcharge-table', '2030', SURCHARGE),
  percentageRule('business.line-discount-percentage', DISCOUNT),
  percentageRule('business.line-surcharge-percentage', SURCHARGE),
];

/** Global discounts and surcharges (DescuentosORecargos). */
export const ADJUSTMENT_RULES: readonly DocumentRule<EcfView>[] = [
  {
    name: 'business.adjustment-amount-required',
    code: null,
    appliesTo: WITH_TABLES,
    verdict: 'warns',
    source: `${format('48')}-49`,
    since: FORMAT_SINCE,
    summary: 'A global discount or surcharge has MontoDescuentooRecargo, also when it is a percentage.',
    check(ecf, report) {
      for (const { node, position } of ecf.adjustments) {
        if (textOf(node, 'MontoDescuentooRecargo') === null) {
          report(
            adjustmentPath(position, 'MontoDescuentooRecargo'),
            'MontoDescuentooRecargo is required, also for a percentage',
          );
        }
      }
    },
  },
  {
    name: 'business.adjustment-percentage',
    code: null,
    appliesTo: ['31', '32', '33', '34', '44', '45'],
    verdict: 'warns',
    source: `${format('48')}-49`,
    since: FORMAT_SINCE,
    summary:
      'Where lines carry different additional taxes, a global discount or surcharge is a percentage (TipoValor %).',
    check(ecf, report) {
      if (ecf.adjustments.length === 0) return;
      const taxed = new Set<string>();
      for (const line of ecf.lines) if (line.taxes.length > 0) taxed.add([...line.taxes].sort().join(' '));
      if (taxed.size < 2) return;
      for (const { node, position } of ecf.adjustments) {
        if (textOf(node, 'TipoValor') === '$') {
          report(
            adjustmentPath(position, 'TipoValor'),
            'the lines have different additional taxes, so TipoValor should be %',
          );
        }
      }
    },
  },
  {
    name: 'business.norma-1007-tax-included',
    code: null,
    appliesTo: ['31', '32', '33', '34', '45'],
    verdict: 'warns',
    source: `${format('19')}, 24`,
    since: FORMAT_SINCE,
    summary: 'A discount under Norma 10-07 (IndicadorNorma1007 1) goes with IndicadorMontoGravado 1.',
    check(ecf, report) {
      if (!ecf.norma1007 || ecf.taxIncluded || ecf.idDoc === null) return;
      report(
        'ECF.Encabezado.IdDoc.IndicadorMontoGravado',
        'IndicadorNorma1007 is 1, so IndicadorMontoGravado must be 1',
      );
    },
  },
];

function adjustmentPath(position: number, element: string): string {
  return `ECF.DescuentosORecargos.DescuentoORecargo[${position}].${element}`;
}

function entries(line: Line, names: TableNames): DocumentNode[] {
  return groupsOf(groupOf(line.node, names.table), names.entry);
}

function tableRule(name: LineRule['name'], code: string, names: TableNames): LineRule {
  return {
    name,
    code,
    appliesTo: WITH_TABLES,
    verdict: 'rejects',
    evidence: rejectedWith(code),
    source: observed(`${format('41')}-42`),
    since: OBSERVED_SINCE,
    summary: `${names.amount} and ${names.table} appear together, and ${names.amount} is the sum of ${names.entryAmount}.`,
    checkLine(line, _ecf, report) {
      if (line.node[names.amount] === undefined && line.node[names.table] === undefined) return;
      const declared = line.decimal(names.amount) ?? Decimal.ZERO;
      if (line.node[names.table] === undefined) {
        if (!declared.isZero()) report(line.path(names.table), `${names.amount} needs ${names.table}`);
        return;
      }
      let total = Decimal.ZERO;
      for (const entry of entries(line, names)) {
        const amount = decimalOf(entry, names.entryAmount);
        // It is optional; without it the entries have no sum.
        if (amount === null) return;
        total = total.plus(amount);
      }
      if (declared.minus(total).abs().compare(LINE_TOLERANCE) > 0) {
        report(
          line.path(names.amount),
          `${names.amount} is ${declared.toFixed(2)}, but the entries of ${names.table} add up to ${total.toFixed(2)}`,
        );
      }
    },
  };
}

function percentageRule(name: LineRule['name'], names: TableNames): LineRule {
  const hundred = Decimal.of('100');
  return {
    name,
    code: null,
    appliesTo: WITH_TABLES,
    verdict: 'warns',
    source: `${format('41')}-42`,
    since: FORMAT_SINCE,
    summary: `A percentage entry of ${names.table} amounts to price × quantity × percentage, within 1.00.`,
    checkLine(line, _ecf, report) {
      if (line.node[names.table] === undefined) return;
      const price = line.decimal('PrecioUnitarioItem');
      const quantity = line.decimal('CantidadItem');
      if (price === null || quantity === null) return;
      entries(line, names).forEach((entry, index) => {
        const percentage = decimalOf(entry, names.percentage);
        const declared = decimalOf(entry, names.entryAmount);
        if (textOf(entry, names.kind) !== '%' || percentage === null || declared === null) return;
        const expected = price.times(quantity).times(percentage).dividedBy(hundred).round(2);
        if (declared.minus(expected).abs().compare(LINE_TOLERANCE) > 0) {
          report(
            line.path(`${names.table}.${names.entry}[${index + 1}].${names.entryAmount}`),
            `${names.entryAmount} is ${declared.toFixed(2)}; expected ${expected.toFixed(2)}: ${percentage.toFixed(2)} %`,
          );
        }
      });
    },
  };
}

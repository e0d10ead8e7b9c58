import { Decimal } from '../../amounts/decimal.js';
import { type DocumentNode, groupOf, groupsOf, integerOf, textOf } from '../../document/document-tree.js';
import { type EcfType, isEcfType } from '../../identifiers.js';
import type { TotalsView } from '../sum-rule.js';

/**
 * A line of DetallesItems with its amounts read. A value that is absent or unreadable is null: structure is checked
 * elsewhere.
 */
export class Line {
  readonly indicator: string | null;
  readonly amount: Decimal | null;
  readonly withholding: DocumentNode | null;
  /** Codes of the additional taxes on the line. */
  readonly taxes: readonly string[];

  constructor(
    readonly node: DocumentNode,
    /** Position, from 1. */
    readonly position: number,
  ) {
    this.indicator = integerOf(node, 'IndicadorFacturacion');
    this.amount = decimalOf(node, 'MontoItem');
    this.withholding = groupOf(node, 'Retencion');
    this.taxes = node.TablaImpuestoAdicional === undefined ? NO_TAXES : taxCodes(node);
  }

  decimal(name: string): Decimal | null {
    return decimalOf(this.node, name);
  }

  path(element: string): string {
    return `ECF.DetallesItems.Item[${this.position}].${element}`;
  }
}

/** A global discount or surcharge. */
interface Adjustment {
  node: DocumentNode;
  position: number;
  /** IndicadorFacturacionDescuentooRecargo. */
  indicator: string | null;
  /** Negative for a discount. */
  amount: Decimal | null;
  /** A discount under Norma 10-07 leaves the taxable base alone and lowers what is to be paid. */
  norma1007: boolean;
}

/** An e-CF for the rules. Reads each value once, and never throws on a broken tree. */
export class EcfView implements TotalsView {
  readonly totalsPath = 'ECF.Encabezado.Totales';
  readonly root: DocumentNode | null;
  readonly idDoc: DocumentNode | null;
  readonly issuer: DocumentNode | null;
  readonly buyer: DocumentNode | null;
  readonly totals: DocumentNode | null;
  readonly otherCurrency: DocumentNode | null;
  readonly reference: DocumentNode | null;
  readonly lines: readonly Line[];
  readonly adjustments: readonly Adjustment[];
  readonly taxes: readonly DocumentNode[];
  /** TipoPago. */
  readonly paymentType: string | null;
  /** IndicadorMontoGravado 1: amounts of lines include ITBIS. */
  readonly taxIncluded: boolean;
  /** A credit note that only corrects text (CodigoModificacion 2): its amounts are not arithmetic. */
  readonly correctsText: boolean;
  readonly norma1007: boolean;
  /** IndicadorServicioTodoIncluido 1: no text says how its amounts are made up. */
  readonly allInclusive: boolean;
  /** Official tolerance of a document: 1.00 for each line of detail. Source: Informe Técnico e-CF p.21. */
  readonly tolerance: Decimal;
  private readonly amounts: ReadonlyMap<string, Decimal>;
  private sums: ReadonlyMap<string, Decimal> | null | undefined;

  constructor(
    tree: DocumentNode,
    readonly type: EcfType,
    readonly now: Date,
  ) {
    this.root = groupOf(tree, 'ECF');
    const header = groupOf(this.root, 'Encabezado');
    this.idDoc = groupOf(header, 'IdDoc');
    this.issuer = groupOf(header, 'Emisor');
    this.buyer = groupOf(header, 'Comprador');
    this.totals = groupOf(header, 'Totales');
    this.amounts = decimalsOf(this.totals);
    this.otherCurrency = groupOf(header, 'OtraMoneda');
    this.reference = groupOf(this.root, 'InformacionReferencia');
    this.lines = groupsOf(groupOf(this.root, 'DetallesItems'), 'Item').map((node, index) => new Line(node, index + 1));
    this.adjustments = groupsOf(groupOf(this.root, 'DescuentosORecargos'), 'DescuentoORecargo').map(adjustment);
    this.taxes = groupsOf(groupOf(this.totals, 'ImpuestosAdicionales'), 'ImpuestoAdicional');
    this.paymentType = integerOf(this.idDoc, 'TipoPago');
    this.taxIncluded = integerOf(this.idDoc, 'IndicadorMontoGravado') === '1';
    this.correctsText = type === '34' && integerOf(this.reference, 'CodigoModificacion') === '2';
    this.allInclusive = integerOf(this.idDoc, 'IndicadorServicioTodoIncluido') === '1';
    this.tolerance = Decimal.whole(Math.max(1, this.lines.length));
    this.norma1007 = this.adjustments.some((entry) => entry.norma1007);
  }

  /** An amount of Totales; null when absent or unreadable. */
  total(name: string): Decimal | null {
    return this.amounts.get(name) ?? null;
  }

  /** An amount of Totales, absent counting as zero. */
  totalOrZero(name: string): Decimal {
    return this.total(name) ?? Decimal.ZERO;
  }

  /** Sum of MontoItem over the lines of an IndicadorFacturacion; null when some line cannot be read. */
  lineSum(indicator: string): Decimal | null {
    if (this.sums === undefined) this.sums = sumByIndicator(this.lines);
    return this.sums === null ? null : (this.sums.get(indicator) ?? Decimal.ZERO);
  }

  /**
   * Global surcharges less discounts on an IndicadorFacturacion, without those under Norma 10-07. Null if an entry lacks its
   * target or its amount.
   */
  adjustmentSum(indicator: string): Decimal | null {
    let total = Decimal.ZERO;
    for (const entry of this.adjustments) {
      if (entry.norma1007) continue;
      if (entry.amount === null || entry.indicator === null) return null;
      if (entry.indicator === indicator) total = total.plus(entry.amount);
    }
    return total;
  }
}

/** The document's type as XSD reads it, or null when it is none of the ten. */
export function typeOf(tree: DocumentNode): EcfType | null {
  const type = integerOf(groupOf(groupOf(groupOf(tree, 'ECF'), 'Encabezado'), 'IdDoc'), 'TipoeCF');
  return isEcfType(type) ? type : null;
}

/** The decimal of a leaf; null when absent or unreadable. */
export function decimalOf(node: DocumentNode | null, name: string): Decimal | null {
  const text = textOf(node, name);
  return text === null ? null : Decimal.parse(text);
}

/** Every leaf of a group that is a decimal. */
function decimalsOf(group: DocumentNode | null): ReadonlyMap<string, Decimal> {
  const decimals = new Map<string, Decimal>();
  if (group === null) return decimals;
  for (const name in group) {
    const text = group[name];
    const decimal = typeof text === 'string' ? Decimal.parse(text) : null;
    if (decimal !== null) decimals.set(name, decimal);
  }
  return decimals;
}

function sumByIndicator(lines: readonly Line[]): ReadonlyMap<string, Decimal> | null {
  const sums = new Map<string, Decimal>();
  for (const line of lines) {
    if (line.indicator === null || line.amount === null) return null;
    const before = sums.get(line.indicator);
    sums.set(line.indicator, before ? before.plus(line.amount) : line.amount);
  }
  return sums;
}

function adjustment(node: DocumentNode, index: number): Adjustment {
  const amount = decimalOf(node, 'MontoDescuentooRecargo');
  const kind = textOf(node, 'TipoAjuste');
  return {
    node,
    position: index + 1,
    indicator: integerOf(node, 'IndicadorFacturacionDescuentooRecargo'),
    amount: amount === null || (kind !== 'D' && kind !== 'R') ? null : kind === 'D' ? amount.negated() : amount,
    norma1007: integerOf(node, 'IndicadorNorma1007') === '1',
  };
}

function taxCodes(node: DocumentNode): readonly string[] {
  const codes: string[] = [];
  for (const tax of groupsOf(groupOf(node, 'TablaImpuestoAdicional'), 'ImpuestoAdicional')) {
    const code = textOf(tax, 'TipoImpuesto');
    if (code !== null) codes.push(code);
  }
  return codes;
}

const NO_TAXES: readonly string[] = [];

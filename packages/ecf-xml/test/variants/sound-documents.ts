import { Decimal, type DocumentNode, type DocumentValue, type EcfType, groupOf, groupsOf, textOf } from '@ecf/domain';
import { type ElementRule, schemaOf } from '../../src/catalogue/element-rules.js';
import type { Random } from '../mutations/random.js';
import { goodValue } from '../mutations/sample-documents.js';

/**
 * An e-CF that its schema accepts: its optional elements are chosen by chance, what it says follows the format. Numbers,
 * dates, codes and amounts fit together as far as the elements that would show it are there.
 *
 * @param fullness how likely an optional element is, from 0 to 1
 */
export function soundDocument(type: EcfType, random: Random, fullness: number): DocumentNode {
  const { root } = schemaOf(`ecf-${type}`);
  const ecf = sample(root, { type, random, fullness }) as DocumentNode;
  writeReference(ecf, type, random);
  const items = groupsOf(groupOf(ecf, 'DetallesItems'), 'Item');
  for (const [index, item] of items.entries()) writeLine(item, index, type, random);
  writeTotals(ecf, items);
  return { ECF: ecf };
}

interface Sampling {
  type: EcfType;
  random: Random;
  fullness: number;
}

function sample(rule: ElementRule, sampling: Sampling): DocumentValue {
  const { type, random, fullness } = sampling;
  if (!rule.children) return FIXED[rule.name]?.(type, random) ?? goodValue(rule, random);
  const node: Record<string, DocumentValue> = {};
  for (const child of rule.children) {
    if (!child.required && !random.chance(fullness)) continue;
    const count = child.max === 1 ? 1 : 1 + random.below(Math.min(child.max, 3));
    const values = Array.from({ length: count }, () => sample(child, sampling)).filter(
      (value) => typeof value === 'string' || Object.keys(value).length > 0,
    );
    if (values.length > 0) node[child.name] = child.max === 1 ? values[0]! : (values as DocumentNode[]);
    // A group without content is not a document: the schema demands it, so one of its elements is written.
    else if (child.required) node[child.name] = sample(child, { ...sampling, fullness: 1 });
  }
  return node;
}

/** The rules of the format for single elements. */
const FIXED: Readonly<Record<string, (type: EcfType, random: Random) => string>> = {
  Version: () => '1.0',
  TipoeCF: (type) => type,
  eNCF: (type, random) => `E${type}${String(1 + random.below(9_999_999)).padStart(10, '0')}`,
  IndicadorNotaCredito: () => '0',
  RNCEmisor: () => '133470616',
  RNCComprador: () => '131880681',
  FechaVencimientoSecuencia: () => '31-12-2027',
  FechaEmision: () => '15-06-2026',
  FechaLimitePago: () => '15-07-2026',
  FechaDesde: () => '01-06-2026',
  FechaHasta: () => '15-06-2026',
  FechaHoraFirma: () => '15-06-2026 10:00:00',
  TipoPago: (type, random) => random.pick(type === '31' ? ['1', '2'] : ['1', '2', '3']),
  FormaPago: (_, random) => random.pick(['1', '2', '3', '4']),
  IndicadorServicioTodoIncluido: () => '1',
  IndicadorFacturacion: (type, random) => random.pick(INDICATORS[type] ?? ['0', '1', '2', '3', '4']),
  IndicadorBienoServicio: (type, random) => (type === '47' ? '2' : random.pick(['1', '2'])),
  TipoSubDescuento: () => '$',
  TipoSubRecargo: () => '$',
  MontoSubDescuento: () => '10.00',
  MontoSubRecargo: () => '5.00',
  CantidadItem: (_, random) => String(1 + random.below(9)),
  PrecioUnitarioItem: (_, random) => random.pick(['100.00', '1250.50', '90000.00', '40.25']),
  UnidadMedida: () => '43',
  TipoImpuesto: () => '004',
  TasaImpuestoAdicional: () => '10.00',
  TipoMoneda: () => 'USD',
  TipoCambio: () => '58.2500',
};

const INDICATORS: Readonly<Partial<Record<EcfType, readonly string[]>>> = {
  '43': ['4'],
  '44': ['4'],
  '46': ['3'],
  '47': ['4'],
};

/** Notes modify an earlier invoice, a type 31 refers to a consumer invoice, the others replace a paper number. */
function writeReference(ecf: DocumentNode, type: EcfType, random: Random): void {
  const reference = groupOf(ecf, 'InformacionReferencia') as Record<string, DocumentValue> | null;
  if (reference === null) return;
  const isNote = type === '33' || type === '34';
  const codes =
    type === '34' ? ['1', '2', '3', '4'] : type === '33' ? ['2', '3', '4'] : type === '31' ? ['4', '5'] : ['4'];
  const code = random.pick(codes);
  const paper = `B01${String(1 + random.below(99_999_999)).padStart(8, '0')}`;
  const modified = isNote ? random.pick(['E310000000001', 'E440000000001', 'E320000000001', paper]) : 'E320000000001';
  for (const [name, value] of [
    ['NCFModificado', code === '4' ? paper : modified],
    ['FechaNCFModificado', '01-06-2026'],
    ['CodigoModificacion', code],
    ['RNCOtroContribuyente', '101672919'],
  ] as const) {
    if (reference[name] !== undefined) reference[name] = value;
  }
}

function writeLine(item: DocumentNode, index: number, type: EcfType, random: Random): void {
  const line = item as Record<string, DocumentValue>;
  line.NumeroLinea = String(index + 1);
  const discount = sumOf(groupsOf(groupOf(line, 'TablaSubDescuento'), 'SubDescuento'), 'MontoSubDescuento');
  const surcharge = sumOf(groupsOf(groupOf(line, 'TablaSubRecargo'), 'SubRecargo'), 'MontoSubRecargo');
  if (line.DescuentoMonto !== undefined) line.DescuentoMonto = discount.toFixed(2);
  if (line.RecargoMonto !== undefined) line.RecargoMonto = surcharge.toFixed(2);
  const price = decimal(line, 'PrecioUnitarioItem').times(decimal(line, 'CantidadItem'));
  line.MontoItem = price.minus(discount).plus(surcharge).toFixed(2);
  const withholding = groupOf(line, 'Retencion') as Record<string, DocumentValue> | null;
  if (withholding?.IndicadorAgenteRetencionoPercepcion !== undefined) {
    withholding.IndicadorAgenteRetencionoPercepcion = type === '47' ? '1' : random.pick(['1', '2']);
  }
}

/** The amounts of Totales that are present, from the lines; empty ones are left out. */
function writeTotals(ecf: DocumentNode, items: readonly DocumentNode[]): void {
  const totals = groupOf(groupOf(ecf, 'Encabezado'), 'Totales') as Record<string, DocumentValue>;
  const included = textOf(groupOf(groupOf(ecf, 'Encabezado'), 'IdDoc'), 'IndicadorMontoGravado') === '1';
  const of = (indicator: string) =>
    sumOf(
      items.filter((item) => item.IndicadorFacturacion === indicator),
      'MontoItem',
    );
  const without = (amount: Decimal, divisor: string) => (included ? amount.dividedBy(Decimal.of(divisor)) : amount);
  const [at18, at16] = [without(of('1'), '1.18').round(2), without(of('2'), '1.16').round(2)];
  const taxed = at18.plus(at16).plus(of('3'));
  const [itbis18, itbis16] = [at18.times(Decimal.of('0.18')).round(2), at16.times(Decimal.of('0.16')).round(2)];
  const taxing = items.filter((item) => item.TablaImpuestoAdicional !== undefined);
  const additional = additionalTax(taxing, included);
  const total = taxed.plus(of('4')).plus(itbis18).plus(itbis16).plus(additional);
  const amounts: Record<string, Decimal> = {
    MontoGravadoTotal: taxed,
    MontoGravadoI1: at18,
    MontoGravadoI2: at16,
    MontoGravadoI3: of('3'),
    MontoExento: of('4'),
    ITBIS1: Decimal.of('18'),
    ITBIS2: Decimal.of('16'),
    ITBIS3: Decimal.ZERO,
    TotalITBIS: itbis18.plus(itbis16),
    TotalITBIS1: itbis18,
    TotalITBIS2: itbis16,
    TotalITBIS3: Decimal.ZERO,
    MontoImpuestoAdicional: additional,
    MontoTotal: total,
    MontoNoFacturable: of('0'),
    MontoPeriodo: total.plus(of('0')),
  };
  for (const [name, amount] of Object.entries(amounts)) {
    if (totals[name] !== undefined) totals[name] = amount.toFixed(name.startsWith('ITBIS') ? 0 : 2);
  }
  if (additional.isZero()) {
    delete totals.MontoImpuestoAdicional;
    delete totals.ImpuestosAdicionales;
  } else if (totals.ImpuestosAdicionales !== undefined) {
    const entry = {
      TipoImpuesto: '004',
      TasaImpuestoAdicional: '10.00',
      OtrosImpuestosAdicionales: additional.toFixed(2),
    };
    totals.ImpuestosAdicionales = { ImpuestoAdicional: [entry] };
  }
}

/** Tax 004, ten per cent of the lines that carry it, without ITBIS. */
function additionalTax(items: readonly DocumentNode[], included: boolean): Decimal {
  let base = Decimal.ZERO;
  for (const item of items) {
    const divisor = included ? ({ '1': '1.18', '2': '1.16' }[textOf(item, 'IndicadorFacturacion') ?? ''] ?? '1') : '1';
    base = base.plus(decimal(item, 'MontoItem').dividedBy(Decimal.of(divisor)));
  }
  return base.dividedBy(Decimal.of('10')).round(2);
}

function sumOf(nodes: readonly DocumentNode[], name: string): Decimal {
  return nodes.reduce((sum, node) => sum.plus(decimal(node, name)), Decimal.ZERO);
}

function decimal(node: DocumentNode, name: string): Decimal {
  return Decimal.parse(textOf(node, name) ?? '0') ?? Decimal.ZERO;
}

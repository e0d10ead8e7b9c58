import { Decimal, sum } from './amounts/decimal.js';
import { ITBIS_RATES } from './amounts/itbis-rates.js';
import { type DocumentNode, groupOf } from './document/document-tree.js';
import { baseOf } from './rules/ecf/detail-totals-rules.js';
import { decimalOf, EcfView, type Line, typeOf } from './rules/ecf/ecf-view.js';
import { amountOf } from './rules/ecf/line-rules.js';

/** The element of Totales for the lines of each rate of ITBIS, and the rate as written. */
const RATES = [
  { indicator: '1', rate: '18' },
  { indicator: '2', rate: '16' },
  { indicator: '3', rate: '0' },
] as const;

/**
 * An e-CF whose lines have MontoItem, and whose Totales follow from the lines, global discounts and surcharges, as the business
 * rules compute them. Other elements of Totales stay as given: additional taxes, which count in MontoTotal, and withholdings.
 * MontoItem stays as given where price or quantity cannot be read, and Totales where a line has no amount.
 */
export function withTotals(document: DocumentNode): DocumentNode {
  const ecf = groupOf(document, 'ECF');
  const header = groupOf(ecf, 'Encabezado');
  const type = typeOf(document);
  if (ecf === null || header === null || type === null) return document;
  const lines = new EcfView(document, type, new Date(0)).lines.map(withAmount);
  const detailed = { ECF: { ...ecf, DetallesItems: { Item: lines } } };
  const totals = totalsOf(new EcfView(detailed, type, new Date(0)));
  if (totals === null) return detailed;
  return { ECF: { ...detailed.ECF, Encabezado: { ...header, Totales: { ...groupOf(header, 'Totales'), ...totals } } } };
}

function withAmount(line: Line): DocumentNode {
  const amount = amountOf(line);
  return amount === null ? line.node : { ...line.node, MontoItem: amount.toFixed(2) };
}

function totalsOf(view: EcfView): DocumentNode | null {
  const has = (indicator: string) => view.lines.some((line) => line.indicator === indicator);
  const totals: Record<string, string> = {};
  const taxed: Decimal[] = [];
  const taxes: Decimal[] = [];
  for (const { indicator, rate } of RATES) {
    if (!has(indicator)) continue;
    const base = baseOf(view, indicator);
    if (base === null) return null;
    // The tax follows from the base before it is rounded, so that the total of prices with ITBIS is their sum.
    const tax = base.times(ITBIS_RATES[indicator] ?? Decimal.ZERO).round(2);
    taxed.push(base.round(2));
    taxes.push(tax);
    totals[`MontoGravadoI${indicator}`] = base.toFixed(2);
    totals[`ITBIS${indicator}`] = rate;
    totals[`TotalITBIS${indicator}`] = tax.toFixed(2);
  }
  const exempt = baseOf(view, '4');
  const unbilled = view.lineSum('0');
  if (exempt === null || unbilled === null) return null;
  if (taxed.length > 0) {
    totals.MontoGravadoTotal = sum(taxed).toFixed(2);
    totals.TotalITBIS = sum(taxes).toFixed(2);
  }
  if (has('4')) totals.MontoExento = exempt.toFixed(2);
  if (has('0')) totals.MontoNoFacturable = unbilled.toFixed(2);
  const additional = decimalOf(view.totals, 'MontoImpuestoAdicional') ?? Decimal.ZERO;
  totals.MontoTotal = sum([...taxed, ...taxes, exempt.round(2), additional]).toFixed(2);
  return totals;
}

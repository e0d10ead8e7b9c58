import { Decimal } from '../../amounts/decimal.js';
import { groupOf, groupsOf, textOf } from '../../document/document-tree.js';
import { divisorAt18 } from './detail-totals-rules.js';
import { decimalOf, type EcfView, type Line } from './ecf-view.js';
import { isAlcoholSpecific, isBulk } from './line-rules.js';

const HUNDRED = Decimal.of('100');
const DIVISOR_18 = Decimal.of('1.18');
const DIVISOR_16 = Decimal.of('1.16');
/** Ad valorem on alcohol is 10 % on a base without the tax itself, on cigarettes 20 %. */
const [ALCOHOL_SHARE, CIGARETTE_SHARE] = [Decimal.of('11'), Decimal.of('6')];
/** In bulk: price × 1.30 × quantity × 10 %. */
const BULK_FACTOR = Decimal.of('0.13');

/** The amount that Totales declares for a tax, and its place. */
interface DeclaredTax {
  amount: Decimal;
  field: string;
  position: number;
}

/** The declared amount of each tax code, entries of one code added up. */
export function declaredTaxes(ecf: EcfView): Map<string, DeclaredTax> {
  const declared = new Map<string, DeclaredTax>();
  ecf.taxes.forEach((tax, index) => {
    const code = textOf(tax, 'TipoImpuesto');
    if (code === null) return;
    const field = amountField(code);
    const amount = decimalOf(tax, field);
    if (amount === null) return;
    const before = declared.get(code);
    declared.set(code, { field, position: index + 1, amount: before ? before.amount.plus(amount) : amount });
  });
  return declared;
}

/**
 * The sums of the lines for each tax code in Totales: the allowed amounts, the official one first; none if the lines have
 * too few values. Intermediate results are not rounded. Source: Formato e-CF v1.0 pp.22-24; Informe Técnico e-CF pp.23-30.
 */
export function additionalTaxAmounts(ecf: EcfView): Map<string, readonly Decimal[]> {
  const rates = new Map<string, Decimal>();
  for (const tax of ecf.taxes) {
    const code = textOf(tax, 'TipoImpuesto');
    const rate = decimalOf(tax, 'TasaImpuestoAdicional');
    if (code !== null && rate !== null) rates.set(code, rate);
  }
  const amounts = new Map<string, readonly Decimal[]>();
  if (rates.size === 0) return amounts;
  const carriers = new Map<string, Line[]>();
  for (const line of ecf.lines) {
    for (const code of line.taxes) {
      const lines = carriers.get(code);
      if (lines) lines.push(line);
      else carriers.set(code, [line]);
    }
  }
  for (const [code, lines] of carriers) {
    const rate = rates.get(code);
    // No text defines the amount of a code that occurs twice on a line.
    if (rate === undefined || new Set(lines).size < lines.length) continue;
    if (code <= '005') amounts.set(code, onPrice(ecf, code, lines, rate));
    else
      amounts.set(
        code,
        total(lines, (line) => (code <= '022' ? specific(line, code, rate) : adValorem(line, code, rates))),
      );
  }
  return amounts;
}

function amountField(code: string): string {
  if (code <= '005') return 'OtrosImpuestosAdicionales';
  return code <= '022' ? 'MontoImpuestoSelectivoConsumoEspecifico' : 'MontoImpuestoSelectivoConsumoAdvalorem';
}

/**
 * Taxes 001 to 005: a percentage of the amount without ITBIS. Global discounts and surcharges are spread over the lines by
 * their share. No text states whether this comes before or after ITBIS is subtracted, so both are valid.
 */
function onPrice(ecf: EcfView, code: string, lines: readonly Line[], rate: Decimal): readonly Decimal[] {
  const included = ecf.taxIncluded && code !== '005';
  let [after, before] = [Decimal.ZERO, Decimal.ZERO];
  const byIndicator = new Map<string, Decimal>();
  for (const { indicator, amount } of lines) {
    if (indicator === null || amount === null) return [];
    byIndicator.set(indicator, (byIndicator.get(indicator) ?? Decimal.ZERO).plus(amount));
  }
  let plain = Decimal.ZERO;
  for (const [indicator, amount] of byIndicator) {
    const adjustment = ecf.adjustmentSum(indicator);
    const whole = ecf.lineSum(indicator);
    if (adjustment === null || whole === null) return [];
    const share = whole.isZero() ? Decimal.ZERO : adjustment.times(amount).dividedBy(whole);
    const divisor = included ? divisorOf(ecf, indicator) : Decimal.ONE;
    after = after.plus(amount.dividedBy(divisor).plus(share));
    before = before.plus(amount.plus(share).dividedBy(divisor));
    plain = plain.plus(amount.dividedBy(divisor));
  }
  return [after, before, plain].map((base) => base.times(rate).dividedBy(HUNDRED));
}

function divisorOf(ecf: EcfView, indicator: string): Decimal {
  if (indicator === '1') return divisorAt18(ecf);
  return indicator === '2' ? DIVISOR_16 : Decimal.ONE;
}

/**
 * Alcohol 006 to 018: rate × degrees × reference quantity × subquantity × quantity. Cigarettes: quantity × reference
 * quantity × rate.
 */
function specific(line: Line, code: string, rate: Decimal): Decimal | null {
  const quantity = line.decimal('CantidadItem');
  const reference = line.decimal('CantidadReferencia');
  if (quantity === null || reference === null) return null;
  const units = quantity.times(reference);
  if (!isAlcoholSpecific(code)) return units.times(rate);
  const degrees = line.decimal('GradosAlcohol');
  const parts = groupsOf(groupOf(line.node, 'TablaSubcantidad'), 'SubcantidadItem');
  const subquantity = parts.length === 1 ? decimalOf(parts[0]!, 'Subcantidad') : null;
  if (degrees === null || subquantity === null || isBulk(line)) return null;
  return rate.times(degrees).times(units).times(subquantity).dividedBy(HUNDRED);
}

/**
 * The retail price without ITBIS, less the specific tax, without the ad valorem tax that is in it, times the rate. With
 * the specific tax of the whole line the per-unit formula is (price × units / 1.18 − specific) / 11, for cigarettes / 6.
 */
function adValorem(line: Line, code: string, rates: ReadonlyMap<string, Decimal>): Decimal | null {
  const quantity = line.decimal('CantidadItem');
  if (quantity === null) return null;
  const alcohol = code <= '035';
  if (alcohol && isBulk(line)) {
    const price = line.decimal('PrecioUnitarioItem');
    return price === null ? null : price.times(quantity).times(BULK_FACTOR);
  }
  const price = line.decimal('PrecioUnitarioReferencia');
  const reference = line.decimal('CantidadReferencia');
  const own = line.taxes.find((tax) => (alcohol ? isAlcoholSpecific(tax) : tax >= '019' && tax <= '022'));
  const rate = own === undefined ? undefined : rates.get(own);
  if (price === null || reference === null || own === undefined || rate === undefined) return null;
  const deducted = specific(line, own, rate);
  if (deducted === null) return null;
  const retail = price.times(quantity).times(reference).dividedBy(DIVISOR_18);
  return retail.minus(deducted).dividedBy(alcohol ? ALCOHOL_SHARE : CIGARETTE_SHARE);
}

function total(lines: readonly Line[], amountOf: (line: Line) => Decimal | null): readonly Decimal[] {
  let sum = Decimal.ZERO;
  for (const line of lines) {
    const amount = amountOf(line);
    if (amount === null) return [];
    sum = sum.plus(amount);
  }
  return [sum];
}

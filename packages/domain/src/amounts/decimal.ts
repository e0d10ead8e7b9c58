import {
  compareFractions,
  type Fraction,
  fractionOf,
  inverse,
  powerOfTen,
  product,
  rounded,
  sumOf,
} from './fraction.js';

/**
 * An exact decimal or fraction. No value is rounded before `round` or `toFixed` is called, because the authority's own
 * examples only come out with full precision carried to the end. Source: Informe Técnico e-CF p.22.
 *
 * Nearly every amount is a whole number of hundredths that the engine's own numbers hold exactly; such amounts are kept and
 * computed as that. A value that does not fit, mostly a quotient, is a fraction of two big integers.
 */
export class Decimal {
  static readonly ZERO = new Decimal(0, 0, null);
  static readonly ONE = new Decimal(1, 0, null);

  /**
   * The value is `units / 10 ** scale`, with a safe integer `units` and `scale` at most {@link MOST_SCALE}. If a fraction is
   * given, only the fraction counts.
   */
  private constructor(
    private readonly units: number,
    private readonly scale: number,
    private readonly fraction: Fraction | null,
  ) {}

  /**
   * The decimal a text writes (`12`, `-0.50`, `+3.`), blanks around it ignored; null when it writes none or has over 60
   * digits.
   */
  static parse(text: string): Decimal | null {
    let start = 0;
    let end = text.length;
    while (start < end && isBlank(text.charCodeAt(start))) start++;
    while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
    const sign = text.charCodeAt(start);
    if (start < end && (sign === MINUS || sign === PLUS)) start++;
    let point = -1;
    let value = 0;
    for (let index = start; index < end; index++) {
      const unit = text.charCodeAt(index);
      if (unit === POINT && point < 0) point = index;
      else if (unit >= ZERO && unit <= NINE) value = value * 10 + (unit - ZERO);
      else return null;
    }
    const decimals = point < 0 ? 0 : end - point - 1;
    const count = end - start - (point < 0 ? 0 : 1);
    if (count < 1 || count > MOST_DIGITS) return null;
    // Up to fifteen digits a number holds the digits exactly; beyond that they are read again as a big integer.
    if (count <= MOST_SCALE) return new Decimal(sign === MINUS ? -value : value, decimals, null);
    const digits = BigInt(point < 0 ? text.slice(start, end) : text.slice(start, point) + text.slice(point + 1, end));
    return Decimal.big({ numerator: sign === MINUS ? -digits : digits, denominator: powerOfTen(decimals) });
  }

  /** The decimal of a constant. Throws RangeError when the text is none. */
  static of(text: string): Decimal {
    const value = Decimal.parse(text);
    if (!value) throw new RangeError(`not a decimal: ${text}`);
    return value;
  }

  /** A whole number, within what the engine's numbers hold exactly. */
  static whole(value: number): Decimal {
    return new Decimal(value, 0, null);
  }

  plus(other: Decimal): Decimal {
    const scale = Math.max(this.scale, other.scale);
    const left = this.unitsAt(scale);
    const right = other.unitsAt(scale);
    const units = left + right;
    if (isExact(left) && isExact(right) && isExact(units)) return new Decimal(units, scale, null);
    return Decimal.big(sumOf(this.asFraction(), other.asFraction()));
  }

  minus(other: Decimal): Decimal {
    return this.plus(other.negated());
  }

  times(other: Decimal): Decimal {
    const scale = this.scale + other.scale;
    if (this.fraction === null && other.fraction === null && scale <= MOST_SCALE) {
      const units = this.units * other.units;
      if (isExact(units)) return new Decimal(units, scale, null);
    }
    return Decimal.big(product(this.asFraction(), other.asFraction()));
  }

  /** The exact quotient. Throws RangeError for a divisor of zero. */
  dividedBy(divisor: Decimal): Decimal {
    if (divisor.isZero()) throw new RangeError('division by zero');
    return Decimal.big(product(this.asFraction(), inverse(divisor.asFraction())));
  }

  negated(): Decimal {
    const { fraction } = this;
    if (fraction === null) return new Decimal(-this.units, this.scale, null);
    return Decimal.big({ numerator: -fraction.numerator, denominator: fraction.denominator });
  }

  abs(): Decimal {
    return this.sign() < 0 ? this.negated() : this;
  }

  /** -1, 0 or 1. */
  sign(): -1 | 0 | 1 {
    const value = this.fraction === null ? this.units : this.fraction.numerator;
    return value > 0 ? 1 : value < 0 ? -1 : 0;
  }

  isZero(): boolean {
    return this.sign() === 0;
  }

  /** Negative when this is less than the other, 0 when equal, positive when greater. */
  compare(other: Decimal): number {
    const scale = Math.max(this.scale, other.scale);
    const left = this.unitsAt(scale);
    const right = other.unitsAt(scale);
    if (isExact(left) && isExact(right)) return left < right ? -1 : left > right ? 1 : 0;
    return compareFractions(this.asFraction(), other.asFraction());
  }

  equals(other: Decimal): boolean {
    return this.compare(other) === 0;
  }

  /** Rounded to this number of decimals, halves away from zero. */
  round(decimals: number): Decimal {
    if (this.fraction === null) {
      if (this.scale === decimals) return this;
      const units = this.scale < decimals ? this.unitsAt(decimals) : this.roundedUnits(decimals);
      if (isExact(units)) return new Decimal(units, decimals, null);
    }
    const numerator = rounded(this.asFraction(), decimals);
    const units = Number(numerator);
    if (isExact(units) && decimals <= MOST_SCALE) return new Decimal(units, decimals, null);
    return Decimal.big({ numerator, denominator: powerOfTen(decimals) });
  }

  /** Rounded and written with exactly this number of decimals: `1234.50`. */
  toFixed(decimals: number): string {
    const { units, fraction } = this.round(decimals);
    const whole = fraction === null ? BigInt(units) : fraction.numerator;
    const digits = (whole < 0n ? -whole : whole).toString().padStart(decimals + 1, '0');
    const sign = whole < 0n ? '-' : '';
    return decimals === 0 ? sign + digits : `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  }

  private static big(fraction: Fraction): Decimal {
    return new Decimal(Number.NaN, 0, fraction);
  }

  /** The units at a scale that is not below the own one. Check with {@link isExact} first. */
  private unitsAt(scale: number): number {
    return scale === this.scale ? this.units : this.units * SIZES[scale - this.scale]!;
  }

  /** The units at a scale below the own one, halves away from zero. The remainder is exact, a quotient might not be. */
  private roundedUnits(scale: number): number {
    const size = SIZES[this.scale - scale]!;
    const magnitude = Math.abs(this.units);
    const rest = magnitude % size;
    const quotient = (magnitude - rest) / size + (rest * 2 >= size ? 1 : 0);
    return this.units < 0 ? -quotient : quotient;
  }

  private asFraction(): Fraction {
    return this.fraction ?? fractionOf(this.units, this.scale);
  }
}

/** The exact sum. */
export function sum(values: Iterable<Decimal>): Decimal {
  let total = Decimal.ZERO;
  for (const value of values) total = total.plus(value);
  return total;
}

/** No amount of any document comes near; it bounds the work a hostile text can cause. */
const MOST_DIGITS = 60;

/** As many digits as any number of the engine holds exactly, and as many decimals as are kept outside a fraction. */
const MOST_SCALE = 15;

const SIZES = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15] as const;

/** Whether a result of whole numbers is what it would be without a limit; never for NaN, which represents a fraction. */
function isExact(units: number): boolean {
  return units <= Number.MAX_SAFE_INTEGER && units >= -Number.MAX_SAFE_INTEGER;
}

const [MINUS, PLUS, POINT, ZERO, NINE] = [45, 43, 46, 48, 57];

/** The four blanks of XML, which XSD numbers may have around them. */
function isBlank(unit: number): boolean {
  return unit === 32 || unit === 10 || unit === 13 || unit === 9;
}

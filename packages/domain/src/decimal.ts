/**
 * An exact decimal or fraction. Nothing is rounded before `round` or `toFixed` is called, because the authority's own
 * examples only come out with full precision carried to the end. Source: Informe Técnico e-CF p.22.
 */
export class Decimal {
  static readonly ZERO = new Decimal(0n, 1n);
  static readonly ONE = new Decimal(1n, 1n);

  /** Numerator over a positive denominator, a power of ten as long as nothing was divided. */
  private constructor(
    private readonly numerator: bigint,
    private readonly denominator: bigint,
  ) {}

  /** The decimal a text writes (`12`, `-0.50`, `+3.`), blanks around it ignored; null when it writes none or has over 60 digits. */
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
    const digits =
      count <= 15
        ? BigInt(value)
        : BigInt(point < 0 ? text.slice(start, end) : text.slice(start, point) + text.slice(point + 1, end));
    return new Decimal(sign === MINUS ? -digits : digits, powerOfTen(decimals));
  }

  /** The decimal of a constant. Throws RangeError when the text is none. */
  static of(text: string): Decimal {
    const value = Decimal.parse(text);
    if (!value) throw new RangeError(`not a decimal: ${text}`);
    return value;
  }

  /** A whole number. */
  static whole(value: number): Decimal {
    return new Decimal(BigInt(value), 1n);
  }

  plus(other: Decimal): Decimal {
    if (this.denominator === other.denominator) return new Decimal(this.numerator + other.numerator, this.denominator);
    if (this.denominator % other.denominator === 0n) {
      const factor = this.denominator / other.denominator;
      return new Decimal(this.numerator + other.numerator * factor, this.denominator);
    }
    if (other.denominator % this.denominator === 0n) return other.plus(this);
    return new Decimal(
      this.numerator * other.denominator + other.numerator * this.denominator,
      this.denominator * other.denominator,
    );
  }

  minus(other: Decimal): Decimal {
    return this.plus(other.negated());
  }

  times(other: Decimal): Decimal {
    return new Decimal(this.numerator * other.numerator, this.denominator * other.denominator);
  }

  /** The exact quotient. Throws RangeError for a divisor of zero. */
  dividedBy(divisor: Decimal): Decimal {
    if (divisor.numerator === 0n) throw new RangeError('division by zero');
    const numerator = this.numerator * divisor.denominator;
    const denominator = this.denominator * divisor.numerator;
    return denominator < 0n ? new Decimal(-numerator, -denominator) : new Decimal(numerator, denominator);
  }

  negated(): Decimal {
    return new Decimal(-this.numerator, this.denominator);
  }

  abs(): Decimal {
    return this.numerator < 0n ? this.negated() : this;
  }

  /** -1, 0 or 1. */
  sign(): -1 | 0 | 1 {
    return this.numerator === 0n ? 0 : this.numerator < 0n ? -1 : 1;
  }

  isZero(): boolean {
    return this.numerator === 0n;
  }

  /** Negative when this is less than the other, 0 when equal, positive when greater. */
  compare(other: Decimal): number {
    const left = this.denominator === other.denominator ? this.numerator : this.numerator * other.denominator;
    const right = this.denominator === other.denominator ? other.numerator : other.numerator * this.denominator;
    return left < right ? -1 : left > right ? 1 : 0;
  }

  equals(other: Decimal): boolean {
    return this.compare(other) === 0;
  }

  /** Rounded to so many decimals, halves away from zero. */
  round(decimals: number): Decimal {
    const scale = powerOfTen(decimals);
    if (this.denominator === scale) return this;
    const magnitude = this.numerator < 0n ? -this.numerator : this.numerator;
    const rounded = (magnitude * scale * 2n + this.denominator) / (this.denominator * 2n);
    return new Decimal(this.numerator < 0n ? -rounded : rounded, scale);
  }

  /** Rounded and written with exactly so many decimals: `1234.50`. */
  toFixed(decimals: number): string {
    const rounded = this.round(decimals).numerator;
    const digits = (rounded < 0n ? -rounded : rounded).toString().padStart(decimals + 1, '0');
    const sign = rounded < 0n ? '-' : '';
    return decimals === 0 ? sign + digits : `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
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

const [MINUS, PLUS, POINT, ZERO, NINE] = [45, 43, 46, 48, 57];

/** The four blanks of XML, which XSD numbers may have around them. */
function isBlank(unit: number): boolean {
  return unit === 32 || unit === 10 || unit === 13 || unit === 9;
}

const POWERS = Array.from({ length: 41 }, (_, exponent) => 10n ** BigInt(exponent));

function powerOfTen(exponent: number): bigint {
  return POWERS[exponent] ?? 10n ** BigInt(exponent);
}

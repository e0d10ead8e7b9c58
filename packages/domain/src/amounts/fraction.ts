/** A numerator over a positive denominator, a power of ten until the first division. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** The fraction of `units / 10 ** scale`. */
export function fractionOf(units: number, scale: number): Fraction {
  return { numerator: BigInt(units), denominator: powerOfTen(scale) };
}

/** The exact sum. A denominator grows only where neither is a multiple of the other. */
export function sumOf(a: Fraction, b: Fraction): Fraction {
  if (a.denominator % b.denominator === 0n) {
    const factor = a.denominator / b.denominator;
    return { numerator: a.numerator + b.numerator * factor, denominator: a.denominator };
  }
  if (b.denominator % a.denominator === 0n) return sumOf(b, a);
  return {
    numerator: a.numerator * b.denominator + b.numerator * a.denominator,
    denominator: a.denominator * b.denominator,
  };
}

/** The exact product. */
export function product(a: Fraction, b: Fraction): Fraction {
  return { numerator: a.numerator * b.numerator, denominator: a.denominator * b.denominator };
}

/** One over the fraction, which is not zero. */
export function inverse({ numerator, denominator }: Fraction): Fraction {
  return numerator < 0n
    ? { numerator: -denominator, denominator: -numerator }
    : { numerator: denominator, denominator: numerator };
}

/** Negative when a is less than b, 0 when equal, positive when greater. */
export function compareFractions(a: Fraction, b: Fraction): number {
  const left = a.numerator * b.denominator;
  const right = b.numerator * a.denominator;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** The fraction times `10 ** decimals` as a whole number, halves away from zero. */
export function rounded({ numerator, denominator }: Fraction, decimals: number): bigint {
  const magnitude = numerator < 0n ? -numerator : numerator;
  const units = (magnitude * powerOfTen(decimals) * 2n + denominator) / (denominator * 2n);
  return numerator < 0n ? -units : units;
}

const POWERS = Array.from({ length: 41 }, (_, exponent) => 10n ** BigInt(exponent));

export function powerOfTen(exponent: number): bigint {
  return POWERS[exponent] ?? 10n ** BigInt(exponent);
}

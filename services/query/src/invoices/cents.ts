/** An amount with two decimals as a whole number of cents: sums of millions of documents stay exact. */
export function toCents(amount: string): bigint {
  const [, sign, whole = '', decimals = ''] = /^(-?)(\d+)(?:\.(\d{1,2}))?$/.exec(amount) ?? [];
  if (whole === '') throw new RangeError(`not an amount of cents: ${amount}`);
  const cents = BigInt(whole + decimals.padEnd(2, '0'));
  return sign === '-' ? -cents : cents;
}

/** Cents as a decimal with two decimals. */
export function fromCents(cents: bigint): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

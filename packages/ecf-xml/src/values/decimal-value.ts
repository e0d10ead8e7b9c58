/** The value of an xs:decimal or xs:integer, whatever its lexical form: no leading zeros, no trailing ones behind the point. */
export interface DecimalValue {
  negative: boolean;
  integerDigits: string;
  fractionDigits: string;
}

const ZERO = 0x30;
const NINE = 0x39;

/** Reads an xs:decimal (or, with `integer`, an xs:integer) without the blanks around it; null when it is none. */
export function parseDecimalValue(text: string, integer: boolean): DecimalValue | null {
  const end = text.length;
  const sign = text.charCodeAt(0);
  let at = sign === 0x2d || sign === 0x2b ? 1 : 0;
  const first = at;
  while (text.charCodeAt(at) === ZERO) at++;
  const integerFrom = at;
  at = endOfDigits(text, at);
  const integerDigits = text.slice(integerFrom, at);
  let digits = at - first;
  let fractionDigits = '';
  if (!integer && text.charCodeAt(at) === 0x2e) {
    const fractionFrom = at + 1;
    at = endOfDigits(text, fractionFrom);
    digits += at - fractionFrom;
    let fractionTo = at;
    while (fractionTo > fractionFrom && text.charCodeAt(fractionTo - 1) === ZERO) fractionTo--;
    fractionDigits = text.slice(fractionFrom, fractionTo);
  }
  if (at !== end || digits === 0) return null;
  // Zero has no sign.
  const negative = sign === 0x2d && (integerDigits !== '' || fractionDigits !== '');
  return { negative, integerDigits, fractionDigits };
}

function endOfDigits(text: string, from: number): number {
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code < ZERO || code > NINE) break;
    at++;
  }
  return at;
}

/** One text for each value. */
export function canonicalDecimal(value: DecimalValue): string {
  const { negative, integerDigits, fractionDigits } = value;
  return `${negative ? '-' : ''}${integerDigits || '0'}${fractionDigits ? `.${fractionDigits}` : ''}`;
}

/** Negative, zero or positive as `a` is less than, equal to or greater than `b`. */
export function compareDecimals(a: DecimalValue, b: DecimalValue): number {
  if (a.negative !== b.negative) return a.negative ? -1 : 1;
  const sign = a.negative ? -1 : 1;
  const byLength = a.integerDigits.length - b.integerDigits.length;
  if (byLength !== 0) return sign * byLength;
  if (a.integerDigits !== b.integerDigits) return a.integerDigits < b.integerDigits ? -sign : sign;
  if (a.fractionDigits !== b.fractionDigits) return a.fractionDigits < b.fractionDigits ? -sign : sign;
  return 0;
}

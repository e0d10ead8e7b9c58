/** Whether the text holds nothing but the digits 0 to 9 from one offset up to another, and something at all. */
export function areDigits(text: string, from: number, to: number): boolean {
  if (from >= to || to > text.length) return false;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code < ZERO || code > NINE) return false;
  }
  return true;
}

/** The number that the digits between two offsets write; NaN for anything else. */
export function numberAt(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

const ZERO = 48;
const NINE = 57;

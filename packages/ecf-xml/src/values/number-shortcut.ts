import type { SimpleType } from '../catalogue/simple-types.js';

/** Digits before the point, then perhaps a point and digits behind it: what nearly every number pattern says. */
const USUAL_PATTERN =
  /^(?:\[\+-\]\?)?\(?(?:\[0-9\]|\\d)\{[01],(\d+)\}\)?(?:\(\\?\.(?:\[0-9\]|\\d)\{(1,)?(\d+)\}\)\?)?$/;

/** Any number of so few characters is exact in the engine's own arithmetic. */
const MAX_LENGTH = 15;

/**
 * Recognises most good values of a number type at a glance: plain digits, no sign, no blanks, no superfluous zero in
 * front. A value that it does not recognise may still be good. Null where pattern or bounds of the type are unusual.
 */
export function numberShortcut(type: SimpleType): ((text: string) => boolean) | null {
  const usual = USUAL_PATTERN.exec(type.pattern ?? '');
  const simpleBounds =
    type.base === 'integer' || (!type.minInclusive && !type.maxInclusive && !Number(type.minExclusive));
  if (!usual || !simpleBounds || type.enumeration || type.readAs) return null;
  const maxInteger = Number(usual[1]);
  const maxFraction = type.base === 'integer' ? 0 : Math.min(Number(usual[3] ?? 0), type.fractionDigits ?? MAX_LENGTH);
  const minFraction = usual[2] === undefined ? Math.max(1, maxFraction) : 1;
  const maxDigits = type.totalDigits ?? MAX_LENGTH;
  const min = Number(type.minInclusive ?? 0);
  const above = Number(type.minExclusive ?? -1);
  const max = Number(type.maxInclusive ?? Number.POSITIVE_INFINITY);

  return (text) => {
    const { length } = text;
    if (length > MAX_LENGTH || (text.charCodeAt(0) === 0x30 && length > 1 && text.charCodeAt(1) !== 0x2e)) return false;
    // Digits behind the point are taken in as well, so that a decimal counts as positive when any of them is not 0.
    let value = 0;
    let point = length;
    for (let at = 0; at < length; at++) {
      const code = text.charCodeAt(at);
      if (code >= 0x30 && code <= 0x39) value = value * 10 + code - 0x30;
      else if (code === 0x2e && point === length) point = at;
      else return false;
    }
    if (point === 0 || point > maxInteger) return false;
    if (point < length) {
      const fraction = length - point - 1;
      if (fraction < minFraction || fraction > maxFraction || point + fraction > maxDigits) return false;
    } else if (length > maxDigits) {
      return false;
    }
    return value >= min && value > above && value <= max;
  };
}

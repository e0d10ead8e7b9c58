import type { SimpleType } from '../catalogue/simple-types.js';
import { trimBlanks } from './blanks.js';
import { isDateTime } from './date-time.js';
import { canonicalDecimal, compareDecimals, type DecimalValue, parseDecimalValue } from './decimal-value.js';
import { compilePattern } from './patterns.js';

/** Which kind of demand a value misses: the last part of the fault's rule name. */
export type ValueFault = 'empty' | 'type' | 'length' | 'pattern' | 'enumeration';

/** Checks one value as written; null if it is valid. */
export type ValueCheck = (text: string) => ValueFault | null;

const checks = new Map<SimpleType, ValueCheck>();

/**
 * The authority's rule for a value that libxml2 reads otherwise, or null if both agree. The structural check
 * follows libxml2; whatever is to be sent must pass this as well.
 */
export function stricterPattern(type: SimpleType): RegExp | null {
  return type.readAs === undefined || type.pattern === undefined ? null : compilePattern(type.pattern);
}

/** The check of a simple type, with the verdicts of an XML Schema processor; compiled once. */
export function valueCheck(type: SimpleType): ValueCheck {
  let check = checks.get(type);
  if (!check) {
    check = compile(type);
    checks.set(type, check);
  }
  return check;
}

function compile(type: SimpleType): ValueCheck {
  switch (type.base) {
    case 'string':
      return compileText(type);
    case 'dateTime':
      return (text) => (isDateTime(text) ? null : text === '' ? 'empty' : 'type');
    default:
      return compileNumber(type);
  }
}

/** xs:string: blanks belong to the value. Length counts code points, and UTF-16 units as the authority's platform does. */
function compileText(type: SimpleType): ValueCheck {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = type;
  const codes = type.enumeration ? new Set(type.enumeration) : null;
  const pattern = patternAsRead(type);
  if (codes === null && pattern === null) {
    return (text) => {
      if (text.length > maxLength) return 'length';
      if (text.length >= 2 * minLength || codePoints(text) >= minLength) return null;
      return text === '' ? 'empty' : 'length';
    };
  }
  if (codes !== null && (pattern === null || [...codes].every((code) => pattern.test(code)))) {
    return (text) => (codes.has(text) ? null : text === '' ? 'empty' : 'enumeration');
  }
  return (text) => {
    // Length first: it bounds the work of the pattern.
    if (text.length > maxLength) return 'length';
    if (text.length < 2 * minLength && codePoints(text) < minLength) return text === '' ? 'empty' : 'length';
    if (codes !== null && !codes.has(text)) return text === '' ? 'empty' : 'enumeration';
    if (pattern !== null && !pattern.test(text)) return text === '' ? 'empty' : 'pattern';
    return null;
  };
}

function patternAsRead(type: SimpleType): RegExp | null {
  const pattern = type.readAs ?? type.pattern;
  return pattern === undefined ? null : compilePattern(pattern);
}

/** xs:decimal and xs:integer: blanks around the value do not count; codes, bounds and digits are those of the value. */
function compileNumber(type: SimpleType): ValueCheck {
  const integer = type.base === 'integer';
  const pattern = patternAsRead(type);
  const codes = type.enumeration ? new Set(type.enumeration.map((code) => canonicalDecimal(bound(code)))) : null;
  const min = optionalBound(type.minInclusive);
  const above = optionalBound(type.minExclusive);
  const max = optionalBound(type.maxInclusive);
  const { totalDigits = Number.POSITIVE_INFINITY, fractionDigits = Number.POSITIVE_INFINITY } = type;
  const bounded = min !== null || above !== null || max !== null;

  return (text) => {
    // A code as the list writes it.
    if (codes !== null && pattern === null && codes.has(text)) return null;
    const trimmed = trimBlanks(text);
    const value = parseDecimalValue(trimmed, integer);
    if (value === null) return text === '' ? 'empty' : 'type';
    if (pattern !== null && !pattern.test(trimmed)) return 'pattern';
    if (codes !== null && !codes.has(canonicalDecimal(value))) return 'enumeration';
    if (value.integerDigits.length + value.fractionDigits.length > totalDigits) return 'length';
    if (value.fractionDigits.length > fractionDigits) return 'length';
    if (bounded && !within(value, min, above, max)) return 'type';
    return null;
  };
}

function within(
  value: DecimalValue,
  min: DecimalValue | null,
  above: DecimalValue | null,
  max: DecimalValue | null,
): boolean {
  if (min !== null && compareDecimals(value, min) < 0) return false;
  if (above !== null && compareDecimals(value, above) <= 0) return false;
  return max === null || compareDecimals(value, max) <= 0;
}

function bound(text: string): DecimalValue {
  const value = parseDecimalValue(text, false);
  if (!value) throw new Error(`The catalogue holds "${text}" where a number is expected`);
  return value;
}

function optionalBound(text: string | undefined): DecimalValue | null {
  return text === undefined ? null : bound(text);
}

function codePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0xd800 && code <= 0xdbff) count--;
  }
  return count;
}

import type { SimpleType } from '../catalogue/simple-types.js';

/** Describes the values of a type in words, for the messages of faults and the reference table. */
export function describeType(type: SimpleType): string {
  if (type.says) return type.says;
  if (type.enumeration) {
    const { enumeration } = type;
    if (enumeration.length === 1) return enumeration[0]!;
    if (enumeration.length <= 20) return `one of ${enumeration.join(', ')}`;
    return `one of the ${enumeration.length} codes of the list (${enumeration[0]} ... ${enumeration.at(-1)})`;
  }
  if (type.base === 'string') return describeText(type);
  if (type.base === 'dateTime') return 'date and time as 2026-01-31T09:30:00-04:00';
  return describeNumber(type);
}

function describeText({ minLength, maxLength }: SimpleType): string {
  if (maxLength === undefined) return 'text';
  if (minLength === maxLength) return `text of exactly ${maxLength} characters`;
  return minLength ? `text of ${minLength} to ${maxLength} characters` : `text of at most ${maxLength} characters`;
}

function describeNumber(type: SimpleType): string {
  const from = type.minInclusive ?? (type.minExclusive === undefined ? undefined : `above ${type.minExclusive}`);
  const range = from !== undefined && type.maxInclusive !== undefined ? `from ${from} to ${type.maxInclusive}` : from;
  const digits = type.totalDigits === undefined ? '' : ` of at most ${type.totalDigits} digits`;
  return ['a whole number', digits, range === undefined ? '' : ` ${range}`].join('');
}

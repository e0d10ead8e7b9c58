import { isBlankText } from '../values/blanks.js';
import { decodeCallerEntities } from '../xml/characters.js';

export type JsonObject = Record<string, unknown>;

/** A number of a JSON document, with the digits that the caller wrote: `1180.00` stays `1180.00`. */
export class JsonNumber {
  constructor(readonly stated: string) {}

  toString(): string {
    return this.stated;
  }

  toJSON(): string {
    return this.stated;
  }
}

/** Whether the caller wrote the value as a number, not as text. */
export function isNumber(value: unknown): value is number | JsonNumber {
  return typeof value === 'number' || value instanceof JsonNumber;
}

/** No document is deeper than this; anything deeper counts as content. */
const MAX_DEPTH = 100;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber);
}

/** Whether a value counts as absent: null, a text without any or with blanks only, an object or list that holds nothing else. */
export function isAbsent(value: unknown): boolean {
  return presentOf(value) === undefined;
}

/** The value of a list of one; any other value as it is. */
export function asSingle(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const present = presentOf(value);
  return present === undefined ? value : present;
}

/**
 * What is present of a value: undefined if it counts as absent, its one entry if it is a list of one, else the value. Each
 * entry is visited once, however deep the lists are.
 */
export function presentOf(value: unknown, depth = 0): unknown {
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return isBlankText(value) ? undefined : value;
  if (typeof value !== 'object' || value instanceof JsonNumber || depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return presentOfList(value, depth);
  for (const key of Object.keys(value)) {
    if (presentOf((value as JsonObject)[key], depth + 1) !== undefined) return value;
  }
  return undefined;
}

function presentOfList(list: readonly unknown[], depth: number): unknown {
  let found: unknown;
  for (const each of list) {
    const present = presentOf(each, depth + 1);
    if (present === undefined) continue;
    if (found !== undefined) return list;
    found = present;
  }
  return found;
}

/** The text of a string or number, decoded once where it was escaped already; null for anything else. */
export function leafText(value: unknown): string | null {
  if (typeof value === 'string') return value.includes('&') ? decodeCallerEntities(value) : value;
  if (value instanceof JsonNumber) return value.stated;
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : null;
}

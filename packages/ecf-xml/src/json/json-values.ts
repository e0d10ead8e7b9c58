import { decodeCallerEntities } from '../xml/characters.js';

export type JsonObject = Record<string, unknown>;

/** Deeper than this no document goes; whatever stands there counts as content. */
const MAX_DEPTH = 100;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a value counts as absent: null, an empty string, an object or list that holds nothing else. */
export function isAbsent(value: unknown, depth = 0): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (typeof value !== 'object' || depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((each) => isAbsent(each, depth + 1));
  for (const key of Object.keys(value)) {
    if (!isAbsent((value as JsonObject)[key], depth + 1)) return false;
  }
  return true;
}

/** A list of one stands for its value; any other value for itself. */
export function asSingle(value: unknown, depth = 0): unknown {
  if (!Array.isArray(value) || depth > MAX_DEPTH) return value;
  const present = value.filter((each) => !isAbsent(each));
  return present.length === 1 ? asSingle(present[0], depth + 1) : value;
}

/** The text of a string or number, decoded once where it was escaped already; null for anything else. */
export function leafText(value: unknown): string | null {
  if (typeof value === 'string') return value.includes('&') ? decodeCallerEntities(value) : value;
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : null;
}

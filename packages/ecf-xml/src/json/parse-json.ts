import { decodeUtf8, positionOf } from '../utf8.js';
import { JsonParser, MAX_VALUES, type NumberOf } from './json-parser.js';
import { JsonRefused } from './json-refused.js';
import { JsonNumber } from './json-values.js';

export const MAX_JSON_BYTES = 20 * 1024 * 1024;

/**
 * Parses a document for its check, which refuses a number where text is expected: {@link parseJson} with numbers as
 * `JsonNumber`.
 */
export function parseDocument(text: string | Uint8Array): unknown {
  return parseJson(text, (stated) => new JsonNumber(stated));
}

/**
 * Parses a document in JSON, strictly and without loss: **a number comes back as its text** (`1180.00` stays `1180.00`, and
 * twenty digits stay twenty digits). The key `__proto__` is refused. A repeated key in one object is refused, because the
 * meaning of the document would be ambiguous. A body with more values or names than any of our documents is refused early,
 * so it costs no more than they do.
 *
 * @param text a string, or UTF-8 bytes with or without byte order mark
 * @param numberOf creates the value of a number, if callers must distinguish it from a string of the same text
 * @param maxValues the most values that the text may hold
 * @throws JsonRefused with the position if the text has one
 */
export function parseJson(
  text: string | Uint8Array,
  numberOf: NumberOf = (stated) => stated,
  maxValues: number = MAX_VALUES,
): unknown {
  if (text.length > MAX_JSON_BYTES) {
    throw new JsonRefused('too_large', `The document is longer than ${MAX_JSON_BYTES} bytes; split it.`);
  }
  if (typeof text === 'string') return new JsonParser(text, numberOf, maxValues).document();
  const decoded = decodeUtf8(text);
  if ('text' in decoded) return new JsonParser(decoded.text, numberOf, maxValues).document();
  const before = new TextDecoder().decode(text.subarray(0, decoded.badOffset));
  const { line, column } = positionOf(before, before.length);
  throw new JsonRefused(
    'not_utf8',
    `The bytes are not valid UTF-8 at line ${line}, column ${column}; send the document as UTF-8.`,
    line,
    column,
  );
}

import type { CheckedDocument } from '../documents.js';

/** Normalises a parsed JSON document and judges its structure as if it were signed. */
export function checkJson(_value: unknown): CheckedDocument {
  throw new Error('not built');
}

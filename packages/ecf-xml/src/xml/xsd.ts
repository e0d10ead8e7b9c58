import type { SchemaId } from '../documents.js';

/** The XSD of one document, generated from the catalogue. */
export function xsd(_schema: SchemaId): string {
  throw new Error('not built');
}

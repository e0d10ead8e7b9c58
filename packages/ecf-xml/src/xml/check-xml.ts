import type { CheckedDocument } from '../documents.js';
import type { CanonicalXml } from './parse-xml.js';

/** Judges the structure of an XML document by the schema of its root and TipoeCF. */
export function checkXml(_xml: CanonicalXml): CheckedDocument {
  throw new Error('not built');
}

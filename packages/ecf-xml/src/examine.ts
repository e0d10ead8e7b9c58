import type { ExaminedDocument, ExamineOptions } from './documents.js';
import type { CanonicalXml } from './xml/parse-xml.js';

/** Structure and business rules of a document in JSON. */
export function examineJson(_value: unknown, _options: ExamineOptions): ExaminedDocument {
  throw new Error('not built');
}

/** Structure and business rules of a document in XML. */
export function examineXml(_xml: CanonicalXml, _options: ExamineOptions): ExaminedDocument {
  throw new Error('not built');
}

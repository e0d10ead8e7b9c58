export type { CheckedDocument, DocumentName, ExaminedDocument, ExamineOptions, SchemaId } from './documents.js';
export { examineJson, examineXml } from './examine.js';
export { checkJson } from './json/check-json.js';
export { JsonRefused, type JsonRefusedCode, parseJson } from './json/parse-json.js';
export { checkXml } from './xml/check-xml.js';
export { type CanonicalXml, parseXml, type XmlLimits, XmlRefused, type XmlRefusedCode } from './xml/parse-xml.js';
export { readXml } from './xml/read-xml.js';
export { type WrittenXml, writeXml } from './xml/write-xml.js';
export { xsd } from './xml/xsd.js';

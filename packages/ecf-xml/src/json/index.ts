// What a document in JSON needs for its check. Nothing here loads a module of Node, so it also runs in a browser.
export type { DocumentName, ExaminedDocument, ExamineOptions } from '../documents.js';
export { examineJson } from '../examine.js';
export { JsonRefused, type JsonRefusedCode } from './json-refused.js';
export { parseDocument } from './parse-json.js';

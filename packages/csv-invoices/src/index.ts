export { ERROR_COLUMN } from './columns.js';
export { type Problem, problemText } from './problems.js';
export { type CsvFile, type CsvInvoice, readInvoices } from './read.js';
export { decodeText, type Encoding } from './text.js';
export { csv, refusedFile, type TemplateIssuer, template } from './write.js';

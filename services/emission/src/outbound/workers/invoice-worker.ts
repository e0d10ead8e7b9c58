import { type LineNumbers, lineNumbers } from '../../core/batches/line-numbers.js';
import { type Comparison, compareXml } from '../../core/repeats/compare-documents.js';
import { type InvoiceJson, readInvoiceJson } from '../../core/submit/read-invoice-json.js';
import { answer, type WorkerAnswer } from './worker-answer.js';

/** An invoice in JSON, to be read. */
export type InvoiceTask = Parameters<typeof readInvoiceJson>;

/** Documents to be compared. */
export type ComparisonTask = Parameters<typeof compareXml>;

export default (task: InvoiceTask): Promise<WorkerAnswer<InvoiceJson>> => answer(() => readInvoiceJson(...task));

/** The comparison of a stored document with a sent one. */
export const compare = (task: ComparisonTask): Comparison => compareXml(...task);

/** The numbers that a line of a batch names. */
export const numbers = (document: Uint8Array): LineNumbers => lineNumbers(document);

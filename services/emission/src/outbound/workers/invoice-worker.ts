import { type LineNumbers, lineNumbers } from '../../core/batches/line-numbers.js';
import { type InvoiceJson, readInvoiceJson } from '../../core/submit/read-invoice-json.js';
import { answer, type WorkerAnswer } from './worker-answer.js';

/** An invoice in JSON, to be read. */
export type InvoiceTask = Parameters<typeof readInvoiceJson>;

export default (task: InvoiceTask): Promise<WorkerAnswer<InvoiceJson>> => answer(() => readInvoiceJson(...task));

/** The numbers that a line of a batch names. */
export const numbers = (document: Uint8Array): LineNumbers => lineNumbers(document);

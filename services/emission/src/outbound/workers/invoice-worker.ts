import { type InvoiceJson, readInvoiceJson } from '../../core/submit/read-invoice-json.js';
import { answer, type WorkerAnswer } from './worker-answer.js';

/** An invoice in JSON, to be read. */
export type InvoiceTask = Parameters<typeof readInvoiceJson>;

export default (task: InvoiceTask): Promise<WorkerAnswer<InvoiceJson>> => answer(() => readInvoiceJson(...task));

import { type ReadLine, readLine } from '../batches/line-numbers.js';
import { type Comparison, compareXml } from './compare-documents.js';
import { type InvoiceJson, readInvoiceJson } from './read-invoice-json.js';
import { type WorkerResult, workerResult } from './worker-result.js';

/** An invoice in JSON, to be read. */
export type InvoiceTask = Parameters<typeof readInvoiceJson>;

/** Documents to be compared. */
export type ComparisonTask = Parameters<typeof compareXml>;

export default (task: InvoiceTask): Promise<WorkerResult<InvoiceJson>> => workerResult(() => readInvoiceJson(...task));

/** The comparison of a stored document with a sent one. */
export const compare = (task: ComparisonTask): Comparison => compareXml(...task);

/** What is read of a line of a batch before its check. */
export const line = (document: Uint8Array): ReadLine => readLine(document);

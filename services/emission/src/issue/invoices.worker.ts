import type { WatchQueue } from '@ecf/kit/telemetry';
import { compiledWorker, startBoundedWorkers, TaskTooCostly } from '@ecf/kit/worker-threads';
import { type ReadLine, type ReadLines, readLine, unreadLine } from '../batches/line-numbers.js';
import { EmissionError } from '../errors.js';
import { type CompareXml, type Comparison, compareXml } from './compare-documents.js';
import type { ComparisonTask, InvoiceTask } from './invoice-thread.worker.js';
import { type InvoiceJson, isLargeInvoice, type ReadInvoiceJson, readInvoiceJson } from './read-invoice-json.js';
import { resultOf, type WorkerResult } from './worker-result.js';

/** Longest queue; each document may have ten megabytes. */
const MAX_WAITING = 32;

/**
 * Reads invoices in JSON, and the numbers of batch lines: small ones in the event loop, large ones in a worker thread,
 * because they can take seconds.
 */
export function createInvoices(settings: {
  readonly threads: number;
  readonly timeoutMs: number;
  readonly watchQueue: WatchQueue;
}): {
  readonly read: ReadInvoiceJson;
  readonly compare: CompareXml;
  readonly line: ReadLines;
  close(): Promise<void>;
} {
  const { threads, timeoutMs, watchQueue } = settings;
  const worker = compiledWorker(import.meta, 'invoice-thread.worker');
  const limits = { maxThreads: threads, timeoutMs, maxWaiting: MAX_WAITING };
  const workers = startBoundedWorkers({ worker, ...limits, queue: 'invoices', watchQueue });
  return {
    async read(data, env, now, given, isBatchLine, watch, accountId) {
      if (!isLargeInvoice(data)) return readInvoiceJson(data, env, now, given, isBatchLine);
      const task: InvoiceTask = [data, env, now, given, isBatchLine];
      let hasBegun = false;
      const begins = async () => {
        await watch?.begins();
        hasBegun = true;
      };
      const run = workers.run<WorkerResult<InvoiceJson>>(task, {
        begins,
        background: watch !== null,
        owner: accountId,
      });
      const answered = await run.catch(async (error: unknown) => {
        if (error instanceof TaskTooCostly) throw tooCostly(error);
        if (hasBegun) await watch?.ended();
        throw error;
      });
      await watch?.ended();
      return resultOf(answered);
    },
    async compare(stored, sent, ignored, accountId) {
      if (!isLargeInvoice(stored) && !isLargeInvoice(sent)) return compareXml(stored, sent, ignored);
      const task: ComparisonTask = [stored, sent, ignored];
      return workers.run<Comparison>(task, { name: 'compare', owner: accountId }).catch((error: unknown) => {
        if (error instanceof TaskTooCostly) throw tooCostly(error);
        throw error;
      });
    },
    async line(document) {
      if (!isLargeInvoice(document)) return readLine(document);
      return workers.run<ReadLine>(document, { name: 'line', background: true }).catch((error: unknown) => {
        // The check of the line refuses it later.
        if (error instanceof TaskTooCostly) return unreadLine(document);
        throw error;
      });
    },
    close: workers.close,
  };
}

function tooCostly(cause: TaskTooCostly): EmissionError {
  const message = `The document takes too much ${cause.what} to check, far more than a genuine one; send one with fewer values and shorter texts. No number was used.`;
  return new EmissionError('document_too_costly', message, { cause });
}

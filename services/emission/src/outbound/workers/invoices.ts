import type { WatchQueue } from '@ecf/service-kit/telemetry';
import { compiledWorker, startBoundedWorkers, TaskTooCostly } from '@ecf/service-kit/worker-threads';
import { EmissionError } from '../../core/errors.js';
import {
  type InvoiceJson,
  isLargeInvoice,
  type ReadInvoiceJson,
  readInvoiceJson,
} from '../../core/submit/read-invoice-json.js';
import type { InvoiceTask } from './invoice-worker.js';
import { resultOf, type WorkerAnswer } from './worker-answer.js';

/** Longest queue; each document may have ten megabytes. */
const MAX_WAITING = 16;

/** Reads invoices in JSON: small ones in the event loop, large ones in a worker thread, where they take up to seconds. */
export function createInvoices(settings: {
  readonly threads: number;
  readonly timeoutMs: number;
  readonly watchQueue: WatchQueue;
}): { readonly read: ReadInvoiceJson; close(): Promise<void> } {
  const { threads, timeoutMs, watchQueue } = settings;
  const worker = compiledWorker(import.meta, 'invoice-worker');
  const limits = { maxThreads: threads, timeoutMs, maxWaiting: MAX_WAITING };
  const workers = startBoundedWorkers({ worker, ...limits, queue: 'invoices', watchQueue });
  return {
    async read(data, env, now, given, watch) {
      if (!isLargeInvoice(data)) return readInvoiceJson(data, env, now, given);
      const task: InvoiceTask = [data, env, now, given];
      const answered = await workers
        .run<WorkerAnswer<InvoiceJson>>(task, watch?.begins)
        .catch(async (error: unknown) => {
          if (error instanceof TaskTooCostly) throw tooCostly(error);
          await watch?.ended();
          throw error;
        });
      await watch?.ended();
      return resultOf(answered);
    },
    close: workers.close,
  };
}

function tooCostly(cause: TaskTooCostly): EmissionError {
  const message = `The document takes too much ${cause.what} to check, far more than a genuine one; send one with fewer values and shorter texts. No number was used.`;
  return new EmissionError('document_too_costly', message, { cause });
}

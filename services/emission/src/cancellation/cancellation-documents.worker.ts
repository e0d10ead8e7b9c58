import type { WatchQueue } from '@ecf/kit/telemetry';
import { compiledWorker, startBoundedWorkers, TaskTooCostly } from '@ecf/kit/worker-threads';
import { EmissionError } from '../errors.js';
import { resultOf, type WorkerResult } from '../issue/worker-result.js';
import {
  type CancellationRequest,
  readCancellationRequest,
  type SignedCancellation,
  signCancellation,
} from './cancellation-document.js';
import type { CancellationDocuments } from './ports.js';

/** Smaller documents take a few milliseconds, less than the start of a worker. */
const SMALL_BODY = 128 * 1024;
const FEW_RANGES = 1_000;
/** Longest queue; each body may have ten megabytes. */
const LIMITS = { maxThreads: 1, timeoutMs: 60_000, maxWaiting: 16 };

/** Reads and signs cancellations: small ones in the event loop, large ones in one worker thread, where they take a second. */
export function createCancellationDocuments(
  watchQueue: WatchQueue,
): CancellationDocuments & { close(): Promise<void> } {
  const worker = compiledWorker(import.meta, 'cancellation-thread.worker');
  const workers = startBoundedWorkers({ worker, ...LIMITS, queue: 'cancellations', watchQueue });

  async function run<T>(task: unknown, name: string): Promise<T> {
    const answered = await workers.run<WorkerResult<T>>(task, { name }).catch((error: unknown) => {
      throw error instanceof TaskTooCostly ? tooCostly(error) : error;
    });
    return resultOf(answered);
  }

  return {
    async read(body) {
      if (body.length < SMALL_BODY) return readCancellationRequest(body);
      return run<CancellationRequest>(body, 'read');
    },
    async sign(...order) {
      const ranges = order[0].lines.reduce((sum, line) => sum + line.ranges.length / 2, 0);
      return ranges <= FEW_RANGES ? signCancellation(...order) : run<SignedCancellation>(order, 'sign');
    },
    close: workers.close,
  };
}

function tooCostly(cause: TaskTooCostly): EmissionError {
  const message = `The cancellation takes too much ${cause.what} to process; send its ranges as several cancellations. No number was cancelled.`;
  return new EmissionError('document_too_costly', message, { cause });
}

import type { WatchQueue } from '@ecf/service-kit/telemetry';
import { compiledWorker, startWorkerThreads } from '@ecf/service-kit/worker-threads';
import { type SignedCancellation, signCancellation } from '../../core/cancellation/cancellation-document.js';
import type { CancellationDocuments } from '../../core/cancellation/cancellation-ports.js';
import { type CancellationRequest, readCancellationRequest } from '../../core/cancellation/request.js';
import { EmissionError } from '../../core/errors.js';
import type { WorkerAnswer } from './cancellation-worker.js';

/** Smaller documents take a few milliseconds, less than the start of a worker. */
const SMALL_BODY = 128 * 1024;
const FEW_RANGES = 1_000;
/** Longest queue; each body may have ten megabytes. */
const MAX_WAITING = 16;
const RETRY_AFTER_SECONDS = 5;
const IDLE_MS = 10_000;

/** Reads and signs cancellations: small ones at once, large ones in one worker thread, because they take a second. */
export function createCancellationDocuments(watchQueue: WatchQueue): CancellationDocuments {
  const worker = compiledWorker(import.meta, 'cancellation-worker');
  const pool = startWorkerThreads({ worker, maxThreads: 1, idleTimeout: IDLE_MS });
  watchQueue({ queue: 'cancellations', limit: MAX_WAITING, depth: () => pool.queueSize });

  async function run<T>(task: unknown, name: string): Promise<T> {
    const answer: WorkerAnswer<T> = await pool.run(task, { name }).catch((cause: unknown) => {
      throw failure('service_unavailable', 'The cancellation could not be processed', cause);
    });
    if ('result' in answer) return answer.result;
    const { code, message, items } = answer.refused;
    throw new EmissionError(code, message, items === null ? {} : { items });
  }

  return {
    async read(body) {
      if (body.length < SMALL_BODY) return readCancellationRequest(body);
      if (pool.queueSize >= MAX_WAITING) throw failure('overloaded', 'Too many large requests wait');
      return run<CancellationRequest>(body, 'read');
    },
    async sign(...order) {
      const ranges = order[0].lines.reduce((sum, line) => sum + line.ranges.length / 2, 0);
      return ranges <= FEW_RANGES ? signCancellation(...order) : run<SignedCancellation>(order, 'sign');
    },
  };
}

function failure(code: 'overloaded' | 'service_unavailable', problem: string, cause?: unknown): EmissionError {
  return new EmissionError(code, `${problem}; nothing was done. Send it again shortly.`, {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

import { ApiError } from '@ecf/kit';
import type { WatchQueue } from '@ecf/kit/telemetry';
import { startBoundedWorkers, TaskTooCostly } from '@ecf/kit/worker-threads';
import type { TrustSettings } from './signers/trust.js';
import type { RefusalWords, ValidationTask, WorkerAnswer, WorkerSettings } from './validation-worker.js';

/** Worker threads for documents of up to 512 KiB, and for larger ones. */
export interface ValidationThreads {
  readonly ordinary: number;
  readonly large: number;
}

export interface ValidationSettings {
  readonly trust: TrustSettings;
  readonly maxBytes: number;
  readonly threads: ValidationThreads;
  /** Time for one document, without waiting. */
  readonly timeoutMs: number;
}

export interface ValidationPoolOptions extends ValidationSettings {
  /** The module that the workers run; see `compiledWorker`. Each of its exports is a `workerTask`. */
  readonly worker: URL;
  /** Makes the error of a document that is refused for its content. */
  readonly refuse: (refusal: RefusalWords, cause?: unknown) => Error;
  /** Makes the error of a document that was not validated for another reason: the sender may send it again. */
  readonly unavailable: (reason: RefusalWords, cause?: unknown) => Error;
  readonly watchQueue: WatchQueue;
}

/** Validates strangers' XML in worker threads, within bounds on time, memory and waiting documents. */
export interface ValidationPool {
  /** @param name the export of the worker module that validates */
  run<R>(task: ValidationTask, name?: string): Promise<R>;
  /** Ends the workers. Documents that wait, and later ones, are rejected as unavailable. */
  close(): Promise<void>;
}

/** A genuine document of this size takes a quarter of a second, one of ten megabytes many seconds. */
const LARGEST_ORDINARY_BYTES = 512 * 1024;
const MAX_WAITING = 512;
/** Large documents have separate workers, so that ordinary ones never wait for them. */
export function createValidationPool(options: ValidationPoolOptions): ValidationPool {
  const { worker, threads, timeoutMs, watchQueue } = options;
  const limits = { worker, workerData: workerData(options), timeoutMs, maxWaiting: MAX_WAITING, watchQueue };
  // An idle worker for ordinary documents stays, because it answers sooner than a new one.
  const ordinary = startBoundedWorkers({
    ...limits,
    queue: 'validation',
    maxThreads: threads.ordinary,
    idleMs: Number.POSITIVE_INFINITY,
  });
  const large = startBoundedWorkers({ ...limits, queue: 'large_validation', maxThreads: threads.large });
  return {
    async run<R>(task: ValidationTask, name = 'default'): Promise<R> {
      const workers = task.bytes.length <= LARGEST_ORDINARY_BYTES ? ordinary : large;
      const answer = await workers.run<WorkerAnswer<R>>(task, { name }).catch((cause: unknown) => {
        throw toError(cause, options);
      });
      if ('refused' in answer) throw options.refuse(answer.refused);
      return answer.result;
    },
    async close() {
      await Promise.all([ordinary.close(), large.close()]);
    },
  };
}

function workerData({ trust, maxBytes }: ValidationSettings): WorkerSettings {
  return {
    trustedIssuers: trust.issuers && [...trust.issuers.values()].map(String).join('\n'),
    // Read when a worker starts, which may be long after the file was last readable.
    get revoked() {
      return trust.revocations && { file: trust.revocations.file, content: trust.revocations.content };
    },
    signingTimeToleranceMs: trust.signingTimeToleranceMs,
    maxBytes,
  };
}

function toError(cause: unknown, { refuse, unavailable }: ValidationPoolOptions): Error {
  if (cause instanceof TaskTooCostly)
    return cause.what === 'memory' ? refuse(TOO_COSTLY, cause) : unavailable(TOO_LONG, cause);
  return unavailable(cause instanceof ApiError && cause.code === 'overloaded' ? TOO_MANY : LOST, cause);
}

const TOO_COSTLY: RefusalWords = {
  message: 'The document takes more memory to read than any real one.',
  kind: 'document.too_costly',
};
const TOO_LONG: RefusalWords = {
  message: 'The document could not be validated in time; send it again shortly.',
  kind: 'validation.timeout',
};
/** The queue is full. */
export const isOverload = ({ kind }: Pick<RefusalWords, 'kind'>): boolean => kind === TOO_MANY.kind;

const TOO_MANY: RefusalWords = {
  message: 'Too many documents wait for validation; send this one again shortly.',
  kind: 'validation.busy',
};
const LOST: RefusalWords = {
  message: 'The document could not be validated; send it again shortly.',
  kind: 'validation.failed',
};

import type { WatchQueue } from '@ecf/service-kit/telemetry';
import { runTask, startWorkerThreads } from '@ecf/service-kit/worker-threads';
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
  /** Time for one document, from its arrival in the queue. */
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
const MAX_QUEUE = 512;
/**
 * The memory of WebAssembly only grows, so an idle worker for large documents is ended. The other one stays: it is
 * quick then.
 */
const LARGE_IDLE_MS = 60_000;

/** Large documents have workers of their own, so that ordinary ones never wait for them. */
export function createValidationPool(options: ValidationPoolOptions): ValidationPool {
  const ordinary = startPool(options, options.threads.ordinary, Number.POSITIVE_INFINITY);
  const large = startPool(options, options.threads.large, LARGE_IDLE_MS);
  for (const [queue, pool] of Object.entries({ validation: ordinary, large_validation: large }))
    options.watchQueue({ queue, limit: MAX_QUEUE, depth: () => pool.queueSize });
  let closed = false;
  return {
    async run<R>(task: ValidationTask, name = 'default'): Promise<R> {
      if (closed) throw options.unavailable(LOST);
      const pool = task.bytes.length <= LARGEST_ORDINARY_BYTES ? ordinary : large;
      // Piscina does not count tasks with a signal against its own maxQueue.
      if (pool.queueSize >= MAX_QUEUE) throw options.unavailable(TOO_MANY);
      const limits = { name, timeoutMs: options.timeoutMs };
      const answer = await runTask<WorkerAnswer<R>>(pool, task, limits).catch((cause: Error) => {
        throw toError(cause, options);
      });
      if ('refused' in answer) throw options.refuse(answer.refused);
      return answer.result;
    },
    async close() {
      closed = true;
      await Promise.all([ordinary.destroy(), large.destroy()]);
    },
  };
}

function startPool(options: ValidationPoolOptions, threads: number, idleTimeout: number) {
  const { worker, trust, maxBytes } = options;
  const workerData: WorkerSettings = {
    trustedIssuers: trust.issuers && [...trust.issuers.values()].map(String).join('\n'),
    // Read when a worker starts, which may be long after the file was last readable.
    get revoked() {
      return trust.revocations && { file: trust.revocations.file, content: trust.revocations.content };
    },
    signingTimeToleranceMs: trust.signingTimeToleranceMs,
    maxBytes,
  };
  return startWorkerThreads({ worker, workerData, maxThreads: threads, idleTimeout });
}

function toError(cause: Error & { code?: string }, { refuse, unavailable }: ValidationPoolOptions): Error {
  if (cause.name === 'AbortError') return unavailable(TOO_LONG, cause);
  return cause.code === 'ERR_WORKER_OUT_OF_MEMORY' ? refuse(TOO_COSTLY, cause) : unavailable(LOST, cause);
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

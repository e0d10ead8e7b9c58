import { ApiError } from '../errors.js';
import type { WatchQueue } from '../telemetry/queues.js';
import { NoThread, runTask, startWorkerThreads } from './start-worker-threads.js';

/** The task took more time or memory than a task may. Repeated, it takes as much again. */
export class TaskTooCostly extends Error {
  constructor(
    readonly what: 'time' | 'memory',
    cause: unknown,
  ) {
    super(`the task takes too much ${what}`, { cause });
  }
}

export interface BoundedWorkersOptions {
  /** The module whose exports are the tasks; see `compiledWorker`. */
  readonly worker: URL;
  readonly workerData?: unknown;
  readonly maxThreads: number;
  /** Milliseconds after which an idle thread ends, and its memory with it; a minute by default. */
  readonly idleMs?: number;
  /** Milliseconds for one task, from its begin. */
  readonly timeoutMs: number;
  /** Tasks that may wait for a thread, without those of the background. */
  readonly maxWaiting: number;
  /** The name of the queue in the metrics. */
  readonly queue: string;
  readonly watchQueue: WatchQueue;
}

export interface TaskOptions {
  /** The export of the module that does the task. */
  readonly name?: string;
  /** Whom the task is for. Owners take turns, and none fills more than a quarter of the queue. */
  readonly owner?: string | undefined;
  /** The task is background work, whose caller bounds it: it waits behind all other tasks, however many there are. */
  readonly background?: boolean;
  /** Called when a thread is free for the task, which begins after it. */
  begins?(): Promise<void>;
}

export interface BoundedWorkers {
  /**
   * Runs a task in a thread. 503 `overloaded` where too many tasks wait, 503 `service_unavailable` after the close and where no
   * thread can start. What the task throws is thrown without its class.
   *
   * @throws TaskTooCostly if it takes too much time or memory; its thread is ended
   */
  run<Result>(task: unknown, options?: TaskOptions): Promise<Result>;
  /** Ends the threads. Tasks in work, and later ones, are rejected as unavailable. */
  close(): Promise<void>;
}

const IDLE_MS = 60_000;

interface Waiting {
  readonly owner: string | undefined;
  /** In each round an owner has one turn. */
  readonly round: number;
  begin(): void;
}

/** Worker threads with a bound on the time and memory of each task and on the tasks that wait. */
export function startBoundedWorkers(options: BoundedWorkersOptions): BoundedWorkers {
  const { worker, workerData, maxThreads, idleMs = IDLE_MS, timeoutMs, maxWaiting, queue, watchQueue } = options;
  const pool = startWorkerThreads({ worker, workerData, maxThreads, idleTimeout: idleMs });
  const waiting: Waiting[] = [];
  const background: (() => void)[] = [];
  const inWork = new Set<AbortController>();
  let running = 0;
  let round = 0;
  let closed = false;
  // A thread ended before it took a task. Which task waited for it is not known, so each in work is to be sent again.
  pool.on('error', (cause) => {
    for (const limit of inWork) limit.abort(new NoThread('a thread could not start', { cause }));
  });
  watchQueue({ queue, limit: maxWaiting, depth: () => waiting.length });

  /** The time of a task is counted from here, so that it does not shrink while others are in work. */
  async function turn({ owner, background: isBackground = false }: TaskOptions): Promise<void> {
    if (running < maxThreads) {
      running += 1;
      return;
    }
    if (isBackground) return new Promise((begin) => background.push(begin));
    const own = owner === undefined ? [] : waiting.filter((task) => task.owner === owner);
    if (waiting.length >= maxWaiting || own.length >= maxWaiting / 4)
      throw new ApiError(
        503,
        'overloaded',
        'Too many large requests are waiting, so this one was not processed. Send it again after Retry-After.',
      );
    const turnIn = Math.max(round, own.at(-1)?.round ?? 0) + 1;
    const later = waiting.findIndex((task) => task.round > turnIn);
    return new Promise((begin) => {
      waiting.splice(later < 0 ? waiting.length : later, 0, { owner, round: turnIn, begin });
    });
  }

  function beginNext(): void {
    const next = waiting.shift();
    round = next?.round ?? round;
    const begin = next?.begin ?? background.shift();
    if (begin === undefined) running -= 1;
    else begin();
  }

  return {
    async run<Result>(task: unknown, options: TaskOptions = {}): Promise<Result> {
      await turn(options);
      const limit = new AbortController();
      inWork.add(limit);
      try {
        if (closed) throw new Error('the threads are closed');
        await options.begins?.();
        return await runTask<Result>(pool, task, { name: options.name ?? 'default', timeoutMs, limit });
      } catch (error) {
        throw closed || hadNoThread(error) ? unavailable(error) : toError(error);
      } finally {
        inWork.delete(limit);
        beginNext();
      }
    },
    async close() {
      closed = true;
      await pool.destroy();
    },
  };
}

function toError(error: unknown): unknown {
  const { name, code } = error as Error & { code?: string };
  if (name === 'AbortError') return new TaskTooCostly('time', error);
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return new TaskTooCostly('memory', error);
  return error;
}

const hadNoThread = (error: unknown) => [error, (error as Error).cause].some((each) => each instanceof NoThread);

function unavailable(cause: unknown): ApiError {
  const message = 'The request could not be processed and had no effect. Send it again after Retry-After.';
  return new ApiError(503, 'service_unavailable', message, { cause });
}

import { Piscina } from 'piscina';

export interface WorkerThreadsOptions {
  /** The module whose exports are the tasks; see {@link compiledWorker}. */
  readonly worker: URL;
  readonly maxThreads: number;
  /** Milliseconds after which an idle worker ends, and its memory with it. */
  readonly idleTimeout: number;
  readonly workerData?: unknown;
}

/** JavaScript memory of a worker; the largest genuine document needs a third. */
const WORKER_MEGABYTES = 1_024;

/** A pool of worker threads that starts empty and grows with its tasks. */
export function startWorkerThreads({ worker, ...options }: WorkerThreadsOptions): Piscina {
  const pool = new Piscina({
    ...options,
    filename: worker.href,
    minThreads: 0,
    resourceLimits: { maxOldGenerationSizeMb: WORKER_MEGABYTES },
    recordTiming: false,
    // Node aborts the whole process when a thread is ended while it reads an ES module by require(); import() is safe.
    execArgv: ['--no-experimental-require-module'],
  });
  // A worker that cannot start does not end the process; its task waits until its timeout.
  pool.on('error', () => undefined);
  return pool;
}

/** No thread could be started for the task, which was not begun. */
export class NoThread extends Error {}

/**
 * Runs a task that is ended after `timeoutMs`, or by `limit`. The errors are those of Piscina, and NoThread where the system
 * gives no thread.
 */
export async function runTask<Result>(
  pool: Pick<Piscina, 'run'>,
  task: unknown,
  { name, timeoutMs, limit = new AbortController() }: { name: string; timeoutMs: number; limit?: AbortController },
): Promise<Result> {
  const timer = setTimeout(() => limit.abort(), timeoutMs);
  try {
    return (await pool.run(task, { name, signal: limit.signal })) as Result;
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_WORKER_INIT_FAILED') throw error;
    throw new NoThread('the system cannot start a thread', { cause: error });
  } finally {
    // Piscina keeps a task without thread; a later abort would reject a promise that no code awaits, and so end the process.
    clearTimeout(timer);
  }
}

/** The compiled module beside the caller's. Workers run compiled code, also where the caller is read from its source. */
export function compiledWorker(caller: ImportMeta, name: string): URL {
  return new URL(
    `./${name}.js`,
    caller.url.endsWith('.ts') ? caller.url.replace(/^(.*)\/src\//, '$1/dist/') : caller.url,
  );
}

import { isDatabaseUnavailable, mayBeOwnDoing } from './database-errors.js';

/** Batches whose durations count towards what one takes. */
const REMEMBERED = 8;

/** Collects calls that arrive while others are under way, and runs them together. */
export interface Batches<I, O> {
  run(item: I): Promise<O>;
}

interface Waiting<I, O> {
  readonly item: I;
  readonly resolve: (result: O) => void;
  readonly reject: (error: unknown) => void;
}

export interface BatchOptions<I, O> {
  /** Runs a batch; results in the order of the items. */
  readonly work: (items: readonly I[]) => Promise<readonly O[]>;
  /** Items of one key never share a batch. */
  readonly keyOf: (item: I) => unknown;
  readonly maxItems: number;
  /** Batches under way at the same time. */
  readonly maxUnderWay: number;
  /** How long batches gather items, as things are now; without it none waits. */
  readonly gathering?: {
    /**
     * Milliseconds from the beginning of a batch to that of the next.
     *
     * @param takesMs what a batch has taken lately, in milliseconds
     */
    spacingMs(takesMs: number): number;
    /** So many that wait leave at once. */
    enough(): number;
  };
}

/**
 * One caller alone waits for nobody: its batch leaves at once. Under load a statement, its round trip and its commit are
 * shared by all who came meanwhile. A batch that fails for a reason of one item is run again one by one; where the database
 * is away all are told so at once, also those that wait: none of them would wait for less by trying after the others. One by one
 * go those too whose statement the database gave up while it answers others, until it gives up a second of them.
 */
export function createBatches<I, O>(options: BatchOptions<I, O>): Batches<I, O> {
  const { gathering } = options;
  let waiting: Waiting<I, O>[] = [];
  let underWay = 0;
  let scheduled = false;
  /** Runs while a batch keeps its distance from the one before. */
  let pausing: NodeJS.Timeout | undefined;
  /** When the latest began, by `performance.now()`. */
  let began = Number.NEGATIVE_INFINITY;
  /** What a batch has taken lately, in milliseconds: the latest count most. */
  let takes = 0;

  function schedule(): void {
    const isEnough = waiting.length >= Math.min(options.maxItems, gathering?.enough() ?? 1);
    if (pausing !== undefined && isEnough) {
      clearTimeout(pausing);
      pausing = undefined;
      scheduled = false;
    }
    if (scheduled || waiting.length === 0 || underWay >= options.maxUnderWay) return;
    scheduled = true;
    const pause = isEnough ? 0 : began + (gathering?.spacingMs(takes) ?? 0) - performance.now();
    // After the callbacks of this turn, so that requests that arrived together leave together.
    if (pause > 0) pausing = setTimeout(leave, pause);
    else setImmediate(leave);
  }

  function leave(): void {
    scheduled = false;
    pausing = undefined;
    if (waiting.length === 0) return;
    began = performance.now();
    void start(take());
    schedule();
  }

  function take(): Waiting<I, O>[] {
    const keys = new Set<unknown>();
    const batch: Waiting<I, O>[] = [];
    const rest: Waiting<I, O>[] = [];
    for (const entry of waiting) {
      const key = options.keyOf(entry.item);
      if (batch.length >= options.maxItems || keys.has(key)) rest.push(entry);
      else {
        keys.add(key);
        batch.push(entry);
      }
    }
    waiting = rest;
    return batch;
  }

  async function start(batch: readonly Waiting<I, O>[]): Promise<void> {
    const begun = performance.now();
    underWay += 1;
    try {
      await settle(batch);
    } finally {
      underWay -= 1;
      takes += (performance.now() - begun - takes) / REMEMBERED;
      schedule();
    }
  }

  async function settle(batch: readonly Waiting<I, O>[]): Promise<void> {
    const failure = await attempt(batch);
    if (failure === null) return;
    if (await isForAll(failure.error)) rejectAll(batch, failure.error);
    else if (batch.length === 1) batch[0]?.reject(failure.error);
    else await settleEach(batch);
  }

  async function settleEach(batch: readonly Waiting<I, O>[]): Promise<void> {
    let givenUp = 0;
    for (const [index, entry] of batch.entries()) {
      const failure = await attempt([entry]);
      if (failure === null) continue;
      if (isDatabaseUnavailable(failure.error)) givenUp += 1;
      if (givenUp > 1 || (await isForAll(failure.error))) return rejectAll(batch.slice(index), failure.error);
      entry.reject(failure.error);
    }
  }

  /** Null where the batch is done. */
  async function attempt(batch: readonly Waiting<I, O>[]): Promise<{ error: unknown } | null> {
    try {
      const results = await options.work(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, index) => {
        resolve(results[index] as O);
      });
      return null;
    } catch (error) {
      return { error };
    }
  }

  function rejectAll(batch: readonly Waiting<I, O>[], error: unknown): void {
    for (const { reject } of [...batch, ...waiting.splice(0)]) reject(error);
  }

  return {
    run(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        schedule();
      });
    },
  };
}

async function isForAll(error: unknown): Promise<boolean> {
  return isDatabaseUnavailable(error) && !(await mayBeOwnDoing(error));
}

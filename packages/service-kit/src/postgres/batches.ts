import { isDatabaseUnavailable, mayBeOwnDoing } from './database-errors.js';

/** Collects calls that arrive while others are in flight, and runs them together. */
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
  /** Batches in flight at the same time. */
  readonly maxInFlight: number;
}

/**
 * Runs calls of the same kind in batches. A single call starts at once; calls that arrive while `maxInFlight` batches run
 * share the next one. After a failure caused by one item, the items run one by one. While the database is down, every
 * waiting caller is rejected at once. The first statement that a responding database cancels counts as caused by an item, a
 * second one does not.
 */
export function createBatches<I, O>(options: BatchOptions<I, O>): Batches<I, O> {
  let waiting: Waiting<I, O>[] = [];
  let inFlight = 0;
  let scheduled = false;

  function schedule(): void {
    if (scheduled || waiting.length === 0 || inFlight >= options.maxInFlight) return;
    scheduled = true;
    // After the callbacks of this turn, so that calls that arrived together share a batch.
    setImmediate(leave);
  }

  function leave(): void {
    scheduled = false;
    if (waiting.length === 0) return;
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
    inFlight += 1;
    try {
      await settle(batch);
    } finally {
      inFlight -= 1;
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

  /** Null if the batch is done. */
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

/** Ids at a time. */
const IDS_AT_ONCE = 100;

/**
 * Takes ids from a sequence in blocks, so that not every row costs a statement. Ids have gaps: a block that a stop leaves
 * behind is lost.
 *
 * @param next resolves with so many new ids
 */
export function createIds(next: (count: number) => Promise<readonly number[]>): () => Promise<number> {
  const ids: number[] = [];
  return async () => {
    while (ids.length === 0) ids.push(...(await next(IDS_AT_ONCE)));
    return ids.shift() as number;
  };
}

async function isForAll(error: unknown): Promise<boolean> {
  return isDatabaseUnavailable(error) && !(await mayBeOwnDoing(error));
}

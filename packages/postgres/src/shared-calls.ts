import { isDatabaseUnavailable, isStatementAtFault } from './database-errors.js';

/** Calls of one kind. Calls that arrive while others are in flight run together. */
export interface SharedCalls<I, O> {
  run(item: I): Promise<O>;
}

interface Waiting<I, O> {
  readonly item: I;
  readonly resolve: (result: O) => void;
  readonly reject: (error: unknown) => void;
}

export interface SharedCallsOptions<I, O> {
  /** Runs the items of several calls; results in the order of the items. */
  readonly work: (items: readonly I[]) => Promise<readonly O[]>;
  /** Items of one key never run together. */
  readonly keyOf: (item: I) => unknown;
  readonly maxItems: number;
  /** Calls of `work` in flight at the same time. */
  readonly maxInFlight: number;
}

/**
 * Runs calls of one kind together. A single call starts immediately; calls that arrive while `maxInFlight` others run share
 * the next one. After a failure caused by one item, the items run one by one. While the database is down, every waiting
 * caller is rejected immediately. The first statement that a responding database cancels counts as caused by an item; a
 * second one does not.
 */
export function createSharedCalls<I, O>(options: SharedCallsOptions<I, O>): SharedCalls<I, O> {
  let waiting: Waiting<I, O>[] = [];
  let inFlight = 0;
  let scheduled = false;

  function schedule(): void {
    if (scheduled || waiting.length === 0 || inFlight >= options.maxInFlight) return;
    scheduled = true;
    // After the callbacks of this turn, so that calls that arrived together run together.
    setImmediate(startNext);
  }

  function startNext(): void {
    scheduled = false;
    if (waiting.length === 0) return;
    void start(take());
    schedule();
  }

  function take(): Waiting<I, O>[] {
    const keys = new Set<unknown>();
    const group: Waiting<I, O>[] = [];
    const rest: Waiting<I, O>[] = [];
    for (const entry of waiting) {
      const key = options.keyOf(entry.item);
      if (group.length >= options.maxItems || keys.has(key)) rest.push(entry);
      else {
        keys.add(key);
        group.push(entry);
      }
    }
    waiting = rest;
    return group;
  }

  async function start(group: readonly Waiting<I, O>[]): Promise<void> {
    inFlight += 1;
    try {
      await settle(group);
    } finally {
      inFlight -= 1;
      schedule();
    }
  }

  async function settle(group: readonly Waiting<I, O>[]): Promise<void> {
    const failure = await attempt(group);
    if (failure === null) return;
    if (await isForAll(failure.error)) rejectAll(group, failure.error);
    else if (group.length === 1) group[0]?.reject(failure.error);
    else await settleEach(group);
  }

  async function settleEach(group: readonly Waiting<I, O>[]): Promise<void> {
    let givenUp = 0;
    for (const [index, entry] of group.entries()) {
      const failure = await attempt([entry]);
      if (failure === null) continue;
      if (isDatabaseUnavailable(failure.error)) givenUp += 1;
      if (givenUp > 1 || (await isForAll(failure.error))) return rejectAll(group.slice(index), failure.error);
      entry.reject(failure.error);
    }
  }

  /** Null if all are done. */
  async function attempt(group: readonly Waiting<I, O>[]): Promise<{ error: unknown } | null> {
    try {
      const results = await options.work(group.map(({ item }) => item));
      group.forEach(({ resolve }, index) => {
        resolve(results[index] as O);
      });
      return null;
    } catch (error) {
      return { error };
    }
  }

  function rejectAll(group: readonly Waiting<I, O>[], error: unknown): void {
    for (const { reject } of [...group, ...waiting.splice(0)]) reject(error);
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
  return isDatabaseUnavailable(error) && !(await isStatementAtFault(error));
}

import { setTimeout as delay } from 'node:timers/promises';
import { createWaker } from '@ecf/kit';

/** A store of work with due times that instances share. A claimed item is leased: others pass it over until `until`. */
export interface DueWorkStore<Item> {
  /** Leases at most `limit` items that are due at `now`, until `until`. */
  claimDue(request: ClaimRequest): Promise<readonly Item[]>;
  /** When the next item falls due, leases included; null when nothing waits. Without it, a {@link DueTimeWatch} wakes the engine. */
  nextDue?(): Promise<Date | null>;
  /** Extends the leases of items in flight. Needed where handling may last longer than a lease. */
  renew?(items: readonly Item[], until: Date): Promise<void>;
}

export interface ClaimRequest {
  readonly now: Date;
  readonly until: Date;
  readonly limit: number;
}

export interface DueWorkOptions<Item> {
  readonly store: DueWorkStore<Item>;
  /** Handles one item and records when it is due again, or that it is done. */
  readonly handle: (item: Item) => Promise<void>;
  /** Receives errors of the store (`item` is absent) and of handlers. The lease of a failed item simply ends. */
  readonly onError: (error: unknown, item?: Item) => void;
  /** The clock of the database that holds the items, so that all instances agree on what is due. */
  readonly clock: () => Date;
  /** Milliseconds of a lease: after a crash, another instance takes the item over when it ends. */
  readonly leaseMs: number;
  /** Longest pause in milliseconds between two claims; default 30,000. */
  readonly idleMs?: number;
  /** Most items in flight at the same time. */
  readonly concurrency: number;
  /**
   * An item in flight for longer than `afterMs` frees its slot and continues beside the others; `maxInFlight` bounds them
   * all. So a few hanging peers do not delay the rest.
   */
  readonly slow?: { readonly afterMs: number; readonly maxInFlight: number };
  /** Shortest pause in milliseconds after a claim, so that items that fall due together share one claim. Default 25. */
  readonly gatherMs?: number;
}

export interface DueWork<Item> {
  start(): void;
  /** Looks for due work soon: some was added, or a resource became free. */
  wake(): void;
  /** Handles an item that the caller claimed, beside those of the loop. Errors go to `onError`. */
  run(item: Item): Promise<void>;
  /** Claims nothing new, waits for the items in flight. */
  stop(): Promise<void>;
  /** Claims and handles what is due now, once. Resolves with the number of items when all of them ended. For tests. */
  runOnce(): Promise<number>;
  /** Items in flight in this process. */
  inFlight(): readonly Item[];
}

/** Pause in milliseconds after an error of the store. */
const AFTER_ERROR_MS = 1_000;

/**
 * Runs work that falls due, in every instance, without end. The database decides who handles an item: a claim is a lease by
 * due time, so the work of a crashed instance becomes due again.
 */
export function createDueWork<Item>(options: DueWorkOptions<Item>): DueWork<Item> {
  const { store, clock, leaseMs, idleMs = 30_000, gatherMs = 25 } = options;
  const inFlight = new Map<Promise<void>, Item>();
  const waker = createWaker();
  const stopping = new AbortController();
  let slowItems = 0;
  let loopEnded: Promise<void> = Promise.resolve();
  let renewing: NodeJS.Timeout | undefined;

  function freeSlots(): number {
    const freeForQuick = options.concurrency - (inFlight.size - slowItems);
    const freeForAll = (options.slow?.maxInFlight ?? options.concurrency) - inFlight.size;
    return Math.min(freeForQuick, freeForAll);
  }

  const leaseEnd = (now: Date) => new Date(now.getTime() + leaseMs);

  /** Claims until the slots are full or nothing more is due. Returns the handlers that it started. */
  async function claim(): Promise<Promise<void>[]> {
    const started: Promise<void>[] = [];
    for (let limit = freeSlots(); limit > 0 && !stopping.signal.aborted; limit = freeSlots()) {
      const now = clock();
      const items = await store.claimDue({ now, until: leaseEnd(now), limit });
      started.push(...items.map(run));
      if (items.length === 0) break;
    }
    return started;
  }

  function run(item: Item): Promise<void> {
    let isSlow = false;
    const timer = options.slow && setTimeout(markSlow, options.slow.afterMs);
    function markSlow(): void {
      isSlow = true;
      slowItems += 1;
      waker.wake();
    }
    const task = options
      .handle(item)
      .catch((error) => options.onError(error, item))
      .finally(() => {
        clearTimeout(timer);
        if (isSlow) slowItems -= 1;
        inFlight.delete(task);
        // A slot is free, or a peer that takes one item at a time.
        waker.wake();
      });
    inFlight.set(task, item);
    return task;
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      let pauseMs = idleMs;
      try {
        await claim();
        pauseMs = await untilNextDue();
      } catch (error) {
        options.onError(error);
        pauseMs = Math.min(idleMs, AFTER_ERROR_MS);
      }
      await delay(gatherMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      await waker.woken(pauseMs - gatherMs);
    }
  }

  async function untilNextDue(): Promise<number> {
    if (store.nextDue === undefined || freeSlots() <= 0) return idleMs;
    const next = await store.nextDue();
    return next === null ? idleMs : Math.min(Math.max(next.getTime() - clock().getTime(), 0), idleMs);
  }

  function renew(): void {
    const items = [...inFlight.values()];
    if (items.length > 0) store.renew?.(items, leaseEnd(clock())).catch((error) => options.onError(error));
  }

  return {
    start() {
      loopEnded = loop();
      if (store.renew !== undefined) renewing = setInterval(renew, leaseMs / 3);
    },
    wake: waker.wake,
    run,
    async stop() {
      stopping.abort();
      waker.wake();
      await loopEnded;
      await Promise.all(inFlight.keys());
      clearInterval(renewing);
    },
    async runOnce() {
      const started = await claim();
      await Promise.all(started);
      return started.length;
    },
    inFlight: () => [...inFlight.values()],
  };
}

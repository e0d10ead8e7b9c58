import type { Database } from '../database.js';
import { type DueTimes, limitDueTimes, msUntilDue } from '../due-times.js';

/** After a write, due times are read this much later, so that many writes share one read. */
const AFTER_WRITE_MS = 1_000;
/** Longest pause between two reads: other instances and operators store due times, too. */
const LONGEST_PAUSE_MS = 30_000;
const LIMIT_EVERY_MS = 60_000;

export interface DueTimeWatchOptions {
  readonly database: Database;
  /** Every due time of the service. */
  readonly columns: readonly DueTimes[];
  /** Makes the loops of the service look for work. */
  readonly wake: () => void;
  readonly failed: (error: unknown) => void;
}

export interface DueTimeWatch {
  start(): void;
  /** Waits for the read in flight. */
  stop(): Promise<void>;
}

/**
 * Wakes the loops of a service when work is due, so that an idle service runs almost no statements. While due work cannot be
 * claimed (its account, receiver or environment has to wait), it wakes them every second. At the start and every minute it also
 * brings due times beyond their longest pause back to it, because the clock of the database may have been wrong for a while.
 */
export function createDueTimeWatch({ database, columns, wake, failed }: DueTimeWatchOptions): DueTimeWatch {
  let timer: NodeJS.Timeout | undefined;
  /** Time of the next read, by `performance.now()`. */
  let nextRead = Number.POSITIVE_INFINITY;
  let limitedAt = Number.NEGATIVE_INFINITY;
  let reading = Promise.resolve();
  let stopped = false;
  let endListening = () => {};

  function readWithin(ms: number): void {
    const at = performance.now() + ms;
    if (stopped || at >= nextRead) return;
    nextRead = at;
    clearTimeout(timer);
    timer = setTimeout(() => {
      nextRead = Number.POSITIVE_INFINITY;
      reading = read().catch(failed);
    }, ms);
    timer.unref();
  }

  async function read(): Promise<void> {
    let pauseMs = AFTER_WRITE_MS;
    try {
      if (performance.now() - limitedAt >= LIMIT_EVERY_MS) {
        await limitDueTimes(database, columns);
        limitedAt = performance.now();
      }
      const ms = await msUntilDue(database, columns);
      if (ms !== null && ms <= 0) wake();
      if (ms === null || ms > 0) pauseMs = Math.min(ms ?? LONGEST_PAUSE_MS, LONGEST_PAUSE_MS);
    } finally {
      readWithin(pauseMs);
    }
  }

  return {
    start() {
      endListening = database.onWrite(() => readWithin(AFTER_WRITE_MS));
      readWithin(0);
    },
    async stop() {
      stopped = true;
      endListening();
      clearTimeout(timer);
      await reading;
    },
  };
}

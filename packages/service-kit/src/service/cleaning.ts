const CLEAN_EVERY_MS = 3_600_000;
const LIMIT_EVERY_MS = 60_000;

interface RepeatedWork {
  readonly clock: () => Date;
  readonly failed: (error: unknown) => void;
}

export interface CleaningOptions extends RepeatedWork {
  /** Deletes what is no longer needed. */
  readonly clean: (now: Date) => Promise<unknown>;
}

export interface DueTimeLimitsOptions extends RepeatedWork {
  /** Brings due times beyond their longest pause back to it. */
  readonly limit: (now: Date) => Promise<unknown>;
}

export interface Cleaning {
  start(): void;
  /** Waits for the work in flight. */
  stop(): Promise<void>;
}

/** Cleans every hour. Not at the start: restarts while the clock of the database is wrong would each delete a day. */
export function createCleaning({ clean, ...options }: CleaningOptions): Cleaning {
  return repeated(clean, { ...options, everyMs: CLEAN_EVERY_MS, atStart: false });
}

/**
 * Limits due times at the start and every minute. The clock of the database may have been wrong for a while: a due time that
 * was stored then must not delay work by more than its longest pause.
 */
export function createDueTimeLimits({ limit, ...options }: DueTimeLimitsOptions): Cleaning {
  return repeated(limit, { ...options, everyMs: LIMIT_EVERY_MS, atStart: true });
}

function repeated(
  work: (now: Date) => Promise<unknown>,
  { clock, failed, everyMs, atStart }: RepeatedWork & { readonly everyMs: number; readonly atStart: boolean },
): Cleaning {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  const run = () => {
    running = running.then(() => work(clock())).catch(failed);
  };
  return {
    start() {
      if (atStart) run();
      timer = setInterval(run, everyMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

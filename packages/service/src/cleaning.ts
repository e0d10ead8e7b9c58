const CLEAN_EVERY_MS = 3_600_000;

export interface CleaningOptions {
  /** Deletes what is no longer needed. The signal is aborted when the service stops. */
  readonly clean: (now: Date, signal: AbortSignal) => Promise<unknown>;
  readonly clock: () => Date;
  readonly failed: (error: unknown) => void;
}

export interface Cleaning {
  start(): void;
  /** Waits for the work in flight. */
  stop(): Promise<void>;
}

/** Cleans every hour. Not at the start: restarts while the clock of the database is wrong would each delete a day. */
export function createCleaning({ clean, clock, failed }: CleaningOptions): Cleaning {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  const run = () => {
    running = running.then(() => clean(clock(), stopping.signal)).catch(failed);
  };
  return {
    start() {
      timer = setInterval(run, CLEAN_EVERY_MS);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
  };
}

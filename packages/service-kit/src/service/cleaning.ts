const EVERY_MS = 10 * 60_000;

export interface CleaningOptions {
  /** Deletes what is no longer needed. */
  readonly clean: (now: Date) => Promise<unknown>;
  readonly clock: () => Date;
  readonly failed: (error: unknown) => void;
}

export interface Cleaning {
  start(): void;
  /** Waits for the work in flight. */
  stop(): Promise<void>;
}

/** Cleans every ten minutes. */
export function createCleaning({ clean, clock, failed }: CleaningOptions): Cleaning {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<unknown> = Promise.resolve();
  return {
    start() {
      timer = setInterval(() => {
        running = clean(clock()).catch(failed);
      }, EVERY_MS);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

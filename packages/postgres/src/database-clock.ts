import type { Queries } from './database.js';

const READ_EVERY_MS = 60_000;

/** The time of a database. */
export interface DatabaseClock {
  /** The time of the database. Before the first reading, the time of the process. */
  now(): Date;
  /** Reads the clock now and every minute. Rejects if the first reading fails. */
  start(): Promise<void>;
  stop(): void;
}

export interface DatabaseClockOptions {
  readonly database: Queries;
  /** Receives by how many seconds the clock of the process is ahead of the database. */
  readonly skew: (against: 'database', seconds: number) => void;
  readonly onError: (error: unknown) => void;
}

/**
 * All instances of a service compute due times, leases and retention by the clock of their database, so a wrong clock of one
 * process postpones, deletes and takes over nothing. Between two readings a clock that does not jump is added.
 */
export function createDatabaseClock({ database, skew, onError }: DatabaseClockOptions): DatabaseClock {
  /** Time of the database minus `performance.now()`. */
  let offset: number | null = null;
  let timer: NodeJS.Timeout | undefined;

  async function read(): Promise<void> {
    const sent = performance.now();
    const { rows } = await database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    const [{ now }] = rows as [{ now: Date }];
    offset = now.getTime() - (sent + performance.now()) / 2;
    skew('database', (Date.now() - now.getTime()) / 1_000);
  }

  return {
    now: () => new Date(offset === null ? Date.now() : offset + performance.now()),
    async start() {
      await read();
      timer = setInterval(() => read().catch(onError), READ_EVERY_MS);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}

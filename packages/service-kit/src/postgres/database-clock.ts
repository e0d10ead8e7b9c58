import type { Queries } from './database.js';

const READ_EVERY_MS = 10_000;

/** The time of a database. */
export interface DatabaseClock {
  /** The time of the database. Before the first reading, the time of the process. */
  now(): Date;
  /** Reads the clock now and every ten seconds. Rejects if the first reading fails. */
  start(): Promise<void>;
  /** Reads the clock; an error is reported. */
  read(): Promise<void>;
  stop(): void;
}

export interface DatabaseClockOptions {
  readonly database: Queries;
  /** Receives by how many seconds the clock of the process is ahead of the database. */
  readonly skew: (against: 'database', seconds: number) => void;
  readonly onError: (error: unknown) => void;
  /** Milliseconds since 1970 by the process; it may jump. */
  readonly processTime?: () => number;
  /** Milliseconds of a clock that does not jump. */
  readonly elapsed?: () => number;
}

/**
 * Due times, leases and retention are computed with one clock, the one of the database that stores them, so a wrong clock of
 * one process postpones, deletes and takes over nothing. Between two readings a clock that does not jump is added.
 */
export function createDatabaseClock(options: DatabaseClockOptions): DatabaseClock {
  const { database, skew, onError, processTime = () => Date.now(), elapsed = () => performance.now() } = options;
  /** Time of the database minus elapsed milliseconds. */
  let offset: number | null = null;
  let timer: NodeJS.Timeout | undefined;

  async function read(): Promise<void> {
    const sent = elapsed();
    const { rows } = await database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    const received = elapsed();
    const now = (rows[0] as { now: Date }).now.getTime();
    // The clock was read at a time between sent and received; an offset that fits stays, so that the clock does not vary.
    offset = Math.min(Math.max(offset ?? now - received, now - received), now - sent);
    skew('database', (processTime() - (offset + received)) / 1_000);
  }

  return {
    now: () => new Date(offset === null ? processTime() : offset + elapsed()),
    async start() {
      await read();
      timer = setInterval(() => read().catch(onError), READ_EVERY_MS);
      timer.unref();
    },
    read: () => read().catch(onError),
    stop: () => clearInterval(timer),
  };
}

import type { Queries } from './database.js';

const READ_EVERY_MS = 10_000;
/** A larger difference from the time that was expected is a jump. */
const JUMP_MS = 60_000;
/** A jump that ends earlier is not followed. */
const STEADY_MS = 60_000;

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
 * one process postpones, deletes and takes over nothing. Between two readings a clock that does not jump is added. If the clock of
 * the database jumps, it is followed when the jump has lasted for a minute.
 */
export function createDatabaseClock(options: DatabaseClockOptions): DatabaseClock {
  const { database, skew, onError, processTime = () => Date.now(), elapsed = () => performance.now() } = options;
  /** Time of the database minus elapsed milliseconds. */
  let offset: number | null = null;
  /** Elapsed time when `offset` came from the first reading or a jump. */
  let setAt = 0;
  /** Elapsed time when the jump was read that is not followed yet. */
  let jumpedAt: number | null = null;
  let timer: NodeJS.Timeout | undefined;

  async function read(): Promise<void> {
    const sent = elapsed();
    const { rows } = await database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    const received = elapsed();
    const now = (rows[0] as { now: Date }).now.getTime();
    // The clock was read at a time between sent and received; an offset that fits stays, so that the clock does not vary.
    const fitting = Math.min(Math.max(offset ?? now - received, now - received), now - sent);
    const aheadBy = (time: number) => (processTime() - time) / 1_000;
    if (offset === null || Math.abs(fitting - offset) > JUMP_MS) {
      jumpedAt ??= received;
      // An offset that is younger than a minute may itself come from a wrong clock.
      if (offset !== null && received - setAt >= STEADY_MS && received - jumpedAt < STEADY_MS) {
        const [kept, read] = [aheadBy(offset + received), aheadBy(now)];
        return skew('database', Math.abs(kept) > Math.abs(read) ? kept : read);
      }
      setAt = received;
    }
    jumpedAt = null;
    offset = fitting;
    skew('database', aheadBy(offset + received));
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

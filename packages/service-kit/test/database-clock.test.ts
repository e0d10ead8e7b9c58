import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestPostgres } from '../../test-servers/src/postgres.js';
import { type Database, openDatabase } from '../src/postgres/database.js';
import { createDatabaseClock, type DatabaseClock } from '../src/postgres/database-clock.js';
import { deleteExpired, limitDueTimes } from '../src/postgres/due-times.js';
import { measureAuthorityCalls } from '../src/telemetry/authority-calls.js';
import { reportClockSkew } from '../src/telemetry/clock-skew.js';
import type { Logger } from '../src/telemetry/logger.js';
import { createMetrics } from '../src/telemetry/metrics.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let database: Database;
beforeAll(async () => {
  database = openDatabase(await (await startTestPostgres()).createDatabase(), { max: 2 });
  await database.query('CREATE TABLE kept (id int PRIMARY KEY, at timestamptz NOT NULL)');
  await database.query('CREATE INDEX ON kept (at)');
  await database.query('CREATE TABLE due (id int PRIMARY KEY, due_at timestamptz)');
});
afterAll(() => database.close());

async function databaseTime(): Promise<number> {
  const { rows } = await database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
  return rows[0]?.now.getTime() ?? Number.NaN;
}

async function idsIn(table: string): Promise<number[]> {
  return (await database.query<{ id: number }>(`SELECT id FROM ${table} ORDER BY id`)).rows.map(({ id }) => id);
}

describe('the clock of the database', () => {
  let clock: DatabaseClock | undefined;

  it.each([3 * HOUR, 92 * DAY, -3 * HOUR])(
    'shows the time of the database while the process clock is %d ms ahead',
    async (ahead) => {
      let wrong = 0;
      const skews: [string, number][] = [];
      clock = createDatabaseClock({
        database,
        skew: (against, seconds) => skews.push([against, seconds]),
        processTime: () => Date.now() + wrong,
        onError: (error) => {
          throw error;
        },
      });
      await clock.start();
      wrong = ahead;
      expect(Math.abs(clock.now().getTime() - (await databaseTime()))).toBeLessThan(HOUR / 4);
      await clock.read();
      expect(Math.abs(clock.now().getTime() - (await databaseTime()))).toBeLessThan(HOUR / 4);
      clock.stop();
      const [against, seconds] = skews.at(-1) as [string, number];
      expect(against).toBe('database');
      expect(Math.abs(seconds - ahead / 1_000)).toBeLessThan(900);
    },
  );

  it('continues from its last reading while the database does not answer', async () => {
    const errors: unknown[] = [];
    let away = false;
    const failing = { query: (sql: string) => (away ? Promise.reject(new Error('away')) : database.query(sql)) };
    clock = createDatabaseClock({
      database: failing as Database,
      skew: () => undefined,
      onError: (error) => errors.push(error),
    });
    await clock.start();
    away = true;
    await clock.read();
    expect(Math.abs(clock.now().getTime() - (await databaseTime()))).toBeLessThan(HOUR / 4);
    expect(errors).toHaveLength(1);
    clock.stop();
  });
});

describe('a jump of the clock of the database', () => {
  const START = Date.parse('2026-07-01T12:00:00Z');
  let elapsed: number;
  let ahead: number;
  let skews: number[];
  let clock: DatabaseClock;

  /** Milliseconds that the clock is ahead of the true time, after a reading. */
  async function aheadAfter(ms: number): Promise<number> {
    elapsed += ms;
    await clock.read();
    return clock.now().getTime() - (START + elapsed);
  }

  async function start(processTime: () => number): Promise<void> {
    const query = () => Promise.resolve({ rows: [{ now: new Date(START + elapsed + ahead) }], rowCount: 1 });
    clock = createDatabaseClock({
      database: { query } as unknown as Database,
      skew: (_, seconds) => skews.push(seconds),
      processTime,
      elapsed: () => elapsed,
      onError: (error) => {
        throw error;
      },
    });
    await clock.read();
  }

  beforeEach(async () => {
    [elapsed, ahead, skews] = [0, 0, []];
    // The clock of the whole machine jumps.
    await start(() => START + elapsed + ahead);
    expect(await aheadAfter(600_000)).toBe(0);
  });

  it.each([3 * HOUR, 92 * DAY, -3 * HOUR])(
    'of half a minute by %d ms changes no time, and is reported',
    async (jump) => {
      ahead = jump;
      for (let reading = 0; reading < 4; reading += 1) {
        expect(await aheadAfter(10_000)).toBe(0);
        expect(skews.at(-1)).toBe(jump / 1_000);
      }
      ahead = 0;
      expect(await aheadAfter(10_000)).toBe(0);
      expect(skews.at(-1)).toBe(0);
      // The next jump is counted from its own beginning.
      ahead = jump;
      expect(await aheadAfter(10_000)).toBe(0);
      expect(await aheadAfter(40_000)).toBe(0);
    },
  );

  it('is followed when it has lasted for a minute, and so is its end soon after', async () => {
    ahead = 3 * HOUR;
    expect(await aheadAfter(10_000)).toBe(0);
    expect(await aheadAfter(60_000)).toBe(3 * HOUR);
    ahead = 0;
    expect(await aheadAfter(10_000)).toBe(0);
  });

  it('is reported when only the clock of the database jumps', async () => {
    await start(() => START + elapsed);
    await aheadAfter(60_000);
    ahead = 3 * HOUR;
    expect(await aheadAfter(10_000)).toBe(0);
    expect(skews.at(-1)).toBe((-3 * HOUR) / 1_000);
  });

  it('is corrected without delay in the first minute after the start', async () => {
    ahead = 92 * DAY;
    await start(() => START + elapsed + ahead);
    ahead = 0;
    expect(await aheadAfter(10_000)).toBe(0);
  });
});

describe('the skew of the process clock', () => {
  it('is a metric and a log line at its beginning and end, against the authority by its Date header', async () => {
    const lines: string[] = [];
    const log = (_: object, text: string) => lines.push(text);
    const logger = { warn: log, info: log } as unknown as Logger;
    const metrics = createMetrics();
    const skew = reportClockSkew(metrics, logger);
    let now = 0;
    const measure = measureAuthorityCalls(metrics, { skew, processTime: () => now });
    const call = { operation: 'queryResult', env: 'eCF', outcome: 'verdict', cause: null, durationMs: 1 };
    const date = new Date('2026-07-01T12:00:00Z');
    now = date.getTime() + 1_000;
    measure({ ...call, date });
    now = date.getTime() + 3 * HOUR;
    measure({ ...call, date });
    measure({ ...call, date });
    measure({ ...call, date: null });
    expect(await metrics.render()).toContain('ecf_clock_skew_seconds{against="authority"} 10800');
    // The clock of a receiver is not the clock of the authority.
    measure({ ...call, env: null, date: new Date(0) });
    now = date.getTime();
    measure({ ...call, date });
    expect(lines).toEqual([
      'the clock of this process differs from the clock of the authority',
      'the clock of this process agrees again with the clock of the authority',
    ]);
  });
});

describe('deleting expired rows', () => {
  it('deletes at most the oldest day in a run, however far ahead the clock is', async () => {
    const now = new Date('2026-07-01T12:00:00Z');
    for (let day = 0; day < 60; day += 1)
      await database.query('INSERT INTO kept VALUES ($1, $2)', [day, new Date(now.getTime() - day * DAY)]);
    const rule = { table: 'kept', column: 'at', keptMs: 30 * DAY };
    expect(await deleteExpired(database, rule, new Date(now.getTime() + 92 * DAY))).toBe(1);
    expect((await idsIn('kept')).length).toBe(59);
    for (let run = 0; run < 40; run += 1) await deleteExpired(database, rule, now);
    expect(await idsIn('kept')).toEqual(Array.from({ length: 31 }, (_, day) => day));
  });

  it('deletes a day that has more rows than one statement deletes', async () => {
    await database.query('TRUNCATE kept');
    await database.query("INSERT INTO kept SELECT id, '2026-01-01T00:00:00Z' FROM generate_series(1, 25) AS id");
    const rule = { table: 'kept', column: 'at', keptMs: DAY, rowsPerStatement: 10 };
    expect(await deleteExpired(database, rule, new Date('2026-07-01T00:00:00Z'))).toBe(25);
    expect(await idsIn('kept')).toEqual([]);
  });
});

describe('limiting due times', () => {
  it('brings those beyond the longest pause back to it, and leaves the others', async () => {
    const now = new Date('2026-07-01T12:00:00Z');
    const at = (ms: number) => new Date(now.getTime() + ms);
    await database.query('INSERT INTO due VALUES (1, $1), (2, $2), (3, NULL), (4, $3)', [
      at(3 * HOUR),
      at(HOUR / 2),
      at(92 * DAY),
    ]);
    expect(await limitDueTimes(database, [{ table: 'due', column: 'due_at', longestMs: HOUR }], now)).toBe(2);
    const { rows } = await database.query('SELECT * FROM due ORDER BY id');
    expect(rows).toEqual([
      { id: 1, due_at: at(HOUR) },
      { id: 2, due_at: at(HOUR / 2) },
      { id: 3, due_at: null },
      { id: 4, due_at: at(HOUR) },
    ]);
  });
});

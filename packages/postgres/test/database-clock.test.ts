import { createMetrics, type Logger, measureAuthorityCalls, reportClockSkew } from '@ecf/kit/telemetry';
import { setProcessClockAhead } from '@ecf/test-support/process-clock';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestPostgres } from '../../test-servers/src/postgres.js';
import { type Database, openDatabase } from '../src/database.js';
import { createDatabaseClock } from '../src/database-clock.js';
import { deleteExpired, limitDueTimes } from '../src/due-times.js';

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
  let correct: () => void = () => undefined;
  afterEach(() => correct());

  it.each([3 * HOUR, 92 * DAY, -3 * HOUR])(
    'shows the time of the database while the clock of the process is %d ms ahead, and reports the difference',
    async (ahead) => {
      const skews: number[] = [];
      const clock = createDatabaseClock({
        database,
        skew: (_, seconds) => skews.push(seconds),
        onError: (error) => {
          throw error;
        },
      });
      correct = setProcessClockAhead(ahead);
      await clock.start();
      expect(Math.abs(clock.now().getTime() - (await databaseTime()))).toBeLessThan(HOUR / 4);
      clock.stop();
      expect(skews).toHaveLength(1);
      expect(Math.abs((skews[0] as number) - ahead / 1_000)).toBeLessThan(900);
    },
  );

  it('keeps its time when the clock of the process jumps after a reading', async () => {
    const clock = createDatabaseClock({ database, skew: () => undefined, onError: () => undefined });
    await clock.start();
    correct = setProcessClockAhead(3 * HOUR);
    expect(Math.abs(clock.now().getTime() - (await databaseTime()))).toBeLessThan(HOUR / 4);
    clock.stop();
  });
});

describe('the skew of the process clock', () => {
  it('is a metric, is logged when it begins and ends, and is measured against the Date header of the authority', async () => {
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
  it('brings due times beyond the longest pause back to it, and leaves the others unchanged', async () => {
    await database.query(
      `INSERT INTO due VALUES (1, now() + interval '3 hours'), (2, '2026-07-01T12:00:00Z'), (3, NULL)`,
    );
    expect(await limitDueTimes(database, [{ table: 'due', column: 'due_at', longestMs: HOUR }])).toBe(1);
    const { rows } = await database.query(
      `SELECT id, due_at FROM due WHERE due_at IS NULL OR due_at NOT BETWEEN now() AND now() + interval '1 hour' ORDER BY id`,
    );
    expect(rows).toEqual([
      { id: 2, due_at: new Date('2026-07-01T12:00:00Z') },
      { id: 3, due_at: null },
    ]);
  });
});

import type { EventType } from '@ecf/contracts';
import { type Database, openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createPostgresFeed } from '../../src/feed/feed.postgres.js';

const EVENTS = 20_000;

let database: Database;

/** One connection, so that its own statistics are complete. */
beforeAll(async () => {
  const url = await (await startTestPostgres()).createDatabase('query');
  database = openDatabase(url, { max: 1 });
  await database.query(
    `INSERT INTO feed_event (occurrence, env, rnc, type, time, subject, data, kept_at)
      SELECT n::text, 'TesteCF', CASE WHEN n > $1::int - 20 THEN '131880681' ELSE '199999991' END, 'invoice.accepted', now(), '{}', '{}', now() - interval '1 day'
        FROM generate_series(1, $1::int) AS n`,
    [EVENTS],
  );
  await database.query('VACUUM (ANALYZE)');
});
afterAll(() => database.close());

/** Events that were read from the table. */
async function reads(): Promise<number> {
  await database.query('SELECT pg_stat_force_next_flush()');
  const { rows } = await database.query<{ n: number }>(
    `SELECT (seq_tup_read + idx_tup_fetch)::int AS n FROM pg_stat_user_tables WHERE relname = 'feed_event'`,
  );
  return rows[0]?.n ?? 0;
}

const read = (rnc: string, types: readonly EventType[] | null) =>
  createPostgresFeed(database).page({
    env: 'TesteCF',
    rncs: [rnc, '101010101'],
    caller: { accountId: 'none', taxpayers: null } as never,
    types,
    after: null,
    limit: 200,
  });

it('a page reads only the events of its taxpayers, however many others the feed holds', async () => {
  // PostgreSQL may choose a plan for all parameters after the fifth time.
  for (let times = 0; times < 7; times += 1) await read('199999991', null);
  const before = await reads();
  expect((await read('131880681', null)).events.map(({ id }) => Number.parseInt(id, 10) > EVENTS - 20)).toEqual(
    Array(20).fill(true),
  );
  expect((await reads()) - before).toBeLessThan(100);
});

it('a page of some types reads only events of these types, however many others the feed holds', async () => {
  const types = ['invoice.rejected', 'batch.done'] as const;
  for (let times = 0; times < 7; times += 1) await read('199999991', ['invoice.accepted']);
  const before = await reads();
  expect((await read('199999991', types)).events).toEqual([]);
  expect((await reads()) - before).toBeLessThan(100);
});

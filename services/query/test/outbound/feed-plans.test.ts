import type { EventType } from '@ecf/contracts';
import { type Database, openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createPostgresFeed } from '../../src/feed/feed.postgres.js';

/** Their ids begin with 2: the first row of the feed is its beginning. */
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

const read = (rnc: string, types: readonly EventType[] | null, newest = false) =>
  createPostgresFeed(database).page({
    env: 'TesteCF',
    rncs: [rnc, '101010101'],
    caller: { accountId: 'none', taxpayers: null } as never,
    types,
    after: null,
    newest,
    limit: 200,
  });

const numbers = async (page: ReturnType<typeof read>) => (await page).events.map(({ id }) => Number.parseInt(id, 10));

it.each([
  ['oldest', false],
  ['newest', true],
])(
  'a page of the %s events reads only those of its taxpayers, however many others the feed holds',
  async (_, newest) => {
    // PostgreSQL may choose a plan for all parameters after the fifth time.
    for (let times = 0; times < 7; times += 1) await read('199999991', null, newest);
    const before = await reads();
    expect(await numbers(read('131880681', null, newest))).toEqual(
      Array.from({ length: 20 }, (_, index) => EVENTS - 18 + index),
    );
    expect((await reads()) - before).toBeLessThan(100);
  },
);

it('a page of the newest events has no more of them in a feed that is larger, oldest first', async () => {
  const before = await reads();
  const found = await numbers(read('199999991', null, true));
  expect(found).toEqual(Array.from({ length: 200 }, (_, index) => EVENTS - 218 + index));
  expect((await reads()) - before).toBeLessThan(400);
});

it('a page of some types reads only events of these types, however many others the feed holds', async () => {
  const types = ['invoice.rejected', 'batch.done'] as const;
  for (let times = 0; times < 7; times += 1) await read('199999991', ['invoice.accepted']);
  const before = await reads();
  expect((await read('199999991', types)).events).toEqual([]);
  expect((await reads()) - before).toBeLessThan(100);
});

// What happens to the tables themselves: rows that expire, months that leave, new columns and indexes, and the nightly check.
import { createArchiveCheck, createStoredFiles, STORED_FILES } from '@ecf/archive';
import { createLogger, createMetrics } from '@ecf/kit/telemetry';
import { completePartitionIndexes, type Database, deleteExpired, estimatedRows } from '@ecf/postgres';
import { seconds } from '../harness/measure.js';
import { BOUNDS } from '../inputs/fill-emission.js';
import { type Month, months, type Spread } from '../inputs/ten-years.js';
import type { Filled } from './filled.js';

const DAY_MS = 86_400_000;
/** Any day, in the hour of the check. */
const NIGHT = new Date('2026-11-28T07:30:00Z');
const PAGE = 1_000;

/** A measured step: seconds, and of how many rows, in thousands, if they grow with the rows of a table. */
export interface Step {
  readonly seconds: number;
  readonly thousands: number | null;
}

const whole = async (work: () => Promise<unknown>): Promise<Step> => ({
  seconds: await seconds(work, 1),
  thousands: null,
});
const each = async (work: () => Promise<number>): Promise<Step> => {
  let rows = 0;
  const took = await seconds(async () => {
    rows = await work();
  }, 1);
  return { seconds: took, thousands: rows / 1_000 };
};

/** The steps of each part by name, in the order in which they are measured; each changes its table for the steps after it. */
export const STEPS: Readonly<Record<string, Readonly<Record<string, (filled: Filled) => Promise<Step>>>>> = {
  emission: {
    'a run that deletes idempotency keys of a day': ({ emission }) =>
      each(() =>
        deleteExpired(emission, { table: 'submission_key', column: 'created_at', keptMs: 30 * DAY_MS }, new Date()),
      ),
    'the nightly check, without reading documents': ({ emission }) => each(() => checkedAtNight(emission)),
    'a page of stored documents for a backup, halfway': ({ emission, known }) =>
      whole(async () => {
        const { rows } = await emission.query<{ id: string }>(
          'SELECT emission_id::text AS id FROM attempt WHERE track_id = $1',
          [known[0]?.track_id],
        );
        const after = `attempt:${rows[0]?.id ?? 0}:1`;
        await createStoredFiles(emission, STORED_FILES.emission).pageOfStoredFiles({ after, limit: PAGE });
      }),
    'a month is detached': ({ emission, spread }) =>
      whole(async () => {
        for (const table of ['exchange', 'attempt'])
          await emission.query(`ALTER TABLE ${table} DETACH PARTITION ${table}_${firstMonth(spread).name}`);
      }),
    'the documents of the detached month are counted': ({ emission, spread }) =>
      each(async () => {
        const text = `SELECT count(*)::int AS count FROM attempt_${firstMonth(spread).name}`;
        return (await emission.query<{ count: number }>(text)).rows[0]?.count ?? 0;
      }),
    'the month is attached': ({ emission, spread }) => each(() => attachMonth(emission, firstMonth(spread))),
    'a column is added to attempt': ({ emission }) =>
      whole(() => emission.query('ALTER TABLE attempt ADD COLUMN bench_a text')),
    'a column with a default is added to attempt': ({ emission }) =>
      whole(() => emission.query('ALTER TABLE attempt ADD COLUMN bench_b int NOT NULL DEFAULT 0')),
    'a column is added to emission': ({ emission }) =>
      whole(() => emission.query('ALTER TABLE emission ADD COLUMN bench_a text')),
    'an index is added to attempt, month by month': ({ emission }) => each(() => indexMonths(emission)),
    'an index is added to emission': ({ emission }) =>
      each(async () => {
        await emission.query('CREATE INDEX CONCURRENTLY bench_emission ON emission (created_at)');
        return estimatedRows(emission, 'emission');
      }),
  },
  query: {
    'a run that deletes events of a day': ({ query }) =>
      each(() =>
        deleteExpired(
          query,
          { table: 'feed_event', column: 'kept_at', orderBy: 'id', keptMs: 90 * DAY_MS },
          new Date(),
        ),
      ),
    'a column with a default is added to invoice': ({ query }) =>
      whole(() => query.query('ALTER TABLE invoice ADD COLUMN bench_b int NOT NULL DEFAULT 0')),
    'an index is added to invoice': ({ query }) =>
      each(async () => {
        await query.query('CREATE INDEX CONCURRENTLY bench_invoice ON invoice (signed_at)');
        return estimatedRows(query, 'invoice');
      }),
  },
};

async function checkedAtNight(database: Database): Promise<number> {
  let read = 0;
  const reader = { get: async () => Buffer.alloc(read++ >= 0 ? 0 : 1) };
  const check = createArchiveCheck({
    service: 'emission',
    database,
    tables: STORED_FILES.emission,
    reader,
    integrity: { readAgain: async () => undefined },
    metrics: createMetrics(),
    logger: createLogger({ service: 'bench', level: 'warn' }),
  });
  await check(NIGHT, new AbortController().signal);
  return read;
}

function firstMonth(spread: Spread): Month {
  return months(spread)[0] as Month;
}

async function attachMonth(database: Database, { name, from, until }: Month): Promise<number> {
  const { rows } = await database.query<{ bounds: string }>(BOUNDS, [from, until]);
  for (const table of ['attempt', 'exchange'])
    await database.query(`ALTER TABLE ${table} ATTACH PARTITION ${table}_${name} FOR VALUES ${rows[0]?.bounds}`);
  return estimatedRows(database, `attempt_${name}`);
}

async function indexMonths(database: Database): Promise<number> {
  await database.query('CREATE INDEX bench_attempt ON ONLY attempt (signer_fingerprint)');
  const client = await database.pool.connect();
  await completePartitionIndexes(client).finally(() => client.release());
  return estimatedRows(database, 'attempt');
}

/** Bytes of a table with its partitions, and of each of its indexes. */
export interface Size {
  readonly name: string;
  readonly bytes: number;
}

/** The tables and indexes of more than a megabyte, the largest first; the partitions of one together. */
export async function sizes(database: Database): Promise<Size[]> {
  const { rows } = await database.query<{ name: string; bytes: number }>(
    `WITH parts AS (SELECT oid, coalesce((SELECT max(a.relid::text) FROM pg_partition_ancestors(oid) WITH ORDINALITY AS a(relid, n)
        WHERE a.n = (SELECT count(*) FROM pg_partition_ancestors(c.oid))), c.relname) AS name, c.relkind
      FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i'))
    SELECT name, sum(CASE relkind WHEN 'r' THEN pg_table_size(oid) ELSE pg_relation_size(oid) END)::float8 AS bytes
      FROM parts GROUP BY 1 HAVING sum(pg_relation_size(oid)) > 1048576 ORDER BY 2 DESC`,
  );
  return rows;
}

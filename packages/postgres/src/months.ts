import type { Database } from './database.js';

/** Months after the present one whose partitions are made ahead. */
const MONTHS_AHEAD = 3;
const LOCK_TIMEOUT_MS = 3_000;

/** Bits of an id for the sequence: more numbers than are drawn in a day. */
const SEQUENCE_BITS = 36;

/**
 * SQL for the first id of a day. The upper bits of an id are the days since 2020, so the ids of a month are a range, and a table that is
 * partitioned by id has a partition for each month. Ids have at most 15 digits until the year 2059.
 */
export function firstIdOf(day: string): string {
  return `((${day})::date - DATE '2020-01-01')::bigint << ${SEQUENCE_BITS}`;
}

/** SQL for the next id of a sequence, which begins with today's date (UTC). */
export function nextIdOf(sequence: string): string {
  return `(${firstIdOf(`clock_timestamp() AT TIME ZONE 'UTC'`)}) + (nextval('${sequence}') & ${2 ** SEQUENCE_BITS - 1})`;
}

/** A table that is partitioned by an id of {@link nextIdOf}; `<table>_default` holds the rows that fit no other partition. */
export interface MonthlyTable {
  readonly table: string;
  /** The column of the id. */
  readonly id: string;
}

/** $1: the table, $2: months ahead. The default partition holds rows of a month only if the month had no partition in time. */
const missingMonths = ({ table, id }: MonthlyTable) => `SELECT name, first, after FROM (
    SELECT $1 || to_char(month, '_YYYY_MM') AS name, ${firstIdOf('month')} AS first, ${firstIdOf(`month + interval '1 month'`)} AS after
    FROM generate_series(0, $2::int) AS ahead,
      LATERAL (SELECT date_trunc('month', clock_timestamp() AT TIME ZONE 'UTC') + ahead * interval '1 month' AS month) AS m) AS months
  WHERE to_regclass(name) IS NULL AND NOT EXISTS (SELECT FROM ${table}_default d WHERE d.${id} >= first AND d.${id} < after)`;

/** Makes the missing partitions of this month and the next three, `<table>_<year>_<month>`. */
export async function makeMonthPartitions(database: Database, tables: readonly MonthlyTable[]): Promise<void> {
  for (const monthly of tables) {
    const { table } = monthly;
    await database.transaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      await tx.query('SELECT pg_advisory_xact_lock(hashtext($1))', [`months of ${table}`]);
      const { rows } = await tx.query<{ name: string; first: number; after: number }>(missingMonths(monthly), [
        table,
        MONTHS_AHEAD,
      ]);
      for (const { name, first, after } of rows)
        await tx.query(`CREATE TABLE ${name} PARTITION OF ${table} FOR VALUES FROM (${first}) TO (${after})`);
    });
  }
}

import type { Queries } from './database.js';

/** Rows of a table with its partitions as PostgreSQL counted them last; 0 before the first count. */
export async function estimatedRows(database: Queries, table: string): Promise<number> {
  const { rows } = await database.query<{ count: number }>(
    `SELECT coalesce(sum(greatest(reltuples, 0)), 0)::float8 AS count FROM pg_class
      WHERE relkind = 'r' AND (oid = $1::regclass OR oid IN (SELECT relid FROM pg_partition_tree($1::regclass)))`,
    [table],
  );
  return rows[0]?.count ?? 0;
}

import type pg from 'pg';

/** Indexes of partitioned tables that no partition's index was attached to, for each partition. */
const MISSING = `SELECT i.oid::regclass::text AS index, t.inhrelid::regclass::text AS partition, pg_get_indexdef(i.oid) AS definition,
    i.relname || replace(p.relname, parent.relname, '') AS name
  FROM pg_class i JOIN pg_index x ON x.indexrelid = i.oid JOIN pg_class parent ON parent.oid = x.indrelid
  JOIN pg_inherits t ON t.inhparent = x.indrelid JOIN pg_class p ON p.oid = t.inhrelid
  WHERE i.relkind = 'I' AND NOT x.indisvalid AND NOT EXISTS (
    SELECT FROM pg_inherits a JOIN pg_index o ON o.indexrelid = a.inhrelid WHERE a.inhparent = i.oid AND o.indrelid = t.inhrelid)
  ORDER BY 1, 2`;

/**
 * Completes indexes that a migration created ON ONLY the partitioned table: builds the index of each partition while others write, and
 * attaches it. One that was cut off is built anew. To be called by one session at a time.
 */
export async function completePartitionIndexes(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ index: string; partition: string; definition: string; name: string }>(MISSING);
  for (const { index, partition, definition, name } of rows) {
    const unique = definition.startsWith('CREATE UNIQUE ') ? 'UNIQUE ' : '';
    const columns = definition.slice(definition.indexOf(' USING '));
    const created = `CREATE ${unique}INDEX CONCURRENTLY "${name}" ON ${partition}${columns}`;
    await client.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
    await client.query(created);
    await client.query(`ALTER INDEX ${index} ATTACH PARTITION "${name}"`);
  }
}

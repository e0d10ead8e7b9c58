import { Writable } from 'node:stream';
import { lockMigrations, MIGRATIONS_TABLE, UNFINISHED_RESTORE } from '@ecf/postgres';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Migration } from './dump-database.js';
import { readCompressed } from './files.js';
import type { DatabaseBackup } from './manifest.js';
import { recordRestore } from './record-restore.js';

const CONTENT = `
  SELECT CASE WHEN to_regclass('${UNFINISHED_RESTORE}') IS NOT NULL THEN 'unfinished'
    WHEN EXISTS (SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')) THEN 'tables'
    ELSE 'empty' END AS content`;
/** Removes everything that migrations make; a function may go together with its table. */
const REMOVE_ALL = `DO $$ DECLARE statement text; BEGIN
  FOREACH statement IN ARRAY ARRAY(
    SELECT format('DROP TABLE %I CASCADE', relname) FROM pg_class WHERE relnamespace = current_schema()::regnamespace
      AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> '${UNFINISHED_RESTORE}'
    UNION ALL SELECT format('DROP FUNCTION IF EXISTS %s CASCADE', oid::regprocedure) FROM pg_proc p
      WHERE pronamespace = current_schema()::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e'))
  LOOP EXECUTE statement; END LOOP; END $$`;
const REFERENCES = `
  SELECT child.relname AS child, parent.relname AS parent
    FROM pg_constraint f JOIN pg_class child ON child.oid = f.conrelid JOIN pg_class parent ON parent.oid = f.confrelid
   WHERE f.contype = 'f' AND child.relnamespace = current_schema()::regnamespace`;

/** Whether a database has tables. `unfinished`: those of a restore that was interrupted. */
export async function contentOf(client: pg.Client): Promise<'empty' | 'tables' | 'unfinished'> {
  const { rows } = await client.query<{ content: 'empty' | 'tables' | 'unfinished' }>(CONTENT);
  return rows[0]?.content ?? 'tables';
}

/** Whether a database was restored to the state of a backup. */
export async function isRestoredTo(client: pg.Client, takenAt: string): Promise<boolean> {
  const { rows } = await client.query<{ present: boolean }>("SELECT to_regclass('restored') IS NOT NULL AS present");
  if (rows[0]?.present !== true) return false;
  const restores = await client.query('SELECT FROM restored WHERE NOT of_others AND backup_at = $1', [takenAt]);
  return restores.rows.length > 0;
}

/** Marks a database until all databases of the deployment are restored: meanwhile its service refuses to start. */
export async function beginRestore(client: pg.Client): Promise<void> {
  await lockMigrations(client);
  await client.query(`CREATE TABLE IF NOT EXISTS ${UNFINISHED_RESTORE} ()`);
}

export async function endRestore(client: pg.Client): Promise<void> {
  await client.query(`DROP TABLE IF EXISTS ${UNFINISHED_RESTORE}`);
}

/**
 * Loads a backup into a database whose restore has begun, in a transaction that the caller commits; what an interrupted restore left
 * is removed. The tables belong to the owner of the database, as if the service had made them.
 */
export async function loadDatabase(
  client: pg.Client,
  root: string,
  backup: DatabaseBackup,
  takenAt: string,
): Promise<void> {
  await client.query('BEGIN');
  await client.query(REMOVE_ALL);
  const { rows } = await client.query<{ owner: string }>(
    'SELECT pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datname = current_database()',
  );
  await client.query(`SET LOCAL ROLE ${pg.escapeIdentifier(rows[0]?.owner as string)}`);
  await makeTables(client, root, backup);
  for (const table of await inOrder(client, backup.tables)) await loadTable(client, root, table);
  for (const { name, last_value } of backup.sequences)
    await client.query('SELECT setval(quote_ident($1)::regclass, $2)', [name, last_value]);
  await client.query('DELETE FROM restored');
  await recordRestore(client, { backupAt: new Date(takenAt), ofOthers: false });
  // Only its own tables: the shared ones of the server would stay locked until the commit.
  await client.query(`ANALYZE ${backup.tables.map(({ name }) => pg.escapeIdentifier(name)).join(', ')}`);
}

/** Runs the statements that made the tables of the backup; newer migrations run when the services start. */
async function makeTables(client: pg.Client, root: string, { migrations, months }: DatabaseBackup): Promise<void> {
  await client.query(MIGRATIONS_TABLE);
  for (const migration of await readMigrations(root, migrations)) {
    // In a transaction; no other session waits for these tables.
    await client.query(migration.sql.replaceAll(/\bCONCURRENTLY\b/gi, ''));
    const { id, checksum, migration_name, started_at, finished_at, applied_steps_count, sql } = migration;
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count, sql)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [id, checksum, migration_name, started_at, finished_at, applied_steps_count, sql],
    );
  }
  for (const { name, parent, bound } of months) {
    const [month, table] = [pg.escapeIdentifier(name), pg.escapeIdentifier(parent)];
    const like = bound === null ? `(LIKE ${table} INCLUDING ALL)` : `PARTITION OF ${table} ${bound}`;
    await client.query(`CREATE TABLE ${month} ${like}`);
  }
}

async function readMigrations(root: string, file: DatabaseBackup['migrations']): Promise<Migration[]> {
  const chunks: Buffer[] = [];
  const text = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  await readCompressed(root, file, text);
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

type Table = DatabaseBackup['tables'][number];

/** Each table after the tables that it refers to. */
async function inOrder(client: pg.Client, tables: readonly Table[]): Promise<Table[]> {
  const { rows } = await client.query<{ child: string; parent: string }>(REFERENCES);
  const ordered = new Set<Table>();
  const add = (table: Table) => {
    for (const { child, parent } of rows) {
      const referenced = tables.find(({ name }) => name === parent);
      if (child === table.name && referenced !== undefined && referenced !== table && !ordered.has(referenced))
        add(referenced);
    }
    ordered.add(table);
  };
  tables.forEach(add);
  return [...ordered];
}

/** Without the triggers of the table: they have had their effect when the rows were written. */
async function loadTable(client: pg.Client, root: string, { name, columns, rows, file }: Table): Promise<void> {
  const table = pg.escapeIdentifier(name);
  // A migration may have put rows into it.
  await client.query(`ALTER TABLE ${table} DISABLE TRIGGER USER; DELETE FROM ${table}`);
  const stream = client.query(copyFrom(`COPY ${table} (${columns.map(pg.escapeIdentifier).join(', ')}) FROM STDIN`));
  await readCompressed(root, file, stream);
  if (stream.rowCount !== rows) throw new Error(`${file.path} has ${stream.rowCount} rows; the manifest says ${rows}.`);
  await client.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
}

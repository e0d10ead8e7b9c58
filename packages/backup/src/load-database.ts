import { Writable } from 'node:stream';
import { MIGRATION_LOCK, MIGRATIONS_TABLE } from '@ecf/postgres';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Migration } from './dump-database.js';
import { readCompressed } from './files.js';
import type { DatabaseBackup } from './manifest.js';

const IS_EMPTY = `
  SELECT NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')) AS empty`;
const REFERENCES = `
  SELECT child.relname AS child, parent.relname AS parent
    FROM pg_constraint f JOIN pg_class child ON child.oid = f.conrelid JOIN pg_class parent ON parent.oid = f.confrelid
   WHERE f.contype = 'f' AND child.relnamespace = current_schema()::regnamespace`;

/** Whether a database has no tables. */
export async function isEmptyDatabase(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ empty: boolean }>(IS_EMPTY);
  return rows[0]?.empty ?? false;
}

/**
 * Loads a backup into an empty database, in a transaction that the caller commits. Services that start meanwhile wait with their
 * migrations for its end. The tables belong to the owner of the database, as if the service had made them.
 */
export async function loadDatabase(
  client: pg.Client,
  root: string,
  backup: DatabaseBackup,
  takenAt: string,
): Promise<void> {
  await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
  await client.query('BEGIN');
  const { rows } = await client.query<{ owner: string }>(
    'SELECT pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datname = current_database()',
  );
  await client.query(`SET LOCAL ROLE ${pg.escapeIdentifier(rows[0]?.owner as string)}`);
  await makeTables(client, root, backup);
  for (const table of await inOrder(client, backup.tables)) await loadTable(client, root, table);
  for (const { name, last_value } of backup.sequences)
    await client.query('SELECT setval(quote_ident($1)::regclass, $2)', [name, last_value]);
  await recordRestore(client, takenAt);
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

/** The service reads this at its next start, and compares its state with the other services and the authority. */
async function recordRestore(client: pg.Client, takenAt: string): Promise<void> {
  const { rows } = await client.query<{ present: boolean }>("SELECT to_regclass('restored') IS NOT NULL AS present");
  if (!rows[0]?.present) return;
  await client.query('DELETE FROM restored');
  await client.query('INSERT INTO restored (restored_at, backup_at) VALUES (now(), $1)', [takenAt]);
}

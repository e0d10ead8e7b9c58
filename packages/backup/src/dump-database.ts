import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { STORED_FILES, syncFolder } from '@ecf/archive';
import type { ServiceName } from '@ecf/contracts';
import { connectWhenReady } from '@ecf/postgres';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { BackupError } from './backup-error.js';
import { writeCompressed } from './files.js';
import type { DatabaseBackup } from './manifest.js';

/** Values are written and read in the same form, and no time limit of the server ends the session. */
export const SESSION = `SET datestyle = 'ISO'; SET intervalstyle = 'postgres'; SET extra_float_digits = 3; SET timezone = 'UTC';
  SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0`;

/** The table of migrations is written apart: it makes all others. */
const TABLES = `
  SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
   WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
     AND c.relname <> '_prisma_migrations'
   GROUP BY c.relname ORDER BY c.relname`;
const MONTHS = String.raw`
  SELECT c.relname AS name, p.relname AS parent, pg_get_expr(c.relpartbound, c.oid) AS bound
    FROM pg_class p JOIN pg_class c ON c.relnamespace = p.relnamespace AND c.relkind = 'r'
     AND c.relname ~ ('^' || p.relname || '_\d{4}_\d{2}$')
   WHERE p.relkind = 'p' AND p.relnamespace = current_schema()::regnamespace ORDER BY c.relname`;
const SEQUENCES = `
  SELECT sequencename AS name, last_value::text FROM pg_sequences
   WHERE schemaname = current_schema() AND last_value IS NOT NULL ORDER BY sequencename`;
const MIGRATIONS = `
  SELECT id, checksum, migration_name, started_at::text, finished_at::text, applied_steps_count, sql FROM _prisma_migrations
   WHERE rolled_back_at IS NULL ORDER BY migration_name`;

export interface Migration {
  readonly id: string;
  readonly checksum: string;
  readonly migration_name: string;
  readonly started_at: string;
  readonly finished_at: string | null;
  readonly applied_steps_count: number;
  readonly sql: string;
}

/** A connection whose transaction reads one state of a database. */
export interface Snapshot {
  readonly client: pg.Client;
  readonly takenAt: Date;
}

/** Tables whose rows a TRUNCATE or a detached partition would take from a snapshot, which does not keep them. */
const LOCKED = `
  SELECT format('%I', c.relname) AS name FROM pg_class c
   WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')`;

/** Begins the transaction that reads the present state. */
export async function takeSnapshot(client: pg.Client): Promise<Snapshot> {
  const tables = (await client.query<{ name: string }>(LOCKED)).rows.map(({ name }) => name);
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  await client.query(`LOCK TABLE ${tables.join(', ')} IN ACCESS SHARE MODE`);
  // The first query takes the snapshot.
  const { rows } = await client.query<{ now: Date }>('SELECT now()');
  return { client, takenAt: rows[0]?.now ?? new Date() };
}

/** @throws BackupError if the database does not exist */
export async function connect(service: ServiceName, url: string): Promise<pg.Client> {
  try {
    const client = await connectWhenReady(url, 5_000);
    await client.query(SESSION);
    return client;
  } catch (cause) {
    throw new BackupError(`the database of ${service} cannot be opened: ${(cause as Error).message}`, { cause });
  }
}

/** The migrations of a database, the first one first. */
export async function migrationsOf(service: ServiceName, client: pg.Client): Promise<Migration[]> {
  const table = await client.query("SELECT to_regclass('_prisma_migrations') IS NULL AS missing");
  const rows = table.rows[0]?.missing ? [] : (await client.query<Migration>(MIGRATIONS)).rows;
  if (rows.length === 0) throw new BackupError(`the database of ${service} has no tables; start the deployment first.`);
  return rows;
}

/** Writes all tables of a snapshot to `<folder>/<service>/`, and ends its transaction. */
export async function dumpDatabase(
  root: string,
  folder: string,
  service: ServiceName,
  client: pg.Client,
): Promise<DatabaseBackup> {
  const place = `${folder}/${service}`;
  await mkdir(path.join(root, place));
  const copy = async (name: string, select: string) => {
    const stream = client.query(copyTo(`COPY (${select}) TO STDOUT`));
    const file = await writeCompressed(root, `${place}/${name}.gz`, stream);
    return { rows: stream.rowCount, file };
  };
  const statements = Readable.from([JSON.stringify(await migrationsOf(service, client))]);
  const migrations = await writeCompressed(root, `${place}/migrations.json.gz`, statements);
  const tables: DatabaseBackup['tables'] = [];
  for (const { name, columns } of (await client.query<{ name: string; columns: string[] }>(TABLES)).rows) {
    const select = `SELECT ${columns.map(pg.escapeIdentifier).join(', ')} FROM ${pg.escapeIdentifier(name)}`;
    tables.push({ name, columns, ...(await copy(`table-${name}`, select)) });
  }
  const { rows: months } = await client.query<DatabaseBackup['months'][number]>(MONTHS);
  const { rows: sequences } = await client.query<{ name: string; last_value: string }>(SEQUENCES);
  const select = archivedDocuments(service);
  const documents = select === null ? null : await copy('documents', select);
  await client.query('COMMIT');
  await syncFolder(path.join(root, place));
  return {
    migrations,
    tables,
    months,
    sequences,
    documents: documents === null ? null : { count: documents.rows, file: documents.file },
  };
}

/** Path and SHA-256 of the documents that the tables name and the archive holds; null if the service names none. */
function archivedDocuments(service: ServiceName): string | null {
  const tables = service in STORED_FILES ? STORED_FILES[service as keyof typeof STORED_FILES] : null;
  if (tables === null) return null;
  const named = tables.flatMap(({ table, files }) =>
    files.map(([file, sha256]) => `SELECT ${file} AS path, ${sha256} AS sha256 FROM ${table}`),
  );
  return `SELECT path, sha256 FROM (${named.join(' UNION ALL ')}) named WHERE path IS NOT NULL
    AND NOT EXISTS (SELECT FROM pending_document p WHERE p.path = named.path AND p.sha256 = named.sha256)`;
}

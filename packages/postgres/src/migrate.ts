import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { retry } from '@ecf/kit';
import pg from 'pg';
import {
  isDatabaseUnavailable,
  isUniqueViolation,
  LOCK_NOT_AVAILABLE,
  markDatabaseError,
  sqlState,
} from './database-errors.js';
import { completePartitionIndexes } from './partition-indexes.js';

/** The lock key that Prisma Migrate itself takes, so that both exclude each other. */
export const MIGRATION_LOCK = 72_707_369;

/** Milliseconds between two tries to get it. */
const LOCK_PAUSE_MS = 100;

/** Prisma's own table, and a column for the statements, from which a backup is restored. */
export const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(), applied_steps_count INTEGER NOT NULL DEFAULT 0);
ALTER TABLE _prisma_migrations ADD COLUMN IF NOT EXISTS sql TEXT`;

/** The table that marks a database while a backup is restored to it and to the others of the deployment. */
export const UNFINISHED_RESTORE = 'unfinished_restore';

/** Migrations that cannot be applied; the message says which and what to do. */
class MigrationError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'MigrationError';
  }
}

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const file = path.join(folder, name, 'migration.sql');
      if (!existsSync(file)) throw new MigrationError(`The migration ${name} has no migration.sql in ${folder}.`);
      const sql = await readFile(file, 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}

/** How long a migration waits for locks that other sessions hold. */
export interface MigrationWaits {
  /** Milliseconds that a statement waits for a lock. All statements on the table wait behind it meanwhile. */
  readonly lockTimeoutMs: number;
  readonly tries: number;
  /** Milliseconds between two tries. */
  readonly pauseMs: number;
  readonly pause: (ms: number) => Promise<unknown>;
}

export interface MigrationOptions extends MigrationWaits {
  /** Migrates as the owner of the database where the user may, so that tables that an administrator makes belong to the service. */
  readonly asOwner: boolean;
}

/** Tables that another user made can be migrated by that user alone. */
const BECOME_OWNER = `SELECT set_config('role', pg_get_userbyid(datdba), false) FROM pg_database
  WHERE datname = current_database() AND pg_has_role(datdba, 'MEMBER') AND NOT EXISTS (
    SELECT FROM pg_class WHERE oid = to_regclass('_prisma_migrations') AND relowner <> datdba)`;

const WAITS: MigrationWaits = { lockTimeoutMs: 3_000, tries: 10, pauseMs: 5_000, pause: (ms) => delay(ms) };

/** SQLSTATE of a lock that was not available within `lock_timeout`, and of a wait of two sessions for each other. */
const LOCK_FAILURES = [LOCK_NOT_AVAILABLE, '40P01'];

/**
 * Applies the Prisma migrations of a folder (`<folder>/<timestamp>_<name>/migration.sql`) that the database lacks. Each runs
 * in one transaction with its row in `_prisma_migrations`; one that creates or drops indexes CONCURRENTLY runs without a transaction. Prisma's own advisory lock makes concurrent instances wait for
 * each other. Returns the names applied. A migration edited after it was applied, or one that another tool left unfinished,
 * is an error. So is one that does not get its lock: it is rolled back and tried again, a bounded number of times.
 */
export async function migrate(url: string, folder: string, options: Partial<MigrationOptions> = {}): Promise<string[]> {
  const waits = { ...WAITS, ...options };
  const migrations = await readMigrations(folder);
  const client = await connectWhenReady(url);
  try {
    if (options.asOwner === true) await client.query(BECOME_OWNER);
    await lockMigrations(client);
    await requireFinishedRestore(client);
    await client.query(MIGRATIONS_TABLE);
    const known = await client.query<{ migration_name: string; checksum: string; finished_at: Date | null }>(
      'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL',
    );
    const done = new Map(known.rows.map((row) => [row.migration_name, row]));
    const applied: string[] = [];
    for (const migration of migrations) {
      const row = done.get(migration.name);
      if (row === undefined) {
        await applyWhenUnlocked(client, migration, waits);
        applied.push(migration.name);
      } else if (row.finished_at === null) {
        throw new MigrationError(
          `The migration ${migration.name} was begun by another tool and not finished; resolve it with "prisma migrate resolve".`,
        );
      } else if (row.checksum !== migration.checksum) {
        throw new MigrationError(
          `The migration ${migration.name} was edited after it was applied; restore the file and add a new migration instead.`,
        );
      }
    }
    await completePartitionIndexes(client);
    return applied;
  } finally {
    await client.end();
  }
}

async function requireFinishedRestore(client: pg.Client): Promise<void> {
  const { rows } = await client.query('SELECT to_regclass($1) IS NOT NULL AS unfinished', [UNFINISHED_RESTORE]);
  if (!rows[0]?.unfinished) return;
  throw new MigrationError(
    'A restore of this deployment was interrupted, so its databases may have different states. Run ecf restore again.',
  );
}

/**
 * Takes the lock of migrations, for as long as the connection lasts. A statement that waits for it would keep a snapshot, for which
 * CREATE INDEX CONCURRENTLY waits.
 */
export async function lockMigrations(client: pg.Client): Promise<void> {
  const isLocked = async () => {
    const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [
      MIGRATION_LOCK,
    ]);
    return rows[0]?.locked;
  };
  while (!(await isLocked())) await delay(LOCK_PAUSE_MS);
}

async function applyWhenUnlocked(client: pg.Client, migration: Migration, waits: MigrationWaits): Promise<void> {
  const { lockTimeoutMs, tries, pauseMs, pause } = waits;
  await retry(() => apply(client, migration, lockTimeoutMs), {
    firstMs: pauseMs,
    longestMs: pauseMs,
    sleep: pause,
    onFailure(error, failures) {
      if (!LOCK_FAILURES.includes(String(sqlState((error as Error).cause)))) throw error;
      if (failures < tries) return;
      throw new MigrationError(
        `The migration ${migration.name} did not get its lock within ${lockTimeoutMs / 1_000} seconds in ${tries} tries, and changed nothing. ` +
          'Another session holds a lock on the table (see pg_stat_activity). Wait until its transaction ends, or end it, and start the service again.',
        { cause: error },
      );
    },
  });
}

const NOTE = `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count, sql)
  VALUES ($1, $2, $3, now(), 1, $4)`;

/** The statements of a migration that runs outside a transaction, because it makes or drops indexes CONCURRENTLY; null for others. */
export function separateStatements(sql: string): string[] | null {
  return /^ *(?:CREATE\s+(?:UNIQUE\s+)?|DROP\s+)INDEX\s+CONCURRENTLY\b/im.test(sql) ? sql.split(/;\s*$/m) : null;
}

async function apply(client: pg.Client, migration: Migration, lockTimeoutMs: number): Promise<void> {
  const note = [randomUUID(), migration.checksum, migration.name, migration.sql];
  try {
    const separate = separateStatements(migration.sql);
    if (separate !== null) {
      // These statements lock out no writer. They wait for older transactions, so they have no lock_timeout.
      for (const statement of separate) await client.query(statement);
      await client.query(NOTE, note);
      return;
    }
    await client.query('BEGIN');
    await client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
    await client.query(migration.sql);
    await client.query(NOTE, note);
    await client.query('COMMIT');
  } catch (cause) {
    await client.query('ROLLBACK').catch(() => undefined);
    throw new MigrationError(
      `The migration ${migration.name} failed and was rolled back: ${(cause as Error).message}`,
      { cause },
    );
  }
}

/** Creates the database that `url` names where it is missing, through the database `postgres` of the same server. */
export async function createDatabaseIfMissing(url: string): Promise<boolean> {
  if (await exists(url)) return false;
  const name = decodeURIComponent(new URL(url).pathname.slice(1));
  const server = new URL(url);
  server.pathname = '/postgres';
  const client = await connectWhenReady(server.href);
  try {
    await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
    return true;
  } catch (error) {
    const createdMeanwhile = sqlState(error) === '42P04' || isUniqueViolation(error, 'pg_database_datname_index');
    if (createdMeanwhile) return false;
    throw error;
  } finally {
    await client.end();
  }
}

async function exists(url: string): Promise<boolean> {
  try {
    await (await connectWhenReady(url)).end();
    return true;
  } catch (error) {
    if (sqlState(error) === '3D000') return false;
    throw error;
  }
}

/** Connects one client; while the server is starting or not reachable, again for up to `waitMs`. */
export function connectWhenReady(url: string, waitMs = 30_000): Promise<pg.Client> {
  const giveUpAt = performance.now() + waitMs;
  return retry(() => connect(url), {
    longestMs: 2_000,
    onFailure(error) {
      if (!isDatabaseUnavailable(error) || performance.now() >= giveUpAt) throw error;
    },
  });
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, keepAlive: true });
  // The query in flight reports a broken connection; without a listener the event would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    markDatabaseError(error);
    await client.end().catch(() => undefined);
    throw error;
  }
}

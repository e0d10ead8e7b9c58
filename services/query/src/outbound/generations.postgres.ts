import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { connectWhenReady, type Database, type Queries, sqlState, type Transaction } from '@ecf/service-kit/postgres';
import type { Logger } from '@ecf/service-kit/telemetry';
import type { Generations, NewGeneration, RebuildState } from '../core/ports.js';
import { REBUILD_LOCK, REBUILDER_LOCK } from './locks.js';

/** The tables of a generation, in the order in which every transaction locks them. */
const TABLES = ['invoice_rollup', 'buyer_rollup', 'invoice', 'received_invoice'] as const;
const LOCK_TIMEOUT_MS = 2_000;
const TRIES = 30;

interface StateRow {
  building: boolean;
  filled: boolean;
  started_at: Date | null;
  finished_at: Date | null;
  documents: number;
  failure: string | null;
}

type Session = Awaited<ReturnType<typeof connectWhenReady>>;

/**
 * Generations of the read models as schemas of one database. Queries read `public`. A rebuild creates `rebuilding` by the
 * service's own migrations, fills it, and replaces the tables of `public` in one transaction. Readers wait for that transaction
 * only.
 */
export function createPostgresGenerations(database: Database, migrations: string, logger: Logger): Generations {
  return {
    async begin() {
      const session = await connectWhenReady(database.url);
      session.on('error', (error) => logger.warn({ err: error }, 'the session of a rebuild was lost'));
      try {
        if (!(await holdsRebuilderLock(session))) {
          await session.end();
          return null;
        }
        const sql = await migrationsIn(migrations);
        await between(database, async (tx) => {
          await tx.query('DROP SCHEMA IF EXISTS rebuilding CASCADE');
          await tx.query('CREATE SCHEMA rebuilding');
          await tx.query('SET LOCAL search_path = rebuilding');
          for (const text of sql) await tx.query(text);
          await tx.query('SET LOCAL search_path = public');
          await tx.query(
            `UPDATE public.rebuild SET building = true, started_at = now(), finished_at = NULL, documents = 0,
               failure = NULL WHERE id = 1`,
          );
        });
        return generation(database, session);
      } catch (error) {
        await session.end().catch(() => undefined);
        throw error;
      }
    },
    async state() {
      const { rows } = await database.query<StateRow>(
        'SELECT building, filled, started_at, finished_at, documents, failure FROM public.rebuild WHERE id = 1',
      );
      return state(rows[0]);
    },
    async nothingToFill() {
      await database.query('UPDATE public.rebuild SET filled = true WHERE id = 1');
    },
    async clearAbandoned() {
      if (await hasRebuilder(database)) return;
      await between(database, async (tx) => {
        // Another instance may have begun a rebuild meanwhile.
        if (await hasRebuilder(tx)) return;
        const { rowCount } = await tx.query(
          `UPDATE public.rebuild SET building = false, finished_at = now(), failure = $1 WHERE id = 1 AND building`,
          ['the instance that rebuilt ended; start again'],
        );
        if (rowCount > 0) await tx.query('DROP SCHEMA IF EXISTS rebuilding CASCADE');
      });
    },
  };
}

function state(row: StateRow | undefined): RebuildState {
  return {
    building: row?.building ?? false,
    filled: row?.filled ?? false,
    startedAt: row?.started_at ?? null,
    finishedAt: row?.finished_at ?? null,
    documents: row?.documents ?? 0,
    failure: row?.failure ?? null,
  };
}

function generation(database: Database, session: Session): NewGeneration {
  const end = () => session.end().catch(() => undefined);
  return {
    async progress(documents) {
      await database.query('UPDATE public.rebuild SET documents = $1 WHERE id = 1', [documents]);
    },
    async takePlace() {
      // The planner's statistics and the visibility map are ready before the first query.
      for (const table of TABLES) await session.query(`VACUUM (ANALYZE) rebuilding.${table}`);
      await between(database, async (tx) => {
        await requireRebuilder(tx, session);
        await tx.query('CREATE SCHEMA retired');
        for (const table of TABLES) await tx.query(`LOCK TABLE public.${table} IN ACCESS EXCLUSIVE MODE`);
        for (const table of TABLES) {
          await tx.query(`ALTER TABLE public.${table} SET SCHEMA retired`);
          await tx.query(`ALTER TABLE rebuilding.${table} SET SCHEMA public`);
        }
        await tx.query('DROP SCHEMA rebuilding CASCADE');
        await tx.query('DROP SCHEMA retired CASCADE');
        await tx.query('UPDATE public.rebuild SET building = false, filled = true, finished_at = now() WHERE id = 1');
      });
      await end();
    },
    async giveUp(reason) {
      await between(database, async (tx) => {
        await requireRebuilder(tx, session);
        await tx.query('DROP SCHEMA IF EXISTS rebuilding CASCADE');
        await tx.query('UPDATE public.rebuild SET building = false, finished_at = now(), failure = $1 WHERE id = 1', [
          reason,
        ]);
      });
      await end();
    },
  };
}

/** Runs while no change of the read models is in flight. Tries again if readers or writers hold their locks too long. */
async function between(database: Database, work: (tx: Transaction) => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await database.transaction(async (tx) => {
        await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
        await tx.query('SELECT pg_advisory_xact_lock($1)', [REBUILD_LOCK]);
        await work(tx);
      });
    } catch (error) {
      const LOCK_NOT_AVAILABLE = '55P03';
      if (sqlState(error) !== LOCK_NOT_AVAILABLE || tries >= TRIES) throw error;
    }
  }
}

async function holdsRebuilderLock(session: Session): Promise<boolean> {
  const { rows } = await session.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [REBUILDER_LOCK]);
  return rows[0]?.held === true;
}

/** Whether any session holds the lock of a rebuild. */
async function hasRebuilder(queries: Queries): Promise<boolean> {
  const { rowCount } = await queries.query(
    `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [REBUILDER_LOCK],
  );
  return rowCount > 0;
}

/** Another instance may have removed a rebuild whose session broke, and begun a new one. */
async function requireRebuilder(tx: Transaction, session: Session): Promise<void> {
  const { rows } = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const held = await tx.query(
    `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND pid = $1 AND objid = $2 AND granted`,
    [rows[0]?.pid, REBUILDER_LOCK],
  );
  if (held.rowCount === 0) throw new Error('the session of the rebuild was lost');
}

async function migrationsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(names.sort().map((name) => readFile(path.join(folder, name, 'migration.sql'), 'utf8')));
}

import { setTimeout as delay } from 'node:timers/promises';
import { retry } from '@ecf/kit';
import type { Database, Transaction } from './database.js';
import { LOCK_NOT_AVAILABLE, sqlState } from './database-errors.js';

/** A database was brought back to an older state: this one, or that of another service. */
export interface Restore {
  readonly restoredAt: Date;
  /** The moment whose state the database has. */
  readonly backupAt: Date;
  /** Databases of other services were restored; this one lost nothing. */
  readonly ofOthers: boolean;
}

interface RestoreRow {
  readonly restored_at: Date;
  readonly backup_at: Date;
  readonly of_others: boolean;
  readonly settled_at: Date | null;
}

/** Numbers that increase with every second since then, so those given after a restore are above all given before it. */
const NUMBERS_BEGIN = Date.UTC(2026, 0, 1);

/**
 * A revision above every one that the lost state may have published: seconds since 2026. No object changes more often than once
 * a second for as long as it exists.
 */
export function revisionAfter({ restoredAt }: Pick<Restore, 'restoredAt'>): number {
  return Math.ceil((restoredAt.getTime() - NUMBERS_BEGIN) / 1_000);
}

/** Events may be on their way for a while before they are in the database of another service. */
const MARGIN_MS = 3_600_000;

/** What changed since then is published again after a restore: others may have lost it, or Kafka, with which it was on its way. */
export function changedSince({ backupAt }: Pick<Restore, 'backupAt'>): Date {
  return new Date(backupAt.getTime() - MARGIN_MS);
}

/** Ids that other services and callers keep are not given a second time: sequences continue at milliseconds since 2026. */
const RAISE_SEQUENCES = `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, greatest(coalesce(last_value, 1), $1::bigint))
  FROM pg_sequences WHERE schemaname = current_schema() AND data_type = 'bigint'::regtype`;

/** Milliseconds between two looks at a restore that another instance settles. */
const PAUSE_MS = 1_000;

/**
 * Runs `settle` once for each restore that is recorded in the table `restored`, in one transaction. Call it after the migrations
 * and before any other work of the service. It may publish the documents of days, so another instance waits for it, longer than the
 * time limit of a statement.
 */
export async function settleRestores(
  database: Database,
  settle: (tx: Transaction, restore: Restore) => Promise<void>,
  pause: (ms: number) => Promise<unknown> = (ms) => delay(ms),
): Promise<void> {
  const settleAll = async (tx: Transaction) => {
    const { rows } = await tx.query<RestoreRow>('SELECT * FROM restored WHERE settled_at IS NULL FOR UPDATE NOWAIT');
    for (const { restored_at: restoredAt, backup_at: backupAt, of_others: ofOthers } of rows) {
      if (!ofOthers) await tx.query(RAISE_SEQUENCES, [restoredAt.getTime() - NUMBERS_BEGIN]);
      await settle(tx, { restoredAt, backupAt, ofOthers });
      await tx.query('UPDATE restored SET settled_at = now() WHERE of_others = $1', [ofOthers]);
    }
  };
  await retry(() => database.transaction(settleAll), {
    firstMs: PAUSE_MS,
    longestMs: PAUSE_MS,
    sleep: pause,
    onFailure(error) {
      if (sqlState(error) !== LOCK_NOT_AVAILABLE) throw error;
    },
  });
}

/** The last restore of this database; null if it was never restored. */
export async function restoreOf(database: Pick<Database, 'query'>): Promise<Restore | null> {
  const { rows } = await database.query<RestoreRow>('SELECT * FROM restored WHERE NOT of_others');
  const [row] = rows;
  return row === undefined ? null : { restoredAt: row.restored_at, backupAt: row.backup_at, ofOthers: false };
}

/** Rows that are published again in one statement. */
const PAGE = 500;

/**
 * Reads rows in pages, in the order of a number that is theirs alone.
 *
 * @param read the rows after a number, `limit` at most
 */
export async function* pagesOf<Row>(
  read: (after: number, limit: number) => Promise<Row[]>,
  numberOf: (row: Row) => number,
): AsyncGenerator<Row[]> {
  for (let after = -1, rows: Row[] | null = null; rows === null || rows.length === PAGE; ) {
    rows = await read(after, PAGE);
    yield rows;
    const last = rows.at(-1);
    if (last !== undefined) after = numberOf(last);
  }
}

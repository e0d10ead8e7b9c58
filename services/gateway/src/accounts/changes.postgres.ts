import { appendToOutbox } from '@ecf/bus';
import type { ActedBy, AuditAct } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import {
  anyOf,
  type Database,
  pagesOf,
  queryBuilder,
  type Restore,
  revisionAfter,
  type Transaction,
} from '@ecf/postgres';
import type { Kysely } from 'kysely';
import { requireValidActor } from '../access/valid-actor.postgres.js';
import { appendAudit } from '../audit/audit-log.postgres.js';
import type { DB } from '../generated/tables.js';
import { taxpayerChanged } from './taxpayer-event.js';
import { readParts, selectTaxpayers } from './taxpayer-rows.postgres.js';

export interface AccountChangesOptions {
  database: Database;
  clock: () => Date;
  /** Receives the access revision of each commit. */
  onCommit: (revision: number) => void;
  /** Called when it is not known whether a change was committed. */
  onDoubt: () => void;
}

/** The description of a change, for the audit log. */
export type Act = Pick<AuditAct, 'action' | 'target' | 'details'>;

/** The result of a change, and the taxpayers to publish. */
export interface Change<T> {
  value: T;
  /** Absent if nothing changed. */
  act?: Act;
  /** Taxpayers of the account whose new state is published, each with its own revision. */
  publish?: { accountId: string; rncs: readonly string[] };
}

/** `by` is null if no person made the change; the audit log does not record it then. */
export type AccountChange = <T>(work: (db: Kysely<DB>) => Promise<Change<T>>, by: ActedBy | null) => Promise<T>;

/**
 * Runs a change with its events in one transaction. The row of the access revision is locked first, so changes happen one
 * after another. Revisions are committed in their order, and the events of a taxpayer are appended in that order too.
 */
export function createAccountChanges({ database, clock, onCommit, onDoubt }: AccountChangesOptions): AccountChange {
  return async (work, by) => {
    let isComplete = false;
    try {
      return await database.transaction(async (tx) => {
        isComplete = false;
        const db = queryBuilder<DB>(tx);
        let revision = await raise(db, 1);
        // A key or an administrator may have ended while the body of the request arrived.
        if (by !== null) await requireValidActor(tx, by, clock());
        const { value, act, publish } = await work(db);
        if (publish !== undefined && publish.rncs.length > 0) {
          revision = await raise(db, publish.rncs.length);
          await renumber(tx, publish.accountId, publish.rncs, revision);
          const rows = await selectTaxpayers(db).where('rnc', '=', anyOf(publish.rncs)).orderBy('revision').execute();
          const changed = await readParts(db, rows);
          await appendToOutbox(
            tx,
            changed.map((taxpayer) => taxpayerChanged(taxpayer, clock())),
          );
        }
        if (by !== null && act !== undefined) await appendAudit(tx, [{ at: toIsoDominican(clock()), ...by, ...act }]);
        tx.afterCommit(() => onCommit(revision));
        isComplete = true;
        return value;
      });
    } catch (error) {
      // The commit itself failed.
      if (isComplete) onDoubt();
      throw error;
    }
  };
}

/**
 * After a restore: publishes all taxpayers again. If this database was restored, each gets a revision above the ones of other
 * services, so they take over its state; and the calls of an account name such a revision, so taxpayers registered since are forgotten.
 */
export async function publishAfterRestore(tx: Transaction, restore: Restore, now: Date): Promise<void> {
  const db = queryBuilder<DB>(tx);
  if (!restore.ofOthers) {
    const above = revisionAfter(restore);
    await tx.query('UPDATE access_revision SET revision = greatest(revision, $1)', [above]);
    await tx.query('UPDATE accounts SET taxpayers_revision = greatest(taxpayers_revision, $1)', [above]);
    const accounts = await tx.query<{ account_id: string; rncs: string[] }>(
      'SELECT account_id, array_agg(rnc ORDER BY revision) AS rncs FROM taxpayers GROUP BY account_id',
    );
    for (const { account_id, rncs } of accounts.rows)
      await renumber(tx, account_id, rncs, await raise(db, rncs.length));
  }
  const read = async (after: number, limit: number) => {
    const page = selectTaxpayers(db).where('revision', '>', after).orderBy('revision').limit(limit);
    return readParts(db, await page.execute());
  };
  for await (const rows of pagesOf(read, ({ revision }) => revision)) {
    const events = rows.map((taxpayer) => taxpayerChanged(taxpayer, now));
    await appendToOutbox(tx, events);
  }
}

/** Raises the access revision; its row is locked until the end of the transaction. */
async function raise(db: Kysely<DB>, by: number): Promise<number> {
  const { revision } = await db
    .updateTable('accessRevision')
    .set(({ eb }) => ({ revision: eb('revision', '+', by) }))
    .returning('revision')
    .executeTakeFirstOrThrow();
  return revision;
}

/** Gives each taxpayer one of the revisions up to `last`, chained to the account's previous one. */
async function renumber(tx: Transaction, accountId: string, rncs: readonly string[], last: number): Promise<void> {
  await tx.query(
    `UPDATE taxpayers SET revision = $2::bigint + changed.n - 1, previous_revision = CASE changed.n
        WHEN 1 THEN (SELECT taxpayers_revision FROM accounts WHERE id = $1) ELSE $2::bigint + changed.n - 2 END
      FROM unnest($3::text[]) WITH ORDINALITY AS changed(rnc, n) WHERE taxpayers.rnc = changed.rnc`,
    [accountId, last - rncs.length + 1, rncs],
  );
  await tx.query('UPDATE accounts SET taxpayers_revision = $2 WHERE id = $1', [accountId, last]);
}

import type { TaxpayerState } from '@ecf/contracts';
import { once } from '@ecf/service-kit/outbox';
import { createBatches, type Database, type Queries } from '@ecf/service-kit/postgres';
import type { TaxpayerStore } from './taxpayer-store.js';

/** Taxpayers whose state is remembered; their revision is asked for every time, their state only when it is newer. */
const REMEMBERED = 10_000;

const FIND = {
  name: 'taxpayer_find',
  text: `SELECT k.position::int, t.revision, CASE WHEN t.revision <> k.revision THEN t.state END AS state
           FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS k(rnc, revision, position) JOIN taxpayers t USING (rnc)`,
};
const KEEP = {
  name: 'taxpayer_keep',
  text: `INSERT INTO taxpayers (rnc, account_id, revision, state)
         SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::json[])
         ON CONFLICT (rnc) DO UPDATE
            SET account_id = excluded.account_id, revision = excluded.revision, state = excluded.state
          WHERE taxpayers.revision < excluded.revision`,
};
const COMPLETE = {
  name: 'account_complete',
  text: `INSERT INTO accounts (id, revision) VALUES ($1, $2)
         ON CONFLICT (id) DO UPDATE SET revision = greatest(accounts.revision, excluded.revision)`,
};
// An account is known up to a change where it was known up to the one before; an unknown account is known up to 0.
const ADVANCE = {
  name: 'account_advance',
  text: `INSERT INTO accounts (id, revision) SELECT $1, $2 WHERE $3 = 0 OR EXISTS (SELECT 1 FROM accounts WHERE id = $1)
         ON CONFLICT (id) DO UPDATE SET revision = greatest(accounts.revision, excluded.revision)
          WHERE accounts.revision >= $3`,
};

/**
 * The copy of the taxpayers in PostgreSQL. Certificates stay sealed in it.
 *
 * Tables: `taxpayers (rnc primary key, account_id, revision bigint, state json)`, `accounts (id primary key, revision
 * bigint)`, and the inbox.
 *
 * @param group the consumer group under which handled events are noted
 */
export function createTaxpayerStore(database: Database, group: string): TaxpayerStore {
  const remembered = new Map<string, TaxpayerState>();

  /** Another instance may have applied a change, so memory alone never answers. */
  const finds = createBatches<{ rnc: string }, TaxpayerState | null>({
    maxItems: 64,
    maxUnderWay: 2,
    keyOf: (item) => item,
    async work(items) {
      const known = items.map(({ rnc }) => remembered.get(rnc));
      const { rows } = await database.query<{ position: number; state: TaxpayerState | null }>(FIND, [
        items.map(({ rnc }) => rnc),
        known.map((state) => state?.revision ?? 0),
      ]);
      const found = new Map(rows.map((row) => [row.position - 1, row.state ?? known[row.position - 1] ?? null]));
      for (const state of found.values()) if (state !== null) remember(state);
      return items.map((_, index) => found.get(index) ?? null);
    },
  });

  function remember(state: TaxpayerState): void {
    if (remembered.size >= REMEMBERED) remembered.delete(remembered.keys().next().value as string);
    remembered.set(state.rnc, state);
  }

  return {
    taxpayer: (rnc) => finds.run({ rnc }),
    async account(accountId) {
      const { rows } = await database.query<{ state: TaxpayerState }>(
        'SELECT state FROM taxpayers WHERE account_id = $1 ORDER BY rnc',
        [accountId],
      );
      const known = await database.query<{ revision: number }>('SELECT revision FROM accounts WHERE id = $1', [
        accountId,
      ]);
      return {
        account_id: accountId,
        revision: known.rows[0]?.revision ?? 0,
        taxpayers: rows.map((row) => row.state),
      };
    },
    async apply(taxpayer, eventId) {
      await database.transaction(async (tx) => {
        if (!(await once(tx, group, eventId))) return;
        await keep(tx, [taxpayer]);
        await tx.query(ADVANCE, [taxpayer.account_id, taxpayer.revision, taxpayer.previous_revision]);
      });
    },
    async replaceTaxpayer(taxpayer) {
      await keep(database, [taxpayer]);
    },
    async replaceAccount(account) {
      await database.transaction(async (tx) => {
        await keep(tx, account.taxpayers);
        await tx.query(COMPLETE, [account.account_id, account.revision]);
      });
    },
  };
}

async function keep(queries: Queries, taxpayers: readonly TaxpayerState[]): Promise<void> {
  if (taxpayers.length === 0) return;
  await queries.query(KEEP, [
    taxpayers.map((taxpayer) => taxpayer.rnc),
    taxpayers.map((taxpayer) => taxpayer.account_id),
    taxpayers.map((taxpayer) => taxpayer.revision),
    taxpayers.map((taxpayer) => JSON.stringify(taxpayer)),
  ]);
}

import type { TaxpayerState } from '@ecf/contracts';
import type { Database, Queries } from '@ecf/service-kit/postgres';
import type { TaxpayerStore } from '../core/ports.js';

const OF_ACCOUNT = {
  name: 'taxpayers_of_account',
  text: `SELECT coalesce((SELECT revision FROM account WHERE id = $1), 0)::bigint AS revision,
    ARRAY(SELECT rnc FROM taxpayer WHERE account_id = $1 ORDER BY rnc) AS rncs`,
};
const KEEP = {
  name: 'taxpayer_keep',
  text: `INSERT INTO taxpayer AS present (rnc, account_id, revision)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[])
    ON CONFLICT (rnc) DO UPDATE SET account_id = excluded.account_id, revision = excluded.revision
    WHERE present.revision < excluded.revision`,
};
const COMPLETE = {
  name: 'account_complete',
  text: `INSERT INTO account AS present (id, revision) VALUES ($1, $2)
    ON CONFLICT (id) DO UPDATE SET revision = greatest(present.revision, excluded.revision)`,
};
// An account is known up to a change where it was known up to the one before; an unknown account is known up to 0.
const ADVANCE = {
  name: 'account_advance',
  text: `INSERT INTO account AS present (id, revision)
    SELECT $1, $2 WHERE $3 = 0 OR EXISTS (SELECT 1 FROM account WHERE id = $1)
    ON CONFLICT (id) DO UPDATE SET revision = greatest(present.revision, excluded.revision) WHERE present.revision >= $3`,
};

/** Which RNC belongs to which account. Nothing else of a taxpayer is kept here, its certificate least of all. */
export function createPostgresTaxpayers(database: Database): TaxpayerStore {
  return {
    async account(accountId) {
      const { rows } = await database.query<{ revision: number; rncs: string[] }>(OF_ACCOUNT, [accountId]);
      return rows[0] ?? { revision: 0, rncs: [] };
    },
    keep: (taxpayer) =>
      database.transaction(async (tx) => {
        await keep(tx, [taxpayer]);
        await tx.query(ADVANCE, [taxpayer.account_id, taxpayer.revision, taxpayer.previous_revision]);
      }),
    replaceAccount: (account) =>
      database.transaction(async (tx) => {
        await keep(tx, account.taxpayers);
        await tx.query(COMPLETE, [account.account_id, account.revision]);
      }),
  };
}

async function keep(queries: Queries, taxpayers: readonly TaxpayerState[]): Promise<void> {
  if (taxpayers.length === 0) return;
  const sorted = [...taxpayers].sort((one, other) => one.rnc.localeCompare(other.rnc));
  await queries.query(KEEP, [
    sorted.map(({ rnc }) => rnc),
    sorted.map(({ account_id }) => account_id),
    sorted.map(({ revision }) => revision),
  ]);
}

import type { AccountTaxpayers, TaxpayerState } from '@ecf/contracts';
import { once } from '@ecf/service-kit/outbox';
import type { Database, Queries } from '@ecf/service-kit/postgres';
import type { TaxpayerStore } from '../core/ports.js';
import { retryWhileUnavailable } from './retry-while-unavailable.js';

/** The consumer group of this service; part of what the inbox remembers. */
export const EMISSION_GROUP = 'emission';

const LOOK_UP = {
  name: 'taxpayer_look_up',
  text: `SELECT coalesce((SELECT revision FROM account WHERE account_id = $1), 0)::bigint AS revision,
    (SELECT state FROM taxpayer WHERE rnc = $2 AND account_id = $1) AS state`,
};

const ACCOUNT = {
  name: 'taxpayer_account',
  text: `SELECT coalesce((SELECT revision FROM account WHERE account_id = $1), 0)::bigint AS revision,
    coalesce((SELECT json_agg(state) FROM taxpayer WHERE account_id = $1), '[]'::json) AS taxpayers`,
};

const TAXPAYER = { name: 'taxpayer_find', text: 'SELECT state FROM taxpayer WHERE rnc = $1' };

const KEEP_NEWER = {
  name: 'taxpayer_keep_newer',
  text: `INSERT INTO taxpayer (rnc, account_id, revision, state)
    SELECT t->>'rnc', t->>'account_id', (t->>'revision')::bigint, t FROM json_array_elements($1::json) AS t
    ON CONFLICT (rnc) DO UPDATE SET account_id = EXCLUDED.account_id, revision = EXCLUDED.revision, state = EXCLUDED.state
    WHERE taxpayer.revision < EXCLUDED.revision`,
};

/** An account is known up to $2 when it was known up to $3 before. */
const GROW = {
  name: 'taxpayer_account_grow',
  text: 'UPDATE account SET revision = $2 WHERE account_id = $1 AND revision >= $3 AND revision < $2',
};

const KNOW = {
  name: 'taxpayer_account_know',
  text: `INSERT INTO account (account_id, revision) VALUES ($1, $2)
    ON CONFLICT (account_id) DO UPDATE SET revision = EXCLUDED.revision WHERE account.revision < EXCLUDED.revision`,
};

export function createPostgresTaxpayerStore({
  database,
  patienceMs,
}: {
  database: Database;
  patienceMs: number;
}): TaxpayerStore {
  return {
    async apply(taxpayer, eventId) {
      await database.transaction(async (tx) => {
        if (!(await once(tx, EMISSION_GROUP, eventId))) return;
        await keepNewer(tx, [taxpayer]);
        const { account_id, revision, previous_revision } = taxpayer;
        if (previous_revision === 0) await tx.query(KNOW, [account_id, revision]);
        else await tx.query(GROW, [account_id, revision, previous_revision]);
      });
    },
    async replaceAccount({ account_id, revision, taxpayers }) {
      await retryWhileUnavailable(patienceMs, () =>
        database.transaction(async (tx) => {
          await keepNewer(tx, taxpayers);
          await tx.query(KNOW, [account_id, revision]);
        }),
      );
    },
    async lookUp(accountId, rnc) {
      const { rows } = await retryWhileUnavailable(patienceMs, () =>
        database.query<{ revision: number; state: TaxpayerState | null }>(LOOK_UP, [accountId, rnc]),
      );
      return { revision: rows[0]?.revision ?? 0, taxpayer: rows[0]?.state ?? null };
    },
    async account(accountId): Promise<AccountTaxpayers> {
      const { rows } = await retryWhileUnavailable(patienceMs, () =>
        database.query<{ revision: number; taxpayers: TaxpayerState[] }>(ACCOUNT, [accountId]),
      );
      return { account_id: accountId, revision: rows[0]?.revision ?? 0, taxpayers: rows[0]?.taxpayers ?? [] };
    },
    async taxpayer(rnc) {
      const { rows } = await database.query<{ state: TaxpayerState }>(TAXPAYER, [rnc]);
      return rows[0]?.state ?? null;
    },
  };
}

async function keepNewer(tx: Queries, taxpayers: readonly TaxpayerState[]): Promise<void> {
  const inOneOrder = [...taxpayers].sort((one, other) => one.rnc.localeCompare(other.rnc));
  await tx.query(KEEP_NEWER, [JSON.stringify(inOneOrder)]);
}

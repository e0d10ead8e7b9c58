import type { TaxpayerState } from '@ecf/contracts';
import type { Database, Queries, SealedValues } from '@ecf/postgres';
import type { TaxpayerReplica } from './taxpayer-replica.js';

const TAXPAYER = { name: 'taxpayer_find', text: 'SELECT state FROM taxpayers WHERE rnc = $1' };

const LOOK_UP = {
  name: 'taxpayer_look_up',
  text: `SELECT coalesce((SELECT revision FROM accounts WHERE id = $1), 0)::bigint AS revision,
    (SELECT state FROM taxpayers WHERE rnc = $2 AND account_id = $1) AS state`,
};

const ACCOUNT = {
  name: 'taxpayers_of_account',
  text: `SELECT coalesce((SELECT revision FROM accounts WHERE id = $1), 0)::bigint AS revision,
    coalesce((SELECT json_agg(state ORDER BY rnc) FROM taxpayers WHERE account_id = $1), '[]'::json) AS taxpayers`,
};

const KEEP_NEWER = {
  name: 'taxpayers_keep_newer',
  text: `INSERT INTO taxpayers (rnc, account_id, revision, state)
    SELECT t->>'rnc', t->>'account_id', (t->>'revision')::bigint, t FROM json_array_elements($1::json) AS t
    ON CONFLICT (rnc) DO UPDATE SET account_id = excluded.account_id, revision = excluded.revision, state = excluded.state
    WHERE taxpayers.revision < excluded.revision`,
};

const COMPLETE = {
  name: 'account_complete',
  text: `INSERT INTO accounts (id, revision) VALUES ($1, $2)
    ON CONFLICT (id) DO UPDATE SET revision = greatest(accounts.revision, excluded.revision)`,
};

/** Taxpayers that the account does not have: the gateway was restored to a state before they were registered. */
const FORGET = {
  name: 'taxpayers_forget',
  text: 'DELETE FROM taxpayers WHERE account_id = $1 AND revision <= $2 AND rnc <> ALL ($3::text[])',
};

// $3 is the revision before this change: the account is known up to $2 only if it was known up to $3.
const ADVANCE = {
  name: 'account_advance',
  text: `INSERT INTO accounts (id, revision) SELECT $1, $2 WHERE $3 = 0 OR EXISTS (SELECT 1 FROM accounts WHERE id = $1)
    ON CONFLICT (id) DO UPDATE SET revision = greatest(accounts.revision, excluded.revision)
    WHERE accounts.revision >= $3`,
};

export interface PostgresTaxpayerReplicaOptions {
  /** False for a service that never signs: sealed certificates are not stored there. Default true. */
  readonly keepCertificates?: boolean;
}

/**
 * The replica in PostgreSQL. Certificates stay sealed in it.
 *
 * Tables: `taxpayers (rnc primary key, account_id, revision bigint, state json)` and `accounts (id primary key, revision
 * bigint)`.
 */
export function createTaxpayerReplica(
  database: Database,
  { keepCertificates = true }: PostgresTaxpayerReplicaOptions = {},
): TaxpayerReplica {
  async function keepNewer(queries: Queries, taxpayers: readonly TaxpayerState[]): Promise<void> {
    if (taxpayers.length === 0) return;
    // Transactions lock the rows in one order, so that two of them cannot wait for each other.
    const ordered = [...taxpayers].sort((one, other) => one.rnc.localeCompare(other.rnc));
    const kept = keepCertificates ? ordered : ordered.map((taxpayer) => ({ ...taxpayer, certificate: null }));
    await queries.query(KEEP_NEWER, [JSON.stringify(kept)]);
  }

  return {
    async taxpayer(rnc) {
      return (await database.query<{ state: TaxpayerState }>(TAXPAYER, [rnc])).rows[0]?.state ?? null;
    },
    async lookUp(accountId, rnc) {
      const { rows } = await database.query<{ revision: number; state: TaxpayerState | null }>(LOOK_UP, [
        accountId,
        rnc,
      ]);
      return { revision: rows[0]?.revision ?? 0, taxpayer: rows[0]?.state ?? null };
    },
    async account(accountId) {
      const { rows } = await database.query<{ revision: number; taxpayers: TaxpayerState[] }>(ACCOUNT, [accountId]);
      return { account_id: accountId, revision: rows[0]?.revision ?? 0, taxpayers: rows[0]?.taxpayers ?? [] };
    },
    async apply(taxpayer) {
      await database.transaction(async (tx) => {
        await keepNewer(tx, [taxpayer]);
        await tx.query(ADVANCE, [taxpayer.account_id, taxpayer.revision, taxpayer.previous_revision]);
      });
    },
    async replaceTaxpayer(taxpayer) {
      await keepNewer(database, [taxpayer]);
    },
    async replaceAccount(account) {
      await database.transaction(async (tx) => {
        await keepNewer(tx, account.taxpayers);
        const rncs = account.taxpayers.map(({ rnc }) => rnc);
        await tx.query(FORGET, [account.account_id, account.revision, rncs]);
        await tx.query(COMPLETE, [account.account_id, account.revision]);
      });
    },
  };
}

/** The sealed certificates of the replica. The gateway seals them anew, and its events bring them here. */
export function replicatedCertificates(database: Pick<Database, 'query'>): SealedValues {
  return {
    async count(head) {
      // Eight characters of base64 hold the first six bytes.
      const { rows } = await database.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM taxpayers WHERE state->>'certificate' IS NOT NULL
          AND substring(decode(left(state->>'certificate', 8), 'base64') from 1 for octet_length($1::bytea)) <> $1`,
        [head],
      );
      return rows[0]?.n ?? 0;
    },
    reseal: async () => 0,
  };
}

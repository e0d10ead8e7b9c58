import type { Environment } from '@ecf/domain';
import type { Queries } from '@ecf/service-kit/postgres';
import type { KeyStore } from '../core/ports.js';

interface Row {
  revision: number;
  key_id: string | null;
  account_id: string;
  environments: Environment[];
  taxpayers_revision: number;
}

/** One row in every case; the revision belongs to the same moment as what was found. */
const FIND = {
  name: 'gateway_find_key',
  text: `SELECT r.revision, k.id AS key_id, k.account_id, k.environments, a.taxpayers_revision
         FROM access_revision r
         LEFT JOIN api_keys k ON k.hash = $1 AND k.revoked_at IS NULL
              AND EXISTS (SELECT 1 FROM accounts WHERE accounts.id = k.account_id AND accounts.active)
         LEFT JOIN accounts a ON a.id = k.account_id`,
};

/** Keys in the gateway's database. */
export function createPostgresKeyStore(database: Queries): KeyStore {
  return {
    async find(hash) {
      const row = (await database.query<Row>(FIND, [hash])).rows[0];
      if (row === undefined) throw new Error('the table access_revision is empty');
      const { key_id: keyId, account_id: accountId, environments, taxpayers_revision: taxpayersRevision } = row;
      const holder = keyId === null ? null : { keyId, accountId, environments, taxpayersRevision };
      return { holder, revision: row.revision };
    },
  };
}

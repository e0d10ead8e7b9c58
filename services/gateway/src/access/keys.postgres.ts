import { type Database, queryBuilder } from '@ecf/postgres';
import type { DB } from '../generated/tables.js';
import type { AccessRevision, KeyStore } from './ports.js';

const REVISION = { name: 'access_revision', text: 'SELECT revision FROM access_revision' };

/** Queries the database each time, for deployments with several gateways. */
export function createStoredAccessRevision(database: Database): AccessRevision & { current(): Promise<number> } {
  return {
    async current() {
      const { rows } = await database.query<{ revision: number }>(REVISION);
      return rows[0]?.revision ?? 0;
    },
  };
}

/** Keys in the gateway's database. */
export function createPostgresKeyStore(database: Database): KeyStore {
  const revision = createStoredAccessRevision(database);
  const db = queryBuilder<DB>(database);
  return {
    async find(hash) {
      // The revision is read first: a change between the two queries then makes the result stale.
      const current = await revision.current();
      const key = await db
        .selectFrom('apiKeys')
        .innerJoin('accounts', 'accounts.id', 'apiKeys.accountId')
        .selectAll('apiKeys')
        .select(['accounts.active as accountActive', 'accounts.taxpayersRevision'])
        .where('hash', '=', hash)
        .executeTakeFirst();
      if (key === undefined) return { holder: null, revision: current };
      const { id: keyId, accountId, environments, scopes, refuseWarnings, expiresAt, taxpayersRevision } = key;
      if (key.revokedAt !== null || !key.accountActive)
        return { holder: null, ended: { keyId, accountId }, revision: current };
      const taxpayers = key.taxpayers.length === 0 ? null : key.taxpayers;
      const rights = { environments, scopes, taxpayers, refuseWarnings };
      return { holder: { keyId, accountId, ...rights, expiresAt, taxpayersRevision }, revision: current };
    },
  };
}

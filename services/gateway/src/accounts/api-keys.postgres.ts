import { toIsoDominican } from '@ecf/domain';
import { type Database, queryBuilder } from '@ecf/postgres';
import { type Kysely, type Selectable, sql } from 'kysely';
import { apiKeyPath } from '../audit/targets.js';
import type * as Tables from '../generated/tables.js';
import { hasAccount } from './accounts.postgres.js';
import type { AccountChange } from './changes.postgres.js';
import type { ApiKey, ApiKeyStore, NewApiKey } from './ports.js';

/** The API keys of accounts in the gateway's database. */
export function createPostgresApiKeys(database: Database, change: AccountChange): ApiKeyStore {
  const db = queryBuilder<Tables.DB>(database);
  return {
    create: (accountId, key, by) =>
      change(async (db) => {
        if (!(await hasAccount(db, accountId))) return { value: null };
        const act = { action: 'api_key.create', target: apiKeyPath(accountId, key.id), details: rightsOf(key) };
        return { value: await insert(db, accountId, key), act };
      }, by),
    async list(accountId, { limit, offset }, within) {
      let keys = db.selectFrom('apiKeys').selectAll().where('accountId', '=', accountId);
      if (within !== null) keys = keys.where('environments', '<@', sql.val([...within.environments]));
      // A key without taxpayers serves all of the account.
      if (within !== null && within.taxpayers !== null)
        keys = keys
          .where('taxpayers', '<>', sql.val<string[]>([]))
          .where('taxpayers', '<@', sql.val([...within.taxpayers]));
      const rows = await keys.orderBy('createdAt').orderBy('id').limit(limit).offset(offset).execute();
      return rows.length > 0 || (await hasAccount(db, accountId)) ? rows.map(toApiKey) : null;
    },
    async hasFor(accountId, env) {
      const key = await db
        .selectFrom('apiKeys')
        .select('id')
        .where('accountId', '=', accountId)
        .where('revokedAt', 'is', null)
        .where('environments', '@>', sql.val([env]))
        .executeTakeFirst();
      return key !== undefined;
    },
    find: (accountId, keyId) => findApiKey(db, accountId, keyId),
    change: (accountId, keyId, { refuseWarnings }, by) =>
      change(async (db) => {
        const row = await db
          .updateTable('apiKeys')
          .set({ refuseWarnings })
          .where('accountId', '=', accountId)
          .where('id', '=', keyId)
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return { value: null };
        const details = { refuse_warnings: refuseWarnings };
        return {
          value: toApiKey(row),
          act: { action: 'api_key.update', target: apiKeyPath(accountId, keyId), details },
        };
      }, by),
    revoke: (accountId, keyId, at, by) =>
      change(async (db) => {
        const row = await db
          .updateTable('apiKeys')
          .set({ revokedAt: at })
          .where('accountId', '=', accountId)
          .where('id', '=', keyId)
          .where('revokedAt', 'is', null)
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) return { value: await findApiKey(db, accountId, keyId) };
        const act = { action: 'api_key.delete', target: apiKeyPath(accountId, keyId), details: { name: row.name } };
        return { value: toApiKey(row), act };
      }, by),
    rotate: (accountId, keyId, { oldExpiresAt, ...key }, at, by) =>
      change<ApiKey | 'unusable' | null>(async (db) => {
        const old = await findApiKey(db, accountId, keyId);
        if (old === null) return { value: null };
        if (old.revokedAt !== null || (old.expiresAt !== null && old.expiresAt <= at)) return { value: 'unusable' };
        const expiresAt = old.expiresAt !== null && old.expiresAt < oldExpiresAt ? old.expiresAt : oldExpiresAt;
        await db.updateTable('apiKeys').set({ expiresAt }).where('id', '=', keyId).execute();
        const details = { new_key_id: key.id, old_expires_at: toIsoDominican(expiresAt) };
        const act = { action: 'api_key.rotate', target: apiKeyPath(accountId, keyId), details };
        return { value: await insert(db, accountId, { ...old, ...key }), act };
      }, by),
  };
}

function rightsOf({ name, environments, scopes, taxpayers, refuseWarnings, expiresAt }: NewApiKey) {
  const expires_at = expiresAt === null ? null : toIsoDominican(expiresAt);
  return { name, environments, scopes, taxpayers, refuse_warnings: refuseWarnings, expires_at };
}

async function findApiKey(db: Kysely<Tables.DB>, accountId: string, keyId: string): Promise<ApiKey | null> {
  const row = await db
    .selectFrom('apiKeys')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('id', '=', keyId)
    .executeTakeFirst();
  return row === undefined ? null : toApiKey(row);
}

async function insert(db: Kysely<Tables.DB>, accountId: string, key: NewApiKey): Promise<ApiKey> {
  const { id, name, environments, scopes, taxpayers, refuseWarnings, expiresAt, hint, hash } = key;
  const rights = { environments, scopes, taxpayers: taxpayers ?? [], refuseWarnings, expiresAt };
  const row = await db
    .insertInto('apiKeys')
    .values({ id, accountId, name, ...rights, hint, hash })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toApiKey(row);
}

function toApiKey({ hash: _hash, accountId: _account, ...row }: Selectable<Tables.ApiKey>): ApiKey {
  return { ...row, taxpayers: row.taxpayers.length === 0 ? null : row.taxpayers };
}

import { toIsoDominican } from '@ecf/domain';
import type { AccountStore, ApiKey, KeyHolder, NewApiKey } from '../core/ports.js';
import type { AccountChange, AccountChangesOptions, Tx } from './account-changes.js';
import { apiKeyPath, hasAccount, requireValidActor, toApiKey } from './account-rows.js';

export type ApiKeyMethods =
  | 'createApiKey'
  | 'listApiKeys'
  | 'findApiKey'
  | 'requireValidActor'
  | 'hasApiKeyFor'
  | 'changeApiKey'
  | 'revokeApiKey'
  | 'rotateApiKey';

/** The API keys of accounts. */
export function apiKeysOf(
  { prisma, clock }: AccountChangesOptions,
  change: AccountChange,
): Pick<AccountStore, ApiKeyMethods> {
  return {
    createApiKey: (accountId, key, by) =>
      change(async (tx) => {
        if (!(await hasAccount(tx, accountId))) return { value: null };
        const act = { action: 'api_key.create', target: apiKeyPath(accountId, key.id), details: rightsOf(key) };
        return { value: toApiKey(await insert(tx, accountId, key)), act };
      }, by),
    async listApiKeys(accountId, { limit, offset }, within = null) {
      const rows = await prisma.apiKey.findMany({
        where: within === null ? { accountId } : { accountId, id: { in: await idsWithin(prisma, accountId, within) } },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
        take: limit,
        skip: offset,
      });
      return rows.length > 0 || (await hasAccount(prisma, accountId)) ? rows.map(toApiKey) : null;
    },
    requireValidActor: (by) => requireValidActor(prisma, by, clock()),
    hasApiKeyFor: async (accountId, env) =>
      (await prisma.apiKey.count({ where: { accountId, revokedAt: null, environments: { has: env } } })) > 0,
    async findApiKey(accountId, keyId) {
      const row = await prisma.apiKey.findFirst({ where: { id: keyId, accountId } });
      return row === null ? null : toApiKey(row);
    },
    changeApiKey: (accountId, keyId, { refuseWarnings }, by) =>
      change(async (tx) => {
        const { count } = await tx.apiKey.updateMany({ where: { id: keyId, accountId }, data: { refuseWarnings } });
        const row = await tx.apiKey.findFirst({ where: { id: keyId, accountId } });
        if (row === null || count === 0) return { value: null };
        const details = { refuse_warnings: refuseWarnings };
        return {
          value: toApiKey(row),
          act: { action: 'api_key.update', target: apiKeyPath(accountId, keyId), details },
        };
      }, by),
    revokeApiKey: (accountId, keyId, at, by) =>
      change(async (tx) => {
        const valid = { id: keyId, accountId, revokedAt: null };
        const { count } = await tx.apiKey.updateMany({ where: valid, data: { revokedAt: at } });
        const row = await tx.apiKey.findFirst({ where: { id: keyId, accountId } });
        if (row === null) return { value: null };
        const act = { action: 'api_key.delete', target: apiKeyPath(accountId, keyId), details: { name: row.name } };
        return { value: toApiKey(row), ...(count === 0 ? {} : { act }) };
      }, by),
    rotateApiKey: (accountId, keyId, { oldExpiresAt, ...key }, at, by) =>
      change<ApiKey | 'unusable' | null>(async (tx) => {
        const old = await tx.apiKey.findFirst({ where: { id: keyId, accountId } });
        if (old === null) return { value: null };
        if (old.revokedAt !== null || (old.expiresAt !== null && old.expiresAt <= at)) return { value: 'unusable' };
        const expiresAt = old.expiresAt !== null && old.expiresAt < oldExpiresAt ? old.expiresAt : oldExpiresAt;
        await tx.apiKey.update({ where: { id: keyId }, data: { expiresAt } });
        const details = { new_key_id: key.id, old_expires_at: toIsoDominican(expiresAt) };
        const act = { action: 'api_key.rotate', target: apiKeyPath(accountId, keyId), details };
        return { value: toApiKey(await insert(tx, accountId, { ...toApiKey(old), ...key })), act };
      }, by),
  };
}

/** The keys with no other environments and taxpayers; one without taxpayers serves all of the account. */
async function idsWithin(
  prisma: AccountChangesOptions['prisma'],
  accountId: string,
  { environments, taxpayers }: Pick<KeyHolder, 'environments' | 'taxpayers'>,
): Promise<string[]> {
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM api_keys WHERE account_id = ${accountId} AND environments <@ ${environments}::text[]
      AND (${taxpayers}::text[] IS NULL OR (taxpayers <> '{}' AND taxpayers <@ ${taxpayers}::text[]))`;
  return rows.map(({ id }) => id);
}

function rightsOf({ name, environments, scopes, taxpayers, refuseWarnings, expiresAt }: NewApiKey) {
  const expires_at = expiresAt === null ? null : toIsoDominican(expiresAt);
  return { name, environments, scopes, taxpayers, refuse_warnings: refuseWarnings, expires_at };
}

function insert(tx: Tx, accountId: string, key: NewApiKey) {
  const { id, name, environments, scopes, taxpayers, refuseWarnings, expiresAt, hint } = key;
  const rights = { environments, scopes, taxpayers: taxpayers ?? [], refuseWarnings, expiresAt };
  return tx.apiKey.create({ data: { id, accountId, name, ...rights, hint, hash: new Uint8Array(key.hash) } });
}

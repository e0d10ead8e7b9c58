import type { ActedBy } from '@ecf/contracts';
import { ApiError } from '@ecf/kit';
import { type Queries, queryBuilder } from '@ecf/postgres';
import type { DB } from '../generated/tables.js';

/**
 * Rejects with 401 if the actor has ended since its request was admitted: an API key that was revoked, has expired, or is of an
 * inactive account; an administrator who was deleted, or whose token has expired.
 */
export async function requireValidActor(queries: Queries, { actor }: Pick<ActedBy, 'actor'>, now: Date): Promise<void> {
  const [, keyId] = /^api_key:(.+)$/.exec(actor) ?? [];
  if (keyId !== undefined) await requireValidKey(queries, keyId, now);
  else await requireValidAdministrator(queries, actor, now);
}

async function requireValidKey(queries: Queries, keyId: string, now: Date): Promise<void> {
  const valid = await queryBuilder<DB>(queries)
    .selectFrom('apiKeys')
    .innerJoin('accounts', 'accounts.id', 'apiKeys.accountId')
    .select('apiKeys.id')
    .where('apiKeys.id', '=', keyId)
    .where('accounts.active', '=', true)
    .where('revokedAt', 'is', null)
    .where(({ eb, or }) => or([eb('expiresAt', 'is', null), eb('expiresAt', '>', now)]))
    .executeTakeFirst();
  if (valid === undefined) throw new ApiError(401, 'invalid_api_key', endedWith('This API key', 'x-api-key'));
}

async function requireValidAdministrator(queries: Queries, name: string, now: Date): Promise<void> {
  const named = await queryBuilder<DB>(queries)
    .selectFrom('administrators')
    .select(['deletedAt', 'expiresAt'])
    .where('name', '=', name)
    .execute();
  // ADMIN_TOKEN has no row.
  if (named.length === 0) return;
  if (named.some(({ deletedAt, expiresAt }) => deletedAt === null && (expiresAt === null || expiresAt > now))) return;
  throw new ApiError(401, 'invalid_admin_token', endedWith('Your token', 'Authorization'));
}

function endedWith(what: string, header: string): string {
  return `${what} ended before its request was complete, so the request changed nothing; send a valid one in ${header}.`;
}

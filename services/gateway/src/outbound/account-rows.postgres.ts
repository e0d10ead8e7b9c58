import type { ActedBy, NumberRange } from '@ecf/contracts';
import { ApiError } from '@ecf/service-kit/errors';
import { anyOf } from '@ecf/service-kit/postgres';
import type { Kysely, Selectable } from 'kysely';
import type { Account, ApiKey, Taxpayer } from '../core/ports.js';
import type * as Tables from '../generated/tables.js';

type Db = Kysely<Tables.DB>;

/** Paths below `/admin`, as the audit log names objects. */
export const accountPath = (id: string) => `/accounts/${id}`;
export const taxpayerPath = (accountId: string, rnc: string) => `${accountPath(accountId)}/taxpayers/${rnc}`;
export const apiKeyPath = (accountId: string, keyId: string) => `${accountPath(accountId)}/api-keys/${keyId}`;

/** A taxpayer, and whether its account is active. */
interface TaxpayerRow extends Selectable<Tables.Taxpayer> {
  accountActive: boolean;
}

/** A taxpayer with its certificate and its ranges. */
export interface WholeTaxpayer extends TaxpayerRow {
  certificate: Selectable<Tables.Certificate> | null;
  ranges: NumberRange[];
}

export function selectTaxpayers(db: Db) {
  return db
    .selectFrom('taxpayers')
    .innerJoin('accounts', 'accounts.id', 'taxpayers.accountId')
    .selectAll('taxpayers')
    .select('accounts.active as accountActive');
}

/** Adds certificates and ranges to taxpayers. */
export async function readParts(db: Db, taxpayers: readonly TaxpayerRow[]): Promise<WholeTaxpayer[]> {
  const rncs = taxpayers.map(({ rnc }) => rnc);
  const certificates = await db.selectFrom('certificates').selectAll().where('rnc', '=', anyOf(rncs)).execute();
  const ranges = await db.selectFrom('numberRanges').selectAll().where('rnc', '=', anyOf(rncs)).orderBy('id').execute();
  const whole = taxpayers.map((taxpayer): WholeTaxpayer => ({ ...taxpayer, certificate: null, ranges: [] }));
  const byRnc = new Map(whole.map((taxpayer) => [taxpayer.rnc, taxpayer]));
  for (const certificate of certificates) {
    const taxpayer = byRnc.get(certificate.rnc);
    if (taxpayer !== undefined) taxpayer.certificate = certificate;
  }
  for (const range of ranges) byRnc.get(range.rnc)?.ranges.push(toRange(range));
  return whole;
}

export async function hasAccount(db: Db, id: string): Promise<boolean> {
  return (await db.selectFrom('accounts').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;
}

/**
 * Rejects with 401 if the actor has ended since its request was admitted: an API key that was revoked, has expired, or is of an
 * inactive account; an administrator who was deleted, or whose token has expired.
 */
export async function requireValidActor(db: Db, { actor }: Pick<ActedBy, 'actor'>, now: Date): Promise<void> {
  const [, keyId] = /^api_key:(.+)$/.exec(actor) ?? [];
  if (keyId !== undefined) {
    const valid = await db
      .selectFrom('apiKeys')
      .innerJoin('accounts', 'accounts.id', 'apiKeys.accountId')
      .select('apiKeys.id')
      .where('apiKeys.id', '=', keyId)
      .where('accounts.active', '=', true)
      .where('revokedAt', 'is', null)
      .where(({ eb, or }) => or([eb('expiresAt', 'is', null), eb('expiresAt', '>', now)]))
      .executeTakeFirst();
    if (valid === undefined) throw new ApiError(401, 'invalid_api_key', endedWith('This API key', 'x-api-key'));
    return;
  }
  const named = await db.selectFrom('administrators').selectAll().where('name', '=', actor).execute();
  const isValid = named.some(
    ({ deletedAt, expiresAt }) => deletedAt === null && (expiresAt === null || expiresAt > now),
  );
  // ADMIN_TOKEN has no row.
  if (named.length > 0 && !isValid)
    throw new ApiError(401, 'invalid_admin_token', endedWith('Your token', 'Authorization'));
}

function endedWith(what: string, header: string): string {
  return `${what} ended before its request was complete, so the request changed nothing; send a valid one in ${header}.`;
}

export function toAccount({ id, name, active, createdAt }: Selectable<Tables.Account>): Account {
  return { id, name, active, createdAt };
}

export function toTaxpayer({ rnc, name, active, createdAt, certificate, ranges }: WholeTaxpayer): Taxpayer {
  return { rnc, name, active, createdAt, certificate, ranges };
}

export function toApiKey({ hash: _hash, accountId: _account, ...row }: Selectable<Tables.ApiKey>): ApiKey {
  return { ...row, taxpayers: row.taxpayers.length === 0 ? null : row.taxpayers };
}

function toRange({ env, ecfType, firstEncf, lastEncf, expires }: Selectable<Tables.NumberRange>): NumberRange {
  return { env, ecf_type: ecfType, from: firstEncf, to: lastEncf, expires };
}

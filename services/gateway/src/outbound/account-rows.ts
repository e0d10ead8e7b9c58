import type { ActedBy, NumberRange, Scope } from '@ecf/contracts';
import type { EcfType, Environment } from '@ecf/domain';
import { ApiError } from '@ecf/service-kit/errors';
import type { Account, ApiKey, Taxpayer } from '../core/ports.js';
import type { Prisma } from '../generated/prisma/client.js';

type TaxpayerRow = Prisma.TaxpayerGetPayload<object>;
type RangeRow = Prisma.NumberRangeGetPayload<object>;
type CertificateRow = Prisma.CertificateGetPayload<object>;
type AccountRow = Prisma.AccountGetPayload<object>;

/** Paths below `/admin`, as the audit log names objects. */
export const accountPath = (id: string) => `/accounts/${id}`;
export const taxpayerPath = (accountId: string, rnc: string) => `${accountPath(accountId)}/taxpayers/${rnc}`;
export const apiKeyPath = (accountId: string, keyId: string) => `${accountPath(accountId)}/api-keys/${keyId}`;

/** A taxpayer with its account, certificate and ranges. */
export interface WholeTaxpayer extends TaxpayerRow {
  account: AccountRow;
  certificate: CertificateRow | null;
  ranges: RangeRow[];
}

/**
 * Taxpayers with their parts. One query after the other: inside a transaction there is one connection, and the client's own
 * `include` would use it for several queries at the same time.
 */
export async function readTaxpayers(
  client: Prisma.TransactionClient,
  where: Prisma.TaxpayerWhereInput,
  order: Omit<Prisma.TaxpayerFindManyArgs, 'where' | 'select' | 'include' | 'omit'> = { orderBy: { revision: 'asc' } },
): Promise<WholeTaxpayer[]> {
  const rows = await client.taxpayer.findMany({ where, ...order });
  const rncs = rows.map((row) => row.rnc);
  const ofThese = { where: { rnc: { in: rncs } } };
  const found = await client.account.findMany({
    where: { id: { in: [...new Set(rows.map((row) => row.accountId))] } },
  });
  const accounts = new Map(found.map((account) => [account.id, account]));
  const certificates = new Map(
    (await client.certificate.findMany(ofThese)).map((certificate) => [certificate.rnc, certificate]),
  );
  const ranges = new Map<string, RangeRow[]>(rncs.map((rnc) => [rnc, []]));
  for (const range of await client.numberRange.findMany({ ...ofThese, orderBy: { id: 'asc' } }))
    ranges.get(range.rnc)?.push(range);
  return rows.map((row) => {
    const account = accounts.get(row.accountId);
    if (account === undefined) throw new Error(`the taxpayer ${row.rnc} has no account`);
    return { ...row, account, certificate: certificates.get(row.rnc) ?? null, ranges: ranges.get(row.rnc) ?? [] };
  });
}

export async function hasAccount(client: Prisma.TransactionClient, id: string): Promise<boolean> {
  return (await client.account.count({ where: { id } })) > 0;
}

/**
 * Rejects with 401 if the actor has ended since its request was admitted: an API key that was revoked, has expired, or is of an
 * inactive account; an administrator who was deleted, or whose token has expired.
 */
export async function requireValidActor(
  client: Prisma.TransactionClient,
  { actor }: Pick<ActedBy, 'actor'>,
  now: Date,
): Promise<void> {
  const [, id] = /^api_key:(.+)$/.exec(actor) ?? [];
  if (id === undefined) {
    const named = await client.administrator.findMany({ where: { name: actor } });
    const hasEnded = named.every(
      ({ deletedAt, expiresAt }) => deletedAt !== null || (expiresAt !== null && expiresAt <= now),
    );
    // ADMIN_TOKEN has no row.
    if (named.length === 0 || !hasEnded) return;
    throw new ApiError(401, 'invalid_admin_token', endedWith('Your token', 'Authorization'));
  }
  const unexpired = { OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] };
  if ((await client.apiKey.count({ where: { id, revokedAt: null, account: { active: true }, ...unexpired } })) > 0)
    return;
  throw new ApiError(401, 'invalid_api_key', endedWith('This API key', 'x-api-key'));
}

function endedWith(what: string, header: string): string {
  return `${what} ended before its request was complete, so the request changed nothing; send a valid one in ${header}.`;
}

export function toAccount({ id, name, active, createdAt }: AccountRow): Account {
  return { id, name, active, createdAt };
}

export function toTaxpayer({ rnc, name, active, createdAt, certificate, ranges }: WholeTaxpayer): Taxpayer {
  return { rnc, name, active, createdAt, certificate, ranges: ranges.map(toRange) };
}

export function toApiKey({ hash: _hash, accountId: _account, ...row }: Prisma.ApiKeyGetPayload<object>): ApiKey {
  return {
    ...row,
    environments: row.environments as Environment[],
    scopes: row.scopes as Scope[],
    taxpayers: row.taxpayers.length === 0 ? null : row.taxpayers,
  };
}

export function toRange({ env, ecfType, firstEncf, lastEncf, expires }: RangeRow): NumberRange {
  return {
    env: env as Environment,
    ecf_type: ecfType as EcfType,
    from: firstEncf,
    to: lastEncf,
    expires: expires === null ? null : expires.toISOString().slice(0, 10),
  };
}

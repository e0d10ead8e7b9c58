import type { NumberRange } from '@ecf/contracts';
import type { EcfType, Environment } from '@ecf/domain';
import type { Account, ApiKey, Taxpayer } from '../core/ports.js';
import type { Prisma } from '../generated/prisma/client.js';

/** What a taxpayer of the administration is read with; the sealed bytes stay where they are. */
export const WITH_PARTS = {
  certificate: { omit: { sealed: true } },
  ranges: { orderBy: { id: 'asc' } },
} satisfies Prisma.TaxpayerInclude;

export function toAccount(row: Prisma.AccountGetPayload<object>): Account {
  return { id: row.id, name: row.name, active: row.active, createdAt: row.createdAt };
}

export function toTaxpayer(row: Prisma.TaxpayerGetPayload<{ include: typeof WITH_PARTS }>): Taxpayer {
  const { rnc, name, active, createdAt, certificate, ranges } = row;
  return { rnc, name, active, createdAt, certificate, ranges: ranges.map(toRange) };
}

export function toApiKey(row: Prisma.ApiKeyGetPayload<{ omit: { hash: true } }>): ApiKey {
  const { id, name, hint, createdAt, revokedAt } = row;
  return { id, name, environments: row.environments as Environment[], hint, createdAt, revokedAt };
}

export function toRange(row: Prisma.NumberRangeGetPayload<object>): NumberRange {
  return {
    env: row.env as Environment,
    ecf_type: row.ecfType as EcfType,
    from: row.firstEncf,
    to: row.lastEncf,
    expires: row.expires === null ? null : row.expires.toISOString().slice(0, 10),
  };
}

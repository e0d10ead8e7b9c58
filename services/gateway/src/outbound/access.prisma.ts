import type { Scope } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { AccessRevision, KeyStore } from '../core/ports.js';
import type { PrismaClient } from '../generated/prisma/client.js';

const ONLY_ROW = { where: { id: 1 } };

/** Queries the database each time, for deployments with several gateways. */
export function createPrismaAccessRevision(prisma: PrismaClient): AccessRevision {
  return { current: async () => Number((await prisma.accessRevision.findUniqueOrThrow(ONLY_ROW)).revision) };
}

/** Keys in the gateway's database. */
export function createPrismaKeyStore(prisma: PrismaClient): KeyStore {
  const revision = createPrismaAccessRevision(prisma);
  return {
    async find(hash) {
      // The revision is read first: a change between the two queries then makes the result stale.
      const current = await revision.current();
      const key = await prisma.apiKey.findFirst({
        where: { hash: new Uint8Array(hash) },
        include: { account: true },
      });
      if (key === null) return { holder: null, revision: current };
      const { id: keyId, accountId } = key;
      if (key.revokedAt !== null || !key.account.active)
        return { holder: null, ended: { keyId, accountId }, revision: current };
      const holder = {
        keyId,
        accountId,
        environments: key.environments as Environment[],
        scopes: key.scopes as Scope[],
        taxpayers: key.taxpayers.length === 0 ? null : key.taxpayers,
        refuseWarnings: key.refuseWarnings,
        expiresAt: key.expiresAt,
        taxpayersRevision: Number(key.account.taxpayersRevision),
      };
      return { holder, revision: current };
    },
  };
}

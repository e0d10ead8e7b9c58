import type { TaxpayerStates } from '../core/ports.js';
import type { PrismaClient } from '../generated/prisma/client.js';
import { readTaxpayers } from './account-rows.js';
import { toState } from './taxpayer-events.js';

/** The taxpayers' states in the gateway's database. */
export function createPrismaTaxpayerStates(prisma: PrismaClient): TaxpayerStates {
  return {
    account: (accountId) =>
      // One snapshot: a revision newer than the taxpayers it comes with would hide a change.
      prisma.$transaction(
        async (tx) => {
          const account = await tx.account.findUnique({ where: { id: accountId } });
          if (account === null) return null;
          const rows = await readTaxpayers(tx, { accountId });
          return { account_id: accountId, revision: Number(account.taxpayersRevision), taxpayers: rows.map(toState) };
        },
        { isolationLevel: 'RepeatableRead' },
      ),
    async taxpayer(rnc) {
      const [row] = await readTaxpayers(prisma, { rnc });
      return row === undefined ? null : toState(row);
    },
  };
}

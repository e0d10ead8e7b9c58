import type { TaxpayerStates } from '../core/ports.js';
import { type AccountChangesOptions, createAccountChanges } from './account-changes.js';
import { readTaxpayers } from './account-rows.js';
import { toState } from './taxpayer-events.js';

const BATCH = 200;

/** The taxpayers' states in the gateway's database. */
export function createPrismaTaxpayerStates(options: AccountChangesOptions): TaxpayerStates {
  const { prisma } = options;
  const change = createAccountChanges(options);

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
    async republish() {
      let published = 0;
      for (let after = ''; ; ) {
        const page = {
          where: { rnc: { gt: after } },
          select: { rnc: true },
          orderBy: { rnc: 'asc' as const },
          take: BATCH,
        };
        const rncs = (await prisma.taxpayer.findMany(page)).map((row) => row.rnc);
        if (rncs.length === 0) return published;
        // Under the lock of every change, so that no older state is published after a newer one.
        await change(async (tx) => ({ value: null, repeat: await readTaxpayers(tx, { rnc: { in: rncs } }) }), null);
        published += rncs.length;
        after = rncs.at(-1) ?? '';
      }
    },
  };
}

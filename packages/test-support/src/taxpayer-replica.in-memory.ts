import type { TaxpayerState } from '@ecf/contracts';
import type { TaxpayerReplica } from '@ecf/taxpayer-replica';

/** The taxpayer replica in memory. The contract test of the replica runs on it too. */
export function createInMemoryTaxpayerReplica(): TaxpayerReplica {
  const taxpayers = new Map<string, TaxpayerState>();
  const accounts = new Map<string, number>();

  function keepNewer(taxpayer: TaxpayerState): void {
    if ((taxpayers.get(taxpayer.rnc)?.revision ?? 0) < taxpayer.revision) taxpayers.set(taxpayer.rnc, taxpayer);
  }

  function complete(accountId: string, revision: number): void {
    accounts.set(accountId, Math.max(accounts.get(accountId) ?? 0, revision));
  }

  return {
    async taxpayer(rnc) {
      return taxpayers.get(rnc) ?? null;
    },
    async lookUp(accountId, rnc) {
      const taxpayer = taxpayers.get(rnc);
      return {
        revision: accounts.get(accountId) ?? 0,
        taxpayer: taxpayer?.account_id === accountId ? taxpayer : null,
      };
    },
    async account(accountId) {
      const own = [...taxpayers.values()].filter((taxpayer) => taxpayer.account_id === accountId);
      own.sort((one, other) => one.rnc.localeCompare(other.rnc));
      return { account_id: accountId, revision: accounts.get(accountId) ?? 0, taxpayers: own };
    },
    async apply(taxpayer) {
      keepNewer(taxpayer);
      const known = accounts.get(taxpayer.account_id);
      const continues =
        taxpayer.previous_revision === 0 || (known !== undefined && known >= taxpayer.previous_revision);
      if (continues) complete(taxpayer.account_id, taxpayer.revision);
    },
    async replaceTaxpayer(taxpayer) {
      keepNewer(taxpayer);
    },
    async replaceAccount(account) {
      account.taxpayers.forEach(keepNewer);
      complete(account.account_id, account.revision);
    },
  };
}

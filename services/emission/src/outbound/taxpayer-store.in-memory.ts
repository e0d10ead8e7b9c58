import type { TaxpayerState } from '@ecf/contracts';
import type { TaxpayerStore } from '../core/ports.js';

/** Taxpayers in memory, for tests. */
export function createInMemoryTaxpayerStore(): TaxpayerStore {
  const taxpayers = new Map<string, TaxpayerState>();
  const accounts = new Map<string, number>();
  const handled = new Set<string>();

  function keepNewer(taxpayer: TaxpayerState): void {
    const present = taxpayers.get(taxpayer.rnc);
    if (present === undefined || present.revision < taxpayer.revision) taxpayers.set(taxpayer.rnc, taxpayer);
  }
  function know(accountId: string, revision: number): void {
    accounts.set(accountId, Math.max(accounts.get(accountId) ?? 0, revision));
  }

  return {
    async apply(taxpayer, eventId) {
      if (handled.has(eventId)) return;
      handled.add(eventId);
      keepNewer(taxpayer);
      const known = accounts.get(taxpayer.account_id) ?? 0;
      if (known >= taxpayer.previous_revision) know(taxpayer.account_id, taxpayer.revision);
    },
    async replaceAccount(account) {
      account.taxpayers.forEach(keepNewer);
      know(account.account_id, account.revision);
    },
    async lookUp(accountId, rnc) {
      const taxpayer = taxpayers.get(rnc);
      return {
        revision: accounts.get(accountId) ?? 0,
        taxpayer: taxpayer?.account_id === accountId ? taxpayer : null,
      };
    },
    account: async (accountId) => ({
      account_id: accountId,
      revision: accounts.get(accountId) ?? 0,
      taxpayers: [...taxpayers.values()].filter((taxpayer) => taxpayer.account_id === accountId),
    }),
    taxpayer: async (rnc) => taxpayers.get(rnc) ?? null,
  };
}

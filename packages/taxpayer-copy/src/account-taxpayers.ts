import type { AccountTaxpayers, TaxpayerState } from '@ecf/contracts';
import type { TaxpayerSource } from '@ecf/service-kit/internal';
import type { TaxpayerStore } from './taxpayer-store.js';

/** The account that asks, and how much of its taxpayers it may expect to be known. */
export interface Asker {
  readonly accountId: string;
  /** The latest revision of the account's taxpayers that the gateway committed before the call. */
  readonly taxpayersRevision: number;
}

export interface AccountPorts {
  readonly taxpayers: Pick<TaxpayerStore, 'account' | 'replaceAccount'>;
  /** Null where the deployment has no gateway to ask. */
  readonly source: Pick<TaxpayerSource, 'account'> | null;
  readonly observer: { failed(what: string, error: unknown): void };
}

/** The taxpayers of an account, as of the caller's latest change where the gateway can be asked for it. */
export async function accountTaxpayers(ports: AccountPorts, asker: Asker): Promise<readonly TaxpayerState[]> {
  let account = await ports.taxpayers.account(asker.accountId);
  if (account.revision < asker.taxpayersRevision && ports.source !== null) {
    account = await refresh(ports, asker, account);
  }
  return account.taxpayers;
}

async function refresh(ports: AccountPorts, asker: Asker, known: AccountTaxpayers): Promise<AccountTaxpayers> {
  try {
    const fresh = await ports.source?.account(asker.accountId);
    if (fresh === undefined) return known;
    await ports.taxpayers.replaceAccount(fresh);
    return fresh;
  } catch (error) {
    ports.observer.failed('asking the gateway for an account', error);
    return known;
  }
}

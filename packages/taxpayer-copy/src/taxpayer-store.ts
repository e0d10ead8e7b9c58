import type { AccountTaxpayers, TaxpayerState } from '@ecf/contracts';

/** A service's copy of the taxpayers. */
export interface TaxpayerStore {
  taxpayer(rnc: string): Promise<TaxpayerState | null>;
  /** All that is known of an account, with the revision it is complete up to. */
  account(accountId: string): Promise<AccountTaxpayers>;
  /** Keeps the newer of what is known and what is given. */
  apply(taxpayer: TaxpayerState, eventId: string): Promise<void>;
  /** Keeps a taxpayer as the gateway gave it on request. */
  replaceTaxpayer(taxpayer: TaxpayerState): Promise<void>;
  /** Keeps a complete account, as the gateway gave it. */
  replaceAccount(account: AccountTaxpayers): Promise<void>;
}

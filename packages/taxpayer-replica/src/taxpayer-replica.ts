import type { AccountTaxpayers, TaxpayerState } from '@ecf/contracts';

/** The replica of one RNC of an account. */
export interface KnownTaxpayer {
  /** The revision up to which the account is known without a gap; 0 for an unknown account. */
  readonly revision: number;
  /** Null if the account has no such taxpayer. */
  readonly taxpayer: TaxpayerState | null;
}

/** A service's own copy of the taxpayers, kept current by the events of `taxpayers.v1`. */
export interface TaxpayerReplica {
  taxpayer(rnc: string): Promise<TaxpayerState | null>;
  lookUp(accountId: string, rnc: string): Promise<KnownTaxpayer>;
  /** Everything known about an account, with the revision up to which it is complete. */
  account(accountId: string): Promise<AccountTaxpayers>;
  /**
   * Takes the state that an event carries. The newer revision wins, so a repeated event changes nothing. The account's
   * revision grows only where no revision is missing in between.
   */
  apply(taxpayer: TaxpayerState): Promise<void>;
  /** Keeps one taxpayer as the gateway answered. */
  replaceTaxpayer(taxpayer: TaxpayerState): Promise<void>;
  /** Keeps a complete account as the gateway answered. */
  replaceAccount(account: AccountTaxpayers): Promise<void>;
}

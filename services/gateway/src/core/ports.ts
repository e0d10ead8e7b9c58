import type { AccountTaxpayers, NumberRange, TaxpayerState } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';

export interface Account {
  id: string;
  name: string;
  active: boolean;
  createdAt: Date;
}

/** The readable facts of a stored certificate; the certificate itself is sealed. */
export interface CertificateFacts {
  subject: string;
  serialNumber: string;
  notBefore: Date;
  notAfter: Date;
  fingerprint: string;
}

export interface SealedCertificate extends CertificateFacts {
  sealed: Uint8Array;
}

export interface Taxpayer {
  rnc: string;
  name: string;
  active: boolean;
  createdAt: Date;
  certificate: CertificateFacts | null;
  ranges: NumberRange[];
}

export interface ApiKey {
  id: string;
  name: string;
  environments: Environment[];
  hint: string;
  createdAt: Date;
  revokedAt: Date | null;
}

export interface NewApiKey {
  id: string;
  name: string;
  environments: Environment[];
  hint: string;
  hash: Uint8Array;
}

export interface Page {
  limit: number;
  offset: number;
}

/**
 * Accounts and their parts. Every change is one transaction with its events and with the next access
 * revision; when it resolves, the very next request sees it. Objects of another account count as absent: null.
 */
export interface AccountStore {
  createAccount(account: { id: string; name: string }): Promise<Account>;
  listAccounts(page: Page): Promise<Account[]>;
  findAccount(id: string): Promise<Account | null>;
  setAccountActive(id: string, active: boolean): Promise<Account | null>;

  /** `taken` if any account has registered the RNC; null if the account does not exist. */
  createTaxpayer(accountId: string, taxpayer: { rnc: string; name: string }): Promise<Taxpayer | 'taken' | null>;
  listTaxpayers(accountId: string, page: Page): Promise<Taxpayer[] | null>;
  findTaxpayer(accountId: string, rnc: string): Promise<Taxpayer | null>;
  setTaxpayerActive(accountId: string, rnc: string, active: boolean): Promise<Taxpayer | null>;
  putCertificate(accountId: string, rnc: string, certificate: SealedCertificate): Promise<Taxpayer | null>;
  putRanges(accountId: string, rnc: string, ranges: readonly NumberRange[]): Promise<Taxpayer | null>;

  createApiKey(accountId: string, key: NewApiKey): Promise<ApiKey | null>;
  listApiKeys(accountId: string, page: Page): Promise<ApiKey[] | null>;
  findApiKey(accountId: string, keyId: string): Promise<ApiKey | null>;
  revokeApiKey(accountId: string, keyId: string, at: Date): Promise<ApiKey | null>;
}

/** The whole state of taxpayers, for services. */
export interface TaxpayerStates {
  /** All taxpayers of an account, complete up to the revision given with them; null without such an account. */
  account(accountId: string): Promise<AccountTaxpayers | null>;
  taxpayer(rnc: string): Promise<TaxpayerState | null>;
  /** Publishes the present state of all taxpayers again; resolves with their number. */
  republish(): Promise<number>;
}

/** Who holds an API key. */
export interface KeyHolder {
  keyId: string;
  accountId: string;
  environments: readonly Environment[];
  /** Latest revision of the account's taxpayers. */
  taxpayersRevision: number;
}

/** Looks up keys by their SHA-256. */
export interface KeyStore {
  /** The holder of a usable key (not revoked, account active), with the access revision of that moment. */
  find(hash: Uint8Array): Promise<{ holder: KeyHolder | null; revision: number }>;
}

/** Bounds the requests of a caller. */
export interface RateLimit {
  /** Counts a request; rejects with 429 `rate_limited` and Retry-After if it exceeds the limit. */
  pass(caller: string): Promise<void>;
}

/** Bounds the failed sign-ins of a caller. */
export interface FailureLimit {
  /** Rejects with 429 `rate_limited` while the caller has failed too often. */
  check(caller: string): Promise<void>;
  /** Counts a failure; rejects with 429 if it exceeds the limit. */
  failed(caller: string): Promise<void>;
}

/** The number that every change of keys, accounts and taxpayers raises. */
export interface AccessRevision {
  /** A value not older than this call. */
  current(): number | Promise<number>;
}

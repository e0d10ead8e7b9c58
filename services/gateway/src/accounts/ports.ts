import type { AccountTaxpayers, ActedBy, LogoFacts, NumberRange, Scope, TaxpayerState } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { KeyHolder } from '../access/ports.js';
import type { Page } from '../edge/ports.js';

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
  sealed: Buffer;
}

/** A stored logo without its bytes. `contentType` is that of the file, `sha256` hexadecimal. */
export interface StoredLogoFacts {
  contentType: LogoFacts['content_type'];
  width: number;
  height: number;
  sha256: string;
}

export interface StoredLogo extends StoredLogoFacts {
  bytes: Buffer;
}

export interface Taxpayer {
  rnc: string;
  name: string;
  active: boolean;
  createdAt: Date;
  certificate: CertificateFacts | null;
  logo: StoredLogoFacts | null;
  ranges: NumberRange[];
}

export interface ApiKey {
  id: string;
  name: string;
  environments: Environment[];
  scopes: Scope[];
  /** RNCs that the key is limited to; null = all taxpayers of the account. */
  taxpayers: string[] | null;
  /** Whether a warning refuses a document, where the request does not say it. */
  refuseWarnings: boolean;
  hint: string;
  createdAt: Date;
  expiresAt: Date | null;
  /** At most a minute late. */
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}

export interface NewApiKey
  extends Pick<ApiKey, 'id' | 'name' | 'environments' | 'scopes' | 'taxpayers' | 'refuseWarnings' | 'expiresAt'> {
  hint: string;
  hash: Buffer;
}

/** The key that replaces another one, which then expires at `oldExpiresAt` at the latest. */
export interface ReplacingKey extends Pick<NewApiKey, 'id' | 'hint' | 'hash'> {
  oldExpiresAt: Date;
}

/** New ranges of these environments; the ranges of other environments remain. `removed` are the numbers that are no longer registered. */
export interface RangesChange {
  readonly ranges: readonly NumberRange[];
  readonly environments: readonly Environment[];
  readonly removed: readonly NumberRange[];
}

/**
 * Accounts. Every change of an account or of its parts is one transaction with its events, its entry in the audit log and the next
 * access revision; when it resolves, the very next request sees it. It rejects with 401 if the API key or administrator that acts
 * ended since its request was admitted.
 */
export interface AccountStore {
  create(account: { id: string; name: string }, by: ActedBy): Promise<Account>;
  list(page: Page): Promise<Account[]>;
  find(id: string): Promise<Account | null>;
  setActive(id: string, active: boolean, by: ActedBy): Promise<Account | null>;
}

/** The taxpayers of accounts. One of another account counts as absent: null. */
export interface TaxpayerStore {
  /** `taken` if any account has registered the RNC; null if the account does not exist. */
  create(accountId: string, taxpayer: { rnc: string; name: string }, by: ActedBy): Promise<Taxpayer | 'taken' | null>;
  /** Of these RNCs only; null = all taxpayers of the account. */
  list(accountId: string, page: Page, rncs?: readonly string[] | null): Promise<Taxpayer[] | null>;
  count(accountId: string, rncs: readonly string[] | null): Promise<number>;
  find(accountId: string, rnc: string): Promise<Taxpayer | null>;
  setActive(accountId: string, rnc: string, active: boolean, by: ActedBy): Promise<Taxpayer | null>;
  putCertificate(accountId: string, rnc: string, certificate: SealedCertificate, by: ActedBy): Promise<Taxpayer | null>;
  putRanges(accountId: string, rnc: string, change: RangesChange, by: ActedBy): Promise<Taxpayer | null>;
  putLogo(accountId: string, rnc: string, logo: StoredLogo, by: ActedBy): Promise<Taxpayer | null>;
  /** `none` if the taxpayer has no logo. */
  deleteLogo(accountId: string, rnc: string, by: ActedBy): Promise<'none' | 'deleted' | null>;
}

/** The API keys of accounts. One of another account counts as absent: null. */
export interface ApiKeyStore {
  create(accountId: string, key: NewApiKey, by: ActedBy): Promise<ApiKey | null>;
  /** Of keys that have no other environments and taxpayers than these; null = every key. */
  list(
    accountId: string,
    page: Page,
    within: Pick<KeyHolder, 'environments' | 'taxpayers'> | null,
  ): Promise<ApiKey[] | null>;
  find(accountId: string, keyId: string): Promise<ApiKey | null>;
  /** Whether the account has a key for the environment that is not revoked. */
  hasFor(accountId: string, env: Environment): Promise<boolean>;
  change(accountId: string, keyId: string, change: Pick<ApiKey, 'refuseWarnings'>, by: ActedBy): Promise<ApiKey | null>;
  revoke(accountId: string, keyId: string, at: Date, by: ActedBy): Promise<ApiKey | null>;
  /** The new key, with the rights of the old one; `unusable` if the old one is revoked or expired. */
  rotate(
    accountId: string,
    keyId: string,
    key: ReplacingKey,
    at: Date,
    by: ActedBy,
  ): Promise<ApiKey | 'unusable' | null>;
}

/** The whole state of taxpayers, for services. */
export interface TaxpayerStates {
  /** All taxpayers of an account, complete up to the revision given with them; null without such an account. */
  account(accountId: string): Promise<AccountTaxpayers | null>;
  taxpayer(rnc: string): Promise<TaxpayerState | null>;
  /** Null without a logo. */
  logo(rnc: string): Promise<StoredLogo | null>;
}

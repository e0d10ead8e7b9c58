import type {
  AccountTaxpayers,
  ActedBy,
  AuditAct,
  AuditEntry,
  AuditFilter,
  NumberRange,
  Role,
  Scope,
  TaxpayerState,
} from '@ecf/contracts';
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
  sealed: Buffer;
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

export interface Page {
  limit: number;
  offset: number;
}

/** New ranges of these environments; those of others stay. `removed` are the numbers that are no longer registered. */
export interface RangesChange {
  readonly ranges: readonly NumberRange[];
  readonly environments: readonly Environment[];
  readonly removed: readonly NumberRange[];
}

/**
 * Accounts and their parts. Every change is one transaction with its events, its entry in the audit log and the next access
 * revision; when it resolves, the very next request sees it. Objects of another account count as absent: null.
 */
export interface AccountStore {
  createAccount(account: { id: string; name: string }, by: ActedBy): Promise<Account>;
  listAccounts(page: Page): Promise<Account[]>;
  findAccount(id: string): Promise<Account | null>;
  setAccountActive(id: string, active: boolean, by: ActedBy): Promise<Account | null>;

  /** `taken` if any account has registered the RNC; null if the account does not exist. */
  createTaxpayer(
    accountId: string,
    taxpayer: { rnc: string; name: string },
    by: ActedBy,
  ): Promise<Taxpayer | 'taken' | null>;
  /** Of these RNCs only; null = all taxpayers of the account. */
  listTaxpayers(accountId: string, page: Page, rncs?: readonly string[] | null): Promise<Taxpayer[] | null>;
  countTaxpayers(accountId: string, rncs: readonly string[] | null): Promise<number>;
  findTaxpayer(accountId: string, rnc: string): Promise<Taxpayer | null>;
  setTaxpayerActive(accountId: string, rnc: string, active: boolean, by: ActedBy): Promise<Taxpayer | null>;
  putCertificate(accountId: string, rnc: string, certificate: SealedCertificate, by: ActedBy): Promise<Taxpayer | null>;
  putRanges(accountId: string, rnc: string, change: RangesChange, by: ActedBy): Promise<Taxpayer | null>;

  createApiKey(accountId: string, key: NewApiKey, by: ActedBy): Promise<ApiKey | null>;
  /** Of keys that have no other environments and taxpayers than these; null = every key. */
  listApiKeys(
    accountId: string,
    page: Page,
    within?: Pick<KeyHolder, 'environments' | 'taxpayers'> | null,
  ): Promise<ApiKey[] | null>;
  /** Whether the account has a key for the environment that is not revoked. */
  hasApiKeyFor(accountId: string, env: Environment): Promise<boolean>;
  findApiKey(accountId: string, keyId: string): Promise<ApiKey | null>;
  /** Rejects with 401 if the key or administrator that acts ended since its request was admitted. Every change checks it too. */
  requireValidActor(by: ActedBy): Promise<void>;
  changeApiKey(
    accountId: string,
    keyId: string,
    change: Pick<ApiKey, 'refuseWarnings'>,
    by: ActedBy,
  ): Promise<ApiKey | null>;
  revokeApiKey(accountId: string, keyId: string, at: Date, by: ActedBy): Promise<ApiKey | null>;
  /** The new key, with the rights of the old one; `unusable` if the old one is revoked or expired. */
  rotateApiKey(
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
}

export interface Administrator {
  id: string;
  name: string;
  role: Role;
  createdAt: Date;
  expiresAt: Date | null;
}

/** The signed-in administrator; `id` is null for the holder of ADMIN_TOKEN. */
export interface SignedInAdministrator {
  id: string | null;
  name: string;
  role: Role;
}

export interface AdministratorStore {
  /** `taken` if another administrator has the name. */
  create(
    administrator: Omit<Administrator, 'createdAt'> & { hash: Buffer },
    by: ActedBy,
  ): Promise<Administrator | 'taken'>;
  list(page: Page): Promise<Administrator[]>;
  find(id: string): Promise<Administrator | null>;
  /** The administrator with this token, deleted ones included. */
  withToken(hash: Buffer): Promise<(Administrator & { deleted: boolean }) | null>;
  delete(id: string, at: Date, by: ActedBy): Promise<Administrator | null>;
}

/** The audit log, in a chain of hashes. */
export interface AuditLog {
  append(acts: readonly AuditAct[]): Promise<void>;
  /** Appends the act of an event, unless the group has handled the event before. */
  appendOnce(group: string, eventId: string, act: AuditAct): Promise<void>;
  /** `seq` of the last entry; 0 before the first. */
  last(): Promise<number>;
  /** Resolves when there is an entry of this actor and request after `seq`, or after a second. */
  appeared(seq: number, by: ActedBy): Promise<void>;
  page(filter: AuditFilter): Promise<AuditEntry[]>;
}

/** The holder of an API key. */
export interface KeyHolder {
  keyId: string;
  accountId: string;
  environments: readonly Environment[];
  scopes: readonly Scope[];
  /** RNCs that the key is limited to; null = all taxpayers of the account. */
  taxpayers: readonly string[] | null;
  /** Whether a warning refuses a document, where the request does not say it. */
  refuseWarnings: boolean;
  expiresAt: Date | null;
  /** Latest revision of the account's taxpayers. */
  taxpayersRevision: number;
}

/** A key that is revoked, or whose account is inactive. */
export type EndedKey = Pick<KeyHolder, 'keyId' | 'accountId'>;

/** Looks up keys by their SHA-256. */
export interface KeyStore {
  /**
   * The holder of a key that is not revoked and whose account is active, with the access revision of that moment. `ended` names
   * a key that there was.
   */
  find(hash: Buffer): Promise<{ holder: KeyHolder | null; ended?: EndedKey | null; revision: number }>;
}

/** Remembers when keys were used, without a write for each request. */
export interface KeyUses {
  used(keyId: string, at: Date): void;
  /** Stores what is not stored yet. */
  flush(): Promise<void>;
}

/** A sign-in that failed. */
export interface SignInFailure {
  what: 'api_key' | 'administrator';
  /** `missing` = none was sent. */
  reason: 'missing' | 'unknown' | 'ended' | 'expired';
  /** Address of the sender. */
  sender: string;
  /** The key or administrator, as the audit log names them, if the secret is one that was valid. */
  known: { actor: string; target: string } | null;
}

export interface SignInFailures {
  failed(failure: SignInFailure): void;
  /** Stores what is not stored yet. */
  flush(): Promise<void>;
}

/** Bounds the requests of a caller. */
export interface RateLimit {
  /**
   * Counts a request; rejects with 429 `rate_limited` and Retry-After if it exceeds the limit. Resolves with the headers that
   * tell the caller what is left; none without a limit.
   */
  pass(caller: string): Promise<Readonly<Record<string, string>>>;
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

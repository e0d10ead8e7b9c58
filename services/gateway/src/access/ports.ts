import type { Scope } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';

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

/** The number that every change of keys, accounts and taxpayers raises. */
export interface AccessRevision {
  /** A value not older than this call. */
  current(): number | Promise<number>;
}

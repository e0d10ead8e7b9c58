import type { SignedSeed } from './signed-seed.js';

/** Seeds that bought a token: each can do so once, on any instance. */
export interface SpentSeeds {
  /** False where it was spent before. */
  spend(id: string, expires: Date): Promise<boolean>;
  clean(now: Date): Promise<void>;
}

/** A key pair for providers' tokens. */
export interface TokenKey {
  readonly kid: string;
  readonly createdAt: Date;
  /** JSON Web Key of the public half. */
  readonly publicJwk: Record<string, unknown>;
  /** JSON Web Key of the private half. */
  readonly privateJwk: Record<string, unknown>;
}

/** Keys of all instances; private halves are sealed at rest. */
export interface TokenKeys {
  /** Newest first. */
  all(): Promise<TokenKey[]>;
  /** Adds `key` unless another instance added one created after `newestBefore`; forgets those created before `oldest`. */
  rotate(key: TokenKey, newestBefore: Date, oldest: Date): Promise<void>;
}

/** Validates signed seeds in workers, within bounds on time and memory. */
export interface SeedValidation {
  /** Rejects with ReceptionError `seed_refused` where the seed is not readable or its signature is not valid. */
  seed(bytes: Uint8Array, now: Date): Promise<SignedSeed>;
}

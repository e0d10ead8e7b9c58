import { createHash, randomBytes } from 'node:crypto';
import type { Environment } from '@ecf/domain';

const FORM = /^ecf_(?:test|live)_[A-Za-z0-9_-]{43}$/;
const HINT = 12;

/** A new key with 256 random bits: `ecf_live_…` for production, else `ecf_test_…`. */
export function makeApiKey(
  environments: readonly Environment[],
  random: (bytes: number) => Buffer = randomBytes,
): string {
  return `ecf_${environments.includes('eCF') ? 'live' : 'test'}_${random(32).toString('base64url')}`;
}

/** Whether a text has the form of a key; others are refused without a look-up. */
export function looksLikeApiKey(text: string): boolean {
  return FORM.test(text);
}

/** The stored hash. One round of SHA-256 is enough for 256 random bits, which cannot be guessed. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The first characters, by which people recognise a key. */
export function hintOf(key: string): string {
  return `${key.slice(0, HINT)}…`;
}

import { createHash, randomBytes } from 'node:crypto';
import type { Environment } from '@ecf/domain';

const FORM = /^ecf_(?:test|live)_[A-Za-z0-9_-]{43}$/;
const HINT = 12;

/** A new key with 256 random bits: `ecf_live_…` where it opens production, else `ecf_test_…`. */
export function makeApiKey(
  environments: readonly Environment[],
  random: (bytes: number) => Buffer = randomBytes,
): string {
  return `ecf_${environments.includes('eCF') ? 'live' : 'test'}_${random(32).toString('base64url')}`;
}

/** Whether a text can be a key at all; others are refused without a look-up. */
export function looksLikeApiKey(text: string): boolean {
  return FORM.test(text);
}

/** What is stored. One round of SHA-256 is enough for 256 random bits: there is nothing to guess from. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** The first characters, by which people tell keys apart. */
export function hintOf(key: string): string {
  return `${key.slice(0, HINT)}…`;
}

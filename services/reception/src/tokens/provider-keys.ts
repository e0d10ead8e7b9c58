import { randomUUID } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { ReceptionError } from '../errors.js';
import type { TokenKey, TokenKeys } from './ports.js';

export const ALGORITHM = 'ES256';
export const SKEW_SECONDS = 30;
/** An unknown key id makes the service read the keys again, at most this often: anybody can invent key ids. */
const REREAD_MS = 2_000;
/** Tokens of unknown keys that wait for the keys to be read again. */
export const MAX_WAITING_TOKENS = 256;

export interface TokenSettings {
  /** Seconds that a token lives. */
  readonly lifeSeconds: number;
  /** Milliseconds after which a new key signs. */
  readonly rotationMs: number;
}

export interface UsableKey {
  readonly kid: string;
  readonly createdAt: Date;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

/** The keys of providers' tokens, as this instance last read them. Keys rotate, and all instances share them. */
export function createProviderKeys(
  ports: { keys: TokenKeys; clock: () => Date },
  settings: TokenSettings,
  pause: (ms: number) => Promise<unknown>,
) {
  let keys: UsableKey[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  /** The next reading of the keys, from the pause before it until it has ended; otherwise null. */
  let rereading: Promise<void> | null = null;
  /** Whether that reading has begun, so that a key made since may be missing from it. */
  let begun = false;
  let waiting = 0;

  /** Another instance may have made an unknown key. All waiting tokens share one reading that starts after they came. */
  async function named(kid: string): Promise<UsableKey | null> {
    const known = () => keys.find((key) => key.kid === kid && lives(key)) ?? null;
    if (known() !== null) return known();
    if (waiting >= MAX_WAITING_TOKENS) {
      throw new ReceptionError(
        'overloaded',
        'Too many tokens wait for their keys; send the request again shortly.',
        'token.busy',
      );
    }
    waiting += 1;
    try {
      const late = begun;
      await reread();
      if (late && known() === null) await reread();
      return known();
    } finally {
      waiting -= 1;
    }
  }

  function reread(): Promise<void> {
    rereading ??= readInTime().finally(() => {
      rereading = null;
      begun = false;
    });
    return rereading;
  }

  async function readInTime(): Promise<void> {
    const left = readAt + REREAD_MS - ports.clock().getTime();
    if (left > 0) await pause(Math.min(left, REREAD_MS));
    begun = true;
    await readKeys();
  }

  async function signing(): Promise<UsableKey> {
    const now = ports.clock().getTime();
    const newest = keys[0];
    if (newest !== undefined && now - newest.createdAt.getTime() < settings.rotationMs) return newest;
    const fresh = await makeKey(new Date(now));
    const oldest = new Date(now - keptMs());
    await ports.keys.rotate(fresh, new Date(now - settings.rotationMs), oldest);
    await readKeys();
    const key = keys[0];
    if (key === undefined) throw new Error('no key to sign tokens with');
    return key;
  }

  async function readKeys(): Promise<void> {
    const known = new Map(keys.map((key) => [key.kid, key]));
    keys = await Promise.all((await ports.keys.all()).map((key) => known.get(key.kid) ?? usable(key)));
    readAt = ports.clock().getTime();
  }

  function lives(key: UsableKey): boolean {
    return ports.clock().getTime() - key.createdAt.getTime() < keptMs();
  }

  /** A key signs until it is rotated out; its last tokens stay valid until they expire. */
  function keptMs(): number {
    return settings.rotationMs + (settings.lifeSeconds + 2 * SKEW_SECONDS) * 1000;
  }

  return { named, signing, waiting: () => waiting };
}

async function makeKey(createdAt: Date): Promise<TokenKey> {
  const pair = await generateKeyPair(ALGORITHM, { extractable: true });
  const [publicJwk, privateJwk] = await Promise.all([exportJWK(pair.publicKey), exportJWK(pair.privateKey)]);
  return { kid: randomUUID(), createdAt, publicJwk: { ...publicJwk }, privateJwk: { ...privateJwk } };
}

async function usable(key: TokenKey): Promise<UsableKey> {
  const load = async (jwk: Record<string, unknown>) => (await importJWK(jwk as JWK, ALGORITHM)) as CryptoKey;
  const [privateKey, publicKey] = await Promise.all([load(key.privateJwk), load(key.publicJwk)]);
  return { kid: key.kid, createdAt: key.createdAt, privateKey, publicKey };
}

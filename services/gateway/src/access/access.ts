import { ApiError } from '@ecf/kit';
import { LRUCache } from 'lru-cache';
import type { SignInFailure, SignInFailures } from '../audit/ports.js';
import { apiKeyPath } from '../audit/targets.js';
import type { FailureLimit } from '../edge/ports.js';
import { hashApiKey, looksLikeApiKey } from './api-key-text.js';
import type { AccessRevision, EndedKey, KeyHolder, KeyStore } from './ports.js';

const REMEMBERED = 10_000;
const REMEMBERED_UNKNOWN = 1_000;

/** Finds the holder of an API key. */
export interface Access {
  /**
   * Rejects with 401 `invalid_api_key` if the key is missing, unknown, revoked, expired or of an inactive account. Rejects
   * with 429 if the sender failed too often, unless the key was valid recently.
   */
  holderOf(key: string | undefined, sender: string): Promise<KeyHolder>;
  /** The same for a key that signed in to the console, by its SHA-256. */
  holderOfHash(hash: Buffer, sender: string): Promise<KeyHolder>;
}

/**
 * Remembers look-ups while the access revision stays the same. A revocation raises the revision in its own transaction, so the
 * next request is refused on every instance. Unknown keys have their own map, so that they displace no holder.
 */
export function createAccess(
  keys: KeyStore,
  revision: AccessRevision,
  failures: FailureLimit,
  clock: () => Date,
  log: Pick<SignInFailures, 'failed'>,
): Access {
  const known = new LRUCache<string, { holder: KeyHolder; revision: number }>({ max: REMEMBERED });
  const unknown = new LRUCache<string, { ended: EndedKey | null; revision: number }>({ max: REMEMBERED_UNKNOWN });

  async function refuse(sender: string, failure: Failure): Promise<never> {
    const { reason, key } = failure;
    const known = key === null ? null : { actor: `api_key:${key.keyId}`, target: apiKeyPath(key.accountId, key.keyId) };
    log.failed({ what: 'api_key', reason, sender, known });
    await failures.failed(sender);
    throw new ApiError(401, 'invalid_api_key', WORDS[reason]);
  }

  async function find(hash: Buffer, id: string, current: number, sender: string): Promise<Found> {
    const refused = unknown.get(id);
    if (refused?.revision === current) return { holder: null, ended: refused.ended };
    if (!known.has(id)) await failures.check(sender);
    const found = await keys.find(hash);
    known.delete(id);
    const { holder, ended = null } = found;
    if (holder === null) unknown.set(id, { ended, revision: found.revision });
    else known.set(id, { holder, revision: found.revision });
    return { holder, ended };
  }

  async function holderOfHash(hash: Buffer, sender: string): Promise<KeyHolder> {
    const id = hash.toString('latin1');
    const current = await revision.current();
    const entry = known.get(id);
    const { holder, ended }: Found =
      entry?.revision === current ? { holder: entry.holder, ended: null } : await find(hash, id, current, sender);
    if (holder === null) return refuse(sender, { reason: ended === null ? 'unknown' : 'ended', key: ended });
    if (holder.expiresAt !== null && holder.expiresAt <= clock())
      return refuse(sender, { reason: 'expired', key: holder });
    return holder;
  }

  return {
    async holderOf(key, sender) {
      if (key === undefined) return refuse(sender, { reason: 'missing', key: null });
      if (!looksLikeApiKey(key)) return refuse(sender, { reason: 'unknown', key: null });
      return holderOfHash(hashApiKey(key), sender);
    },
    holderOfHash,
  };
}

interface Found {
  readonly holder: KeyHolder | null;
  readonly ended: EndedKey | null;
}

interface Failure {
  readonly reason: SignInFailure['reason'];
  /** The key, if there is or was one. */
  readonly key: EndedKey | null;
}

const UNKNOWN = 'This API key is unknown or revoked, or its account is inactive; send a valid one in x-api-key.';
const WORDS: Record<SignInFailure['reason'], string> = {
  missing: 'The header x-api-key is missing; send a key of the account.',
  unknown: UNKNOWN,
  ended: UNKNOWN,
  expired: 'This API key has expired; send its successor, or have a new one made.',
};

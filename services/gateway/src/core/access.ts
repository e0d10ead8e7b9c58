import { ApiError } from '@ecf/service-kit/errors';
import { LRUCache } from 'lru-cache';
import { hashApiKey, looksLikeApiKey } from './api-keys.js';
import type { AccessRevision, FailureLimit, KeyHolder, KeyStore } from './ports.js';

const REMEMBERED = 10_000;
const REMEMBERED_UNKNOWN = 1_000;

/** Finds the holder of an API key. */
export interface Access {
  /**
   * Rejects with 401 `invalid_api_key` if the key is missing, unknown, revoked, expired or of an inactive account, and with 429
   * if the sender failed too often. A key that had a holder recently is looked up in any case.
   */
  holderOf(key: string | undefined, sender: string): Promise<KeyHolder>;
}

/**
 * Remembers look-ups while the access revision stays the same. A revocation raises the revision in its own transaction, so the
 * next request is refused on every instance. Unknown keys have a map of their own, so that they displace no holder.
 */
export function createAccess(
  keys: KeyStore,
  revision: AccessRevision,
  failures: FailureLimit,
  clock: () => Date,
): Access {
  const known = new LRUCache<string, { holder: KeyHolder; revision: number }>({ max: REMEMBERED });
  const unknown = new LRUCache<string, number>({ max: REMEMBERED_UNKNOWN });

  async function refuse(sender: string, message: string): Promise<never> {
    await failures.failed(sender);
    throw new ApiError(401, 'invalid_api_key', message);
  }

  async function find(hash: Buffer, id: string, current: number, sender: string): Promise<KeyHolder | null> {
    if (unknown.get(id) === current) return null;
    if (!known.has(id)) await failures.check(sender);
    const found = await keys.find(hash);
    known.delete(id);
    if (found.holder === null) unknown.set(id, found.revision);
    else known.set(id, { holder: found.holder, revision: found.revision });
    return found.holder;
  }

  return {
    async holderOf(key, sender) {
      if (key === undefined) return refuse(sender, 'The header x-api-key is missing; send a key of the account.');
      if (!looksLikeApiKey(key)) return refuse(sender, UNKNOWN);
      const hash = hashApiKey(key);
      const id = hash.toString('latin1');
      const current = await revision.current();
      const entry = known.get(id);
      const holder =
        entry?.revision === current
          ? entry.holder
          : ((await find(hash, id, current, sender)) ?? (await refuse(sender, UNKNOWN)));
      if (holder.expiresAt !== null && holder.expiresAt <= clock()) return refuse(sender, EXPIRED);
      return holder;
    },
  };
}

const EXPIRED = 'This API key has expired; send its successor, or have a new one made.';
const UNKNOWN = 'This API key is unknown or revoked, or its account is inactive; send a valid one in x-api-key.';

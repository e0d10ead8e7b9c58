import { ApiError } from '@ecf/service-kit/http';
import { LRUCache } from 'lru-cache';
import { hashApiKey, looksLikeApiKey } from './api-keys.js';
import type { FailureLimit } from './failure-limit.js';
import type { AccessRevision, KeyHolder, KeyStore } from './ports.js';

const REMEMBERED = 10_000;
const REMEMBERED_UNKNOWN = 1_000;

/** Finds the holder of an API key; what it remembers is used only while nothing has changed since. */
export interface Access {
  /**
   * Throws 401 `invalid_api_key` where the key is missing, unknown, revoked or of an inactive account; what the limit throws
   * where `sender` had too many keys looked up that are none.
   */
  holderOf(key: string | undefined, sender: string): Promise<KeyHolder> | KeyHolder;
}

/**
 * Remembers look-ups for as long as the access revision stays the same. A revocation raises the revision in its own
 * transaction, so the request after it finds the key gone, on every instance. Unknown keys are remembered too, apart, so
 * that made-up ones push out no holder. Only look-ups that find nobody count towards `failures`, and keys that had a holder
 * lately are looked up in any case: who has good keys is not limited. What a sender asks several times at once is looked up
 * once.
 */
export function createAccess(keys: KeyStore, revision: AccessRevision, failures: FailureLimit): Access {
  const known = new LRUCache<string, { holder: KeyHolder; revision: number }>({ max: REMEMBERED });
  const unknown = new LRUCache<string, number>({ max: REMEMBERED_UNKNOWN });
  const underWay = new Map<string, Promise<KeyHolder>>();

  /** What is remembered of the same revision; null where that is nothing. */
  function remembered(id: string, current: number): KeyHolder | null {
    const entry = known.get(id);
    if (entry?.revision === current) return entry.holder;
    if (unknown.get(id) === current) throw refused(false);
    return null;
  }

  async function lookUp(hash: Buffer, id: string, current: number, sender: string): Promise<KeyHolder> {
    const question = `${sender} ${id}`;
    const earlier = underWay.get(question);
    if (earlier !== undefined) {
      await earlier.catch(() => undefined);
      const holder = remembered(id, current);
      if (holder !== null) return holder;
    }
    // What is under way now began after this request, and so sees every change that was committed before it.
    const running = underWay.get(question) ?? find(hash, id, sender).finally(() => underWay.delete(question));
    underWay.set(question, running);
    return running;
  }

  async function find(hash: Buffer, id: string, sender: string): Promise<KeyHolder> {
    const ask = () => keys.find(hash);
    const found = await (known.has(id) ? ask() : failures.attempt(sender, ask, ({ holder }) => holder === null));
    known.delete(id);
    unknown.delete(id);
    if (found.holder === null) {
      unknown.set(id, found.revision);
      throw refused(false);
    }
    known.set(id, { holder: found.holder, revision: found.revision });
    return found.holder;
  }

  return {
    holderOf(key, sender) {
      if (key === undefined || !looksLikeApiKey(key)) throw refused(key === undefined);
      const hash = hashApiKey(key);
      const id = hash.toString('latin1');
      const decide = (current: number) => remembered(id, current) ?? lookUp(hash, id, current, sender);
      const current = revision.current();
      return typeof current === 'number' ? decide(current) : current.then(decide);
    },
  };
}

function refused(missing: boolean): ApiError {
  return new ApiError(
    401,
    'invalid_api_key',
    missing
      ? 'The header x-api-key is missing; send a key of the account.'
      : 'This API key is unknown or revoked, or its account is inactive; send a valid one in x-api-key.',
  );
}

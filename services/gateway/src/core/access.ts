import { ApiError, keepLatest } from '@ecf/service-kit';
import { hashApiKey, looksLikeApiKey } from './api-keys.js';
import type { AccessRevision, KeyHolder, KeyStore } from './ports.js';
import type { FailureLimit } from './rate-limit.js';

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
 * lately are looked up in any case: who has good keys is not limited.
 */
export function createAccess(keys: KeyStore, revision: AccessRevision, failures: FailureLimit): Access {
  const known = new Map<string, { holder: KeyHolder; revision: number }>();
  const unknown = new Map<string, number>();

  function decide(hash: Buffer, current: number, sender: string): Promise<KeyHolder> | KeyHolder {
    const id = hash.toString('latin1');
    const entry = known.get(id);
    if (entry?.revision === current) return entry.holder;
    if (unknown.get(id) === current) throw refused(false);
    if (entry === undefined) failures.check(sender);
    return lookUp(id, hash, sender);
  }

  async function lookUp(id: string, hash: Buffer, sender: string): Promise<KeyHolder> {
    const found = await keys.find(hash);
    known.delete(id);
    unknown.delete(id);
    if (found.holder === null) {
      failures.failed(sender);
      keepLatest(unknown, id, found.revision, REMEMBERED_UNKNOWN);
      throw refused(false);
    }
    keepLatest(known, id, { holder: found.holder, revision: found.revision }, REMEMBERED);
    return found.holder;
  }

  return {
    holderOf(key, sender) {
      if (key === undefined || !looksLikeApiKey(key)) throw refused(key === undefined);
      const hash = hashApiKey(key);
      const current = revision.current();
      return typeof current === 'number'
        ? decide(hash, current, sender)
        : current.then((value) => decide(hash, value, sender));
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

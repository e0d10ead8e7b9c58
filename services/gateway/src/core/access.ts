import { ApiError } from '@ecf/service-kit';
import { hashApiKey, looksLikeApiKey } from './api-keys.js';
import type { AccessRevision, KeyHolder, KeyStore } from './ports.js';

const REMEMBERED = 10_000;

/** Finds the holder of an API key; what it remembers is used only while nothing has changed since. */
export interface Access {
  /** Throws 401 `invalid_api_key` where the key is missing, unknown, revoked or of an inactive account. */
  holderOf(key: string | undefined): Promise<KeyHolder> | KeyHolder;
}

/**
 * Remembers look-ups for as long as the access revision stays the same. A revocation raises the revision in its own
 * transaction, so the request after it finds the key gone, on every instance. Unknown keys are remembered too.
 */
export function createAccess(keys: KeyStore, revision: AccessRevision): Access {
  const known = new Map<string, { holder: KeyHolder | null; revision: number }>();

  function decide(hash: Buffer, current: number): Promise<KeyHolder> | KeyHolder {
    const id = hash.toString('latin1');
    const entry = known.get(id);
    if (entry?.revision === current) return required(entry.holder);
    return lookUp(id, hash);
  }

  async function lookUp(id: string, hash: Buffer): Promise<KeyHolder> {
    const found = await keys.find(hash);
    known.delete(id);
    if (known.size >= REMEMBERED) known.delete(known.keys().next().value as string);
    known.set(id, found);
    return required(found.holder);
  }

  return {
    holderOf(key) {
      if (key === undefined || !looksLikeApiKey(key)) throw refused(key === undefined);
      const hash = hashApiKey(key);
      const current = revision.current();
      return typeof current === 'number' ? decide(hash, current) : current.then((value) => decide(hash, value));
    },
  };
}

function required(holder: KeyHolder | null): KeyHolder {
  if (holder === null) throw refused(false);
  return holder;
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

import { LRUCache } from 'lru-cache';

/**
 * Where tokens are kept between calls. Values are opaque text, so a cache shared by processes can hold them;
 * they are credentials and must not be logged.
 */
export interface TokenCache {
  get(key: string): Promise<string | null>;
  /** The value expires after `ttlMs`. */
  set(key: string, value: string, ttlMs: number): Promise<void>;
  /** Removes the entry only while it still holds that very value. */
  remove(key: string, value: string): Promise<void>;
  /**
   * Runs `work` while no other process that shares the cache runs work under this key: a caller that waited finds what the other
   * has kept. Left out where one process has the cache for itself.
   */
  alone?<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/** A token that was dropped costs another login. */
const MOST_TOKENS = 10_000;

/** Tokens of one process. */
export function inMemoryTokenCache(clock: () => Date = () => new Date()): TokenCache {
  const entries = new LRUCache<string, { value: string; until: number }>({ max: MOST_TOKENS });
  return {
    async get(key) {
      const entry = entries.get(key);
      if (!entry) return null;
      if (entry.until > clock().getTime()) return entry.value;
      entries.delete(key);
      return null;
    },
    async set(key, value, ttlMs) {
      entries.set(key, { value, until: clock().getTime() + ttlMs });
    },
    async remove(key, value) {
      if (entries.get(key)?.value === value) entries.delete(key);
    },
  };
}

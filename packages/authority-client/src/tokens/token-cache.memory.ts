import { LRUCache } from 'lru-cache';
import type { TokenCache } from './token-cache.js';

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

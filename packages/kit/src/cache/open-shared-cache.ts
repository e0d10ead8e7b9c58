import { z } from 'zod';
import { cacheSettings, type SharedCache, type SharedCacheParts } from './shared-cache.js';

const schema = z.object(cacheSettings);

/** The shared cache; null if REDIS_URL is unset. Connects in the background. */
export function openSharedCache(settings: z.infer<typeof schema>, parts: SharedCacheParts): SharedCache | null {
  const url = settings.REDIS_URL;
  if (url === undefined) return null;
  // Processes without a shared cache do not load the client.
  const opening = import('./shared-cache.redis.js').then(({ openRedisCache }) => openRedisCache(url, parts));
  return {
    get: async (key) => (await opening).get(key),
    set: async (key, value, ttlMs) => (await opening).set(key, value, ttlMs),
    remove: async (key, value) => (await opening).remove(key, value),
    alone: async (key, work) => (await opening).alone(key, work),
    close: async () => (await opening).close(),
  };
}

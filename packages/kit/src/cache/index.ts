export { openSharedCache } from './open-shared-cache.js';
export { cacheSettings, type SharedCache } from './shared-cache.js';

/** Rejects with the reason if the shared cache of REDIS_URL does not answer. */
export const pingSharedCache = async (url: string): Promise<void> => (await import('./ping.redis.js')).pingRedis(url);

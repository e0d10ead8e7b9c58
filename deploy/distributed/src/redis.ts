import type { Server, ServerOptions } from './kafka.js';

/** A Redis: that of REDIS_URL, else null. */
export async function findRedis(url: string | undefined, { say }: ServerOptions): Promise<Server | null> {
  if (url === undefined) {
    say('Redis is missing: each service keeps tokens for itself. Set REDIS_URL.');
    return null;
  }
  return { address: url, process: null };
}

import { Redis } from 'ioredis';

const WAIT_MS = 3_000;

/** Rejects with the reason if the Redis of the address does not answer. */
export async function pingRedis(url: string): Promise<void> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: WAIT_MS,
    commandTimeout: WAIT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let reason: Error | null = null;
  redis.on('error', (error) => {
    reason = error;
  });
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    // The client itself says only that the connection is closed.
    throw reason ?? error;
  } finally {
    redis.disconnect();
  }
}

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import type { SealBinding } from '../seal.js';
import type { SharedCache, SharedCacheParts } from './shared-cache.js';

const COMMAND_MS = 150;
const CONNECT_MS = 2_000;
/** Pause in milliseconds after a failed command; it doubles with each further failure. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** Milliseconds of a lease. Its holder renews it three times in that time. */
const LEASE_MS = 6_000;
/** Longest wait in milliseconds for a lease: longer than a login takes. */
const LEASE_TIMEOUT_MS = 45_000;
const RETRY_MS = 50;
const MAX_OWN_VALUES = 10_000;

/** Extends the life of a key, only while it holds the value. */
const RENEW =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";
/** Deletes a key, only while it holds the value. */
const REMOVE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

const cached = (key: string): SealBinding => ({ purpose: 'shared cache', account: '', subject: key });

/**
 * A cache in Redis. Values are sealed under the deployment's master key. While the server is unavailable or slow, this process
 * uses its own values and logs that once.
 */
export function openRedisCache(url: string, parts: SharedCacheParts): SharedCache {
  const { sealingKeys, leaseMs = LEASE_MS, commandMs = COMMAND_MS } = parts;
  const own = new LRUCache<string, string>({ max: MAX_OWN_VALUES });
  const redis = new Redis(url, {
    connectTimeout: CONNECT_MS,
    commandTimeout: commandMs,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    enableReadyCheck: true,
    retryStrategy: (times) => Math.min(100 * times, 2_000),
  });
  const run = createFallback(redis, parts);

  /** Null for a value of another key, or one that no master key of this process sealed. */
  function opened(key: string, stored: string | null): string | null {
    if (stored === null) return null;
    try {
      return sealingKeys.unseal(Buffer.from(stored, 'base64'), cached(key)).toString();
    } catch {
      return null;
    }
  }

  return {
    get: (key) =>
      run(
        async () => opened(key, await redis.get(key)),
        () => own.get(key) ?? null,
      ),
    async set(key, value, ttlMs) {
      const ttl = Math.max(1, Math.round(ttlMs));
      own.set(key, value, { ttl });
      const sealed = sealingKeys.seal(Buffer.from(value), cached(key)).toString('base64');
      await run(
        () => redis.set(key, sealed, 'PX', ttl),
        () => null,
      );
    },
    async remove(key, value) {
      if (own.get(key) === value) own.delete(key);
      await run(
        async () => {
          const stored = await redis.get(key);
          if (stored !== null && opened(key, stored) === value) await redis.eval(REMOVE, 1, key, stored);
        },
        () => undefined,
      );
    },
    async alone(key, work) {
      const lease = `${key}:lease`;
      const holder = randomUUID();
      const end = performance.now() + LEASE_TIMEOUT_MS;
      const take = (): Promise<boolean> =>
        run(
          async () => (await redis.set(lease, holder, 'PX', leaseMs, 'NX')) === 'OK',
          () => true,
        );
      while (!(await take()) && performance.now() < end) await delay(RETRY_MS);
      const renew = () => redis.eval(RENEW, 1, lease, holder, leaseMs).catch(() => undefined);
      const renewing = setInterval(renew, leaseMs / 3).unref();
      try {
        return await work();
      } finally {
        clearInterval(renewing);
        // A slow server may hold the lease although its answer came too late. The caller does not wait for the removal.
        redis.eval(REMOVE, 1, lease, holder).catch(() => undefined);
      }
    },
    async close() {
      redis.disconnect();
    },
  };
}

type Fallback = <T>(command: () => Promise<T>, otherwise: () => T) => Promise<T>;

/** Runs commands with an alternative for the time in which the server is unavailable or slow. */
function createFallback(redis: Redis, { logger, metrics }: SharedCacheParts): Fallback {
  const state = metrics.gauge({
    name: 'ecf_shared_cache_up',
    help: '1 while the shared cache answers, 0 while each process uses its own values',
  });
  const failures = metrics.counter({
    name: 'ecf_shared_cache_failures_total',
    help: 'Commands that the shared cache did not answer, or not in time; a pause follows',
    labels: ['reason'],
  });
  let isDown = false;
  let pause = FIRST_PAUSE_MS;
  let pausedUntil = 0;
  state.set(0);
  redis.on('ready', () => {
    pausedUntil = 0;
    answered();
  });
  // Without a listener the client would end the process.
  redis.on('error', failed);

  function answered(): void {
    state.set(1);
    if (isDown) logger.info('the shared cache answers again');
    isDown = false;
    pause = FIRST_PAUSE_MS;
  }

  function failed(error: unknown): void {
    state.set(0);
    if (!isDown)
      logger.warn(
        { err: error },
        'the shared cache is unavailable or slow: this process keeps its own, with more logins',
      );
    isDown = true;
  }

  /** Pauses, so that a slow server does not slow every call. Calls that fail together lengthen the pause once. */
  function pauseAfter(error: unknown): void {
    const now = performance.now();
    failures.inc({ reason: /timed out/i.test(String(error)) ? 'slow' : 'unreachable' });
    if (now >= pausedUntil) {
      pausedUntil = now + pause;
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
    failed(error);
  }

  return async (command, otherwise) => {
    if (performance.now() < pausedUntil) return otherwise();
    try {
      const answer = await command();
      if (isDown) answered();
      return answer;
    } catch (error) {
      pauseAfter(error);
      return otherwise();
    }
  };
}

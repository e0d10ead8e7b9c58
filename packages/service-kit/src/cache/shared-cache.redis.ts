import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { seal, unseal } from '../security/seal.js';
import type { SharedCache, SharedCacheParts } from './shared-cache.js';

/** Milliseconds that a command may take: longer than that the work goes on without the server. */
const COMMAND_MS = 150;
const CONNECT_MS = 2_000;
/** Milliseconds in which nothing is asked after a failure; it doubles with each further one. */
const FIRST_REST_MS = 1_000;
const LONGEST_REST_MS = 30_000;
/** Milliseconds after which the turn of a process that died is over; one that lives prolongs it three times in that time. */
const TURN_MS = 6_000;
/** Milliseconds that a turn is waited for at most: longer than a login takes. */
const PATIENCE_MS = 45_000;
const LOOK_MS = 50;

/** Lets a key live on for so many milliseconds, only while it holds the value. */
const PROLONG =
  "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end return 0";
/** Deletes a key only while it holds the value, in one step. */
const REMOVE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0";

/**
 * A cache in Redis. Values are sealed under the deployment's master key. While the server is away or slow, this process
 * keeps what it learns for itself and says so once; when it answers again it is used again.
 */
export function openRedisCache(
  url: string,
  { masterKey, logger, metrics, turnMs = TURN_MS }: SharedCacheParts,
): SharedCache {
  const own = new Map<string, { value: string; until: number }>();
  const state = metrics.gauge({
    name: 'ecf_shared_cache_up',
    help: '1 while the cache that processes share answers, 0 while each keeps its own',
  });
  const failures = metrics.counter({
    name: 'ecf_shared_cache_failures_total',
    help: 'Times that the cache which processes share did not answer, or not in time; it then rests',
    labels: ['reason'],
  });
  let away = false;
  let rest = FIRST_REST_MS;
  let restsUntil = 0;
  const redis = new Redis(url, {
    connectTimeout: CONNECT_MS,
    commandTimeout: COMMAND_MS,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    enableReadyCheck: true,
    retryStrategy: (times) => Math.min(100 * times, 2_000),
  });
  state.set(0);
  redis.on('ready', () => {
    restsUntil = 0;
    answered();
  });
  // Without a listener the client would end the process; what is lost is told by the command that fails.
  redis.on('error', (error) => failed(error));

  function answered(): void {
    state.set(1);
    if (away) logger.info('the shared cache answers again');
    away = false;
    rest = FIRST_REST_MS;
  }

  function failed(error: unknown): void {
    state.set(0);
    if (!away)
      logger.warn({ err: error }, 'the shared cache is away or slow: this process keeps its own, with more logins');
    away = true;
  }

  /** Nothing is asked for a while, so that a slow server does not slow every call. Calls that fail together count once. */
  function restFrom(error: unknown): void {
    const now = performance.now();
    failures.inc({ reason: /timed out/i.test(String(error)) ? 'slow' : 'away' });
    if (now >= restsUntil) {
      restsUntil = now + rest;
      rest = Math.min(rest * 2, LONGEST_REST_MS);
    }
    failed(error);
  }

  /** What the server says; `otherwise` without it. */
  async function asked<T>(command: () => Promise<T>, otherwise: () => T): Promise<T> {
    if (performance.now() < restsUntil) return otherwise();
    try {
      const answer = await command();
      if (away) answered();
      return answer;
    } catch (error) {
      restFrom(error);
      return otherwise();
    }
  }

  function ownValue(key: string): string | null {
    const entry = own.get(key);
    if (entry === undefined) return null;
    if (entry.until > Date.now()) return entry.value;
    own.delete(key);
    return null;
  }

  /** Null for a value of another key or of somebody else. */
  function opened(key: string, stored: string | null): string | null {
    if (stored === null) return null;
    try {
      return unseal(masterKey, Buffer.from(stored, 'base64'), key).toString();
    } catch {
      return null;
    }
  }

  return {
    get: (key) =>
      asked(
        async () => opened(key, await redis.get(key)),
        () => ownValue(key),
      ),
    async set(key, value, ttlMs) {
      own.set(key, { value, until: Date.now() + ttlMs });
      const sealed = seal(masterKey, Buffer.from(value), key).toString('base64');
      await asked(
        () => redis.set(key, sealed, 'PX', Math.max(1, Math.round(ttlMs))),
        () => null,
      );
    },
    async remove(key, value) {
      if (own.get(key)?.value === value) own.delete(key);
      await asked(
        async () => {
          const stored = await redis.get(key);
          if (stored !== null && opened(key, stored) === value) await redis.eval(REMOVE, 1, key, stored);
        },
        () => undefined,
      );
    },
    async alone(key, work) {
      const turn = `${key}:turn`;
      const holder = randomUUID();
      const end = performance.now() + PATIENCE_MS;
      const take = (): Promise<boolean> =>
        asked(
          async () => (await redis.set(turn, holder, 'PX', turnMs, 'NX')) === 'OK',
          () => true,
        );
      while (!(await take()) && performance.now() < end) await delay(LOOK_MS);
      const prolong = () => redis.eval(PROLONG, 1, turn, holder, turnMs).catch(() => undefined);
      const prolonging = setInterval(prolong, turnMs / 3).unref();
      try {
        return await work();
      } finally {
        clearInterval(prolonging);
        // Also where the server was too slow to say that the turn was ours: it has it all the same. Nobody waits for that.
        redis.eval(REMOVE, 1, turn, holder).catch(() => undefined);
      }
    },
    async close() {
      redis.disconnect();
    },
  };
}

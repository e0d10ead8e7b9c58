import type { OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http';
import type { Logger } from '@ecf/kit/telemetry';
import { Redis } from 'ioredis';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';

/** Longest milliseconds of a Redis call; after that the process counts alone. */
const COMMAND_MS = 150;
const WINDOW_MS = 1_000;

/** How much of a rate one caller has used. */
export interface CountedRate {
  /** The call is over the rate. */
  readonly exceeded: boolean;
  /** Calls allowed per second. */
  readonly quota: number;
  /** Calls left in this second, at least 0. */
  readonly remaining: number;
  /** Milliseconds until the next second begins. */
  readonly resetMs: number;
}

/** Counts in windows of one second. Null = there is no limit. */
export interface RateCounter {
  /** Counts one call of the caller. */
  count(caller: string): Promise<CountedRate | null>;
  /** How much the caller has used so far, without counting a call. `exceeded` if no call is left. */
  used(caller: string): Promise<CountedRate | null>;
}

export interface RateCounters {
  /** The counter with this name, which processes share, of `quota` a second; 0 = no limit. */
  open(name: string, quota: number): RateCounter;
  close(): void;
}

/** Counters in Redis where `REDIS_URL` is set, else in memory. While Redis is unreachable, each process counts for itself. */
export function openRateCounters(settings: { REDIS_URL?: string | undefined }, logger: Logger): RateCounters {
  const redis = settings.REDIS_URL === undefined ? null : connect(settings.REDIS_URL, logger);
  return {
    open: (name, quota) => (quota === 0 ? UNLIMITED : createCounter(openLimiter(redis, `ecf:rate:${name}`, quota))),
    close: () => redis?.disconnect(),
  };
}

/**
 * The headers `RateLimit` and `RateLimit-Policy`: the policy's name, the calls left (`r`) for the next `t` seconds, and the
 * calls allowed (`q`) in each window of `w` seconds. Source: draft-ietf-httpapi-ratelimit-headers-10.
 */
export function rateLimitHeaders(policy: string, counted: CountedRate): Record<string, string> {
  return {
    ratelimit: `"${policy}";r=${counted.remaining};t=${secondsOf(counted)}`,
    'ratelimit-policy': `"${policy}";q=${counted.quota};w=1`,
    ...(counted.exceeded ? { 'retry-after': String(Math.max(1, secondsOf(counted))) } : {}),
  };
}

/** The headers together with the other policies that `present` already lists; each policy is an item of the list. */
export function withListed<H extends OutgoingHttpHeaders>(
  present: { getHeader(name: string): OutgoingHttpHeader | undefined },
  headers: H,
): H {
  const listed: OutgoingHttpHeaders = { ...headers };
  for (const name of LISTED) {
    const before = present.getHeader(name);
    if (before !== undefined && listed[name] !== undefined) listed[name] = `${before}, ${listed[name]}`;
  }
  return listed as H;
}

const LISTED = ['ratelimit', 'ratelimit-policy'];

function secondsOf({ resetMs }: CountedRate): number {
  return Math.ceil(resetMs / 1_000);
}

const UNLIMITED: RateCounter = { count: async () => null, used: async () => null };

function createCounter(limiter: RateLimiterAbstract): RateCounter {
  const countedOf = (result: RateLimiterRes, exceeded: boolean): CountedRate => ({
    exceeded,
    quota: limiter.points,
    remaining: Math.max(0, result.remainingPoints),
    resetMs: Math.min(Math.max(0, result.msBeforeNext), WINDOW_MS),
  });
  async function consume(caller: string): Promise<{ result: RateLimiterRes; exceeded: boolean }> {
    try {
      return { result: await limiter.consume(caller), exceeded: false };
    } catch (error) {
      if (error instanceof RateLimiterRes) return { result: error, exceeded: true };
      throw error;
    }
  }
  return {
    async count(caller) {
      let counted = await consume(caller);
      if (counted.result.msBeforeNext > 2 * WINDOW_MS) {
        // The clock of this process or of Redis was ahead when the window began.
        await limiter.delete(caller);
        counted = await consume(caller);
      }
      return countedOf(counted.result, counted.exceeded);
    },
    async used(caller) {
      const result = await limiter.get(caller);
      return result === null ? null : countedOf(result, result.remainingPoints <= 0);
    },
  };
}

function openLimiter(redis: Redis | null, keyPrefix: string, points: number): RateLimiterAbstract {
  const options = { keyPrefix, points, duration: WINDOW_MS / 1_000 };
  const memory = new RateLimiterMemory(options);
  if (redis === null) return memory;
  return new RateLimiterRedis({
    ...options,
    storeClient: redis,
    rejectIfRedisNotReady: true,
    inMemoryBlockOnConsumed: points + 1,
    insuranceLimiter: memory,
  });
}

function connect(url: string, logger: Logger): Redis {
  const redis = new Redis(url, { commandTimeout: COMMAND_MS, maxRetriesPerRequest: 0, enableOfflineQueue: false });
  let away = false;
  redis.on('ready', () => {
    if (away) logger.info('Redis answers again: processes share their request rates');
    away = false;
  });
  redis.on('error', (error) => {
    if (!away) logger.warn({ err: error }, 'Redis is unavailable: this process counts request rates for itself');
    away = true;
  });
  return redis;
}

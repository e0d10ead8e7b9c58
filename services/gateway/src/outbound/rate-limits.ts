import { ApiError } from '@ecf/service-kit/errors';
import { senderNetwork } from '@ecf/service-kit/http';
import type { Logger, Metrics } from '@ecf/service-kit/telemetry';
import { Redis } from 'ioredis';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { FailureLimit, RateLimit } from '../core/ports.js';

/** Failed sign-ins a second of one sender. */
const FAILURES = 20;
/** Longest milliseconds of a Redis call; after that the process counts alone. */
const COMMAND_MS = 150;

export interface RateLimitSettings {
  SANDBOX: boolean;
  RATE_LIMIT_PER_KEY: number;
  RATE_LIMIT_PER_SENDER: number;
  REDIS_URL?: string | undefined;
}

export interface RateLimits {
  /** Keyed by the id of the API key. */
  perKey: RateLimit;
  /** Keyed by address. */
  perSender: RateLimit;
  unknownKeys: FailureLimit;
  wrongAdminTokens: FailureLimit;
  close(): void;
}

/** The limits of the settings, counted in Redis where REDIS_URL is set, else in memory. Each counts in windows of one second. */
export function openRateLimits(
  settings: RateLimitSettings,
  telemetry: { logger: Logger; metrics: Metrics },
): RateLimits {
  const redis = settings.REDIS_URL === undefined ? null : connect(settings.REDIS_URL, telemetry.logger);
  const limited = telemetry.metrics.counter({
    name: 'ecf_gateway_limited_requests_total',
    help: 'Requests answered with 429: over the rate of their API key (key) or sender (sender), or after too many unknown API keys (unknown_keys) or wrong tokens of the administration (admin_tokens).',
    labels: ['limit'],
  });
  const create = (limit: string, points: number, keyOf: (caller: string) => string) =>
    createLimit(openLimiter(redis, `ecf:rate:${limit}`, points), {
      points,
      keyOf,
      onRefused: () => limited.inc({ limit }),
    });
  const failures = settings.SANDBOX ? 0 : FAILURES;
  return {
    perKey: create('key', settings.RATE_LIMIT_PER_KEY, (keyId) => keyId),
    perSender: create('sender', settings.RATE_LIMIT_PER_SENDER, senderNetwork),
    unknownKeys: create('unknown_keys', failures, senderNetwork),
    wrongAdminTokens: create('admin_tokens', failures, senderNetwork),
    close: () => redis?.disconnect(),
  };
}

/** One limiter under both ports; 0 points = no limit. */
function createLimit(
  limiter: RateLimiterAbstract,
  { points, keyOf, onRefused }: { points: number; keyOf: (caller: string) => string; onRefused: () => void },
): RateLimit & FailureLimit {
  const refuse = (msBeforeNext: number): never => {
    onRefused();
    const seconds = Math.max(1, Math.ceil(msBeforeNext / 1_000));
    throw new ApiError(429, 'rate_limited', `More than ${points} a second; wait and repeat.`, {
      headers: { 'retry-after': String(seconds) },
    });
  };
  const count = async (caller: string) => {
    if (points === 0) return;
    try {
      await limiter.consume(keyOf(caller));
    } catch (error) {
      if (error instanceof RateLimiterRes) refuse(error.msBeforeNext);
      throw error;
    }
  };
  return {
    pass: count,
    failed: count,
    async check(caller) {
      if (points === 0) return;
      const counted = await limiter.get(keyOf(caller));
      if (counted !== null && counted.remainingPoints <= 0) refuse(counted.msBeforeNext);
    },
  };
}

function openLimiter(redis: Redis | null, keyPrefix: string, points: number): RateLimiterAbstract {
  const options = { keyPrefix, points, duration: 1 };
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
    if (away) logger.info('Redis answers again: gateways share their request rates');
    away = false;
  });
  redis.on('error', (error) => {
    if (!away) logger.warn({ err: error }, 'Redis is unavailable: this gateway counts request rates for itself');
    away = true;
  });
  return redis;
}

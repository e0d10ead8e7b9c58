import { type CountedRate, openRateCounters, type RateCounter, rateLimitHeaders, senderNetwork } from '@ecf/http';
import { ApiError } from '@ecf/kit';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { FailureLimit, RateLimit } from './ports.js';

/** Failed sign-ins a second of one sender. */
const FAILURES = 20;

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
  const counters = openRateCounters(settings, telemetry.logger);
  const limited = telemetry.metrics.counter({
    name: 'ecf_gateway_limited_requests_total',
    help: 'Requests answered with 429: over the rate of their API key (key) or sender (sender), or after too many unknown API keys (unknown_keys) or wrong tokens of the administration (admin_tokens).',
    labels: ['limit'],
  });
  const create = (limit: string, quota: number, keyOf: (caller: string) => string) =>
    createLimit(counters.open(limit, quota), { limit, keyOf, onRefused: () => limited.inc({ limit }) });
  const failures = settings.SANDBOX ? 0 : FAILURES;
  return {
    perKey: create('key', settings.RATE_LIMIT_PER_KEY, (keyId) => keyId),
    perSender: create('sender', settings.RATE_LIMIT_PER_SENDER, senderNetwork),
    unknownKeys: create('unknown_keys', failures, senderNetwork),
    wrongAdminTokens: create('admin_tokens', failures, senderNetwork),
    close: counters.close,
  };
}

interface LimitOptions {
  limit: string;
  keyOf: (caller: string) => string;
  onRefused: () => void;
}

/** One counter under both ports. */
function createLimit(counter: RateCounter, { limit, keyOf, onRefused }: LimitOptions): RateLimit & FailureLimit {
  const headersOf = (counted: CountedRate | null): Record<string, string> => {
    if (counted === null) return {};
    const headers = rateLimitHeaders(limit, counted);
    if (!counted.exceeded) return headers;
    onRefused();
    throw new ApiError(429, 'rate_limited', `More than ${counted.quota} a second; wait and repeat.`, { headers });
  };
  return {
    pass: async (caller) => headersOf(await counter.count(keyOf(caller))),
    async failed(caller) {
      headersOf(await counter.count(keyOf(caller)));
    },
    async check(caller) {
      headersOf(await counter.used(keyOf(caller)));
    },
  };
}

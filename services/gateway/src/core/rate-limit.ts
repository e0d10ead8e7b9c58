import { ApiError } from '@ecf/service-kit';

const SWEEP_AT = 20_000;

/** Lets callers through at a steady rate, with a second's worth in one go. */
export interface RateLimit {
  /** Throws an ApiError with Retry-After, 429 `rate_limited` where the caller is over its rate. */
  pass(caller: string): void;
}

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * Token buckets in memory; 0 requests a second = no limit. Each instance counts for itself: with several gateways a caller
 * gets at most the rate times their number.
 * @param now milliseconds of a clock that does not jump
 */
export function createRateLimit(perSecond: number, now: () => number): RateLimit {
  if (perSecond <= 0) return { pass: () => {} };
  const buckets = new Map<string, Bucket>();

  function sweep(at: number): void {
    for (const [caller, bucket] of buckets) if (at - bucket.at > 1_000) buckets.delete(caller);
  }

  return {
    pass(caller) {
      const at = now();
      const bucket = buckets.get(caller) ?? { tokens: perSecond, at };
      bucket.tokens = Math.min(perSecond, bucket.tokens + ((at - bucket.at) * perSecond) / 1_000);
      bucket.at = at;
      if (buckets.size >= SWEEP_AT) sweep(at);
      buckets.set(caller, bucket);
      if (bucket.tokens < 1)
        throw new ApiError(429, 'rate_limited', `More than ${perSecond} requests a second; wait and repeat.`, {
          headers: { 'retry-after': String(Math.max(1, Math.ceil((1 - bucket.tokens) / perSecond))) },
        });
      bucket.tokens -= 1;
    },
  };
}

/** The same limit; `refused` is told of each request that it stops. */
export function tellingRefusals<L extends RateLimit>(limit: L, refused: () => void): RateLimit {
  return {
    pass(caller) {
      try {
        limit.pass(caller);
      } catch (error) {
        refused();
        throw error;
      }
    },
  };
}

/** Part of a second's worth that is kept for senders that had no request in the last second. */
const KEPT = 0.25;

/**
 * One bucket for all, whose refusal is 503 `service_unavailable`; 0 requests a second = no limit. The last quarter of it is for senders that come for the first time in a
 * second: those who send much do not keep out those who send little.
 * @param now milliseconds of a clock that does not jump
 */
export function createSharedRateLimit(perSecond: number, now: () => number): RateLimit {
  if (perSecond <= 0) return { pass: () => {} };
  const seen = new Map<string, number>();
  let tokens = perSecond;
  let at = now();

  function sweep(): void {
    for (const [sender, last] of seen) if (at - last > 1_000) seen.delete(sender);
  }

  return {
    pass(sender) {
      const before = at;
      at = now();
      tokens = Math.min(perSecond, tokens + ((at - before) * perSecond) / 1_000);
      const recent = at - (seen.get(sender) ?? Number.NEGATIVE_INFINITY) < 1_000;
      if (tokens < 1 + (recent ? KEPT * perSecond : 0)) {
        const message = `All senders together make more than ${perSecond} requests a second; wait and repeat.`;
        throw new ApiError(503, 'service_unavailable', message, { headers: { 'retry-after': '1' } });
      }
      if (seen.size >= SWEEP_AT) sweep();
      seen.set(sender, at);
      tokens -= 1;
    },
  };
}

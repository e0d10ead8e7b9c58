import { ApiError } from '@ecf/service-kit';

const SWEEP_AT = 20_000;

/** Lets each caller through at a steady rate, with a second's worth in one go. */
export interface RateLimit {
  /** Throws 429 `rate_limited` with Retry-After where the caller is over its rate. */
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

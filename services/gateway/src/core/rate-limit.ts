import { ApiError } from '@ecf/service-kit';

const SWEEP_AT = 20_000;

/** Lets callers through at a steady rate, with a second's worth in one go. */
export interface RateLimit {
  /** Throws an ApiError with Retry-After, 429 `rate_limited` where the caller is over its rate. */
  pass(caller: string): void;
}

/** Lets callers fail at a steady rate; what succeeds costs them nothing. */
export interface FailureLimit {
  /** Throws an ApiError with Retry-After, 429 `rate_limited` where the caller failed more than its rate. */
  check(caller: string): void;
  /** Counts a failure, also beyond the rate: what was under way when the limit was reached is made up for later. */
  failed(caller: string): void;
}

/** Token buckets of callers, a second's worth each, in memory. Those that are full again are forgotten. */
function createBuckets(perSecond: number, now: () => number) {
  const buckets = new Map<string, { tokens: number; at: number }>();

  const filled = ({ tokens, at }: { tokens: number; at: number }, time: number) =>
    Math.min(perSecond, tokens + ((time - at) * perSecond) / 1_000);

  return {
    tokens(caller: string): number {
      const bucket = buckets.get(caller);
      return bucket === undefined ? perSecond : filled(bucket, now());
    },
    take(caller: string, tokens: number): void {
      const at = now();
      const bucket = buckets.get(caller);
      if (bucket === undefined && buckets.size >= SWEEP_AT)
        for (const [key, other] of buckets) if (filled(other, at) >= perSecond) buckets.delete(key);
      const left = bucket === undefined ? perSecond : filled(bucket, at);
      buckets.set(caller, { tokens: Math.min(perSecond, left - tokens), at });
    },
  };
}

function overRate(perSecond: number, tokens: number, what: string): ApiError {
  return new ApiError(429, 'rate_limited', `More than ${perSecond} ${what} a second; wait and repeat.`, {
    headers: { 'retry-after': String(Math.max(1, Math.ceil((1 - tokens) / perSecond))) },
  });
}

/**
 * Token buckets in memory; 0 requests a second = no limit. Each instance counts for itself: with several gateways a caller
 * gets at most the rate times their number.
 * @param now milliseconds of a clock that does not jump
 */
export function createRateLimit(perSecond: number, now: () => number): RateLimit {
  if (perSecond <= 0) return { pass: () => {} };
  const buckets = createBuckets(perSecond, now);
  return {
    pass(caller) {
      const tokens = buckets.tokens(caller);
      if (tokens < 1) throw overRate(perSecond, tokens, 'requests');
      buckets.take(caller, 1);
    },
  };
}

/** The same for failures, of which 0 a second = no limit; `refused` is told of each request that is stopped. */
export function createFailureLimit(perSecond: number, now: () => number, refused: () => void): FailureLimit {
  if (perSecond <= 0) return { check: () => {}, failed: () => {} };
  const buckets = createBuckets(perSecond, now);
  return {
    check(caller) {
      const tokens = buckets.tokens(caller);
      if (tokens >= 1) return;
      refused();
      throw overRate(perSecond, tokens, 'look-ups of unknown API keys');
    },
    failed: (caller) => buckets.take(caller, 1),
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

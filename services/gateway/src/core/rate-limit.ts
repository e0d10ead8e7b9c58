import { ApiError, keepLatest } from '@ecf/service-kit';

/** Callers that are remembered; of more, who called longest ago is as good as new. */
const REMEMBERED = 20_000;

/** Lets callers through at a steady rate, with a second's worth in one go. */
export interface RateLimit {
  /** Throws an ApiError with Retry-After, 429 `rate_limited` where the caller is over its rate. */
  pass(caller: string): void;
  /** Takes back a pass that came to nothing. */
  giveBack(caller: string): void;
}

/** Lets callers fail at a steady rate; what succeeds costs them nothing. */
export interface FailureLimit {
  /** Throws an ApiError with Retry-After, 429 `rate_limited` where the caller failed more than its rate. */
  check(caller: string): void;
  /** Counts a failure, also beyond the rate: what was under way when the limit was reached is made up for later. */
  failed(caller: string): void;
}

const UNLIMITED: RateLimit = { pass: () => {}, giveBack: () => {} };

/** Token buckets of callers, a second's worth each, in memory. */
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
      const left = bucket === undefined ? perSecond : filled(bucket, at);
      keepLatest(buckets, caller, { tokens: Math.min(perSecond, left - tokens), at }, REMEMBERED);
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
  if (perSecond <= 0) return UNLIMITED;
  const buckets = createBuckets(perSecond, now);
  return {
    pass(caller) {
      const tokens = buckets.tokens(caller);
      if (tokens < 1) throw overRate(perSecond, tokens, 'requests');
      buckets.take(caller, 1);
    },
    giveBack: (caller) => buckets.take(caller, -1),
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
      throw overRate(perSecond, tokens, 'keys or tokens that are none');
    },
    failed: (caller) => buckets.take(caller, 1),
  };
}

/** The same limit; `refused` is told of each request that it stops. */
export function tellingRefusals(limit: RateLimit, refused: () => void): RateLimit {
  return {
    pass(caller) {
      try {
        limit.pass(caller);
      } catch (error) {
        refused();
        throw error;
      }
    },
    giveBack: (caller) => limit.giveBack(caller),
  };
}

/** Part of a second's worth that is kept for those who had little of the last second. */
const KEPT = 0.25;
/** Half of what is kept is closed to a sender that had this part of the rate in the last second. */
const HALF_CLOSED = 0.02;

/**
 * One bucket for all, whose refusal is 503 `service_unavailable`; 0 requests a second = no limit. The more a sender had in the
 * last second, the more has to be in the bucket for it: where it runs short, those who send much are refused first, at a
 * level that is the same for them all, and those who send less than that level pass.
 * @param now milliseconds of a clock that does not jump
 */
export function createSharedRateLimit(perSecond: number, now: () => number): RateLimit {
  if (perSecond <= 0) return UNLIMITED;
  /** What each sender had, fading with the time constant of a second: at a steady rate it is what it has in one. */
  const had = new Map<string, { requests: number; at: number }>();
  let tokens = perSecond;
  let at = now();

  function lately(sender: string): number {
    const seen = had.get(sender);
    return seen === undefined ? 0 : seen.requests * Math.exp((seen.at - at) / 1_000);
  }

  function count(sender: string, requests: number): void {
    keepLatest(had, sender, { requests: Math.max(0, lately(sender) + requests), at }, REMEMBERED);
    tokens = Math.min(perSecond, tokens - requests);
  }

  return {
    pass(sender) {
      const before = at;
      at = now();
      tokens = Math.min(perSecond, tokens + ((at - before) * perSecond) / 1_000);
      const requests = lately(sender);
      const closed = (KEPT * perSecond * requests) / (requests + HALF_CLOSED * perSecond);
      // A full bucket is open to everybody: of a small rate it holds no more than what is closed.
      if (tokens < Math.min(perSecond, 1 + closed)) {
        const message = `All senders together make more than ${perSecond} requests a second; wait and repeat.`;
        throw new ApiError(503, 'service_unavailable', message, { headers: { 'retry-after': '1' } });
      }
      count(sender, 1);
    },
    giveBack: (sender) => count(sender, -1),
  };
}

import { ApiError, SITE_FACTOR, senderNetwork, senderSite } from '@ecf/service-kit/http';
import { LRUCache } from 'lru-cache';

/** Callers that are remembered; of more, who called longest ago is as good as new. */
const REMEMBERED = 20_000;

/** Lets callers through at a steady rate, with a second's worth in one go. */
export interface RateLimit {
  /** Throws an ApiError with Retry-After, 429 `rate_limited` where the caller is over its rate. */
  pass(caller: string): void;
  /** Takes back a pass that came to nothing. */
  giveBack(caller: string): void;
}

const UNLIMITED: RateLimit = { pass: () => {}, giveBack: () => {} };

/**
 * Token buckets in memory; 0 requests a second = no limit. Each instance counts for itself: with several gateways a caller
 * gets at most the rate times their number.
 * @param now milliseconds of a clock that does not jump
 * @param what the words for what is counted
 */
export function createRateLimit(perSecond: number, now: () => number, what = 'requests'): RateLimit {
  if (perSecond <= 0) return UNLIMITED;
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: REMEMBERED });

  function tokensOf(caller: string, at: number): number {
    const bucket = buckets.get(caller);
    return bucket === undefined
      ? perSecond
      : Math.min(perSecond, bucket.tokens + ((at - bucket.at) * perSecond) / 1_000);
  }

  return {
    pass(caller) {
      const at = now();
      const tokens = tokensOf(caller, at);
      if (tokens < 1)
        throw new ApiError(429, 'rate_limited', `More than ${perSecond} ${what} a second; wait and repeat.`, {
          headers: { 'retry-after': '1' },
        });
      buckets.set(caller, { tokens: tokens - 1, at });
    },
    giveBack(caller) {
      const at = now();
      buckets.set(caller, { tokens: Math.min(perSecond, tokensOf(caller, at) + 1), at });
    },
  };
}

/** A limit by address: an IPv4 address or an IPv6 /64 has the rate, an IPv6 /48 {@link SITE_FACTOR} times it in all. */
export function createSenderRateLimit(perSecond: number, now: () => number, what?: string): RateLimit {
  const ofNetwork = createRateLimit(perSecond, now, what);
  const ofSite = createRateLimit(perSecond * SITE_FACTOR, now, what);
  return both(countedBy(senderNetwork, ofNetwork), countedBy(senderSite, ofSite));
}

/** The same limit for callers that `keyOf` names. */
export function countedBy(keyOf: (caller: string) => string, limit: RateLimit): RateLimit {
  return { pass: (caller) => limit.pass(keyOf(caller)), giveBack: (caller) => limit.giveBack(keyOf(caller)) };
}

/** One limit after the other; what the second one stops costs nothing of the first. */
export function both(first: RateLimit, second: RateLimit): RateLimit {
  return {
    pass(caller) {
      first.pass(caller);
      try {
        second.pass(caller);
      } catch (error) {
        first.giveBack(caller);
        throw error;
      }
    },
    giveBack(caller) {
      first.giveBack(caller);
      second.giveBack(caller);
    },
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
  const had = new LRUCache<string, { requests: number; at: number }>({ max: REMEMBERED });
  let tokens = perSecond;
  let at = now();

  function lately(sender: string): number {
    const seen = had.get(sender);
    return seen === undefined ? 0 : seen.requests * Math.exp((seen.at - at) / 1_000);
  }

  function count(sender: string, requests: number): void {
    had.set(sender, { requests: Math.max(0, lately(sender) + requests), at });
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

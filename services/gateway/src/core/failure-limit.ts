import { SITE_FACTOR, senderNetwork, senderSite } from '@ecf/service-kit/http';
import { createRateLimit } from './rate-limit.js';

/** Lets callers fail at a steady rate; what succeeds costs them nothing. */
export interface FailureLimit {
  /**
   * Runs an attempt. It counts as a failure before it begins and until its result says otherwise, so that many at once are no
   * way past the rate; those beyond it wait for what comes of the attempts under way. Throws an ApiError with Retry-After, 429
   * `rate_limited`, where none is under way that could still succeed, and whatever the attempt throws, also to those who wait.
   */
  attempt<T>(caller: string, run: () => Promise<T>, failed: (result: T) => boolean): Promise<T>;
}

/** Attempts of one caller. */
interface Attempts {
  underWay: number;
  readonly waiting: { begin(): void; refuse(error: unknown): void }[];
}

/**
 * 0 failures a second = no limit; `refused` is told of each attempt that is stopped.
 * @param now milliseconds of a clock that does not jump
 */
export function createFailureLimit(perSecond: number, now: () => number, refused: () => void): FailureLimit {
  if (perSecond <= 0) return { attempt: (_caller, run) => run() };
  const limit = createRateLimit(perSecond, now, 'keys that are none');
  const attempts = new Map<string, Attempts>();

  function take(caller: string, own: Attempts): void {
    limit.pass(caller);
    own.underWay += 1;
    attempts.set(caller, own);
  }

  function begin(caller: string): Promise<void> | undefined {
    const own = attempts.get(caller) ?? { underWay: 0, waiting: [] };
    try {
      take(caller, own);
    } catch (error) {
      if (own.underWay > 0)
        return new Promise((resolve, reject) => own.waiting.push({ begin: resolve, refuse: reject }));
      refused();
      throw error;
    }
  }

  /** What succeeded makes room for who waits longest. */
  function succeeded(caller: string, own: Attempts): void {
    const next = own.waiting.shift();
    if (next === undefined) {
      limit.giveBack(caller);
      ended(caller, own);
    } else next.begin();
  }

  /** For each failure one of those who wait is refused, unless the rate has room again; where nothing is under way, all are. */
  function failed(caller: string, own: Attempts): void {
    ended(caller, own);
    do {
      const next = own.waiting.shift();
      if (next === undefined) return;
      try {
        take(caller, own);
        next.begin();
      } catch (error) {
        refused();
        next.refuse(error);
      }
    } while (own.underWay === 0);
  }

  function broke(caller: string, own: Attempts, error: unknown): void {
    limit.giveBack(caller);
    ended(caller, own);
    for (const next of own.waiting.splice(0)) next.refuse(error);
  }

  function ended(caller: string, own: Attempts): void {
    own.underWay -= 1;
    if (own.underWay === 0) attempts.delete(caller);
  }

  return {
    async attempt(caller, run, isFailure) {
      await begin(caller);
      const own = attempts.get(caller) as Attempts;
      const result = await run().catch((error: unknown) => {
        broke(caller, own, error);
        throw error;
      });
      if (isFailure(result)) failed(caller, own);
      else succeeded(caller, own);
      return result;
    },
  };
}

/** A limit by address: an IPv4 address or an IPv6 /64 may fail so often, an IPv6 /48 {@link SITE_FACTOR} times as often in all. */
export function createSenderFailureLimit(perSecond: number, now: () => number, refused: () => void): FailureLimit {
  const ofNetwork = createFailureLimit(perSecond, now, refused);
  const ofSite = createFailureLimit(perSecond * SITE_FACTOR, now, refused);
  return {
    attempt: (address, run, isFailure) =>
      ofNetwork.attempt(senderNetwork(address), () => ofSite.attempt(senderSite(address), run, isFailure), isFailure),
  };
}

import { type CountedRate, openRateCounters } from '@ecf/http';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { LineRate } from './ports.js';

/** The share of the limit that lines of batches may use: callers wait for their answers, batches do not. */
const SHARE_OF_LINES = 0.8;

/** Far longer than the second for which an account is limited. */
const LONGEST_WAIT_MS = 60_000;

export interface AccountRate {
  /** Counts a document of a call. Null = there is no limit. */
  readonly countCall: (accountId: string) => Promise<CountedRate | null>;
  readonly lines: LineRate;
  close(): void;
}

/** Counts the documents of accounts, over all instances that share a Redis. */
export function openAccountRate(
  settings: { readonly RATE_LIMIT_PER_ACCOUNT: number; readonly REDIS_URL?: string | undefined },
  { logger, metrics, clock }: { logger: Logger; metrics: Metrics; clock: () => Date },
): AccountRate {
  const quota = settings.RATE_LIMIT_PER_ACCOUNT;
  const counters = openRateCounters(quota === 0 ? {} : settings, logger);
  const all = counters.open('account', quota);
  const ofLines = counters.open('account_lines', quota === 0 ? 0 : Math.max(1, Math.floor(quota * SHARE_OF_LINES)));
  const limited = metrics.counter({
    name: 'ecf_limited_documents_total',
    help: 'Documents over RATE_LIMIT_PER_ACCOUNT: calls answered with 429 (call), lines of batches that wait for the next second (line)',
    labels: ['source'],
  });
  const exhausted = new Map<string, Date>();
  return {
    async countCall(accountId) {
      const counted = await all.count(accountId);
      if (counted?.exceeded) limited.inc({ source: 'call' });
      return counted;
    },
    lines: {
      async count(accountId) {
        const counted = await ofLines.count(accountId);
        const over = counted?.exceeded ? counted : await all.count(accountId);
        if (!over?.exceeded) return null;
        limited.inc({ source: 'line' });
        const freeAt = new Date(clock().getTime() + Math.max(1, over.resetMs));
        exhausted.set(accountId, freeAt);
        return freeAt;
      },
      exhausted() {
        const now = clock();
        for (const [accountId, freeAt] of exhausted) {
          const waitMs = freeAt.getTime() - now.getTime();
          // More than the window of the limit: the clock was wrong when it was noted.
          if (waitMs <= 0 || waitMs > LONGEST_WAIT_MS) exhausted.delete(accountId);
        }
        const ends = [...exhausted.values()].map((freeAt) => freeAt.getTime());
        return {
          accountIds: [...exhausted.keys()],
          firstFree: ends.length === 0 ? null : new Date(Math.min(...ends)),
        };
      },
    },
    close: counters.close,
  };
}

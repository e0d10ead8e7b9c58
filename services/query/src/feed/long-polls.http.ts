import { createShares } from '@ecf/http';
import { ApiError } from '@ecf/kit';
import type { Caller } from '@ecf/taxpayer-replica';

/** One key may hold a fifth of the long polls of its account, so that a faulty program does not stop the others of the account. */
const KEY_SHARE = 1 / 5;

/** The long polls that are open in this process. */
export interface LongPolls {
  /** Runs a poll. Throws `rate_limited` if the account or the key of the caller has as many open as it may. */
  run<T>(caller: Pick<Caller, 'accountId' | 'keyId'>, poll: () => Promise<T>): Promise<T>;
}

/** @param mostOfAccount the most open polls of one account */
export function createLongPolls(mostOfAccount: number): LongPolls {
  const shares = createShares();
  const mostOfKey = Math.ceil(mostOfAccount * KEY_SHARE);
  return {
    async run({ accountId, keyId = '' }, poll) {
      const account = { holder: `account ${accountId}`, most: mostOfAccount };
      const key = { holder: `key ${accountId} ${keyId}`, most: mostOfKey };
      const exceeded = shares.take([key, account], 1);
      if (exceeded !== null) throw tooMany(exceeded.most, exceeded === key ? 'this API key' : 'this account');
      try {
        return await poll();
      } finally {
        shares.free([key, account], 1);
      }
    },
  };
}

function tooMany(most: number, whose: string): ApiError {
  return new ApiError(
    429,
    'rate_limited',
    `GET /events with wait is already open ${most} times for ${whose}; let one reader read all events, or repeat after Retry-After.`,
    { headers: { 'retry-after': '5' } },
  );
}

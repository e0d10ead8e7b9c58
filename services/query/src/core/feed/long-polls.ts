import type { Caller } from '@ecf/taxpayer-replica';
import { QueryError } from '../errors.js';

/** One key may hold a fifth of the long polls of its account, so that a faulty program stops no other of the account. */
const KEY_SHARE = 1 / 5;
const RETRY_AFTER_SECONDS = 5;

/** The long polls that are open in this process. */
export interface LongPolls {
  /** Runs a poll. Throws `rate_limited` if the account or the key of the caller has as many open as it may. */
  run<T>(caller: Pick<Caller, 'accountId' | 'keyId'>, poll: () => Promise<T>): Promise<T>;
}

/** @param mostOfAccount the most open polls of one account */
export function createLongPolls(mostOfAccount: number): LongPolls {
  const open = new Map<string, number>();
  const mostOfKey = Math.ceil(mostOfAccount * KEY_SHARE);

  function change(name: string, by: 1 | -1): void {
    const count = (open.get(name) ?? 0) + by;
    if (count > 0) open.set(name, count);
    else open.delete(name);
  }

  return {
    async run({ accountId, keyId = '' }, poll) {
      const account = `account ${accountId}`;
      const key = `key ${accountId} ${keyId}`;
      if ((open.get(key) ?? 0) >= mostOfKey) throw tooMany(mostOfKey, 'this API key');
      if ((open.get(account) ?? 0) >= mostOfAccount) throw tooMany(mostOfAccount, 'this account');
      change(account, 1);
      change(key, 1);
      try {
        return await poll();
      } finally {
        change(account, -1);
        change(key, -1);
      }
    },
  };
}

function tooMany(most: number, whose: string): QueryError {
  return new QueryError(
    'rate_limited',
    `GET /events with wait is already open ${most} times for ${whose}; let one reader go through all events, or repeat after Retry-After.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

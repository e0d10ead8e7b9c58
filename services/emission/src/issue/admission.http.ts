import { createShares, type Share } from '@ecf/http';
import { ApiError } from '@ecf/kit';
import type { Caller } from '@ecf/taxpayer-replica';

/** One account fills a quarter, so three others can still submit. */
const ACCOUNT_SHARE = 1 / 4;
/** Part of its account's share that one API key fills. By default 200 parallel calls of a key fit. */
const KEY_SHARE = 4 / 5;
const ALL = 'all';

/** Limits the submissions that this instance works on at the same time. */
export interface Admission {
  /**
   * Runs a submission of `/fe_Submit`, `/submit_ecf` or `/submit_fc`.
   * @throws ApiError `overloaded` if `most` are in flight, `rate_limited` if those of the account or key reach its share
   */
  run<Answer>(caller: Pick<Caller, 'accountId' | 'keyId'>, submit: () => Promise<Answer>): Promise<Answer>;
  /** Submissions in flight. */
  inFlight(): number;
}

/** @param most submissions of all callers that may be in flight */
export function createAdmission(most: number): Admission {
  const shares = createShares();
  const mostOfAccount = Math.ceil(most * ACCOUNT_SHARE);
  const mostOfKey = Math.ceil(most * ACCOUNT_SHARE * KEY_SHARE);
  return {
    async run({ accountId, keyId }, submit) {
      const account = `account ${accountId}`;
      const own = [
        { holder: ALL, most },
        { holder: account, most: mostOfAccount },
        ...(keyId === undefined ? [] : [{ holder: `key ${keyId}`, most: mostOfKey }]),
      ];
      const exceeded = shares.take(own, 1);
      if (exceeded?.holder === ALL) throw overloaded(most);
      if (exceeded !== null) throw rateLimited(exceeded, exceeded.holder === account ? 'account' : 'API key');
      try {
        return await submit();
      } finally {
        shares.free(own, 1);
      }
    },
    inFlight: () => shares.inUse(ALL),
  };
}

function overloaded(most: number): ApiError {
  return new ApiError(
    503,
    'overloaded',
    `This service already works on ${most} submissions, so this one was not processed. Send it again after Retry-After.`,
    { headers: RETRY_AFTER },
  );
}

function rateLimited({ most }: Share, kind: string): ApiError {
  return new ApiError(
    429,
    'rate_limited',
    `This service already works on ${most} submissions of this ${kind}, so this one was not processed. Send it again after Retry-After, or send a batch.`,
    { headers: RETRY_AFTER },
  );
}

const RETRY_AFTER = { 'retry-after': '5' };

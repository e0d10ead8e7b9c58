import { retry } from '@ecf/kit';
import { isDatabaseUnavailable, isRefusedByDatabase } from '@ecf/postgres';
import { StoreUnavailable } from './errors.js';

/**
 * Runs `work`, and repeats it for up to `timeoutMs` while the database is unavailable. So a restart or failover of the
 * database is only a slow answer. Then it throws StoreUnavailable, with `refused` set if the database refused every try.
 * `work` must be safe to run twice.
 */
export function retryWhileUnavailable<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + timeoutMs;
  let refused = true;
  return retry(work, {
    longestMs: 1_000,
    onFailure(error, _, pauseMs) {
      if (!isDatabaseUnavailable(error)) throw error;
      refused &&= isRefusedByDatabase(error);
      if (performance.now() + pauseMs > giveUpAt) throw new StoreUnavailable(error, refused);
    },
  });
}

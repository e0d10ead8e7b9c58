import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseUnavailable, isRefusedByDatabase } from '@ecf/service-kit/postgres';
import { StoreUnavailable } from './errors.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Runs `work`, and repeats it for up to `timeoutMs` while the database is unavailable. So a restart or failover of the
 * database is only a slow answer. Then it throws StoreUnavailable, which tells whether the database refused every try.
 * `work` must be safe to run twice.
 */
export async function retryWhileUnavailable<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + timeoutMs;
  let refused = true;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      refused &&= isRefusedByDatabase(error);
      if (performance.now() + pause > giveUpAt) throw new StoreUnavailable(error, refused);
    }
    await delay(pause);
  }
}

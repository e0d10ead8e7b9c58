import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseUnavailable } from '@ecf/service-kit/postgres';
import { StoreUnavailable } from '../core/errors.js';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Runs what uses the database; while that cannot be reached, again for up to `patienceMs`, then StoreUnavailable. A short
 * absence (a restart, a failover) is only a slow answer then. `work` must bear being run twice.
 *
 * @param onAway called each time that the database was not reached
 */
export async function patiently<T>(
  patienceMs: number,
  work: () => Promise<T>,
  onAway: () => void = () => undefined,
): Promise<T> {
  const giveUpAt = performance.now() + patienceMs;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      onAway();
      if (performance.now() + pause > giveUpAt) throw new StoreUnavailable(error);
    }
    await delay(pause);
  }
}

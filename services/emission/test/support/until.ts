import { setTimeout as delay } from 'node:timers/promises';

/** Looks every 20 ms. Rejects after a minute, so that a test fails by its name and does not wait for the runner's limit. */
export async function until(holds: () => Promise<boolean> | boolean, what = 'the awaited state'): Promise<void> {
  for (const end = Date.now() + 60_000; !(await holds()); await delay(20))
    if (Date.now() > end) throw new Error(`${what} did not come within a minute`);
}

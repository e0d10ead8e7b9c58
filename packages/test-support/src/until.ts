import { setTimeout as delay } from 'node:timers/promises';

const EVERY_MS = 10;

/**
 * Repeats `look` until its value passes `holds`, and resolves with it. After `withinMs` it rejects with the last value, so that a test
 * fails by its name and does not wait for the limit of the runner.
 */
export async function until<T>(
  look: () => T | Promise<T>,
  holds: (seen: T) => boolean = Boolean,
  withinMs = 60_000,
): Promise<T> {
  for (const end = Date.now() + withinMs; ; await delay(EVERY_MS)) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > end)
      throw new Error(`not within ${withinMs / 1_000} s: ${look} gives ${JSON.stringify(seen)?.slice(0, 2_000)}`);
  }
}

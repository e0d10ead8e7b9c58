import { percentile } from '../harness/measure.js';

const ARRIVALS = 100_000;

/**
 * Simulates instances behind a balancer that chooses one at random: arrivals are independent of each other, and each takes the main
 * thread of its instance equally long.
 *
 * @returns milliseconds that 99 of 100 documents wait at most for their turn
 */
export function waitOf({ instances, rate, ms }: { instances: number; rate: number; ms: number }): number {
  if (rate === 0 || ms === 0) return 0;
  const random = seeded(20_260_101);
  const freeAt = new Array<number>(instances).fill(0);
  const waits: number[] = [];
  for (let n = 0, now = 0; n < ARRIVALS; n += 1) {
    now += (-Math.log(1 - random()) * 1_000) / rate;
    const chosen = Math.floor(random() * instances);
    const start = Math.max(now, freeAt[chosen] as number);
    waits.push(start - now);
    freeAt[chosen] = start + ms;
  }
  return percentile(waits, 0.99);
}

/** The same numbers in each run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

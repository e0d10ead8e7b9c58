import { describe, expect, it } from '@jest/globals';
import { createSharedCalls } from '../src/shared-calls.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('shared calls', () => {
  it('start immediately for one caller, and together for callers that arrive meanwhile', async () => {
    const seen: number[][] = [];
    const calls = createSharedCalls<number, number>({
      maxItems: 10,
      maxInFlight: 1,
      keyOf: (item) => item,
      async work(items) {
        seen.push([...items]);
        await turn();
        return items.map((item) => item * 2);
      },
    });
    const first = calls.run(1);
    await turn();
    const later = [2, 3, 4].map((item) => calls.run(item));
    expect(await first).toBe(2);
    expect(await Promise.all(later)).toEqual([4, 6, 8]);
    expect(seen).toEqual([[1], [2, 3, 4]]);
  });

  it('never put two items of one key together, and keep their order', async () => {
    const seen: string[][] = [];
    const calls = createSharedCalls<string, null>({
      maxItems: 10,
      maxInFlight: 1,
      keyOf: (item) => item[0],
      async work(items) {
        seen.push([...items]);
        return items.map(() => null);
      },
    });
    await Promise.all(['a1', 'b1', 'a2', 'a3'].map((item) => calls.run(item)));
    expect(seen).toEqual([['a1', 'b1'], ['a2'], ['a3']]);
  });

  it('run one by one after a failure: only the failing item fails', async () => {
    const calls = createSharedCalls<number, number>({
      maxItems: 10,
      maxInFlight: 1,
      keyOf: (item) => item,
      async work(items) {
        if (items.includes(2)) throw new Error('two');
        return items;
      },
    });
    const results = await Promise.allSettled([1, 2, 3].map((item) => calls.run(item)));
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('all fail immediately if the database is down, including the waiting ones', async () => {
    const tried: number[][] = [];
    const calls = createSharedCalls<number, number>({
      maxItems: 2,
      maxInFlight: 1,
      keyOf: (item) => item,
      async work(items) {
        tried.push([...items]);
        if (tried.length === 1) throw new Error('Query read timeout');
        return items;
      },
    });
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map((item) => calls.run(item)));
    expect(results.map((result) => result.status)).toEqual(Array(5).fill('rejected'));
    expect(tried).toEqual([[1, 2]]);
    expect(await calls.run(6)).toBe(6);
  });
});

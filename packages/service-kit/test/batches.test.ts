import { describe, expect, it } from '@jest/globals';
import { createBatches } from '../src/postgres/index.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('batches', () => {
  it('leave at once for one caller, and together for those that come meanwhile', async () => {
    const seen: number[][] = [];
    const batches = createBatches<number, number>({
      maxItems: 10,
      maxUnderWay: 1,
      keyOf: (item) => item,
      async work(items) {
        seen.push([...items]);
        await turn();
        return items.map((item) => item * 2);
      },
    });
    const first = batches.run(1);
    await turn();
    const later = [2, 3, 4].map((item) => batches.run(item));
    expect(await first).toBe(2);
    expect(await Promise.all(later)).toEqual([4, 6, 8]);
    expect(seen).toEqual([[1], [2, 3, 4]]);
  });

  it('begin at the distance that is asked for at the time, and wait for no more than fits or is enough', async () => {
    const seen: number[][] = [];
    let spacing = 0;
    let enough = 10;
    const batches = createBatches<number, null>({
      maxItems: 3,
      maxUnderWay: 1,
      gathering: { spacingMs: () => spacing, enough: () => enough },
      keyOf: (item) => item,
      async work(items) {
        seen.push([...items]);
        return items.map(() => null);
      },
    });
    await batches.run(1);
    await batches.run(2);
    spacing = 50;
    const third = batches.run(3);
    await turn();
    await Promise.all([third, batches.run(4)]);
    spacing = 3_600_000;
    await Promise.all([5, 6, 7].map((item) => batches.run(item)));
    enough = 2;
    await Promise.all([8, 9].map((item) => batches.run(item)));
    expect(seen).toEqual([[1], [2], [3, 4], [5, 6, 7], [8, 9]]);
  });

  it('say what they have taken lately to whoever asks for a distance', async () => {
    const told: number[] = [];
    const batches = createBatches<number, null>({
      maxItems: 3,
      maxUnderWay: 1,
      gathering: { spacingMs: (takesMs) => told.push(takesMs) * 0, enough: () => 3 },
      keyOf: (item) => item,
      async work(items) {
        await new Promise((resolve) => setTimeout(resolve, 40));
        return items.map(() => null);
      },
    });
    for (const item of [1, 2, 3]) await batches.run(item);
    const [none, first, second] = told as [number, number, number];
    expect(none).toBe(0);
    expect(first).toBeGreaterThan(1);
    expect(second).toBeGreaterThan(first);
  });

  it('never hold two items of one key, and keep their order', async () => {
    const seen: string[][] = [];
    const batches = createBatches<string, null>({
      maxItems: 10,
      maxUnderWay: 1,
      keyOf: (item) => item[0],
      async work(items) {
        seen.push([...items]);
        return items.map(() => null);
      },
    });
    await Promise.all(['a1', 'b1', 'a2', 'a3'].map((item) => batches.run(item)));
    expect(seen).toEqual([['a1', 'b1'], ['a2'], ['a3']]);
  });

  it('run one by one where a batch fails: only the item at fault fails', async () => {
    const batches = createBatches<number, number>({
      maxItems: 10,
      maxUnderWay: 1,
      keyOf: (item) => item,
      async work(items) {
        if (items.includes(2)) throw new Error('two');
        return items;
      },
    });
    const results = await Promise.allSettled([1, 2, 3].map((item) => batches.run(item)));
    expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('are all told at once that the database is away, those that wait as well', async () => {
    const tried: number[][] = [];
    const batches = createBatches<number, number>({
      maxItems: 2,
      maxUnderWay: 1,
      keyOf: (item) => item,
      async work(items) {
        tried.push([...items]);
        if (tried.length === 1) throw new Error('Query read timeout');
        return items;
      },
    });
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map((item) => batches.run(item)));
    expect(results.map((result) => result.status)).toEqual(Array(5).fill('rejected'));
    expect(tried).toEqual([[1, 2]]);
    expect(await batches.run(6)).toBe(6);
  });
});

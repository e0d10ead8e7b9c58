import { expect, it } from '@jest/globals';
import { createAccountPlaces } from '../../src/core/submit/account-places.js';
import { createAccountTurns } from '../../src/core/submit/account-turns.js';

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Work that ends when it is told to, and says when it began. */
function workbench(places = { all: 4, perAccount: 3 }) {
  const turns = createAccountTurns(places);
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve) => ends.push(() => resolve(name)));
  };
  async function endAll(): Promise<void> {
    for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
      end();
      await settle();
    }
  }
  return { turns, begun, work, endAll };
}

it('goes from account to account, one piece at a time; what was begun goes before what its account begins', async () => {
  const { turns, begun, work, endAll } = workbench();
  const all = [
    ...['a1', 'a2', 'a3'].map((name) => turns.begin('a', work(name))),
    turns.begin('b', work('b1')),
    turns.goOn('a', work('a1, next step')),
  ];
  await settle();
  expect(begun).toEqual(['a1']);
  await endAll();
  expect(begun).toEqual(['a1', 'a1, next step', 'b1', 'a2', 'a3']);
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1', 'a1, next step']);
});

it('turns away what is too much for one account; what was begun never', async () => {
  const { turns, begun, work, endAll } = workbench();
  const kept = ['a1', 'a2', 'a3', 'a4'].map((name) => turns.begin('a', work(name)));
  const refused = { name: 'EmissionError', code: 'service_unavailable', retryAfterSeconds: 5 };
  await expect(turns.begin('a', work('a5'))).rejects.toMatchObject(refused);
  kept.push(turns.begin('b', work('b1')));
  kept.push(turns.goOn('c', work('c0, next step')));
  await endAll();
  expect(await Promise.all(kept)).toHaveLength(begun.length);
  expect(begun.toSorted()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'c0, next step']);
  const again = turns.begin('a', work('a5'));
  await endAll();
  expect(await again).toBe('a5');
});

it('where all places are taken, the latest of whoever waits with most gives way to an account with less; what was begun never', async () => {
  const { turns, begun, work, endAll } = workbench({ all: 4, perAccount: 3 });
  const all = [
    turns.begin('a', work('a1')),
    ...['b1', 'b2', 'b3'].map((name) => turns.begin('b', work(name))),
    turns.goOn('c', work('c0, next step')),
    turns.begin('d', work('d1')),
  ];
  const outcomes = Promise.allSettled(all);
  const refused = { code: 'service_unavailable', retryAfterSeconds: 5 };
  await expect(all[3]).rejects.toMatchObject(refused);
  // With one more it would have as many as the account that has most.
  await expect(turns.begin('d', work('d2'))).rejects.toMatchObject(refused);
  await endAll();
  expect((await outcomes).map(({ status }) => status)).toEqual([
    ...Array(3).fill('fulfilled'),
    'rejected',
    ...Array(2).fill('fulfilled'),
  ]);
  expect(begun).toEqual(['a1', 'b1', 'c0, next step', 'd1', 'b2']);
});

it('four accounts that fill all places at any time bar no fifth', async () => {
  const { turns, begun, work, endAll } = workbench({ all: 16, perAccount: 4 });
  const greedy = ['a', 'b', 'c', 'd'];
  const flood = () => greedy.map((one) => turns.begin(one, work(one)).catch(() => undefined));
  for (let round = 0; round < 6; round += 1) void flood();
  const honest = turns.begin('e', work('e')).then(() => 'done');
  void flood();
  await endAll();
  expect(await honest).toBe('done');
  expect(begun.indexOf('e')).toBeLessThan(6);
});

it('goes on after work that failed', async () => {
  const { turns, work, endAll } = workbench();
  const failed = turns.begin('a', () => Promise.reject(new Error('broken')));
  const next = turns.begin('a', work('a2'));
  await expect(failed).rejects.toThrow('broken');
  await settle();
  await endAll();
  expect(await next).toBe('a2');
});

it('gives room to so many at once, of one account and in all; few accounts leave some for others', () => {
  const places = createAccountPlaces({ all: 6, perAccount: 2 });
  const taken = (account: string) => {
    try {
      return places.take(account);
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  const free = expect.any(Function);
  const [first, second] = [places.take('a'), places.take('a')];
  expect(taken('a')).toBe('service_unavailable');
  expect(taken('b')).toEqual(free);
  // Half is taken: one for each.
  expect(taken('b')).toBe('service_unavailable');
  expect(['c', 'd', 'e', 'f'].map(taken)).toEqual([free, free, free, 'service_unavailable']);
  first();
  first();
  expect(taken('a')).toBe('service_unavailable');
  expect(['f', 'g'].map(taken)).toEqual([free, 'service_unavailable']);
  second();
  expect(taken('g')).toEqual(free);
});

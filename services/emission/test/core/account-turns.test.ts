import { expect, it } from '@jest/globals';
import { createAccountTurns } from '../../src/core/account-turns.js';

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

it('turns away what is too much for one account, or for all; what was begun never', async () => {
  const { turns, begun, work, endAll } = workbench();
  const kept = ['a1', 'a2', 'a3', 'a4'].map((name) => turns.begin('a', work(name)));
  const refused = { name: 'EmissionError', code: 'service_unavailable', retryAfterSeconds: 5 };
  await expect(turns.begin('a', work('a5'))).rejects.toMatchObject(refused);
  kept.push(turns.begin('b', work('b1')));
  await expect(turns.begin('c', work('c1'))).rejects.toMatchObject(refused);
  kept.push(turns.goOn('c', work('c0, next step')));
  await endAll();
  expect(await Promise.all(kept)).toHaveLength(begun.length);
  expect(begun.toSorted()).toEqual(['a1', 'a2', 'a3', 'a4', 'b1', 'c0, next step']);
  const again = turns.begin('a', work('a5'));
  await endAll();
  expect(await again).toBe('a5');
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

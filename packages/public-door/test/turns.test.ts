import { expect, it } from '@jest/globals';
import { createTurns } from '../src/turns.js';

const turnOfTheLoop = () => new Promise<void>((resolve) => setImmediate(resolve));

it('does one piece in a turn of the event loop, senders in their turn', async () => {
  const turns = createTurns();
  const done: string[] = [];
  const work = (sender: string) => turns.take(sender, 10, () => done.push(sender));
  const all = Promise.all(['a', 'a', 'a', 'a', 'b', 'c'].map(work));
  const seen: number[] = [];
  while (done.length < 6) {
    seen.push(done.length);
    await turnOfTheLoop();
  }
  await all;
  expect(done).toEqual(['a', 'b', 'c', 'a', 'a', 'a']);
  expect(seen).toEqual(expect.arrayContaining([1, 2, 3, 4, 5]));
});

it('what throws is told to who asked, and the next piece is done', async () => {
  const turns = createTurns();
  const failing = turns.take('a', 1, () => {
    throw new Error('no');
  });
  const fine = turns.take('a', 1, () => 7);
  await expect(failing).rejects.toThrow('no');
  expect(await fine).toBe(7);
  expect(await turns.take('a', 1, () => 8)).toBe(8);
});

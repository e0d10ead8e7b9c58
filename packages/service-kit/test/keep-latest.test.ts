import { expect, it } from '@jest/globals';
import { keepLatest } from '../src/cache/keep-latest.js';

it('a memory that is full lets go of what was set longest ago, whatever else is done to it', () => {
  const memory = new Map<number, string>();
  const keep = (...keys: number[]) => {
    for (const key of keys) keepLatest(memory, key, `${key}`, 3);
    return [...memory.keys()];
  };
  expect(keep(1, 2, 3, 4, 5)).toEqual([3, 4, 5]);
  expect(keep(3, 6)).toEqual([5, 3, 6]);
  memory.delete(5);
  expect(keep(7, 8)).toEqual([6, 7, 8]);
  memory.clear();
  expect(keep(9, 10, 11)).toEqual([9, 10, 11]);
  expect(keep(12, 9, 13)).toEqual([12, 9, 13]);
  for (let i = 100; i < 5_000; i += 1) keep(i);
  expect(keep()).toEqual([4_997, 4_998, 4_999]);
});

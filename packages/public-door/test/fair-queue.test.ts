import { expect, it } from '@jest/globals';
import { FairQueue } from '../src/fair-queue.js';

function drained<T>(queue: FairQueue<T>): T[] {
  const items: T[] = [];
  for (let item = queue.next(); item !== undefined; item = queue.next()) items.push(item);
  return items;
}

it('serves senders in turn, each in the order of its own', () => {
  const queue = new FairQueue<string>({ all: 10, perSender: 4 });
  for (const item of ['a1', 'a2', 'a3', 'b1', 'c1', 'c2']) expect(queue.add(item.slice(0, 1), item)).toBeNull();
  expect(queue.size).toBe(6);
  expect(queue.next()).toBe('a1');
  queue.add('d', 'd1');
  expect(drained(queue)).toEqual(['b1', 'c1', 'a2', 'd1', 'c2', 'a3']);
  expect([queue.size, queue.next()]).toEqual([0, undefined]);
});

it('gives one sender no more than its share', () => {
  const queue = new FairQueue<string>({ all: 10, perSender: 2 });
  expect([queue.add('a', 'a1'), queue.add('a', 'a2'), queue.add('a', 'a3')]).toEqual([null, null, 'a3']);
  expect(queue.add('b', 'b1')).toBeNull();
});

it('has whoever holds the most give way where all places are taken', () => {
  const queue = new FairQueue<string>({ all: 4, perSender: 3 });
  for (const item of ['a1', 'a2', 'a3', 'b1']) queue.add(item.slice(0, 1), item);
  expect(queue.add('c', 'c1')).toBe('a3');
  expect(queue.add('c', 'c2')).toBe('c2');
  expect(queue.add('d', 'd1')).toBe('a2');
  expect(queue.add('e', 'e1')).toBe('e1');
  expect(drained(queue)).toEqual(['a1', 'b1', 'c1', 'd1']);
});

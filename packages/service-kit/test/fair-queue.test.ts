import { expect, it } from '@jest/globals';
import { FairQueue } from '../src/http/edge/fair-queue.js';

function drained<T>(queue: FairQueue<T>): T[] {
  const items: T[] = [];
  for (let item = queue.next(); item !== undefined; item = queue.next()) items.push(item);
  return items;
}

/** Puts in items of one cost whose first letter is their sender. */
function filled(queue: FairQueue<string>, ...items: string[]): FairQueue<string> {
  for (const item of items) expect(queue.add(item.slice(0, 1), item, 1)).toBeNull();
  return queue;
}

it('serves senders in turn, each in the order of its own', () => {
  const queue = filled(new FairQueue({ all: 10, perSender: 4 }), 'a1', 'a2', 'a3', 'b1', 'c1', 'c2');
  expect(queue.size).toBe(6);
  expect(queue.next()).toBe('a1');
  filled(queue, 'd1');
  expect(drained(queue)).toEqual(['b1', 'c1', 'd1', 'a2', 'c2', 'a3']);
  expect([queue.size, queue.next()]).toEqual([0, undefined]);
});

it('who sends what costs much waits for those who send little', () => {
  const queue = new FairQueue<string>({ all: 100, perSender: 20 });
  for (let i = 0; i < 10; i += 1) queue.add(`heavy ${i}`, `heavy ${i}`, 100);
  expect(queue.next()).toBe('heavy 0');
  for (const item of ['b1', 'b2', 'c1']) queue.add(item.slice(0, 1), item, 5);
  expect([queue.next(), queue.next(), queue.next(), queue.next()]).toEqual(['b1', 'c1', 'b2', 'heavy 1']);
});

it('what costs much is served too, though new senders keep coming with little', () => {
  const queue = new FairQueue<string>({ all: 100, perSender: 20 });
  queue.add('heavy', 'heavy', 100);
  let served = 0;
  do queue.add(`new ${served}`, 'little', 5);
  while (queue.next() === 'little' && ++served < 200);
  expect(served).toBeLessThan(50);
});

it('a sender that was served waits for its next turn, though it had nothing waiting meanwhile', () => {
  const queue = filled(new FairQueue({ all: 10, perSender: 4 }), 'a1', 'b1', 'c1');
  expect(queue.next()).toBe('a1');
  filled(queue, 'a2');
  expect(drained(queue)).toEqual(['b1', 'c1', 'a2']);
});

it('gives one sender no more than its share', () => {
  const queue = filled(new FairQueue({ all: 10, perSender: 2 }), 'a1', 'a2');
  expect(queue.add('a', 'a3', 1)).toBe('a3');
  filled(queue, 'b1');
});

it('has whoever waits with the most give way where all places are taken', () => {
  const queue = filled(new FairQueue({ all: 4, perSender: 3 }), 'a1', 'a2', 'a3', 'b1');
  expect(queue.add('c', 'c1', 1)).toBe('a3');
  expect(queue.add('c', 'c2', 1)).toBe('c2');
  expect(queue.add('d', 'd1', 1)).toBe('a2');
  expect(queue.add('e', 'e1', 1)).toBe('e1');
  expect(drained(queue)).toEqual(['a1', 'b1', 'c1', 'd1']);
});

it('what goes on comes before all else of its sender, beyond the places, and never gives way', () => {
  const queue = filled(new FairQueue({ all: 4, perSender: 3 }), 'a1', 'a2', 'b1');
  queue.addFirst('a', 'a0', 1);
  queue.addFirst('c', 'c0', 1);
  queue.addFirst('c', 'c-', 1);
  queue.addFirst('c', 'c--', 1);
  expect(queue.size).toBe(7);
  // The account with most has nothing that could give way; the next one has.
  expect(queue.add('d', 'd1', 1)).toBe('a2');
  expect(drained(queue)).toEqual(['a0', 'b1', 'c--', 'd1', 'a1', 'c-', 'c0']);
});

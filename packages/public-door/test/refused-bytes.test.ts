import { describe, expect, it } from '@jest/globals';
import { createInMemoryRefusalBudgets, DailyRefusedBytes, refusalFolder } from '../src/index.js';

const MORNING = new Date('2026-06-23T12:00:00Z');
const TOMORROW = new Date('2026-06-24T00:00:00Z');

/** Room for two documents of 100 bytes of a sender, three of all. */
function day() {
  const budgets = createInMemoryRefusalBudgets();
  const settings = { maxRefusedBytes: 100, maxRefusedBytesPerSender: 200, maxRefusedBytesPerDay: 300 };
  const room = new DailyRefusedBytes(budgets, settings);
  return (network: string, receivedAt = MORNING, bytes = 100) => room.take({ bytes, receivedAt, network });
}

describe('what is kept of refused documents in a day', () => {
  it('is bounded for one document, for a sender and for all; another day begins anew', async () => {
    const take = day();
    expect(await take('a', MORNING, 101)).toBe('size');
    for (let n = 0; n < 2; n++) expect(await take('a')).toBeNull();
    for (let n = 0; n < 5; n++) expect(await take('a')).toBe('sender');
    // What one was refused it did not take from others.
    expect(await take('b')).toBeNull();
    expect(await take('b')).toBe('total');
    expect(await take('a', TOMORROW)).toBeNull();
  });

  it('a narrower bound comes first and takes the place of the one on size', async () => {
    const room = new DailyRefusedBytes(createInMemoryRefusalBudgets(), {
      maxRefusedBytes: 0,
      maxRefusedBytesPerSender: 1_000,
      maxRefusedBytesPerDay: 1_000,
    });
    const narrower = [{ of: 'number', claim: { scope: 'n', period: '', amount: 100, limit: 100 } }] as const;
    const refused = { bytes: 100, receivedAt: MORNING, network: 'a' };
    expect(await room.take(refused, narrower)).toBeNull();
    expect(await room.take(refused, narrower)).toBe('number');
    expect(await room.take(refused)).toBe('size');
  });

  it('lies by day, apart from what is accepted', () => {
    expect(refusalFolder(new Date('2026-06-24T02:00:00Z'), `ab${'0'.repeat(62)}`)).toBe('2026/06/23/ab');
  });
});

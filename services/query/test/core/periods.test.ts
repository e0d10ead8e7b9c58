import { describe, expect, it } from '@jest/globals';
import { type Buckets, monthsAndDays } from '../../src/invoices/periods.js';
import { seeded } from '../support/random.js';

const DAY = 86_400_000;
const dayAt = (index: number) => new Date(Date.UTC(2023, 0, 1) + index * DAY).toISOString().slice(0, 10);

/** How often the buckets count a day. */
function times(buckets: readonly Buckets[], day: string): number {
  return buckets.filter(({ grain, first, last }) => {
    const bucket = grain === 'day' ? day : `${day.slice(0, 8)}01`;
    return first <= bucket && bucket <= last;
  }).length;
}

describe('a period in months and days', () => {
  it('counts each of its days once and no other day', () => {
    const random = seeded(20261121);
    for (let run = 0; run < 400; run += 1) {
      const from = random.between(0, 1_300);
      const to = from + random.pick([0, 1, 27, 30, 31, 58, 364, 365, 366, random.between(0, 1_300)]);
      const buckets = monthsAndDays(dayAt(from), dayAt(to));
      const looked = [
        from - 1,
        from,
        to,
        to + 1,
        ...Array.from({ length: 30 }, () => random.between(from - 40, to + 40)),
      ];
      const wrong = looked.filter((index) => times(buckets, dayAt(index)) !== (index >= from && index <= to ? 1 : 0));
      expect([dayAt(from), dayAt(to), wrong.map(dayAt)]).toEqual([dayAt(from), dayAt(to), []]);
    }
  });

  it('has at most three rows of buckets, and none for a period without days', () => {
    expect(monthsAndDays('1000-01-01', '9999-12-31').length).toBe(1);
    expect(monthsAndDays('1000-01-01', '1500-12-31')).toEqual([]);
    expect(monthsAndDays('2026-06-02', '2026-06-01')).toEqual([]);
  });
});

it('a whole month is one bucket, also in a leap year', () => {
  const june = { grain: 'month', first: '2026-06-01', last: '2026-06-01' };
  expect(monthsAndDays('2026-06-01', '2026-06-30')).toEqual([june]);
  expect(monthsAndDays('2028-02-01', '2028-02-29')).toMatchObject([{ grain: 'month' }]);
  expect(monthsAndDays('2027-02-01', '2027-02-28')).toMatchObject([{ grain: 'month' }]);
  expect(monthsAndDays('2026-06-15', '2026-06-15')).toEqual([
    { grain: 'day', first: '2026-06-15', last: '2026-06-15' },
  ]);
});

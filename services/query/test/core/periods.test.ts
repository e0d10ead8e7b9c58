import { describe, expect, it } from '@jest/globals';
import { bucketOf, bucketsIn, fewestBuckets, monthsAndDays, type Stretch } from '../../src/core/periods.js';
import { seeded } from '../support/random.js';

const DAY = 86_400_000;
const dayAt = (index: number) => new Date(Date.UTC(2023, 0, 1) + index * DAY).toISOString().slice(0, 10);

/** How often a day counts in the stretches. */
function times(stretches: readonly Stretch[], day: string): number {
  return stretches
    .filter(({ grain, first, last }) => first <= bucketOf(day, grain) && bucketOf(day, grain) <= last)
    .reduce((sum, { sign }) => sum + sign, 0);
}

describe.each([
  ['months and days', monthsAndDays],
  ['fewest buckets', fewestBuckets],
])('a period in %s', (_, cut) => {
  it('counts each of its days once and no other day', () => {
    const random = seeded(20261121);
    for (let run = 0; run < 400; run += 1) {
      const from = random.between(0, 1_300);
      const to = from + random.pick([0, 1, 27, 30, 31, 58, 364, 365, 366, random.between(0, 1_300)]);
      const stretches = cut(dayAt(from), dayAt(to));
      const looked = [
        from - 1,
        from,
        to,
        to + 1,
        ...Array.from({ length: 30 }, () => random.between(from - 40, to + 40)),
      ];
      const wrong = looked.filter((index) => times(stretches, dayAt(index)) !== (index >= from && index <= to ? 1 : 0));
      expect([dayAt(from), dayAt(to), wrong.map(dayAt)]).toEqual([dayAt(from), dayAt(to), []]);
    }
  });

  it('takes whole buckets where it can', () => {
    expect(cut('2026-03-01', '2026-03-31')).toEqual([
      { grain: 'month', first: '2026-03-01', last: '2026-03-01', sign: 1 },
    ]);
    expect(cut('2026-06-15', '2026-06-15')).toEqual([
      { grain: 'day', first: '2026-06-15', last: '2026-06-15', sign: 1 },
    ]);
    expect(cut('2028-02-01', '2028-02-29')).toMatchObject([{ grain: 'month' }]);
    expect(cut('2027-02-01', '2027-02-28')).toMatchObject([{ grain: 'month' }]);
  });

  it('is made of few stretches, however wide: what nobody wrote on is left out', () => {
    expect(cut('1000-01-01', '9999-12-31').length).toBeLessThan(3);
    expect(cut('1000-01-01', '1500-12-31')).toEqual([]);
  });
});

it('sums of what can be many are made of few buckets, whatever the period', () => {
  const random = seeded(7);
  const counts = Array.from({ length: 500 }, () => {
    const from = random.between(0, 1_000);
    return bucketsIn(fewestBuckets(dayAt(from), dayAt(from + random.between(0, 1_000))));
  });
  expect(Math.max(...counts)).toBeLessThanOrEqual(20);
  expect(counts.reduce((sum, count) => sum + count, 0) / counts.length).toBeLessThan(11);
  expect(fewestBuckets('2026-01-01', '2026-12-30')).toEqual([
    { grain: 'year', first: '2026-01-01', last: '2026-01-01', sign: 1 },
    { grain: 'day', first: '2026-12-31', last: '2026-12-31', sign: -1 },
  ]);
  expect(fewestBuckets('2025-07-01', '2026-06-30')).toEqual([
    { grain: 'quarter', first: '2025-07-01', last: '2025-10-01', sign: 1 },
    { grain: 'quarter', first: '2026-01-01', last: '2026-04-01', sign: 1 },
  ]);
  expect(bucketsIn(fewestBuckets('2026-10-23', '2026-11-21'))).toBeLessThanOrEqual(6);
});

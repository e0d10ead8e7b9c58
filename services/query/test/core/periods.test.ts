import { describe, expect, it } from '@jest/globals';
import {
  bucketOf,
  monthsAndDays,
  type RunningStretch,
  runningStretches,
  type Stretch,
  stepOf,
} from '../../src/core/sums/periods.js';
import { seeded } from '../support/random.js';

const DAY = 86_400_000;
const dayAt = (index: number) => new Date(Date.UTC(2023, 0, 1) + index * DAY).toISOString().slice(0, 10);

/** How often the stretches count a day. */
function times(stretches: readonly (Stretch | RunningStretch)[], day: string): number {
  return stretches.filter((stretch) => {
    const bucket = bucketOf(day, stretch.grain);
    if (bucket < stretch.first || bucket > stretch.last) return false;
    if (!('through' in stretch)) return true;
    const step = stepOf(day, stretch.grain);
    return stretch.before < step && step <= stretch.through;
  }).length;
}

describe.each([
  ['months and days', monthsAndDays],
  ['running sums', runningStretches],
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

  it('has few stretches at any width; unused ones are left out', () => {
    expect(cut('1000-01-01', '9999-12-31').length).toBeLessThan(3);
    expect(cut('1000-01-01', '1500-12-31')).toEqual([]);
    expect(cut('2026-06-02', '2026-06-01')).toEqual([]);
  });
});

it('whole months are one stretch, also in leap years', () => {
  const june = { grain: 'month', first: '2026-06-01', last: '2026-06-01' };
  expect(monthsAndDays('2026-06-01', '2026-06-30')).toEqual([june]);
  expect(monthsAndDays('2028-02-01', '2028-02-29')).toMatchObject([{ grain: 'month' }]);
  expect(monthsAndDays('2027-02-01', '2027-02-28')).toMatchObject([{ grain: 'month' }]);
  expect(monthsAndDays('2026-06-15', '2026-06-15')).toEqual([
    { grain: 'day', first: '2026-06-15', last: '2026-06-15' },
  ]);
});

it('long periods read rows of months at either end, and one row for each whole year between', () => {
  const random = seeded(7);
  for (let run = 0; run < 500; run += 1) {
    const from = random.between(0, 3_000);
    const stretches = runningStretches(dayAt(from), dayAt(from + random.between(0, 3_000)));
    expect(stretches.length).toBeLessThanOrEqual(5);
    expect(stretches.filter(({ first, last }) => first !== last)).toHaveLength(
      stretches.some(({ grain, first, last }) => grain === 'year' && first !== last) ? 1 : 0,
    );
  }
  const [august, june] = ['2025-08-01', '2026-06-01'];
  expect(runningStretches('2025-08-17', '2026-06-05')).toEqual([
    { grain: 'month', first: august, last: august, before: 16, through: 31 },
    { grain: 'year', first: '2025-01-01', last: '2025-01-01', before: 8, through: 12 },
    { grain: 'year', first: '2026-01-01', last: '2026-01-01', before: 0, through: 5 },
    { grain: 'month', first: june, last: june, before: 0, through: 5 },
  ]);
  expect(runningStretches('2024-01-01', '2026-12-31')).toEqual([
    { grain: 'year', first: '2024-01-01', last: '2026-01-01', before: 0, through: 12 },
  ]);
  expect(runningStretches('2026-06-05', '2026-06-05')).toEqual([
    { grain: 'month', first: june, last: june, before: 4, through: 5 },
  ]);
});

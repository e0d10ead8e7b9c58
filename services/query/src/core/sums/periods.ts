import type { CalendarDate } from '@ecf/domain';

/** The sizes of buckets. The first day of a bucket is its name. */
export type Grain = 'day' | 'month' | 'year';

/** Buckets of one grain, `first` and `last` included. */
export interface Stretch {
  readonly grain: Grain;
  readonly first: CalendarDate;
  readonly last: CalendarDate;
}

/** Sizes with running sums: one for each step, from the bucket's beginning to the end of that step. */
export const RUNNING_STEPS = { month: 31, year: 12 } as const;
export type RunningGrain = keyof typeof RUNNING_STEPS;
export const RUNNING_GRAINS: readonly RunningGrain[] = ['month', 'year'];

/** The part of each bucket between two steps: its running sum after `through` minus that after `before`. */
export interface RunningStretch extends Stretch {
  readonly grain: RunningGrain;
  /** 0: from the beginning. */
  readonly before: number;
  readonly through: number;
}

/** The first day of the bucket that a day belongs to. */
export function bucketOf(day: CalendarDate, grain: Grain): CalendarDate {
  if (grain === 'day') return day;
  return grain === 'month' ? `${day.slice(0, 8)}01` : `${day.slice(0, 5)}01-01`;
}

/** The step of a day in its month (the day, from 1) or year (the month, from 1). */
export function stepOf(day: CalendarDate, grain: RunningGrain): number {
  return Number(grain === 'month' ? day.slice(8) : day.slice(5, 7));
}

/** A period of days as whole months and the remaining days at both ends. */
export function monthsAndDays(first: CalendarDate, last: CalendarDate): Stretch[] {
  return within(first, last, (from, to) => {
    const { head, middle, tail } = cut(from, to, 'month');
    const days = [head, tail].flatMap((part) => (part === null ? [] : [{ grain: 'day' as const, ...part }]));
    if (middle === null) return days;
    return [...days, { grain: 'month', first: middle.first, last: bucketOf(middle.last, 'month') }];
  });
}

/**
 * A period in at most five stretches, one row per bucket: part of its first month, part of its first year, whole years, part
 * of its last year, part of its last month. For sums with many rows per bucket.
 */
export function runningStretches(first: CalendarDate, last: CalendarDate): RunningStretch[] {
  return within(first, last, (from, to) => {
    const { head, middle, tail } = cut(from, to, 'month');
    const years = middle === null ? null : cut(middle.first, middle.last, 'year');
    return [
      ...partOf(head, 'month'),
      ...partOf(years?.head ?? null, 'year'),
      ...whole(years?.middle ?? null),
      ...partOf(years?.tail ?? null, 'year'),
      ...partOf(tail, 'month'),
    ];
  });
}

interface Days {
  readonly first: CalendarDate;
  readonly last: CalendarDate;
}

/** No document is older or younger: days beyond hold nothing. */
const [EARLIEST, LATEST] = ['1900-01-01', '2999-12-31'];

function within<S>(first: CalendarDate, last: CalendarDate, of: (first: CalendarDate, last: CalendarDate) => S[]): S[] {
  const [from, to] = [first < EARLIEST ? EARLIEST : first, last > LATEST ? LATEST : last];
  return from <= to ? of(from, to) : [];
}

/** Whole buckets in the middle; each remaining end lies within one bucket. */
function cut(first: CalendarDate, last: CalendarDate, grain: RunningGrain) {
  const [startsWhole, endsWhole] = [first === bucketOf(first, grain), last === endOf(last, grain)];
  if (bucketOf(first, grain) === bucketOf(last, grain) && !(startsWhole && endsWhole))
    return { head: { first, last }, middle: null, tail: null };
  const begins = startsWhole ? first : shifted(endOf(first, grain), 1);
  const ends = endsWhole ? last : shifted(bucketOf(last, grain), -1);
  return {
    head: startsWhole ? null : { first, last: endOf(first, grain) },
    middle: begins <= ends ? { first: begins, last: ends } : null,
    tail: endsWhole ? null : { first: bucketOf(last, grain), last },
  };
}

function partOf(days: Days | null, grain: RunningGrain): RunningStretch[] {
  if (days === null) return [];
  const bucket = bucketOf(days.first, grain);
  const [before, through] = [stepOf(days.first, grain) - 1, stepOf(days.last, grain)];
  return [{ grain, first: bucket, last: bucket, before, through }];
}

function whole(years: Days | null): RunningStretch[] {
  if (years === null) return [];
  return [{ grain: 'year', first: years.first, last: bucketOf(years.last, 'year'), before: 0, through: 12 }];
}

/** The last day of the bucket that a day belongs to. */
function endOf(day: CalendarDate, grain: RunningGrain): CalendarDate {
  if (grain === 'year') return `${day.slice(0, 5)}12-31`;
  return new Date(Date.UTC(Number(day.slice(0, 4)), stepOf(day, 'year'), 0)).toISOString().slice(0, 10);
}

const DAY_MS = 86_400_000;

function shifted(day: CalendarDate, days: number): CalendarDate {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

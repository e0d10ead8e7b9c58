import type { CalendarDate } from '@ecf/domain';

/** The sizes of buckets. The first day of a bucket is its name. */
export const GRAINS = ['day', 'month'] as const;
export type Grain = (typeof GRAINS)[number];

/** Buckets of one grain, `first` and `last` included. */
export interface Stretch {
  readonly grain: Grain;
  readonly first: CalendarDate;
  readonly last: CalendarDate;
}

/** The first day of the bucket that a day belongs to. */
export function bucketOf(day: CalendarDate, grain: Grain): CalendarDate {
  return grain === 'day' ? day : `${day.slice(0, 8)}01`;
}

/** No document is older or younger: days beyond hold nothing. */
const [EARLIEST, LATEST] = ['1900-01-01', '2999-12-31'];

/** A period of days as whole months and the remaining days at both ends. */
export function monthsAndDays(first: CalendarDate, last: CalendarDate): Stretch[] {
  const [from, to] = [first < EARLIEST ? EARLIEST : first, last > LATEST ? LATEST : last];
  const begins = from === bucketOf(from, 'month') ? from : shifted(endOfMonth(from), 1);
  const ends = to === endOfMonth(to) ? to : shifted(bucketOf(to, 'month'), -1);
  if (begins > ends) return from <= to ? [{ grain: 'day', first: from, last: to }] : [];
  const stretches: Stretch[] = [
    { grain: 'day', first: from, last: shifted(begins, -1) },
    { grain: 'day', first: shifted(ends, 1), last: to },
    { grain: 'month', first: begins, last: bucketOf(ends, 'month') },
  ];
  return stretches.filter((stretch) => stretch.first <= stretch.last);
}

function endOfMonth(day: CalendarDate): CalendarDate {
  return new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)), 0)).toISOString().slice(0, 10);
}

const DAY_MS = 86_400_000;

function shifted(day: CalendarDate, days: number): CalendarDate {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

import type { CalendarDate } from '@ecf/domain';

/** Buckets of the sums of buyers, `first` and `last` included. The first day of a month names it. */
export interface Buckets {
  readonly grain: 'day' | 'month';
  readonly first: CalendarDate;
  readonly last: CalendarDate;
}

/** No document has an earlier or later date. */
const [EARLIEST, LATEST] = ['1900-01-01', '2999-12-31'];
const DAY_MS = 86_400_000;

/** A period of days as whole months and the remaining days at both ends. */
export function monthsAndDays(first: CalendarDate, last: CalendarDate): Buckets[] {
  const [from, to] = [first < EARLIEST ? EARLIEST : first, last > LATEST ? LATEST : last];
  const firstMonth = from === startOfMonth(from) ? from : shifted(endOfMonth(from), 1);
  const lastDay = to === endOfMonth(to) ? to : shifted(startOfMonth(to), -1);
  if (firstMonth > lastDay) return from <= to ? [{ grain: 'day', first: from, last: to }] : [];
  const buckets: Buckets[] = [
    { grain: 'day', first: from, last: shifted(firstMonth, -1) },
    { grain: 'day', first: shifted(lastDay, 1), last: to },
    { grain: 'month', first: firstMonth, last: startOfMonth(lastDay) },
  ];
  return buckets.filter((one) => one.first <= one.last);
}

function startOfMonth(day: CalendarDate): CalendarDate {
  return `${day.slice(0, 8)}01`;
}

function endOfMonth(day: CalendarDate): CalendarDate {
  return new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)), 0)).toISOString().slice(0, 10);
}

function shifted(day: CalendarDate, days: number): CalendarDate {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

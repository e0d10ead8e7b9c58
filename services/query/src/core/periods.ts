import type { CalendarDate } from '@ecf/domain';

/** The sizes in which sums are kept. A bucket is named by its first day. */
export type Grain = 'day' | 'month' | 'year';

/** Buckets of one grain, `first` and `last` included, that count for a period once (`sign` 1) or against it (-1). */
export interface Stretch {
  readonly grain: Grain;
  readonly first: CalendarDate;
  readonly last: CalendarDate;
  readonly sign: 1 | -1;
}

/** The first day of the bucket that a day belongs to. */
export function bucketOf(day: CalendarDate, grain: Grain): CalendarDate {
  return grain === 'day' ? day : grain === 'month' ? `${day.slice(0, 7)}-01` : `${day.slice(0, 4)}-01-01`;
}

/** Whole months, and the days left over at both ends: what a period of days is the exact sum of. */
export function monthsAndDays(first: CalendarDate, last: CalendarDate): Stretch[] {
  return within(first, last, (from, to) => split(from, to, 'month', days));
}

/**
 * Whole years, months and days with as few buckets as there need be: where most of a month or year belongs to the period,
 * it counts as a whole and the rest counts against it. For sums of what can be many per bucket.
 */
export function fewestBuckets(first: CalendarDate, last: CalendarDate): Stretch[] {
  const years: Splitter = (start, end) => split(start, end, 'year', (from, to) => nearWhole(from, to, 'year', months));
  return within(first, last, years);
}

/** No document is older or younger; what a caller names beyond holds nothing. */
const [EARLIEST, LATEST] = ['1900-01-01', '2999-12-31'];

function within(first: CalendarDate, last: CalendarDate, splitter: Splitter): Stretch[] {
  const [from, to] = [first < EARLIEST ? EARLIEST : first, last > LATEST ? LATEST : last];
  return from <= to ? splitter(from, to) : [];
}

function months(first: CalendarDate, last: CalendarDate): Stretch[] {
  return split(first, last, 'month', (from, to) => nearWhole(from, to, 'month', days));
}

function days(first: CalendarDate, last: CalendarDate): Stretch[] {
  return [{ grain: 'day', first, last, sign: 1 }];
}

type Splitter = (first: CalendarDate, last: CalendarDate) => Stretch[];

/** Whole buckets in the middle; what is left at the ends, always within one bucket, as `edge` has it. */
function split(first: CalendarDate, last: CalendarDate, grain: 'month' | 'year', edge: Splitter): Stretch[] {
  const [start, end] = [bucketOf(first, grain), endOf(last, grain)];
  const oneBucket = start === bucketOf(last, grain);
  if (oneBucket && (first !== start || last !== end)) return edge(first, last);
  const begins = first === start ? first : after(endOf(first, grain));
  const ends = last === end ? last : before(bucketOf(last, grain));
  return [
    ...(first < begins ? edge(first, before(begins)) : []),
    ...(begins <= ends ? [{ grain, first: begins, last: bucketOf(ends, grain), sign: 1 } as const] : []),
    ...(ends < last ? edge(after(ends), last) : []),
  ];
}

/** Part of one bucket: either its pieces, or the whole without the pieces that do not belong; whichever are fewer. */
function nearWhole(first: CalendarDate, last: CalendarDate, grain: 'month' | 'year', pieces: Splitter): Stretch[] {
  const [start, end] = [bucketOf(first, grain), endOf(first, grain)];
  const inside = pieces(first, last);
  const outside = [
    ...(start < first ? pieces(start, before(first)) : []),
    ...(last < end ? pieces(after(last), end) : []),
  ];
  if (bucketsIn(inside) <= bucketsIn(outside) + 1) return inside;
  return [
    { grain, first: start, last: start, sign: 1 },
    ...outside.map((stretch): Stretch => ({ ...stretch, sign: stretch.sign === 1 ? -1 : 1 })),
  ];
}

function bucketsIn(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { grain, first, last }) => sum + distance(first, last, grain), 0);
}

function distance(first: CalendarDate, last: CalendarDate, grain: Grain): number {
  if (grain === 'day') return (Date.parse(last) - Date.parse(first)) / DAY_MS + 1;
  const years = Number(last.slice(0, 4)) - Number(first.slice(0, 4));
  return grain === 'year' ? years + 1 : years * 12 + Number(last.slice(5, 7)) - Number(first.slice(5, 7)) + 1;
}

const DAY_MS = 86_400_000;

function after(day: CalendarDate): CalendarDate {
  return shifted(day, DAY_MS);
}

function before(day: CalendarDate): CalendarDate {
  return shifted(day, -DAY_MS);
}

function shifted(day: CalendarDate, ms: number): CalendarDate {
  return new Date(Date.parse(`${day}T00:00:00Z`) + ms).toISOString().slice(0, 10);
}

/** The last day of the bucket that a day belongs to. */
function endOf(day: CalendarDate, grain: 'month' | 'year'): CalendarDate {
  const [year, month] = [Number(day.slice(0, 4)), grain === 'year' ? 12 : Number(day.slice(5, 7))];
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10);
}

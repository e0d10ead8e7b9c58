import type { CalendarDate } from '@ecf/domain';

/** The sizes in which sums are kept, each made of whole ones of the size before. A bucket is named by its first day. */
export const GRAINS = ['day', 'third', 'month', 'quarter', 'year'] as const;
/** `third`: days 1 to 10, 11 to 20, 21 to the end of a month. */
export type Grain = (typeof GRAINS)[number];

/** Buckets of one grain, `first` and `last` included, that count for a period once (`sign` 1) or against it (-1). */
export interface Stretch {
  readonly grain: Grain;
  readonly first: CalendarDate;
  readonly last: CalendarDate;
  readonly sign: 1 | -1;
}

/** The first day of the bucket that a day belongs to. */
export function bucketOf(day: CalendarDate, grain: Grain): CalendarDate {
  const [year, month] = [day.slice(0, 4), day.slice(5, 7)];
  switch (grain) {
    case 'day':
      return day;
    case 'third':
      return `${year}-${month}-${day < `${year}-${month}-11` ? '01' : day < `${year}-${month}-21` ? '11' : '21'}`;
    case 'month':
      return `${year}-${month}-01`;
    case 'quarter':
      return `${year}-${twoDigits(Math.floor((Number(month) - 1) / 3) * 3 + 1)}-01`;
    case 'year':
      return `${year}-01-01`;
  }
}

/** Whole months, and the days left over at both ends: what a period of days is the exact sum of. */
export function monthsAndDays(first: CalendarDate, last: CalendarDate): Stretch[] {
  return within(first, last, (from, to) => split(from, to, 'month', days));
}

/**
 * As few buckets of all grains as there need be: where most of a bucket belongs to the period, it counts as a whole and the
 * rest counts against it. For sums of what can be many per bucket.
 */
export function fewestBuckets(first: CalendarDate, last: CalendarDate): Stretch[] {
  return within(first, last, cutters.year);
}

type Cutter = (first: CalendarDate, last: CalendarDate) => Stretch[];
type WholeGrain = Exclude<Grain, 'day'>;

function days(first: CalendarDate, last: CalendarDate): Stretch[] {
  return [{ grain: 'day', first, last, sign: 1 }];
}

/** How a period is cut with buckets up to a grain. */
const cutters = cuttersUpTo('year');

function cuttersUpTo(largest: Grain): Record<Grain, Cutter> {
  const all: Partial<Record<Grain, Cutter>> = { day: days };
  for (let size = 1; size <= GRAINS.indexOf(largest); size += 1) {
    const grain = GRAINS[size] as WholeGrain;
    const smaller = all[GRAINS[size - 1] as Grain] as Cutter;
    all[grain] = (first, last) => split(first, last, grain, (from, to) => nearWhole(from, to, grain, smaller));
  }
  return all as Record<Grain, Cutter>;
}

/** No document is older or younger; what a caller names beyond holds nothing. */
const [EARLIEST, LATEST] = ['1900-01-01', '2999-12-31'];

function within(first: CalendarDate, last: CalendarDate, cut: Cutter): Stretch[] {
  const [from, to] = [first < EARLIEST ? EARLIEST : first, last > LATEST ? LATEST : last];
  return from <= to ? cut(from, to) : [];
}

/** Whole buckets in the middle; what is left at the ends, always within one bucket, as `edge` has it. */
function split(first: CalendarDate, last: CalendarDate, grain: WholeGrain, edge: Cutter): Stretch[] {
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
function nearWhole(first: CalendarDate, last: CalendarDate, grain: WholeGrain, pieces: Cutter): Stretch[] {
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

/** How many buckets some stretches are. */
export function bucketsIn(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { grain, first, last }) => sum + distance(first, last, grain) + 1, 0);
}

/** Buckets from one to another of the same grain. */
function distance(first: CalendarDate, last: CalendarDate, grain: Grain): number {
  if (grain === 'day') return (Date.parse(last) - Date.parse(first)) / DAY_MS;
  const months = monthNumber(last) - monthNumber(first);
  if (grain === 'third') return months * 3 + thirdOf(last) - thirdOf(first);
  return months / { month: 1, quarter: 3, year: 12 }[grain];
}

const DAY_MS = 86_400_000;

function monthNumber(day: CalendarDate): number {
  return Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7));
}

function thirdOf(bucket: CalendarDate): number {
  return (Number(bucket.slice(8)) - 1) / 10;
}

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
function endOf(day: CalendarDate, grain: WholeGrain): CalendarDate {
  const start = bucketOf(day, grain);
  if (grain === 'third' && !start.endsWith('21')) return `${start.slice(0, 8)}${start.endsWith('01') ? '10' : '20'}`;
  const months = { third: 1, month: 1, quarter: 3, year: 12 }[grain];
  const [year, month] = [Number(start.slice(0, 4)), Number(start.slice(5, 7))];
  return new Date(Date.UTC(year, month - 1 + months, 0)).toISOString().slice(0, 10);
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

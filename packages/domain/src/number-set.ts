import { type EcfType, isEcfType } from './identifiers.js';

/** Numbers of one type from `from` to `to`, both included, by their ten-digit sequence. */
export interface NumberRange {
  readonly type: EcfType;
  readonly from: number;
  readonly to: number;
}

/** Sorted by type and number, with neighbours and overlaps joined. */
export function merged(ranges: readonly NumberRange[]): NumberRange[] {
  const result: NumberRange[] = [];
  for (const range of inOrder(ranges)) {
    const last = result.at(-1);
    if (last !== undefined && last.type === range.type && range.from <= last.to + 1) {
      if (range.to > last.to) result[result.length - 1] = { ...last, to: range.to };
    } else {
      result.push(range);
    }
  }
  return result;
}

/** The numbers of `ranges` that are not in `removed`; merged. */
export function without(ranges: readonly NumberRange[], removed: readonly NumberRange[]): NumberRange[] {
  const gone = merged(removed);
  const result: NumberRange[] = [];
  let next = 0;
  for (const range of merged(ranges)) {
    let from = range.from;
    while (next < gone.length && isBefore(gone[next] as NumberRange, range)) next += 1;
    for (let at = next; at < gone.length; at += 1) {
      const hole = gone[at] as NumberRange;
      if (hole.type !== range.type || hole.from > range.to) break;
      if (hole.from > from) result.push({ type: range.type, from, to: hole.from - 1 });
      from = Math.max(from, hole.to + 1);
    }
    if (from <= range.to) result.push({ type: range.type, from, to: range.to });
  }
  return result;
}

/** The numbers in both lists, merged. */
export function common(ranges: readonly NumberRange[], others: readonly NumberRange[]): NumberRange[] {
  return without(ranges, without(ranges, others));
}

/** Count of numbers in the ranges. A number in two ranges counts twice. */
export function count(ranges: readonly Pick<NumberRange, 'from' | 'to'>[]): number {
  let total = 0;
  for (const { from, to } of ranges) total += to - from + 1;
  return total;
}

/** `E` and twelve digits. */
export function encfOf(type: string, sequence: number): string {
  return `E${type}${String(sequence).padStart(10, '0')}`;
}

/** The range from first to last eNCF; null if their types differ or the first is after the last. */
export function rangeOf(first: string, last: string): NumberRange | null {
  const type = first.slice(1, 3);
  const [from, to] = [Number(first.slice(3)), Number(last.slice(3))];
  return isEcfType(type) && last.slice(1, 3) === type && from >= 1 && from <= to ? { type, from, to } : null;
}

/** The range as text for people. */
export function describe({ type, from, to }: NumberRange): string {
  return from === to ? encfOf(type, from) : `${encfOf(type, from)} to ${encfOf(type, to)}`;
}

export function inOrder<R extends NumberRange>(ranges: readonly R[]): R[] {
  return [...ranges].sort((one, other) =>
    one.type === other.type ? one.from - other.from : one.type < other.type ? -1 : 1,
  );
}

function isBefore(one: NumberRange, other: NumberRange): boolean {
  return one.type === other.type ? one.to < other.from : one.type < other.type;
}

interface RequestedRange extends NumberRange {
  readonly line: number;
  readonly range: number;
}

/** Ranges that overlap another one in the same request, by line and range (from 0). Malformed ranges are left out. */
export function findOverlaps(
  lines: readonly { readonly type: EcfType; readonly ranges: readonly number[] }[],
): { line: number; range: number; text: string }[] {
  const requested: RequestedRange[] = [];
  lines.forEach(({ type, ranges }, line) => {
    for (let at = 0; at < ranges.length; at += 2) {
      const [from, to] = [ranges[at] as number, ranges[at + 1] as number];
      if (from > 0 && to >= from) requested.push({ type, from, to, line, range: at / 2 });
    }
  });
  const found: { line: number; range: number; text: string }[] = [];
  let widest: RequestedRange | null = null;
  for (const range of inOrder(requested)) {
    const meets = widest !== null && widest.type === range.type && range.from <= widest.to;
    if (meets && widest !== null) {
      found.push({ line: range.line, range: range.range, text: `${describe(range)} overlaps ${describe(widest)}.` });
    }
    if (widest === null || widest.type !== range.type || range.to > widest.to) widest = range;
  }
  return found;
}

import type { EcfType } from '@ecf/domain';
import { describe, inOrder, type NumberRange } from './number-set.js';

interface PlacedRange extends NumberRange {
  readonly line: number;
  readonly range: number;
}

/** Ranges that hold a number of another one in the same request, by their place (from 0). Malformed ranges are left out. */
export function findOverlaps(
  lines: readonly { readonly type: EcfType; readonly ranges: readonly number[] }[],
): { line: number; range: number; text: string }[] {
  const placed: PlacedRange[] = [];
  lines.forEach(({ type, ranges }, line) => {
    for (let at = 0; at < ranges.length; at += 2) {
      const [from, to] = [ranges[at] as number, ranges[at + 1] as number];
      if (from > 0 && to >= from) placed.push({ type, from, to, line, range: at / 2 });
    }
  });
  const found: { line: number; range: number; text: string }[] = [];
  let widest: PlacedRange | null = null;
  for (const range of inOrder(placed)) {
    const meets = widest !== null && widest.type === range.type && range.from <= widest.to;
    if (meets && widest !== null) {
      found.push({ line: range.line, range: range.range, text: `${describe(range)} overlaps ${describe(widest)}.` });
    }
    if (widest === null || widest.type !== range.type || range.to > widest.to) widest = range;
  }
  return found;
}

import type { AnnulledRange } from '../ledger/submission.js';

/** The ranges without the others; in the order of the ranges, ascending within each. */
export function without(ranges: readonly AnnulledRange[], others: readonly AnnulledRange[]): AnnulledRange[] {
  const cuts = merged(others);
  return ranges.flatMap((range) => {
    const left: AnnulledRange[] = [];
    const ofType = cuts.get(range.type) ?? [];
    let from = range.from;
    for (let index = firstReaching(ofType, from); index < ofType.length; index++) {
      const cut = ofType[index];
      if (!cut || cut.from > range.to) break;
      if (cut.from > from) left.push({ type: range.type, from, to: cut.from - 1 });
      from = cut.to + 1;
    }
    if (from <= range.to) left.push({ type: range.type, from, to: range.to });
    return left;
  });
}

/** How many numbers the ranges have together. */
export function count(ranges: readonly AnnulledRange[]): number {
  return ranges.reduce((sum, { from, to }) => sum + to - from + 1, 0);
}

/** The same numbers, each in one range; ascending within a type. */
export function joined(ranges: readonly AnnulledRange[]): AnnulledRange[] {
  return [...merged(ranges).values()].flat();
}

/** The ranges of each type, ascending; overlapping ones are joined. */
function merged(ranges: readonly AnnulledRange[]): Map<string, AnnulledRange[]> {
  const byType = new Map<string, AnnulledRange[]>();
  for (const range of [...ranges].sort((a, b) => a.from - b.from)) {
    const list = byType.get(range.type) ?? [];
    const last = list.at(-1);
    if (last && range.from <= last.to) list[list.length - 1] = { ...last, to: Math.max(last.to, range.to) };
    else list.push(range);
    byType.set(range.type, list);
  }
  return byType;
}

/** Index of the first of the disjoint, ascending ranges that ends at the number or after it. */
function firstReaching(ranges: readonly AnnulledRange[], number: number): number {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.to ?? 0) < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

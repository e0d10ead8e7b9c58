import type { AnnulledRange } from '../ledger/submission.js';

/** What is left of the ranges when others are taken away; in the order of the ranges, ascending within each. */
export function without(ranges: readonly AnnulledRange[], others: readonly AnnulledRange[]): AnnulledRange[] {
  const cuts = [...others].sort((a, b) => a.from - b.from);
  return ranges.flatMap((range) => {
    const left: AnnulledRange[] = [];
    let from = range.from;
    for (const cut of cuts) {
      if (cut.type !== range.type || cut.to < from || cut.from > range.to) continue;
      if (cut.from > from) left.push({ type: range.type, from, to: cut.from - 1 });
      from = cut.to + 1;
    }
    if (from <= range.to) left.push({ type: range.type, from, to: range.to });
    return left;
  });
}

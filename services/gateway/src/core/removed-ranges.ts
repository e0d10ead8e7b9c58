import type { NumberRange } from '@ecf/contracts';
import { ApiError, InvalidRequest } from '@ecf/service-kit/errors';

/** Numbers of a range that the issuer used, cancelled or reserved. */
export interface UsedRange extends NumberRange {
  readonly used: number;
}

/**
 * The parts of `before` that `after` does not have in the same environment and type: the numbers that are no longer registered.
 * Ranges of one list do not overlap.
 */
export function removedRanges(before: readonly NumberRange[], after: readonly NumberRange[]): NumberRange[] {
  return before.flatMap((range) => {
    const kept = after
      .filter(({ env, ecf_type }) => env === range.env && ecf_type === range.ecf_type)
      .sort((a, b) => (a.from < b.from ? -1 : 1));
    const removed: NumberRange[] = [];
    let first = sequenceOf(range.from);
    const last = sequenceOf(range.to);
    for (const { from, to } of kept) {
      if (sequenceOf(to) < first || sequenceOf(from) > last) continue;
      if (sequenceOf(from) > first) removed.push(part(range, first, sequenceOf(from) - 1));
      first = sequenceOf(to) + 1;
    }
    if (first <= last) removed.push(part(range, first, last));
    return removed;
  });
}

/** The size of a range. */
export function sizeOf({ from, to }: Pick<NumberRange, 'from' | 'to'>): number {
  return sequenceOf(to) - sequenceOf(from) + 1;
}

/**
 * Refuses a new list of ranges that would remove all, with 422, or numbers that were used, with 409 `range_in_use`.
 *
 * @param used the ranges among the removed ones with numbers that were used
 */
export function requireRemovable(
  after: readonly NumberRange[],
  removed: readonly NumberRange[],
  used: UsedRange[],
): void {
  if (removed.length === 0) return;
  const inUse = used.length === 0 ? '' : ` Numbers of these ranges were used: ${named(used)}.`;
  if (after.length === 0) {
    const msg = `An empty list would remove every range.${inUse} Send the ranges that stay. Add ?remove=true to remove all of them.`;
    throw new InvalidRequest([{ loc: ['body'], msg, type: 'empty' }]);
  }
  if (used.length === 0) return;
  const detail = `The new list lacks numbers that were used, cancelled or reserved: ${named(used)}. Keep these ranges in the list. Add ?remove=true only if the numbers may no longer be registered.`;
  throw new ApiError(409, 'range_in_use', detail);
}

/** The sequence of a number that was checked. */
function sequenceOf(encf: string): number {
  return Number(encf.slice(3));
}

const MOST_NAMED = 10;

function named(used: readonly UsedRange[]): string {
  const names = used.slice(0, MOST_NAMED).map((one) => `${one.env} ${one.from} to ${one.to} (${one.used} used)`);
  return names.join(', ') + (used.length > MOST_NAMED ? `, and ${used.length - MOST_NAMED} more` : '');
}

function part(range: NumberRange, first: number, last: number): NumberRange {
  const encf = (sequence: number) => `E${range.ecf_type}${String(sequence).padStart(10, '0')}`;
  return { ...range, from: encf(first), to: encf(last) };
}

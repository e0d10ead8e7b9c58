import type { NumberRange } from '@ecf/contracts';
import { encfSequence } from '@ecf/domain';
import { count, encfOf, type NumberRange as Sequences, without } from '@ecf/domain/number-set';
import { ApiError, InvalidRequest } from '@ecf/kit';

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
    const kept = after.filter(({ env }) => env === range.env).map(sequences);
    return without([sequences(range)], kept).map(({ type, from, to }) => ({
      ...range,
      from: encfOf(type, from),
      to: encfOf(type, to),
    }));
  });
}

/** The size of a range. */
export function sizeOf(range: NumberRange): number {
  return count([sequences(range)]);
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

function sequences({ ecf_type: type, from, to }: NumberRange): Sequences {
  return { type, from: encfSequence(from) ?? 0, to: encfSequence(to) ?? 0 };
}

const MOST_NAMED = 10;

function named(used: readonly UsedRange[]): string {
  const names = used.slice(0, MOST_NAMED).map((one) => `${one.env} ${one.from} to ${one.to} (${one.used} used)`);
  return names.join(', ') + (used.length > MOST_NAMED ? `, and ${used.length - MOST_NAMED} more` : '');
}

import { EMISSION_STATES } from '@ecf/domain';
import type { Attempt } from './attempt.js';

/** What a request for a number means, given what is known under it. */
export type Repeat =
  /** Nothing is known under the number. */
  | 'first'
  /** What was there is over and left the number free: a new attempt. */
  | 'new-attempt'
  /** The same document again: the stored answer, with its present status. */
  | 'same'
  /** Another document under a number that is taken. */
  | 'conflict';

/**
 * Decides about a number that may have been used. A rejected document with a reusable number, or a withdrawn one, makes
 * room for the same or another content; everything else is kept as it is. Of equal requests that came together the first one's
 * rejection is the answer to all: none of them asked for a further attempt.
 *
 * @param isSame whether the stored document is the one of the request
 * @param since when the one began that the request found at work on its number; null where there was none
 */
export function decideRepeat(
  existing: Attempt | null,
  isSame: (existing: Attempt) => boolean,
  since: Date | null,
): Repeat {
  if (existing === null) return 'first';
  const { decided, sequenceUsed } = EMISSION_STATES[existing.state];
  if (decided && sequenceUsed === false)
    return isRejectedSince(existing, since) && isSame(existing) ? 'same' : 'new-attempt';
  return isSame(existing) ? 'same' : 'conflict';
}

function isRejectedSince({ state, committedAt }: Attempt, since: Date | null): boolean {
  return since !== null && state === 'rejected-reusable' && committedAt >= since;
}

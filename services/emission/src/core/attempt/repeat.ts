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
 * Decides about a number that may have been used. A rejected document with a reusable number, or a withdrawn one, makes room
 * for the same or another content; everything else is kept as it is.
 *
 * @param isSame whether the stored document is the one of the request
 * @param lostRace whether another request took the number while this one was at work. An equal document that was rejected
 * meanwhile is the answer to both: neither asked for a further attempt.
 */
export function decideRepeat(
  existing: Attempt | null,
  isSame: (existing: Attempt) => boolean,
  lostRace: boolean,
): Repeat {
  if (existing === null) return 'first';
  const { decided, sequenceUsed } = EMISSION_STATES[existing.state];
  const isFree = decided && sequenceUsed === false;
  if (isFree && !(lostRace && existing.state === 'rejected-reusable' && isSame(existing))) return 'new-attempt';
  return isSame(existing) ? 'same' : 'conflict';
}

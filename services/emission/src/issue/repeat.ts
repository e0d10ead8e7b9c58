import { EMISSION_STATES } from '@ecf/domain';
import type { Attempt } from '../attempt/attempt.js';
import type { Comparison } from './compare-documents.js';

/** The meaning of a request for a number, by the attempt that is stored under it. */
export type Repeat =
  /** The number has no stored attempt. */
  | { readonly outcome: 'first' }
  /** The last attempt has ended and left the number free: a new attempt. */
  | { readonly outcome: 'new-attempt' }
  /** The same document again: the stored answer with the present status. */
  | { readonly outcome: 'same'; readonly existing: Attempt }
  /** Another document under a number that is taken. */
  | { readonly outcome: 'conflict'; readonly existing: Attempt; readonly comparison: Comparison };

/**
 * A rejected document with a reusable number, or a withdrawn one, makes room for the same or another content. Everything else
 * stays as it is.
 *
 * @param compare compares the document of the request with the stored one
 * @param lostRace whether another request took the number meanwhile. An equal document that was rejected meanwhile is then the
 * answer to both requests, because neither was sent to retry it.
 */
export async function decideRepeat(
  existing: Attempt | null,
  compare: (existing: Attempt) => Promise<Comparison>,
  lostRace: boolean,
): Promise<Repeat> {
  if (existing === null) return { outcome: 'first' };
  const { decided, sequenceUsed } = EMISSION_STATES[existing.state];
  const isFree = decided && sequenceUsed === false;
  if (isFree && !(lostRace && existing.state === 'rejected-reusable')) return { outcome: 'new-attempt' };
  const comparison = await compare(existing);
  if (comparison.count === 0) return { outcome: 'same', existing };
  return isFree ? { outcome: 'new-attempt' } : { outcome: 'conflict', existing, comparison };
}

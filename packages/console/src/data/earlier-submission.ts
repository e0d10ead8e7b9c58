import { isRefusedAsRepeat, type NumberVerdict } from '@ecf/domain';

/** The code of the authority for a number that an earlier submission has. */
export const NUMBER_USED = '1209';

interface Refusal extends Pick<NumberVerdict, 'status' | 'messages'> {
  readonly sequence_used: boolean | null;
}

/**
 * Whether the authority refused the document because it has an earlier submission of the number. That may be the same sale, which
 * another number would issue twice.
 */
export function hasEarlierSubmission(refusal: Refusal): boolean {
  return refusal.sequence_used !== false && isRefusedAsRepeat(refusal);
}

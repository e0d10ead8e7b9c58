import type { ApprovalAnswer } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { shownSigner } from '@ecf/public-ingress/signed-document';
import { statusWord } from '../given/given-approval.js';
import type { NewReceivedApproval, ReceivedAnswer } from './ports.js';

type Confirmable = Pick<NewReceivedApproval, 'confirmed'>;

/**
 * Whether a new answer counts instead of the present one. The first answer counts, even if a stranger signed it. Only the
 * answer of a known signer replaces another answer, and only one that a stranger signed.
 */
export function replaces(answer: Confirmable, present: Confirmable | null): boolean {
  return present === null || (answer.confirmed && !present.confirmed);
}

/** An answer as the interface shows it. */
export function publicAnswer(answer: ReceivedAnswer): ApprovalAnswer {
  return {
    id: answer.id,
    approval_status: statusWord(answer.decision),
    rejection_reason: answer.reason,
    received_at: toIsoDominican(answer.receivedAt),
    signer: shownSigner(answer.signer, answer.confirmed),
    confirmed: answer.confirmed,
    counts: answer.counts,
  };
}

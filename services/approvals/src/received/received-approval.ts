import type { ApprovalAnswer, AuditAct } from '@ecf/contracts';
import { type Environment, toIsoDominican } from '@ecf/domain';
import { type SignerFacts, shownSigner } from '@ecf/public-ingress/signed-document';
import { type DecisionKey, statusWord } from '../given/given-approval.js';
import type { StoredBytes } from '../sending/outgoing.js';

/** A buyer's answer (ACECF) to one of our e-CF, before it has an id. */
export interface NewReceivedApproval {
  readonly key: DecisionKey;
  readonly accountId: string;
  readonly decision: 1 | 2;
  readonly reason: string | null;
  readonly decidedAt: Date;
  readonly receivedAt: Date;
  readonly bytes: number;
  readonly xml: StoredBytes;
  readonly signer: SignerFacts;
  /** The signer is known for the buyer. */
  readonly confirmed: boolean;
  /** SHA-256 of the verified content and its signature value. */
  readonly contentSha256: string | null;
  readonly canonical: 'as-is' | 'whitespace-dropped';
  readonly requestId: string;
  readonly sender: string | null;
}

export interface StoredApproval extends NewReceivedApproval {
  readonly id: number;
  /** It is the answer that decides the approval status of its e-CF. */
  readonly counts: boolean;
}

/** An operator's decision whether an answer counts. */
export interface OperatorDecision {
  readonly counts: boolean;
  readonly reason: string;
  readonly at: Date;
  /** For the audit log; committed with the decision. */
  readonly act: AuditAct | null;
}

/** An approval of one of our e-CF that was answered with 400. */
export interface NewRefusedApproval {
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly encf: string;
  readonly buyerRnc: string | null;
  readonly reason: string;
  readonly receivedAt: Date;
  readonly bytes: number;
  readonly sha256: string;
  /** Null where a quota did not allow us to keep the bytes. */
  readonly xmlPath: string | null;
  readonly requestId: string;
  readonly sender: string | null;
}

type Confirmable = Pick<NewReceivedApproval, 'confirmed'>;

/**
 * Whether a new answer counts instead of the present one. The first answer counts, even if a stranger signed it. Only the
 * answer of a known signer replaces another answer, and only one that a stranger signed.
 */
export function replaces(answer: Confirmable, present: Confirmable | null): boolean {
  return present === null || (answer.confirmed && !present.confirmed);
}

/** An answer as the interface shows it. */
export function publicAnswer(answer: StoredApproval): ApprovalAnswer {
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

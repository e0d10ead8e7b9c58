import type { AuditAct } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { SignerFacts, SignerUse } from '@ecf/public-ingress';
import type { DecisionKey } from '../given/given-approval.js';
import type { StoredBytes } from '../sending/outgoing.js';
import type { ApprovalValidationResult } from './validate-approval.js';

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
  /** SHA-256 of the verified content; null where the answer came before it was stored. */
  readonly contentSha256: string | null;
  readonly canonical: 'as-is' | 'whitespace-dropped';
  readonly requestId: string;
  readonly sender: string | null;
}

export interface ReceivedAnswer extends NewReceivedApproval {
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

/**
 * Answers of buyers. None is deleted. A change of the answer that counts appends `approval.changed` to the outbox in the same
 * transaction.
 */
export interface ReceivedApprovalStore {
  /** The answer that counts. */
  find(key: Omit<DecisionKey, 'buyerRnc'>): Promise<ReceivedAnswer | null>;
  /** All answers to an e-CF, oldest first; of more than a thousand, the one that counts and those of known signers first. */
  answers(key: Omit<DecisionKey, 'buyerRnc'>): Promise<ReceivedAnswer[]>;
  /** The bytes of an answer with equal verified content; null if there is none. */
  equalTo(key: Omit<DecisionKey, 'buyerRnc'>, contentSha256: string | null): Promise<StoredBytes | null>;
  /** Where identical bytes of an answer or a refused one are kept; null if they were refused and not kept, undefined if new. */
  pathOf(key: Omit<DecisionKey, 'buyerRnc'>, sha256: string): Promise<string | null | undefined>;
  /** Commits an answer that counts, with its bytes; false, without storing it, if another one continues to count. */
  add(approval: NewReceivedApproval, bytes: Uint8Array): Promise<boolean>;
  /**
   * Commits a refusal. `bytes` are stored if it names a path, null if they are kept already; `answer` does not count,
   * null without one.
   */
  refuse(refusal: NewRefusedApproval, bytes: Uint8Array | null, answer: NewReceivedApproval | null): Promise<void>;
  /** Commits an operator's decision; null if the account has no such answer. */
  decide(id: number, accountId: string, decision: OperatorDecision): Promise<ReceivedAnswer | null>;
}

/** Validates approvals in workers, within bounds on time and memory; rejects with `service_unavailable` beyond them. */
export interface ApprovalValidation {
  /** Rejects with UnreadableApproval where the bytes are not XML. */
  approval(bytes: Uint8Array, now: Date): Promise<ApprovalValidationResult>;
}

/** Signers who are known for a buyer: they signed an ARECF of the buyer to us, or an e-CF of the buyer that was confirmed. */
export interface KnownSigners {
  /** For each use, whether the signer was known before. */
  areKnown(uses: readonly SignerUse[]): Promise<boolean[]>;
  /** The authority confirmed an e-CF with this signer. Its answers in the name of the RNC are confirmed. */
  confirmed(use: SignerUse): Promise<void>;
}

import type { SignerUse } from '@ecf/public-ingress';
import type { DecisionKey } from '../given/given-approval.js';
import type { StoredBytes } from '../sending/outgoing.js';
import type { NewReceivedApproval, NewRefusedApproval, OperatorDecision, StoredApproval } from './received-approval.js';
import type { ApprovalValidationResult } from './validate-approval.js';

/**
 * Answers of buyers. None is deleted. A change of the answer that counts appends `approval.changed` to the outbox in the same
 * transaction.
 */
export interface ReceivedApprovalStore {
  /** The answer that counts. */
  find(key: Omit<DecisionKey, 'buyerRnc'>): Promise<StoredApproval | null>;
  /** All answers to an e-CF, oldest first; of more than a thousand, the one that counts and those of known signers first. */
  answers(key: Omit<DecisionKey, 'buyerRnc'>): Promise<StoredApproval[]>;
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
  decide(id: number, accountId: string, decision: OperatorDecision): Promise<StoredApproval | null>;
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

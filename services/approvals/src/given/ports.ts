import type { AuditAct } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { Claimed, Ending } from '../sending/outgoing.js';
import type { Admission } from './admission.js';
import type { DecisionKey, GivenApproval, NewApproval } from './given-approval.js';

/** The recipient of a send. */
export type Target = 'authority' | 'issuer';

/** An answer of the authority or of an issuer, unchanged. */
export interface Exchange {
  readonly at: Date;
  readonly outcome: string;
  readonly httpStatus: number | null;
  readonly contentType: string | null;
  readonly body: string | null;
}

/** The record, with the sends that the caller holds; or the earlier decision that forbids it. */
export type Admitted =
  | { readonly added: GivenApproval; readonly sends: readonly Claimed[] }
  | { readonly refused: Admission };

/** Selects the decisions of a buyer. */
export interface ApprovalFilter {
  readonly env: Environment;
  readonly buyerRnc: string;
  readonly issuerRnc: string | null;
  readonly encf: string | null;
  /** Only decisions that the authority has not answered, or that did not reach the issuer. */
  readonly open: boolean;
  readonly limit: number;
  readonly offset: number;
}

/**
 * Commercial approvals that our taxpayers give. A change of the standing decision of a document appends `approval.changed` to
 * the outbox in the same transaction.
 */
export interface ApprovalStore {
  /** All records about a document, oldest first. */
  about(key: DecisionKey): Promise<GivenApproval[]>;
  /**
   * Commits a new record with its signed bytes, unless an earlier decision about the document forbids it. With `claimedUntil`
   * it is to be sent, and the caller holds the lease of its sends until then.
   */
  add(approval: NewApproval, bytes: Uint8Array, claimedUntil: Date | null): Promise<Admitted>;
  /** Marks an unsent record to be sent, under the same conditions. */
  submit(id: number, claimedUntil: Date, at: Date): Promise<Admitted>;
  /**
   * A document took the number of `key` at `at`, because the authority confirmed it. Decisions about the one before it are
   * superseded, and the status is pending again. Repeating it changes nothing.
   * @param documentId id of the document that holds the number now
   */
  documentPromoted(key: DecisionKey, documentId: number, at: Date): Promise<void>;
  /**
   * Records how a send ended. After a later send or a decision of the recipient it counts only if the document was accepted. The
   * fact that it may have arrived is always recorded. Throws Unwritable.
   */
  conclude(send: Claimed, ending: Ending, exchange: Exchange): Promise<void>;
  /**
   * Records an operator's finding about a record without the authority's decision. It is not sent there again, and no later
   * answer changes it. Null where it is decided or was not to be sent.
   */
  settle(
    id: number,
    status: 'Aceptado' | 'Rechazado',
    note: string,
    at: Date,
    act: AuditAct | null,
  ): Promise<GivenApproval | null>;
  /**
   * Makes a standing decision due at its issuer immediately, with a deadline counted from `at`. Null if another decision
   * counts or none does, if the issuer has the approval, or if it is not sent to the issuer.
   */
  retry(id: number, at: Date, act: AuditAct | null): Promise<GivenApproval | null>;
  /** By id: without the authority's decision, settled by an operator, or not delivered to the issuer. */
  listed(filter: {
    readonly env: Environment | null;
    readonly issuerRnc: string | null;
    readonly which: 'undecided' | 'settled' | 'undelivered';
    readonly after: number;
    readonly limit: number;
  }): Promise<GivenApproval[]>;
  find(id: number): Promise<GivenApproval | null>;
  /** Newest first by creation, then id. */
  list(filter: ApprovalFilter): Promise<GivenApproval[]>;
  /** The number of undecided records at a target, and the age of the oldest. Issuers without receiver do not count. */
  backlog(): Promise<{ target: Target; count: number; oldest: Date | null }[]>;
}

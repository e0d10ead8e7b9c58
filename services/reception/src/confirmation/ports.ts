import type { PendingDocument } from '@ecf/archive';
import type { DueWorkStore } from '@ecf/postgres/due-work';
import type { NewReceivedDocument } from '../receive/received-document.js';
import type { AnsweredConfirmation, AuthorityState, Competitor, Confirmation } from './confirmation.js';

/** Queries the authority as the buyer. If there is no answer, it logs the reason and resolves with null. */
export type QueryState = (document: Confirmation) => Promise<AuthorityState | null>;

/** Documents about which the authority is queried. A change of a received document is published in the same transaction. */
export interface ConfirmationStore extends DueWorkStore<Confirmation> {
  /**
   * Records an answer. A document that holds its number is `confirmed` or `disputed` by its last answer, which is published
   * and returned. A document that competes for a number is neither: null.
   */
  answered(answer: AnsweredConfirmation): Promise<'confirmed' | 'disputed' | null>;
  /** Records a query without answer. */
  unanswered(documentId: number, dueAt: Date): Promise<void>;
  /** Null if the document holds its number, or no longer competes. */
  competitor(documentId: number): Promise<Competitor | null>;
  /**
   * Gives a confirmed competitor the number: it becomes the received document under its own id, and the former one competes.
   * Its approval is pending again. False, without any change, if the holder was confirmed meanwhile.
   */
  promote(promotion: Promotion): Promise<boolean>;
}

export interface Promotion {
  readonly documentId: number;
  readonly document: NewReceivedDocument;
  /** The bytes of the new acknowledgement. */
  readonly files: readonly PendingDocument[];
  readonly at: Date;
}

/** Reports to the operators. */
export interface ConfirmationReport {
  /** The authority answered, or gave no answer (null). */
  queried(env: Confirmation['env'], status: string | null): void;
  disputed(document: Confirmation, status: 'rejected' | 'unknown'): void;
  promoted(document: Confirmation): void;
}

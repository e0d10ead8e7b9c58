import type { PendingDocument } from '@ecf/archive';
import type { ReceivedInvoiceDecision } from '@ecf/contracts';
import type { StartedRun } from '@ecf/taxpayer-replica';
import type {
  DocumentKey,
  NewReceivedDocument,
  NewRefusedDocument,
  NumberHolder,
  StoredBytes,
} from './received-document.js';
import type { ValidationResult } from './validate-document.js';

/**
 * Received and refused documents. A change of a received document also appends `received_invoice.changed` to the outbox,
 * in the same transaction.
 */
export interface DocumentStore {
  /** Which document holds a number. */
  holder(key: DocumentKey): Promise<NumberHolder | null>;
  /** Commits a document with the bytes of `files` and gives its id. Null, without storing it, if the number is taken. */
  add(document: NewReceivedDocument, files: readonly PendingDocument[]): Promise<number | null>;
  /**
   * Commits a refusal with the bytes of `files`. Motive 3 with other bytes than the document that holds the number is a
   * conflict of that document. The same bytes, or the same signed content, are one conflict, however often they come. A
   * listed conflict changes the document.
   */
  refuse(refusal: NewRefusedDocument, files: readonly PendingDocument[]): Promise<void>;
  /** Whether a document under this number was refused for this reason before. */
  wasRefused(refusal: DocumentKey & Pick<NewRefusedDocument, 'motive' | 'reason'>): Promise<boolean>;
  /**
   * The document with these bytes, or with this signed content, that competes with a received one: its bytes, null
   * where they were not kept, and whether the authority confirmed it. Null where there is none.
   */
  competitor(
    holderId: number,
    document: Pick<NewRefusedDocument, 'sha256' | 'contentSha256'>,
  ): Promise<{ kept: StoredBytes | null; confirmed: boolean } | null>;
  /** The kept bytes of a refused document under a number with this signed content. Null where there are none. */
  keptRefusal(key: DocumentKey, contentSha256: string): Promise<StoredBytes | null>;
  /** Notes when answers to documents, by id, left completely. The first note stays. */
  noteAnswered(answers: readonly (readonly [id: number, at: Date])[]): Promise<void>;
}

/** What events of other services change in the received documents. */
export interface DecisionStore {
  /** Records the buyer's decision, unless it is older than the last one. `eventId` makes a repeat have no effect. */
  decide(decision: ReceivedInvoiceDecision, eventId: string): Promise<void>;
  /**
   * Starts a certification run: documents that came to the taxpayer, or from it, before the start belong to the run before. They
   * are kept, and no later look-up finds them.
   */
  start(run: StartedRun): Promise<void>;
}

/** Validates documents in workers, within bounds on time and memory. Rejects with ReceptionError `unavailable` beyond them. */
export interface DocumentValidation {
  /** Rejects with ReceptionError `unreadable_document` where no acknowledgement is possible. */
  document(bytes: Uint8Array, now: Date): Promise<ValidationResult>;
}

/** Reports failures to the operators. */
export interface Observer {
  failed(what: string, error: unknown): void;
}

export interface ReceptionSettings {
  /** Longest refused document that is kept. */
  readonly maxRefusedBytes: number;
  /** Bytes of documents that compete for one number and are kept. */
  readonly maxCompetingBytes: number;
  /** Whether certificates of senders must lead to a trusted issuer. */
  readonly requireTrustedIssuer: boolean;
}

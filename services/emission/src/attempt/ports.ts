import type { PendingDocument } from '@ecf/archive';
import type { AuditAct } from '@ecf/contracts';
import type { EmissionState } from '@ecf/domain';
import type { ClaimRequest } from '@ecf/postgres/due-work';
import type { Caller } from '@ecf/taxpayer-replica';
import type { Drawn, KeyBinding } from '../numbers/ports.js';
import type { AlarmKind, Attempt, DocumentKey, PastSubmission } from './attempt.js';

/** One answer of the authority about an attempt, kept for the audit trail. */
export interface RecordedExchange {
  readonly operation: string;
  readonly at: Date;
  /** `verdict`, `unauthorized`, `unknown:<cause>`, `refused:<code>`. */
  readonly outcome: string;
  readonly httpStatus: number | null;
  readonly contentType: string | null;
  readonly body: string | null;
}

/** A note that changes the balance of the document it modifies. Amounts are decimal text. */
export interface RelatedNote {
  readonly encf: string;
  readonly ecfType: string;
  readonly state: EmissionState;
  readonly totalAmount: string;
}

/** What uses a number. */
export interface NumberUse {
  /** The latest attempt under it. */
  readonly attempt: Attempt | null;
  /** Whether it was used in a month that is detached from the database, so its attempts cannot be read. */
  readonly isDetached: boolean;
  /** The id of the cancellation that covers it. */
  readonly cancelledBy: number | null;
  /** The certification run to which the number belongs. */
  readonly run: number;
}

/**
 * Emissions with their latest attempt. Every method that changes an attempt also appends `invoice.changed` to the outbox,
 * in the same transaction, unless only the schedule changed.
 */
export interface EmissionStore {
  /** The id of a new emission; gaps are fine. */
  nextId(): Promise<number>;
  /** The latest attempt under a number. */
  find(key: DocumentKey): Promise<Attempt | null>;
  /** The latest attempt under a number, and the cancellation that covers it. */
  findNumber(key: DocumentKey): Promise<NumberUse>;
  /**
   * Commits an attempt made by `beginAttempt` with its signed bytes, and the emission if it is the first. False if
   * the number was taken or cancelled meanwhile. Durable when it resolves.
   *
   * @param notesFound for a credit note, how many attempts of notes its check found; false if there are others by now, on any
   * instance
   * @param binding the idempotency key, which the commit binds; false also if it is bound already, or if the reservation of a
   * drawn number ended
   */
  begin(
    attempt: Attempt,
    sealedCertificate: Uint8Array | null,
    files: readonly PendingDocument[],
    notesFound?: number | null,
    binding?: Drawn | KeyBinding | null,
  ): Promise<boolean>;
  /** The submission history of the number, oldest first, also the entries that are not kept with the attempt. */
  submissionHistory(attempt: Attempt): Promise<readonly PastSubmission[]>;
  /** Replaces `before` by `after` and stores the exchanges. After a concurrent change it stores neither and returns false. */
  save(
    before: Attempt,
    after: Attempt,
    exchanges: readonly RecordedExchange[],
    /** The action of an administrator, for the audit log. */
    act?: AuditAct | null,
  ): Promise<boolean>;
  /** Stores answers that came too late to change their attempt, because a later one has the number. */
  keepExchanges(attempt: Attempt, exchanges: readonly RecordedExchange[]): Promise<void>;
  /** Leases at most `limit` due attempts to `owner` until `until`, earliest first. */
  claimDue(request: ClaimRequest & { readonly owner: string }): Promise<Attempt[]>;
  sealedCertificate(attempt: Attempt): Promise<Uint8Array | null>;
  /** Erases the certificate that came along with an accepted document. */
  eraseCertificate(key: DocumentKey): Promise<void>;
  /** Our notes that modify the document, and the number of all their attempts, which only grows. */
  notesOn(key: DocumentKey): Promise<{ readonly notes: readonly RelatedNote[]; readonly attempts: number }>;
  /** Another taxpayer of the account, for which the key may act, that issued the number; null if there is none. */
  otherIssuer(caller: Pick<Caller, 'accountId' | 'taxpayers'>, key: DocumentKey): Promise<string | null>;
  /** Makes attempts of the issuer due now that wait for a certificate. */
  resume(issuerRnc: string): Promise<void>;
  /** Undecided attempts by state and by alarm, and when the oldest was committed. */
  backlog(): Promise<Backlog>;
}

export interface Backlog {
  readonly undecided: readonly { state: EmissionState; count: number }[];
  readonly alarms: readonly { kind: AlarmKind; count: number }[];
  readonly oldestCommittedAt: Date | null;
}

/** Metrics and log lines for operators. */
export interface Observer {
  signed(seconds: number): void;
  submitted(attempt: Attempt, outcome: string): void;
  decided(attempt: Attempt): void;
  alarm(attempt: Attempt): void;
  /** An answer to a query about `attempt` named another document and was not used. */
  mismatchedAnswer(attempt: Attempt, detail: string): void;
  failed(what: string, error: unknown, attempt?: Attempt): void;
}

/** Steps at which tests end a process. */
export type Checkpoint =
  | 'drawn'
  | 'signed'
  | 'committed'
  | 'sent'
  | 'recorded'
  | 'claimed'
  | 'resend-committed'
  | 'looked-up';

/** Called between steps; does nothing outside tests. */
export type ReachCheckpoint = (step: Checkpoint) => Promise<void> | void;

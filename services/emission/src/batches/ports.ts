import type { LineStatus } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { Batch, BatchLine, DueLine, LineOrder, LineOutcome, NewBatch, NewLine, Postponed } from './batch.js';

/** The batches of an account in an environment. */
export interface BatchScope {
  readonly accountId: string;
  readonly env: Environment;
  /** A key that is limited to taxpayers sees the batches of keys that were limited to the same ones or fewer. */
  readonly taxpayers?: readonly string[] | undefined;
}

export interface ResultPage {
  readonly after: number;
  readonly limit: number;
  readonly only: LineStatus | null;
}

/** A batch with the checksum of its body. */
export interface ReceivedBatch {
  readonly id: number;
  readonly total: number;
  readonly sha256: string;
  /** SHA-256 of the contents of its lines. */
  readonly contentHash: string;
  readonly validate: boolean;
}

/** The lines of batches that accounts may work on in a second, over all instances. */
export interface LineRate {
  /** Counts a line. Null = it may be issued; else the time when the account may issue again. */
  count(accountId: string): Promise<Date | null>;
  /** The accounts that may not issue at present, and when the first of them may again. */
  exhausted(): { readonly accountIds: readonly string[]; readonly firstFree: Date | null };
}

/** The work that is left, of all instances. */
export interface BatchBacklog {
  /** Batches that are not finished. */
  readonly batches: number;
  /** Lines without an outcome. */
  readonly lines: number;
  /** When the oldest batch with such a line came; null if there is none. */
  readonly oldestCreatedAt: Date | null;
}

export interface BatchStore {
  /** A batch whose lines follow. It is invisible until {@link BatchStore.receive}. */
  begin(batch: NewBatch): Promise<number>;
  addLines(id: number, accountId: string, lines: readonly NewLine[]): Promise<void>;
  /**
   * The body is complete: the batch is visible and its lines are due. Null if another batch took the idempotency key
   * meanwhile; its lines are not due then.
   */
  receive(
    received: Omit<ReceivedBatch, 'validate'>,
    order: readonly LineOrder[],
    now: Date,
  ): Promise<ReceivedBatch | null>;
  /** Removes a batch that was not received. */
  discard(id: number): Promise<void>;
  /**
   * Deletes batches whose body began to arrive a day ago and did not end, and batches that finished 30 days ago, with their
   * lines. A call deletes at most the batches of one day.
   */
  deleteExpired(now: Date): Promise<void>;
  findByKey(scope: BatchScope, idempotencyKey: string): Promise<ReceivedBatch | null>;
  /**
   * Leases lines that are due and whose preceding lines have ended. Accounts with due lines get equal shares of `limit`, each
   * in the order of its batches and lines. The accounts take turns in the order of their ids, beginning after `afterAccount`;
   * the result is in this order. Lines of `except`, accounts, are passed over.
   */
  claimDue(request: {
    readonly now: Date;
    readonly until: Date;
    readonly limit: number;
    readonly except?: readonly string[];
    readonly afterAccount?: string;
  }): Promise<DueLine[]>;
  /** Extends the leases of lines without an outcome. */
  renew(lines: readonly DueLine[], until: Date): Promise<void>;
  /** The attempt that an interrupted line made; null if it made none. */
  attemptOf(line: DueLine): Promise<LineOutcome | null>;
  /** Stores the outcome of a line, once. */
  record(line: DueLine, outcome: LineOutcome): Promise<void>;
  /** A reading of the line's large document begins, or has ended, with whatever result. */
  countReading(line: DueLine, reading: 'begins' | 'ended'): Promise<void>;
  /** The line is due again later, unless its batch was cancelled meanwhile and its number cannot be used. */
  postpone(line: DueLine, postponed: Postponed): Promise<void>;
  /** Leases batches whose lines are to be counted. */
  claimCounts(request: { readonly now: Date; readonly until: Date; readonly limit: number }): Promise<number[]>;
  /** Counts the lines. If all are final, the batch is finished, which is published; else the next count is due at `next`. */
  count(id: number, now: Date, next: Date): Promise<void>;
  backlog(): Promise<BatchBacklog>;
  find(scope: BatchScope, id: number): Promise<Batch | null>;
  /** Newest first, with ids below `after`. */
  list(scope: BatchScope, page: { after: number | null; limit: number }): Promise<Batch[]>;
  results(id: number, page: ResultPage): Promise<BatchLine[]>;
  /** Refuses the lines that were not begun. */
  cancel(id: number, now: Date): Promise<void>;
}

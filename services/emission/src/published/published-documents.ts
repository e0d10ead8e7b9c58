import type { Environment } from '@ecf/domain';
import type { Attempt, DocumentKey, PastSubmission } from '../attempt/attempt.js';
import type { RecordedExchange } from '../ports.js';

/** Documents that changed. The next query passes `cursor`. */
export interface RecentChanges {
  readonly cursor: string;
  /** The present certification run of the issuer, to which the changes belong. */
  readonly run: number;
  /** False if there were more changes than one answer holds. */
  readonly complete: boolean;
  readonly changes: readonly { encf: string; revision: number }[];
}

/** Queries of other services, beside the published events. */
export interface PublishedDocuments {
  /**
   * Changes of an issuer since the answer with the cursor. Null returns all that are kept: those of a quarter of an
   * hour, and those whose event is not published yet.
   */
  recent(issuer: Pick<DocumentKey, 'env' | 'issuerRnc'>, cursor: string | null): Promise<RecentChanges>;
  find(env: Environment, numbers: readonly Omit<DocumentKey, 'env'>[]): Promise<Attempt[]>;
  /** The document with an attempt that was submitted under the trackId; null if it is none of ours. */
  findSubmission(env: Environment, trackId: string): Promise<Attempt | null>;
  /** The submission history of the number, oldest first, also the entries that are not kept with the attempt. */
  submissionHistory(attempt: Attempt): Promise<readonly PastSubmission[]>;
  /** In the order of ids, after the id `after`. */
  page(after: number, limit: number): Promise<Attempt[]>;
  /** Documents that the authority has not decided yet, in the order of ids, after the id `after`. */
  awaited(after: number, limit: number): Promise<Attempt[]>;
  /** All answers of the authority about a document, oldest first. */
  exchanges(key: DocumentKey): Promise<(RecordedExchange & { readonly attempt: number })[]>;
  /** Documents with an alarm, in the order of ids, after the id `after`. */
  alarmed(
    of: { readonly env: Environment | null; readonly issuerRnc: string | null },
    after: number,
    limit: number,
  ): Promise<Attempt[]>;
  /** Deletes old changes whose events are published. */
  forget(): Promise<void>;
}

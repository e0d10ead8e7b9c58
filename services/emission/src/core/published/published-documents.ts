import type { Environment } from '@ecf/domain';
import type { Attempt, DocumentKey, PastSubmission } from '../attempt/attempt.js';
import type { RecordedExchange } from '../ports.js';

/** Documents that changed: `cursor` is where the next question goes on from. */
export interface RecentChanges {
  readonly cursor: string;
  /** False where there were more than one answer holds. */
  readonly complete: boolean;
  readonly changes: readonly { encf: string; revision: number }[];
}

/** What other services read of the emissions, beside the events that tell of them. */
export interface PublishedDocuments {
  /**
   * Changes of an issuer since the answer that had the cursor; null = all that are still noted: those of about a quarter of
   * an hour, and those whose event the bus does not have.
   */
  recent(issuer: Pick<DocumentKey, 'env' | 'issuerRnc'>, cursor: string | null): Promise<RecentChanges>;
  find(env: Environment, numbers: readonly Pick<DocumentKey, 'issuerRnc' | 'encf'>[]): Promise<Attempt[]>;
  /** The document of which an attempt was submitted under the trackId; null where none of ours was. */
  findSubmission(env: Environment, trackId: string): Promise<Attempt | null>;
  /** Every submission of the attempt's number that is over, oldest first, also those that do not stand with it. */
  wholePast(attempt: Attempt): Promise<readonly PastSubmission[]>;
  /** By id, from the first one after `after`. */
  page(after: number, limit: number): Promise<Attempt[]>;
  /** Those that the authority has and has not decided, by id, from the first one after `after`. */
  awaited(after: number, limit: number): Promise<Attempt[]>;
  /** Everything the authority answered about a document, oldest first. */
  exchanges(key: DocumentKey): Promise<(RecordedExchange & { readonly attempt: number })[]>;
  /** Those that do not go on by themselves, by id, from the first one after `after`. */
  alarmed(
    of: { readonly env: Environment | null; readonly issuerRnc: string | null },
    after: number,
    limit: number,
  ): Promise<Attempt[]>;
  /** Forgets changes of long ago whose events the bus has. */
  forget(): Promise<void>;
}

import type { Environment } from '@ecf/domain';
import type { Attempt, DocumentKey, PastSubmission } from '../attempt/attempt.js';
import type { RecordedExchange } from '../attempt/ports.js';

/** Queries of other services, beside the published events. */
export interface PublishedDocuments {
  find(env: Environment, numbers: readonly Omit<DocumentKey, 'env'>[]): Promise<Attempt[]>;
  /** The document with an attempt that was submitted under the trackId, or null if we did not submit one. */
  findSubmission(env: Environment, trackId: string): Promise<Attempt | null>;
  /** The submission history of the number, oldest first, also the entries that are not kept with the attempt. */
  submissionHistory(attempt: Attempt): Promise<readonly PastSubmission[]>;
  /**
   * In the order of ids, after the id `after`. A page has fewer than `limit`, or none, where months are detached; `next` is null
   * at the end.
   */
  page(after: number, limit: number): Promise<{ attempts: Attempt[]; next: number | null }>;
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
}

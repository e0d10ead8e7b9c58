import type { Environment } from '@ecf/domain';
import type { Outcome, RefusalCode, UnknownCause } from '../answers/answer.js';
import type { AuthorityService } from '../endpoints.js';
import type { OPERATIONS } from '../operations.js';

export type OperationName =
  | keyof typeof OPERATIONS
  | 'receiverSeed'
  | 'receiverToken'
  | 'deliverDocument'
  | 'deliverApproval';

/** The report of a call for `onCall`: enough for metrics, nothing secret, no taxpayer. */
export interface CallReport {
  operation: OperationName;
  service: AuthorityService | 'receiver';
  /** Null for receivers. */
  env: Environment | null;
  durationMs: number;
  outcome: Outcome;
  /** The cause of an unknown, the code of a refusal. */
  cause: UnknownCause | RefusalCode | null;
  /** HTTP status, null if no answer came. */
  status: number | null;
  /** The `Date` header of the answer; null without one, or if it cannot be read. */
  date: Date | null;
}

export type OnCall = (report: CallReport) => void;

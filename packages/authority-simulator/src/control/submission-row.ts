import { type Environment, toIsoDominican } from '@ecf/domain';
import { presentVerdict, type Submission } from '../ledger/submission.js';

/** A submission as the control interface shows it. */
export interface SubmissionRow {
  readonly id: string;
  readonly operation: 'recepcion' | 'recepcionfc' | 'aprobacioncomercial' | 'anulacionrangos';
  readonly env: Environment;
  /** Issuer of the e-CF that the document is or names; null if it is unreadable. */
  readonly rnc: string | null;
  readonly encf: string | null;
  readonly filename: string;
  /** Of the exact bytes, hexadecimal. */
  readonly sha256: string;
  /** ISO 8601 with the offset -04:00. */
  readonly received_at: string;
  readonly track_id: string | null;
  /** The authority's present code and status. */
  readonly code: string;
  readonly status: string;
  /** It owns its number: accepted, in process, or rejected with the number burned. */
  readonly effective: boolean;
  /** The caller got an answer. */
  readonly answered: boolean;
}

export function submissionRow(submission: Submission, now: number): SubmissionRow {
  const { code, status } = presentVerdict(submission, now);
  return {
    id: String(submission.id),
    operation: submission.operation,
    env: submission.env,
    rnc: submission.rnc,
    encf: submission.encf,
    filename: submission.filename,
    sha256: submission.sha256,
    received_at: toIsoDominican(new Date(submission.receivedAt)),
    track_id: submission.trackId,
    code,
    status,
    effective: submission.effective,
    answered: submission.answered,
  };
}

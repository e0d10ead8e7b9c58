import { toIsoDominican } from '@ecf/domain';
import { presentVerdict, type Submission } from '../ledger/submission.js';

/** A submission as the control interface shows it. */
function showSubmission(submission: Submission, now: number): object {
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

const ROWS_AT_ONCE = 500;

/** The list as JSON text, piece by piece. */
export function* listAsJson(submissions: Iterable<Submission>, now: number): Generator<string> {
  let rows: string[] = [];
  let before = '[';
  for (const submission of submissions) {
    rows.push(JSON.stringify(showSubmission(submission, now)));
    if (rows.length < ROWS_AT_ONCE) continue;
    yield before + rows.join(',\n');
    rows = [];
    before = ',\n';
  }
  yield `${before === '[' || rows.length > 0 ? before : ''}${rows.join(',\n')}]`;
}

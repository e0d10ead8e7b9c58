import { appendToOutbox, type BusEvent } from '@ecf/bus';
import { type Restore, revisionAfter, type Transaction } from '@ecf/postgres';
import type { Attempt } from '../attempt/attempt.js';
import { ATTEMPT_COLUMNS, attemptsOf } from '../attempt/emission.postgres.js';

/**
 * Undecided documents. One that was not sent at the time of the backup may have been sent after it: if the authority refuses it as
 * used, the copy that arrived is looked up. Other services have later revisions, so its next one is above them.
 */
const RAISE = `UPDATE attempt SET revision = greatest(revision, $1) + 1,
    state = CASE state WHEN 'committed' THEN 'resend-due' ELSE state END,
    lost_sends = CASE WHEN state IN ('committed', 'held', 'resend-due') THEN greatest(lost_sends, 1) ELSE lost_sends END
  WHERE state NOT IN ('accepted', 'conditional', 'rejected-reusable', 'rejected-used', 'withdrawn')`;

/** The same for cancellations that the authority has not answered. */
const RAISE_CANCELLATIONS = `UPDATE cancellation SET revision = greatest(revision, $1) + 1, lost_sends = greatest(lost_sends, 1)
  WHERE state IN ('local', 'sending', 'failed')`;

/** Latest attempts that are undecided, or that changed since $1, in pages of $3 after the id $2. */
const CHANGED = `SELECT ${ATTEMPT_COLUMNS} FROM emission e JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt
  WHERE e.id > $2 AND (a.state NOT IN ('accepted', 'conditional', 'rejected-reusable', 'rejected-used', 'withdrawn')
    OR a.committed_at >= $1 OR e.id IN (SELECT x.emission_id FROM exchange x WHERE x.at >= $1)) ORDER BY e.id LIMIT $3`;

const PAGE = 500;

/** Events may be on their way for a while before they are in the database of another service. */
const MARGIN_MS = 3_600_000;

/** Makes this service and the others agree after a restore: publishes the documents that changed since the backup again. */
export async function settleRestore(
  tx: Transaction,
  restore: Restore,
  describe: (attempt: Attempt) => BusEvent,
): Promise<void> {
  if (!restore.ofOthers) {
    await tx.query(RAISE, [revisionAfter(restore)]);
    await tx.query(RAISE_CANCELLATIONS, [revisionAfter(restore)]);
  }
  const since = new Date(restore.backupAt.getTime() - MARGIN_MS);
  for (let after = 0, page: Attempt[] | null = null; page === null || page.length === PAGE; ) {
    page = attemptsOf((await tx.query(CHANGED, [since, after, PAGE])).rows);
    await appendToOutbox(tx, page.map(describe));
    after = page.at(-1)?.emissionId ?? after;
  }
}

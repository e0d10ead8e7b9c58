import { appendToOutbox, type BusEvent } from '@ecf/bus';
import { changedSince, firstIdOf, pagesOf, type Restore, revisionAfter, type Transaction } from '@ecf/postgres';
import type { Attempt } from '../attempt/attempt.js';
import { ATTEMPT_COLUMNS, attemptsOf } from '../attempt/emission.postgres.js';

/** Undecided attempts, by the partial indexes of the table. */
const OPEN = (
  of: string,
) => `${of}state NOT IN ('accepted', 'conditional', 'rejected-reusable', 'rejected-used', 'withdrawn')
    AND (${of}next_action_at IS NOT NULL OR ${of}alarm IS NOT NULL OR ${of}queued_at IS NOT NULL OR ${of}state IN ('processing', 'not-found'))`;

/**
 * Undecided documents. One that was not sent at the time of the backup may have been sent after it: if the authority refuses it as
 * used, the copy that arrived is looked up. Other services have later revisions, so its next one is above them.
 */
const RAISE = `UPDATE attempt SET revision = greatest(revision, $1) + 1,
    state = CASE state WHEN 'committed' THEN 'resend-due' ELSE state END,
    lost_sends = CASE WHEN state IN ('committed', 'held', 'resend-due') THEN greatest(lost_sends, 1) ELSE lost_sends END
  WHERE ${OPEN('')}`;

/** The same for cancellations that the authority has not answered. */
const RAISE_CANCELLATIONS = `UPDATE cancellation SET revision = greatest(revision, $1) + 1, lost_sends = greatest(lost_sends, 1)
  WHERE state IN ('local', 'sending', 'failed')`;

/** Days before the backup from which a document may have changed since: the authority decides within 72 hours. */
const DAYS_BEFORE = 4;

/**
 * Latest attempts that are undecided, or whose document is not older than $1, in pages of $3 after the id $2. The conditions have
 * indexes: ids begin with their day.
 */
const CHANGED = `SELECT ${ATTEMPT_COLUMNS} FROM emission e JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt
  WHERE e.id IN (
    SELECT id FROM emission WHERE id >= ${firstIdOf('$1')} AND id > $2
    UNION SELECT o.emission_id FROM attempt o WHERE ${OPEN('o.')} AND o.emission_id > $2
    ORDER BY 1 LIMIT $3) ORDER BY e.id`;

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
  const since = new Date(changedSince(restore).getTime() - DAYS_BEFORE * 24 * 3_600_000).toISOString().slice(0, 10);
  const read = async (after: number, limit: number) =>
    attemptsOf((await tx.query(CHANGED, [since, after, limit])).rows);
  for await (const page of pagesOf(read, ({ emissionId }) => emissionId)) await appendToOutbox(tx, page.map(describe));
}

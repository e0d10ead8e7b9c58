import { appendToOutbox, type BusEvent } from '@ecf/bus';
import { actEvents } from '@ecf/bus/events';
import type { Database, Transaction } from '@ecf/postgres';
import { LOCK_NUMBERS } from '../cancellation/cancellations.postgres.js';
import { retryWhileUnavailable } from '../errors.postgres.js';
import { ACTS } from '../published/changed-events.js';
import { presentRun } from './present-run.postgres.js';
import type { RunStore, StartedRun } from './start-run.js';

/** False while another start holds the lock, which is held until the commit. */
const TRY_LOCK = {
  name: 'run_try_lock',
  text: "SELECT pg_try_advisory_xact_lock(hashtextextended('run:' || $1 || ':' || $2, 0)) AS locked",
};

const BEGIN = {
  name: 'run_begin',
  text: `INSERT INTO certification_run (env, issuer_rnc, run, account_id, reason, started_at) VALUES ($1, $2, $3, $4, $5, $6)`,
};

/**
 * The documents of the run before ($1, $2), counted. Unsent documents become due and leave the contingency queue; the raised
 * revision makes a concurrent step look again.
 */
const SUPERSEDE = {
  name: 'run_supersede',
  text: `WITH unsent AS (
      UPDATE attempt a SET next_action_at = now(), queued_at = NULL, revision = a.revision + 1
      FROM emission e WHERE e.env = $1 AND e.issuer_rnc = $2 AND a.emission_id = e.id AND a.attempt = e.attempt
        AND a.state IN ('committed', 'held', 'resend-due'))
    SELECT count(*)::int AS superseded FROM emission WHERE env = $1 AND issuer_rnc = $2`,
};

/**
 * Numbers that were drawn in the run before: their commit is refused, and the document draws again. A commit that waits for the start
 * has locked its own, which is left: no later draw uses it.
 */
const RELEASE_DRAWN = {
  name: 'run_release_drawn',
  text: `DELETE FROM reserved_number WHERE token IN (
    SELECT token FROM reserved_number WHERE env = $1 AND issuer_rnc = $2 FOR UPDATE SKIP LOCKED)`,
};

/** The keys of batches with documents of the issuer alone ($1 account, $2 environment, $3 issuer) find them no longer. */
const FORGET_BATCH_KEYS = {
  name: 'run_forget_batch_keys',
  text: `UPDATE batch b SET idempotency_key = NULL
    WHERE b.account_id = $1 AND b.env = $2 AND b.idempotency_key IS NOT NULL AND b.received AND b.due_at IS NULL
      AND EXISTS (SELECT FROM batch_line l WHERE l.batch_id = b.id AND l.issuer_rnc = $3)
      AND NOT EXISTS (SELECT FROM batch_line l WHERE l.batch_id = b.id AND l.issuer_rnc <> $3)`,
};

/** A range that starts again may run low again. */
const FORGET_NOTICES = {
  name: 'run_forget_notices',
  text: "DELETE FROM notice WHERE env = $1 AND issuer_rnc = $2 AND type = 'range.low'",
};

/** $1 environment, $2 issuer, $3 eNCF, $4 run. One that was found by number, not received, may belong to either run. */
const TRACK_IDS_OF_OTHERS = {
  name: 'run_track_ids_of_others',
  text: `SELECT known.id FROM generate_series(1, present_run($1, $2)) run
    JOIN emission e ON e.env = stored_environment($1, $2, run) AND e.issuer_rnc = $2 AND e.encf = $3
    JOIN attempt t ON t.emission_id = e.id
    CROSS JOIN LATERAL (
      SELECT t.track_id WHERE NOT t.track_id_adopted UNION SELECT p ->> 'trackId' FROM json_array_elements(t.past) p) AS known(id)
    WHERE run <> $4 AND known.id IS NOT NULL`,
};

/**
 * Certification runs in PostgreSQL.
 *
 * @param describe the event that publishes a start
 * @param timeoutMs milliseconds that a call waits for a database that cannot be reached
 */
export function createPostgresRunStore(
  database: Database,
  describe: (run: StartedRun) => BusEvent,
  timeoutMs: number,
): RunStore {
  return {
    start: (run, startedAt, actOf) =>
      database.transaction(async (tx) => {
        const { env, issuerRnc } = run;
        const { rows } = await tx.query<{ locked: boolean }>(TRY_LOCK, [env, issuerRnc]);
        if (rows[0]?.locked !== true) return null;
        const before = await presentRun(tx, env, issuerRnc);
        await tx.query(LOCK_NUMBERS, [before.stored, issuerRnc]);
        const superseded = await supersede(tx, before.stored, issuerRnc);
        const started = { ...run, run: before.run + 1, startedAt, superseded };
        await tx.query(BEGIN, [env, issuerRnc, started.run, run.accountId, run.reason, startedAt]);
        await tx.query(FORGET_BATCH_KEYS, [run.accountId, env, issuerRnc]);
        await tx.query(FORGET_NOTICES, [env, issuerRnc]);
        await appendToOutbox(tx, [describe(started), ...actEvents(ACTS, actOf(started))]);
        return started;
      }),
    present: async ({ env, issuerRnc }) =>
      (await retryWhileUnavailable(timeoutMs, () => presentRun(database, env, issuerRnc))).run,
    async trackIdsOfOthers({ env, issuerRnc, encf, run }) {
      const query = () => database.query<{ id: string }>(TRACK_IDS_OF_OTHERS, [env, issuerRnc, encf, run]);
      const { rows } = await retryWhileUnavailable(timeoutMs, query);
      return rows.map(({ id }) => id);
    },
  };
}

async function supersede(tx: Transaction, stored: string, issuerRnc: string): Promise<number> {
  const { rows } = await tx.query<{ superseded: number }>(SUPERSEDE, [stored, issuerRnc]);
  await tx.query(RELEASE_DRAWN, [stored, issuerRnc]);
  return rows[0]?.superseded ?? 0;
}

import { randomUUID } from 'node:crypto';
import { appendToOutbox, type BusEvent, onceEach } from '@ecf/bus';
import type { Environment } from '@ecf/domain';
import { type Database, type Queries, rowsOf, snakeCaseRow, type Transaction } from '@ecf/postgres';
import type { Selectable } from 'kysely';
import type { DB } from './generated/tables.js';
import type { PacedWork, SubmissionStore } from './ports.js';
import { afterQueries, credible, mayQueryAhead, OVERDUE_MS, type Pace, queriesAllowed } from './schedule.js';
import {
  type ClaimedPoll,
  isFinal,
  type PublishedSubmission,
  type QueriedResult,
  type Submission,
  type SubmissionKey,
  UNDECIDED,
} from './submission.js';

/** The consumer group of this service; the inbox stores it with each event id. */
export const STATUS_POLLER_GROUP = 'status-poller';

export interface SubmissionStoreOptions {
  readonly database: Database;
  /** The event that publishes a changed result. */
  readonly describe: (submission: Submission, result: QueriedResult) => BusEvent;
  /** When a submission of that time is queried first. */
  readonly firstDue: (submittedAt: Date) => Date;
}

const COLUMNS =
  's.env, s.track_id, s.issuer_rnc, s.encf, s.account_id, s.submitted_at, s.revision, s.facts, s.final, s.queried_at, s.traceparent';

/** The columns as the schema has them; of `env` and `facts` it has only text and JSON. */
type SubmissionRow = Omit<Selectable<DB['submission']>, 'invoiceRevision'> & Pick<Submission, 'env' | 'facts'>;
type PollRow = Pick<Selectable<DB['poll']>, 'tries' | 'failures' | 'alarmed'> & Pick<ClaimedPoll, 'claim'>;

/** Keys as two lists, $1 and $2. */
const KEYS = 'unnest($1::text[], $2::text[]) AS k(env, track_id)';

/** Answers overtake each other by seconds. A stored answer that is newer by more than that was stored by a wrong clock. */
const LATEST_ANSWER = `interval '10 minutes'`;

const FIND = {
  name: 'submission_find',
  text: `SELECT ${COLUMNS} FROM submission s WHERE s.env = $1 AND s.track_id = $2`,
};

/** The earliest poll of each environment, by the index. */
const DUE_WORK = {
  name: 'submission_due_work',
  text: `SELECT p.env, p.ready_at, p.paused_until,
      (SELECT due_at FROM poll WHERE poll.env = p.env ORDER BY due_at LIMIT 1) AS due_at
    FROM pace p`,
};

/** Instances claim one after the other in an environment, so that all of them share one rate. */
const LOCK_PACE = {
  name: 'submission_lock_pace',
  text: 'SELECT env, ready_at, paused_until FROM pace WHERE env = $1 FOR UPDATE',
};
const SET_PACE = { name: 'submission_set_pace', text: 'UPDATE pace SET ready_at = $2 WHERE env = $1' };
const PAUSE = {
  name: 'submission_pause',
  text: 'UPDATE pace SET paused_until = greatest(paused_until, $2) WHERE env = $1',
};

const CLAIM = {
  name: 'submission_claim',
  text: `WITH due AS (
      SELECT env, track_id FROM poll WHERE env = $1 AND due_at <= $2
      ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
    UPDATE poll p SET claim = $4, due_at = $5 FROM due JOIN submission s USING (env, track_id)
    WHERE p.env = due.env AND p.track_id = due.track_id
    RETURNING ${COLUMNS}, p.claim, p.tries, p.failures, p.alarmed`,
};

/**
 * Stores a newer answer with a change, or with a decision of an open submission (perhaps again, see {@link REOPEN}). An undecided
 * answer does not replace a decided status ($6: the undecided ones).
 */
const SAVE_RESULT = {
  name: 'submission_save_result',
  text: `UPDATE submission s SET facts = $3, final = $4, queried_at = $5, revision = s.revision + 1
    WHERE s.env = $1 AND s.track_id = $2 AND NOT s.final
      AND ($4 OR s.facts IS DISTINCT FROM $3::jsonb AND (s.queried_at IS NULL OR s.facts->>'status' = ANY($6::text[])))
      AND (s.queried_at IS NULL OR s.queried_at <= $5 OR s.queried_at > $5::timestamptz + ${LATEST_ANSWER})
    RETURNING ${COLUMNS}`,
};

/** Notes the time of an answer that changed nothing. */
const NOTE_QUERIED = {
  name: 'submission_note_queried',
  text: `UPDATE submission s SET queried_at =
      CASE WHEN final OR queried_at BETWEEN $3::timestamptz AND $3::timestamptz + ${LATEST_ANSWER} THEN queried_at ELSE $3::timestamptz END
    WHERE env = $1 AND track_id = $2 RETURNING ${COLUMNS}`,
};

/** Changes nothing where the claim ($3) was lost. */
const PUT_BACK = {
  name: 'submission_put_back',
  text: `UPDATE poll SET due_at = $4, tries = $5, failures = $6, alarmed = $7, claim = NULL
    WHERE env = $1 AND track_id = $2 AND claim = $3`,
};

/**
 * Keeps the submissions that emission published, by the newest revision of their document. A result of a query stays until
 * emission has stored the decision. A decided row stays as it is, so an event that repeats it writes no new row version. A row made
 * from an answer of emission gets the trace of its event.
 */
const KEEP = {
  name: 'submission_keep',
  text: `INSERT INTO submission AS s (env, track_id, issuer_rnc, encf, account_id, submitted_at, invoice_revision, revision, facts, final, traceparent)
    SELECT t.env, t.track_id, t.issuer_rnc, t.encf, t.account_id, t.submitted_at, t.revision, 1, t.facts, t.final, t.traceparent
    FROM jsonb_to_recordset($1::jsonb) AS t(env text, track_id text, issuer_rnc text, encf text, account_id text,
      submitted_at timestamptz, revision bigint, facts jsonb, final boolean, traceparent text)
    ORDER BY t.env, t.track_id
    ON CONFLICT (env, track_id) DO UPDATE SET
      invoice_revision = excluded.invoice_revision,
      facts = CASE WHEN s.queried_at IS NOT NULL AND NOT excluded.final THEN s.facts ELSE excluded.facts END,
      final = excluded.final,
      traceparent = coalesce(s.traceparent, excluded.traceparent)
    WHERE NOT s.final AND s.invoice_revision <= excluded.invoice_revision
    RETURNING s.env, s.track_id, s.final`,
};

const ADD_POLLS = {
  name: 'submission_add_polls',
  text: `INSERT INTO poll (env, track_id, due_at) SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[])
    ON CONFLICT (env, track_id) DO NOTHING RETURNING env, track_id`,
};

/** Polls are locked in the order of their keys, so that batches wait for each other in one direction only. */
const REMOVE_POLLS = {
  name: 'submission_remove_polls',
  text: `WITH gone AS (SELECT poll.env, poll.track_id FROM ${KEYS} JOIN poll USING (env, track_id)
      ORDER BY poll.env, poll.track_id FOR UPDATE OF poll)
    DELETE FROM poll USING gone WHERE poll.env = gone.env AND poll.track_id = gone.track_id`,
};

/** The keys without a poll. */
const UNPOLLED = {
  name: 'submission_unpolled',
  text: `SELECT k.env, k.track_id FROM ${KEYS} LEFT JOIN poll USING (env, track_id) WHERE poll.env IS NULL`,
};

/**
 * Reopens published decisions that emission lacks, if they are older than $2 and than the oldest event in the outbox. The minute
 * allows for outbox positions that do not follow the order of commits.
 */
const REOPEN = {
  name: 'submission_reopen',
  text: `WITH missing AS (
      SELECT s.env, s.track_id FROM jsonb_to_recordset($1::jsonb) AS t(env text, track_id text, revision bigint)
      JOIN submission s USING (env, track_id)
      WHERE s.final AND s.invoice_revision <= t.revision AND s.queried_at < least($2::timestamptz,
        (SELECT created_at FROM outbox WHERE NOT refused ORDER BY position LIMIT 1) - interval '1 minute')
      ORDER BY s.env, s.track_id FOR UPDATE OF s)
    UPDATE submission s SET final = false FROM missing WHERE s.env = missing.env AND s.track_id = missing.track_id
    RETURNING s.env, s.track_id, s.submitted_at`,
};

const BACKLOG = `SELECT p.env, count(poll.env)::int AS total,
      count(poll.env) FILTER (WHERE poll.claim IS NULL AND poll.due_at <= $1)::int AS due,
      count(poll.env) FILTER (WHERE poll.claim IS NOT NULL AND poll.due_at > $1)::int AS claimed,
      count(poll.env) FILTER (WHERE s.submitted_at < $2)::int AS overdue,
      min(s.submitted_at) AS oldest_submitted_at
    FROM pace p LEFT JOIN poll ON poll.env = p.env
    LEFT JOIN submission s ON s.env = poll.env AND s.track_id = poll.track_id
    GROUP BY p.env`;

/**
 * Submissions in PostgreSQL. Locks are taken in one order: submissions before their polls, the pace before polls, each by
 * their keys.
 */
export function createSubmissionStore({ database, describe, firstDue }: SubmissionStoreOptions): SubmissionStore {
  return {
    async apply(changes) {
      const all = changes.filter(({ submissions }) => submissions.length > 0);
      if (all.length === 0) return false;
      return database.transaction(async (tx) => {
        const ids = all.flatMap(({ eventId }) => eventId ?? []);
        const fresh = await onceEach(tx, STATUS_POLLER_GROUP, ids);
        const news = all.filter(({ eventId }) => eventId === null || fresh.has(eventId));
        const published = latest(news.flatMap(({ submissions }) => submissions));
        return keep(tx, published, ({ submittedAt }) => firstDue(submittedAt));
      });
    },
    async compare(published, settled) {
      const polled = published.filter((one) => one.polled);
      const unpolled = new Set((await rowsOf<SubmissionKey>(database, UNPOLLED, keysOf(polled))).map(keyOf));
      const missing = polled.filter((one) => unpolled.has(keyOf(one)));
      if (missing.length === 0) return false;
      return database.transaction(async (tx) => {
        const reopened = await reopen(tx, missing, settled.before);
        const dueOf = (one: PublishedSubmission) => {
          const submittedAt = reopened.get(keyOf(one));
          return submittedAt === undefined ? firstDue(one.submittedAt) : settled.dueAt(submittedAt);
        };
        return keep(tx, missing, dueOf);
      });
    },
    async find({ env, trackId }) {
      return (await rowsOf<SubmissionRow>(database, FIND, [env, trackId]))[0] ?? null;
    },
    async nextQueryAt({ env, trackId }) {
      const sql = 'SELECT due_at FROM poll WHERE env = $1 AND track_id = $2';
      return (await database.query<{ due_at: Date }>(sql, [env, trackId])).rows[0]?.due_at ?? null;
    },
    async dueWork(now, rate) {
      const rows = await rowsOf<PacedWork>(database, DUE_WORK);
      return rows.map((row) => ({ ...credible(row, now, rate), dueAt: row.dueAt }));
    },
    claimDue: ({ env, now, until, limit, rate }) =>
      database.transaction(async (tx) => {
        const pace = credible(await lockPace(tx, env), now, rate);
        const allowed = queriesAllowed(pace, now, rate, limit);
        if (allowed === 0) return [];
        const values = [env, now, allowed, randomUUID(), until];
        const claimed = await rowsOf<SubmissionRow & PollRow>(tx, CLAIM, values);
        if (claimed.length > 0) await tx.query(SET_PACE, [env, afterQueries(pace, now, rate, claimed.length)]);
        return claimed;
      }),
    reserveQuery: ({ env, now, rate }) =>
      database.transaction(async (tx) => {
        const pace = credible(await lockPace(tx, env), now, rate);
        if (!mayQueryAhead(pace, now)) return false;
        await tx.query(SET_PACE, [env, afterQueries(pace, now, rate, 1)]);
        return true;
      }),
    async pause(env, until) {
      await database.query(PAUSE, [env, until]);
    },
    record: ({ env, trackId }, result, next) =>
      database.transaction(async (tx) => {
        const { submission, changed } = await saveResult(tx, { env, trackId }, result);
        if (changed && result !== null) await appendToOutbox(tx, [describe(submission, result)]);
        if (submission.final) await tx.query(REMOVE_POLLS, keysOf([submission]));
        else if (next !== null) {
          const { claim, dueAt, tries, failures, alarmed } = next;
          await tx.query(PUT_BACK, [env, trackId, claim, dueAt, tries, failures, alarmed]);
        }
        return { submission, changed };
      }),
    async backlog(now) {
      const rows = await rowsOf<{
        env: Environment;
        total: number;
        due: number;
        claimed: number;
        overdue: number;
        oldestSubmittedAt: Date | null;
      }>(database, BACKLOG, [now, new Date(now.getTime() - OVERDUE_MS)]);
      return rows.map(({ total, ...row }) => ({ ...row, waiting: total - row.due - row.claimed }));
    },
  };
}

async function lockPace(tx: Queries, env: Environment): Promise<Pace> {
  const [pace] = await rowsOf<Pace>(tx, LOCK_PACE, [env]);
  if (pace === undefined) throw new Error(`the environment ${env} has no pace`);
  return pace;
}

/** Stores a result if it changes what is known. Returns the present submission. */
async function saveResult(
  tx: Queries,
  key: SubmissionKey,
  result: QueriedResult | null,
): Promise<{ submission: Submission; changed: boolean }> {
  const values = [key.env, key.trackId];
  if (result !== null) {
    const { facts, queriedAt } = result;
    const saved = [...values, facts, isFinal(facts), queriedAt, UNDECIDED];
    const [submission] = await rowsOf<SubmissionRow>(tx, SAVE_RESULT, saved);
    if (submission !== undefined) return { submission, changed: true };
  }
  const [submission] = await (result === null
    ? rowsOf<SubmissionRow>(tx, FIND, values)
    : rowsOf<SubmissionRow>(tx, NOTE_QUERIED, [...values, result.queriedAt]));
  if (submission === undefined) throw new Error(`the submission ${key.trackId} in ${key.env} does not exist`);
  return { submission, changed: false };
}

/** Reopens decisions that emission lacks; returns the submission times by key. */
async function reopen(
  tx: Queries,
  published: readonly PublishedSubmission[],
  settledBefore: Date,
): Promise<Map<string, Date>> {
  const values = [JSON.stringify(published.map(snakeCaseRow)), settledBefore];
  const rows = await rowsOf<Pick<Submission, 'env' | 'trackId' | 'submittedAt'>>(tx, REOPEN, values);
  return new Map(rows.map((row) => [keyOf(row), row.submittedAt]));
}

/** One state of each submission: the decision, else the highest revision. */
function latest(published: readonly PublishedSubmission[]): PublishedSubmission[] {
  const found = new Map<string, PublishedSubmission>();
  for (const one of published) {
    const other = found.get(keyOf(one));
    if (other === undefined || (one.final === other.final ? one.revision >= other.revision : one.final))
      found.set(keyOf(one), one);
  }
  return [...found.values()];
}

/** Keeps submissions, and polls for the ones that have to be queried. True if a poll was added. */
async function keep(
  tx: Transaction,
  published: readonly PublishedSubmission[],
  dueAt: (submission: PublishedSubmission) => Date,
): Promise<boolean> {
  if (published.length === 0) return false;
  const values = [JSON.stringify(published.map(snakeCaseRow))];
  const rows = await rowsOf<Pick<Submission, 'env' | 'trackId' | 'final'>>(tx, KEEP, values);
  const kept = new Map(rows.map((row) => [keyOf(row), row]));
  const polled = published.filter((one) => one.polled && kept.get(keyOf(one))?.final === false);
  const over = published.filter((one) => kept.has(keyOf(one)) && !polled.includes(one));
  if (over.length > 0) await tx.query(REMOVE_POLLS, keysOf(over));
  if (polled.length === 0) return false;
  return (await tx.query(ADD_POLLS, [...keysOf(polled), polled.map(dueAt)])).rowCount > 0;
}

function keyOf({ env, trackId }: SubmissionKey): string {
  return `${env}:${trackId}`;
}

function keysOf(keys: readonly SubmissionKey[]): [string[], string[]] {
  return [keys.map(({ env }) => env), keys.map(({ trackId }) => trackId)];
}

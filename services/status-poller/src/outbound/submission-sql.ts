/** The statements of the submission store. */

const COLUMNS =
  's.env, s.track_id, s.issuer_rnc, s.encf, s.account_id, s.submitted_at, s.revision, s.facts, s.final, s.queried_at, s.traceparent';

/** Answers overtake each other by seconds. A stored answer that is newer by more than that was stored by a wrong clock. */
const LATEST_ANSWER = `interval '10 minutes'`;

/** Keys that come as two lists, $1 and $2. */
const KEYS = 'unnest($1::text[], $2::text[]) AS k(env, track_id)';

export const FIND = {
  name: 'submission_find',
  text: `SELECT ${COLUMNS} FROM submission s WHERE s.env = $1 AND s.track_id = $2`,
};

export const NEXT_QUERY = {
  name: 'submission_next_query',
  text: 'SELECT due_at FROM poll WHERE env = $1 AND track_id = $2',
};

/**
 * Keeps the submissions that emission published, by the newest revision of their document. Facts learned here stay until
 * emission knows the decision. A decided row stays as it is, so an event that repeats it writes no new row version. A row made
 * from an answer of emission gets the trace of its event.
 */
export const KEEP = {
  name: 'submission_keep',
  text: `INSERT INTO submission AS s (env, track_id, issuer_rnc, encf, account_id, submitted_at, invoice_revision, revision, facts, final, traceparent)
    SELECT t.env, t.track_id, t.issuer_rnc, t.encf, t.account_id, t.submitted_at, t.invoice_revision, 1, t.facts, t.final, t.traceparent
    FROM jsonb_to_recordset($1::jsonb) AS t(env text, track_id text, issuer_rnc text, encf text, account_id text,
      submitted_at timestamptz, invoice_revision bigint, facts jsonb, final boolean, traceparent text)
    ORDER BY t.env, t.track_id
    ON CONFLICT (env, track_id) DO UPDATE SET
      invoice_revision = excluded.invoice_revision,
      facts = CASE WHEN s.queried_at IS NOT NULL AND NOT excluded.final THEN s.facts ELSE excluded.facts END,
      final = excluded.final,
      traceparent = coalesce(s.traceparent, excluded.traceparent)
    WHERE NOT s.final AND s.invoice_revision <= excluded.invoice_revision
    RETURNING s.env, s.track_id, s.final`,
};

/** The keys without a poll. */
export const UNPOLLED = {
  name: 'submission_unpolled',
  text: `SELECT k.env, k.track_id FROM ${KEYS} LEFT JOIN poll USING (env, track_id) WHERE poll.env IS NULL`,
};

/**
 * Reopens published decisions that emission lacks, if they are older than $2 and than the oldest event in the outbox. The minute
 * allows for outbox positions that do not follow the order of commits.
 */
export const REOPEN = {
  name: 'submission_reopen',
  text: `WITH missing AS (
      SELECT s.env, s.track_id FROM jsonb_to_recordset($1::jsonb) AS t(env text, track_id text, invoice_revision bigint)
      JOIN submission s USING (env, track_id)
      WHERE s.final AND s.invoice_revision <= t.invoice_revision AND s.queried_at < least($2::timestamptz,
        (SELECT created_at FROM outbox WHERE NOT refused ORDER BY position LIMIT 1) - interval '1 minute')
      ORDER BY s.env, s.track_id FOR UPDATE OF s)
    UPDATE submission s SET final = false FROM missing WHERE s.env = missing.env AND s.track_id = missing.track_id
    RETURNING s.env, s.track_id, s.submitted_at`,
};

const CAUGHT_UP_ID = `$1 || ':first-learning', '00000000-0000-0000-0000-000000000000'::uuid`;

/** A row in the inbox that is never deleted. */
export const NOTE_CAUGHT_UP = {
  name: 'submission_note_caught_up',
  text: `INSERT INTO inbox (consumer_group, event_id, handled_at) VALUES (${CAUGHT_UP_ID}, 'infinity')
    ON CONFLICT (consumer_group, event_id) DO NOTHING`,
};

export const CAUGHT_UP = {
  name: 'submission_caught_up',
  text: `SELECT 1 FROM inbox WHERE (consumer_group, event_id) = (${CAUGHT_UP_ID})`,
};

export const ADD_POLLS = {
  name: 'submission_add_polls',
  text: `INSERT INTO poll (env, track_id, due_at) SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[])
    ON CONFLICT (env, track_id) DO NOTHING RETURNING env, track_id`,
};

/** Polls are locked in the order of their keys, so that batches wait for each other in one direction only. */
export const REMOVE_POLLS = {
  name: 'submission_remove_polls',
  text: `WITH gone AS (SELECT poll.env, poll.track_id FROM ${KEYS} JOIN poll USING (env, track_id)
      ORDER BY poll.env, poll.track_id FOR UPDATE OF poll)
    DELETE FROM poll USING gone WHERE poll.env = gone.env AND poll.track_id = gone.track_id`,
};

/** The earliest poll of each environment, by the index. */
export const DUE_WORK = {
  name: 'submission_due_work',
  text: `SELECT p.env, p.ready_at, p.paused_until,
      (SELECT due_at FROM poll WHERE poll.env = p.env ORDER BY due_at LIMIT 1) AS due_at
    FROM pace p`,
};

/** Instances claim one after the other in an environment, so that all of them share one rate. */
export const LOCK_PACE = {
  name: 'submission_lock_pace',
  text: 'SELECT env, ready_at, paused_until FROM pace WHERE env = $1 FOR UPDATE',
};

export const CLAIM = {
  name: 'submission_claim',
  text: `WITH due AS (
      SELECT env, track_id FROM poll WHERE env = $1 AND due_at <= $2
      ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
    UPDATE poll p SET claim = $4, due_at = $5 FROM due JOIN submission s USING (env, track_id)
    WHERE p.env = due.env AND p.track_id = due.track_id
    RETURNING ${COLUMNS}, p.claim, p.tries, p.failures, p.alarmed`,
};

export const SET_PACE = { name: 'submission_set_pace', text: 'UPDATE pace SET ready_at = $2 WHERE env = $1' };

export const LIMIT_PACE = { name: 'submission_limit_pace', text: 'UPDATE pace SET ready_at = $1 WHERE ready_at > $1' };

export const PAUSE = {
  name: 'submission_pause',
  text: 'UPDATE pace SET paused_until = greatest(paused_until, $2) WHERE env = $1',
};

/**
 * Stores newer answers with a change, or with a decision of an open submission (perhaps again, see {@link REOPEN}), with
 * their events. Ends the polls of decided submissions. A submission whose revision changed meanwhile stays unchanged. An
 * undecided answer does not replace a decided status ($2: the undecided ones). PostgreSQL takes JSON for a hundred rows and would
 * read the whole table for them; the arrays $3 and $4 say how many there are.
 */
export const LEARN = {
  name: 'submission_learn',
  text: `WITH learned AS (
      UPDATE submission s SET facts = a.facts, final = a.final, queried_at = a.queried_at, revision = s.revision + 1
      FROM jsonb_to_recordset($1::jsonb) AS a(env text, track_id text, revision int, facts jsonb, final boolean, queried_at timestamptz)
      WHERE s.env = a.env AND s.track_id = a.track_id AND s.revision = a.revision AND NOT s.final
        AND s.env = ANY($3::text[]) AND s.track_id = ANY($4::text[])
        AND (a.final OR s.facts IS DISTINCT FROM a.facts AND (s.queried_at IS NULL OR s.facts->>'status' = ANY($2::text[])))
        AND (s.queried_at IS NULL OR s.queried_at <= a.queried_at OR s.queried_at > a.queried_at + ${LATEST_ANSWER})
      RETURNING s.*),
    ended AS (
      DELETE FROM poll USING learned l WHERE l.final AND poll.env = l.env AND poll.track_id = l.track_id),
    published AS (
      INSERT INTO outbox (event_id, topic, key, event)
      SELECT x.event_id, x.topic, x.key, x.event
      FROM ROWS FROM (unnest($3::text[], $4::text[], $5::uuid[], $6::text[], $7::text[]), json_array_elements($8::json))
        AS x(env, track_id, event_id, topic, key, event) JOIN learned USING (env, track_id))
    SELECT ${COLUMNS} FROM learned s`,
};

export const NOTE_QUERIED = {
  name: 'submission_note_asked',
  text: `UPDATE submission SET queried_at =
      CASE WHEN queried_at BETWEEN $3::timestamptz AND $3::timestamptz + ${LATEST_ANSWER} THEN queried_at ELSE $3::timestamptz END
    WHERE env = $1 AND track_id = $2 AND NOT final`,
};

/** Changes nothing where the claim ($3) was lost. */
export const PUT_BACK = {
  name: 'submission_put_back',
  text: `UPDATE poll SET due_at = $4, tries = $5, failures = $6, alarmed = $7, claim = NULL
    WHERE env = $1 AND track_id = $2 AND claim = $3`,
};

export const BACKLOG = {
  name: 'submission_backlog',
  text: `SELECT p.env, count(poll.env)::int AS total,
      count(poll.env) FILTER (WHERE poll.claim IS NULL AND poll.due_at <= $1)::int AS due,
      count(poll.env) FILTER (WHERE poll.claim IS NOT NULL AND poll.due_at > $1)::int AS claimed,
      count(poll.env) FILTER (WHERE s.submitted_at < $2)::int AS overdue,
      min(s.submitted_at) AS oldest
    FROM pace p LEFT JOIN poll ON poll.env = p.env
    LEFT JOIN submission s ON s.env = poll.env AND s.track_id = poll.track_id
    GROUP BY p.env`,
};

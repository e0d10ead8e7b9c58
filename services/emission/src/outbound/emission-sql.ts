/** The statements of the emission store. Those of the hot path take any number of documents as one JSON array. */

const FIXED = `emission_id bigint, env text, issuer_rnc text, encf text, account_id text, ecf_type text, created_at timestamptz,
  attempt int, source text, route text, content_hash text, facts json, xml_path text, xml_sha256 text, rfce_path text,
  rfce_sha256 text, signed_at timestamptz, committed_at timestamptz, signer_fingerprint text, modifies text`;

const CHANGING = `revision int, state text, has_own_certificate boolean, track_id text, track_id_adopted boolean, status_revision int, verdict json,
  submitted_at timestamptz, lost_sends int, transient_refusals int, not_found_since timestamptz, failures int,
  next_action_at timestamptz, owner text, alarm text, past json`;

const EVENT = 'outbox_partition smallint, event_id uuid, topic text, event_key text, event json';

const COLUMNS = `attempt, revision, state, source, route, content_hash, facts, xml_path, xml_sha256, rfce_path, rfce_sha256,
  signed_at, committed_at, signer_fingerprint, has_own_certificate, track_id, track_id_adopted, status_revision, verdict, submitted_at,
  lost_sends, transient_refusals, not_found_since, failures, next_action_at, owner, modifies, alarm, past`;

const EMISSION_COLUMNS = 'e.env, e.issuer_rnc, e.encf, e.account_id, e.ecf_type, e.created_at';

const prefixed = (columns: string, alias: string) => columns.replace(/[a-z_0-9]+/g, (name) => `${alias}.${name}`);

/**
 * Numbers as three lists, `position` the place of each. The lists stand in subqueries so that the planner counts on the same
 * number of elements whatever it is given: seeing them, it would find a plan for one number cheaper than the one for any, and
 * plan again on every call, which takes three times as long as the look-up.
 */
const NUMBERS = `unnest((SELECT $1::text[]), (SELECT $2::text[]), (SELECT $3::text[]))
      WITH ORDINALITY AS k(env, issuer_rnc, encf, position)`;

/** The latest attempts of those of several numbers that have any. */
export const FIND = {
  name: 'emission_find',
  text: `SELECT k.position, a.emission_id, ${EMISSION_COLUMNS}, ${prefixed(COLUMNS, 'a')}
    FROM ${NUMBERS}
    JOIN emission e ON e.env = k.env AND e.issuer_rnc = k.issuer_rnc AND e.encf = k.encf
    JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt`,
};

/**
 * Which of several numbers were issued, and the cancellations that cover them; nothing of a number that is new. Most are, and
 * forty columns without a row cost both sides a tenth of a millisecond.
 */
export const LOOK = {
  name: 'emission_look',
  text: `SELECT k.position, e.id IS NOT NULL AS issued, c.cancellation_id AS cancelled_by
    FROM ${NUMBERS}
    LEFT JOIN emission e ON e.env = k.env AND e.issuer_rnc = k.issuer_rnc AND e.encf = k.encf
    LEFT JOIN LATERAL (
      SELECT cancellation_id, last_number FROM cancelled_range r
      WHERE r.env = k.env AND r.issuer_rnc = k.issuer_rnc AND r.ecf_type = substr(k.encf, 2, 2)
        AND r.first_number <= substr(k.encf, 4)::bigint
      ORDER BY first_number DESC LIMIT 1) c ON c.last_number >= substr(k.encf, 4)::bigint
    WHERE e.id IS NOT NULL OR c.cancellation_id IS NOT NULL`,
};

/** The latest attempt of the number of which an attempt was submitted under a trackId. */
export const FIND_SUBMISSION = {
  name: 'emission_find_submission',
  text: `SELECT a.emission_id, ${EMISSION_COLUMNS}, ${prefixed(COLUMNS, 'a')}
    FROM attempt t JOIN emission e ON e.id = t.emission_id AND e.env = $1
    JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt
    WHERE t.track_id = $2 ORDER BY t.attempt DESC LIMIT 1`,
};

/**
 * Rows of `r` that another part of the statement has written. As a join it would compare each row with each, hash joins being
 * switched off here; `IS TRUE` keeps the planner from making it one, so that it looks each id up in a hash table.
 */
const among = (written: 'taken' | 'saved') => `(r.emission_id IN (SELECT emission_id FROM ${written})) IS TRUE`;

const INSERT_ATTEMPT = `INSERT INTO attempt (emission_id, ${COLUMNS})
    SELECT r.emission_id, ${prefixed(COLUMNS, 'r')} FROM r WHERE ${among('taken')}`;

const INSERT_EVENT = 'INSERT INTO outbox (partition, event_id, topic, key, event)';
const EVENT_VALUES = 'r.outbox_partition, r.event_id, r.topic, r.event_key, r.event';
/** The event's key is `<env>:<issuer RNC>:<eNCF>`; a number has 13 characters. */
const NOTE_CHANGE = `INSERT INTO recent_change (issuer, encf, revision)
    SELECT left(r.event_key, -14), right(r.event_key, 13), r.revision FROM r`;

/** First attempts: numbers that are taken by then are left out of the answer, and nothing of them is written. */
export const BEGIN_FIRST = {
  name: 'emission_begin_first',
  text: `WITH r AS MATERIALIZED (SELECT * FROM json_to_recordset($1::json) AS r(${FIXED}, ${CHANGING}, ${EVENT}, sealed text)),
    taken AS (
      INSERT INTO emission (id, env, issuer_rnc, encf, account_id, ecf_type, attempt, created_at)
      SELECT emission_id, env, issuer_rnc, encf, account_id, ecf_type, attempt, created_at FROM r
      ON CONFLICT (env, issuer_rnc, encf) DO NOTHING RETURNING id AS emission_id),
    inserted AS (${INSERT_ATTEMPT}),
    kept AS (
      INSERT INTO sealed_certificate (emission_id, attempt, sealed)
      SELECT r.emission_id, r.attempt, decode(r.sealed, 'base64') FROM r WHERE r.sealed IS NOT NULL AND ${among('taken')}),
    told AS (${INSERT_EVENT} SELECT ${EVENT_VALUES} FROM r WHERE ${among('taken')}),
    noted AS (${NOTE_CHANGE} WHERE ${among('taken')})
    SELECT emission_id FROM taken`,
};

/** A further attempt, while the one before it is still the latest. */
export const BEGIN_NEXT = {
  name: 'emission_begin_next',
  text: `WITH r AS MATERIALIZED (SELECT * FROM json_to_recordset($1::json) AS r(${FIXED}, ${CHANGING}, ${EVENT}, sealed text)),
    taken AS (
      UPDATE emission e SET attempt = r.attempt FROM r WHERE e.id = r.emission_id AND e.attempt = r.attempt - 1
      RETURNING e.id AS emission_id),
    inserted AS (${INSERT_ATTEMPT}),
    kept AS (
      INSERT INTO sealed_certificate (emission_id, attempt, sealed)
      SELECT r.emission_id, r.attempt, decode(r.sealed, 'base64') FROM r WHERE r.sealed IS NOT NULL AND ${among('taken')}),
    told AS (${INSERT_EVENT} SELECT ${EVENT_VALUES} FROM r WHERE ${among('taken')}),
    noted AS (${NOTE_CHANGE} WHERE ${among('taken')})
    SELECT emission_id FROM taken`,
};

const EXCHANGE = 'operation text, at timestamptz, outcome text, http_status int, content_type text, body text';

const SAVE_WITH = `WITH r AS MATERIALIZED (
      SELECT * FROM json_to_recordset($1::json) AS r(emission_id bigint, attempt int, revision_before int, ${CHANGING}, ${EVENT}, exchanges json)),
    saved AS (
      UPDATE attempt a SET revision = r.revision, state = r.state, has_own_certificate = r.has_own_certificate, track_id = r.track_id,
        track_id_adopted = r.track_id_adopted, status_revision = r.status_revision, verdict = r.verdict, submitted_at = r.submitted_at, lost_sends = r.lost_sends,
        transient_refusals = r.transient_refusals, not_found_since = r.not_found_since, failures = r.failures,
        next_action_at = r.next_action_at, owner = r.owner, alarm = r.alarm, past = r.past
      FROM r WHERE a.emission_id = r.emission_id AND a.attempt = r.attempt AND a.revision = r.revision_before
      RETURNING a.emission_id),
    answered AS (
      INSERT INTO exchange (emission_id, attempt, operation, at, outcome, http_status, content_type, body)
      SELECT r.emission_id, r.attempt, x.operation, x.at, x.outcome, x.http_status, x.content_type, x.body
      FROM r CROSS JOIN LATERAL json_to_recordset(r.exchanges) AS x(${EXCHANGE}) WHERE ${among('saved')}),
    told AS (${INSERT_EVENT} SELECT ${EVENT_VALUES} FROM r WHERE r.event IS NOT NULL AND ${among('saved')}),
    noted AS (${NOTE_CHANGE} WHERE r.event IS NOT NULL AND ${among('saved')})`;

/** Attempts that go on. */
export const SAVE = { name: 'emission_save', text: `${SAVE_WITH} SELECT emission_id FROM saved` };

/**
 * Attempts that are decided: certificates that came with them are erased unless their delivery needs them, notes that wait for
 * them become due. Their revision is raised: whoever looks at such a note this moment, and found that it has to wait on, shall
 * not put it off over this.
 */
export const SAVE_DECIDED = {
  name: 'emission_save_decided',
  text: `${SAVE_WITH},
    erased AS (
      DELETE FROM sealed_certificate s USING r
      WHERE s.emission_id = r.emission_id AND s.attempt = r.attempt AND NOT r.has_own_certificate AND ${among('saved')}),
    released AS (
      UPDATE attempt note SET next_action_at = now(), revision = note.revision + 1 FROM r
      WHERE note.modifies = r.event_key AND note.state = 'held' AND ${among('saved')})
    SELECT emission_id FROM saved`,
};

/** Claims due attempts: rows that another instance is claiming are passed over. */
export const CLAIM_DUE = {
  name: 'emission_claim_due',
  text: `WITH due AS (
      SELECT emission_id, attempt FROM attempt WHERE next_action_at <= $1
      ORDER BY next_action_at LIMIT $2 FOR UPDATE SKIP LOCKED)
    UPDATE attempt a SET owner = $3, next_action_at = $4, revision = a.revision + 1
    FROM due JOIN emission e ON e.id = due.emission_id
    WHERE a.emission_id = due.emission_id AND a.attempt = due.attempt
    RETURNING a.emission_id, ${EMISSION_COLUMNS}, ${prefixed(COLUMNS, 'a')}`,
};

export const NEXT_DUE = {
  name: 'emission_next_due',
  text: 'SELECT min(next_action_at) AS next_action_at FROM attempt WHERE next_action_at IS NOT NULL',
};

export const NEXT_IDS = { name: 'emission_next_ids', text: "SELECT nextval('emission_id_block') AS first" };

export const SEALED = {
  name: 'emission_sealed_certificate',
  text: 'SELECT sealed FROM sealed_certificate WHERE emission_id = $1 AND attempt = $2',
};

/** The delivery of an accepted document ended, so nobody logs in with its certificate any more. */
export const ERASE_CERTIFICATE = {
  name: 'emission_erase_certificate',
  text: `WITH erased AS (
      DELETE FROM sealed_certificate s USING emission e
      WHERE e.env = $1 AND e.issuer_rnc = $2 AND e.encf = $3 AND s.emission_id = e.id RETURNING s.emission_id, s.attempt)
    UPDATE attempt a SET has_own_certificate = false FROM erased
    WHERE a.emission_id = erased.emission_id AND a.attempt = erased.attempt`,
};

export const NOTES_ON = {
  name: 'emission_notes_on',
  text: `SELECT e.encf, e.ecf_type, a.state, a.facts->'summary'->>'total_amount' AS total_amount
    FROM attempt a JOIN emission e ON e.id = a.emission_id AND e.attempt = a.attempt WHERE a.modifies = $1`,
};

export const HEARTBEAT = {
  name: 'emission_heartbeat',
  text: `INSERT INTO instance (id, alive_until) VALUES ($1, $2)
    ON CONFLICT (id) DO UPDATE SET alive_until = EXCLUDED.alive_until`,
};

export const REMOVE_DEAD = {
  name: 'emission_remove_dead',
  text: 'DELETE FROM instance WHERE alive_until < $1 RETURNING id',
};

export const REMOVE_INSTANCE = { name: 'emission_remove_instance', text: 'DELETE FROM instance WHERE id = $1' };

export const RELEASE_OWNED = {
  name: 'emission_release_owned',
  text: 'UPDATE attempt SET owner = NULL, next_action_at = $2 WHERE owner = ANY($1::text[]) AND next_action_at > $2',
};

/** Not those that are being sent; of the others the raised revision keeps whoever found no certificate from putting them off. */
export const RESUME = {
  name: 'emission_resume',
  text: `UPDATE attempt a SET next_action_at = now(), revision = a.revision + 1 FROM emission e
    WHERE a.alarm = 'no-certificate' AND a.state NOT IN ('sending', 'resending') AND e.id = a.emission_id AND e.issuer_rnc = $1`,
};

/** Documents that the authority decides, whoever asks for them; a partial index has this very condition. */
const UNDECIDED = "state IN ('processing', 'not-found')";
/** Those of them that the status poller asks for. */
const AWAITED = `${UNDECIDED} AND next_action_at IS NULL`;

/** What another asked for until now. */
export const ASK_FOR_AWAITED = {
  name: 'emission_ask_for_awaited',
  text: `UPDATE attempt SET next_action_at = $1 WHERE ${AWAITED} AND owner IS NULL`,
};

export const BACKLOG = {
  name: 'emission_backlog',
  text: `SELECT state, alarm, count(*)::int AS count, min(committed_at) AS oldest FROM attempt
    WHERE next_action_at IS NOT NULL OR alarm IS NOT NULL OR (${AWAITED}) GROUP BY state, alarm`,
};

/**
 * Changes of an issuer by transactions that may have ended after the snapshot of the last question: what that snapshot
 * could not see is never passed over, whatever the order of commits.
 */
export const RECENT_CHANGES = {
  name: 'emission_recent_changes',
  text: `WITH changes AS (
      SELECT encf, max(revision) AS revision, max(xid) AS last FROM recent_change WHERE issuer = $1 AND xid >= $2
      GROUP BY encf ORDER BY last DESC LIMIT $3)
    SELECT txid_snapshot_xmin(txid_current_snapshot())::text AS cursor,
      coalesce((SELECT json_agg(json_build_object('encf', encf, 'revision', revision)) FROM changes), '[]') AS changes`,
};

/**
 * Changes of long ago whose events the bus has: none that is younger than the first event that waits. A minute covers that
 * the order of positions is not quite that of transactions.
 */
export const FORGET_CHANGES = {
  name: 'emission_forget_changes',
  text: `DELETE FROM recent_change WHERE at < least(now() - make_interval(secs => $1),
    (SELECT created_at FROM outbox WHERE partition >= 0 ORDER BY position LIMIT 1) - interval '1 minute')`,
};

/** Latest attempts in the order of their emissions' ids. */
export const PAGE = {
  name: 'emission_page',
  text: `SELECT a.emission_id, ${EMISSION_COLUMNS}, ${prefixed(COLUMNS, 'a')}
    FROM (SELECT * FROM emission WHERE id > $1 ORDER BY id LIMIT $2) e
    JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt ORDER BY e.id`,
};

/**
 * Documents that the authority decides, in the order of their ids, whoever asks for them. A page reads no more than its own
 * rows of the index of the undecided, however many wait or were ever issued.
 */
export const PAGE_OF_AWAITED = {
  name: 'emission_page_of_awaited',
  text: `WITH page AS MATERIALIZED (
      SELECT emission_id, attempt FROM attempt WHERE ${UNDECIDED} AND emission_id > $1 ORDER BY emission_id LIMIT $2)
    SELECT a.emission_id, ${EMISSION_COLUMNS}, ${prefixed(COLUMNS, 'a')}
    FROM page JOIN attempt a USING (emission_id, attempt)
    JOIN emission e ON e.id = a.emission_id AND e.attempt = a.attempt ORDER BY e.id`,
};

/** Documents that an alarm stands on, in the order of their ids. */
export const ALARMED = {
  name: 'emission_alarmed',
  text: `SELECT a.emission_id, ${EMISSION_COLUMNS}, ${prefixed(COLUMNS, 'a')}
    FROM attempt a JOIN emission e ON e.id = a.emission_id AND e.attempt = a.attempt
    WHERE a.alarm IS NOT NULL AND ($1::text IS NULL OR e.env = $1) AND ($2::text IS NULL OR e.issuer_rnc = $2) AND e.id > $3
    ORDER BY e.id LIMIT $4`,
};

export const EXCHANGES = {
  name: 'emission_exchanges',
  text: `SELECT x.attempt, x.operation, x.at, x.outcome, x.http_status, x.content_type, x.body
    FROM exchange x JOIN emission e ON e.id = x.emission_id
    WHERE e.env = $1 AND e.issuer_rnc = $2 AND e.encf = $3 ORDER BY x.id`,
};

/** The statements of the emission store and of what other services read of it. */

const COLUMNS = `attempt, revision, state, source, route, content_hash, facts, xml_path, xml_sha256, rfce_path, rfce_sha256,
  signed_at, committed_at, signer_fingerprint, has_own_certificate, track_id, track_id_adopted, status_revision, verdict, submitted_at,
  lost_sends, transient_refusals, not_found_since, failures, next_action_at, owner, modifies, modified_attempt, alarm, past, submitted_by, request_id, own_reference, batch_line,
  contingency_since, deadline, queued_at`;

const EMISSION_COLUMNS = 'e.env, e.issuer_rnc, e.encf, e.account_id, e.ecf_type, e.created_at';

const prefixed = (columns: string, alias: string) => columns.replace(/[a-z_0-9]+/g, (name) => `${alias}.${name}`);

/** The columns of an attempt `a` and its emission `e`. */
export const ATTEMPT_COLUMNS = `a.emission_id, ${EMISSION_COLUMNS}, ${prefixed(COLUMNS, 'a')}`;

/** $1 ids at once. */
export const NEXT_IDS = {
  name: 'emission_next_ids',
  text: "SELECT nextval('emission_id_seq') AS id FROM generate_series(1, $1::int)",
};

/**
 * Numbers as four lists, with the position of each. A run that is null is the present one. OFFSET keeps the sub-select, so that its
 * function is called once for each number.
 */
const NUMBERS = `(SELECT stored_environment(n.env, n.issuer_rnc, n.run) AS env, n.issuer_rnc, n.encf, n.position
      FROM unnest($1::text[], $2::text[], $3::text[], $4::int[]) WITH ORDINALITY AS n(env, issuer_rnc, encf, run, position) OFFSET 0) AS k`;

/** The latest attempts of several numbers. */
export const FIND = {
  name: 'emission_find',
  text: `SELECT k.position::int, ${ATTEMPT_COLUMNS}
    FROM ${NUMBERS}
    JOIN emission e ON e.env = k.env AND e.issuer_rnc = k.issuer_rnc AND e.encf = k.encf
    JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt`,
};

/**
 * The latest attempts of several numbers and the cancellations that cover the numbers. Cancelled ranges never overlap, so the
 * one that begins last at or before a number decides.
 */
export const LOOK = {
  name: 'emission_look',
  text: `SELECT k.position::int, k.env AS stored_env, c.cancellation_id AS cancelled_by, ${ATTEMPT_COLUMNS}
    FROM ${NUMBERS}
    LEFT JOIN emission e ON e.env = k.env AND e.issuer_rnc = k.issuer_rnc AND e.encf = k.encf
    LEFT JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt
    LEFT JOIN LATERAL (
      SELECT cancellation_id, last_number FROM cancelled_range r
      WHERE r.env = k.env AND r.issuer_rnc = k.issuer_rnc AND r.ecf_type = substr(k.encf, 2, 2)
        AND r.first_number <= substr(k.encf, 4)::bigint
      ORDER BY first_number DESC LIMIT 1) c ON c.last_number >= substr(k.encf, 4)::bigint
    WHERE e.id IS NOT NULL OR c.cancellation_id IS NOT NULL OR k.env <> environment_of(k.env)`,
};

/** The latest attempt of the number that an attempt with this trackId belongs to. */
export const FIND_SUBMISSION = {
  name: 'emission_find_submission',
  text: `SELECT ${ATTEMPT_COLUMNS}
    FROM attempt t JOIN emission e ON e.id = t.emission_id AND environment_of(e.env) = $1
    JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt
    WHERE t.track_id = $2 ORDER BY t.attempt DESC LIMIT 1`,
};

/** Events of several attempts, from the parameter `first` on; `id` is the emission. */
const eventsFrom = (first: number) =>
  `ROWS FROM (unnest($${first}::bigint[], $${first + 1}::smallint[], $${first + 2}::uuid[], $${first + 3}::text[], $${first + 4}::text[]),
        json_array_elements($${first + 5}::json)) AS x(id, partition, event_id, topic, key, event)`;

/**
 * New attempts with everything that is committed with them. A first attempt takes its number, a later one must follow
 * the latest. A trigger of `emission` skips a cancelled number, and `is_next_note` a credit note that has to be checked
 * again. If a number is not taken, nothing is written for it. Numbers are taken in their order, so that two statements
 * wait for each other in one direction only.
 */
const begin = ({ first = '', condition = '', last = '' }) => `WITH ${first} taken AS (
      INSERT INTO emission
      SELECT r.* FROM json_populate_recordset(NULL::emission, $1::json) r ${condition}
      LEFT JOIN unnest($15::bigint[], $16::text[], $17::int[]) AS note(id, document, notes) USING (id)
      WHERE note.id IS NULL OR is_next_note(note.document, note.notes) ORDER BY r.env, r.issuer_rnc, r.encf
      ON CONFLICT (env, issuer_rnc, encf) DO UPDATE SET attempt = EXCLUDED.attempt
        WHERE emission.attempt = EXCLUDED.attempt - 1
      RETURNING *),
    begun AS (
      INSERT INTO attempt
      SELECT r.* FROM json_populate_recordset(NULL::attempt, $2::json) r JOIN taken t ON t.id = r.emission_id
      RETURNING emission_id, revision),
    certificate AS (
      INSERT INTO sealed_certificate (emission_id, attempt, sealed)
      SELECT t.id, t.attempt, c.sealed FROM unnest($3::bigint[], $4::bytea[]) AS c(id, sealed) JOIN taken t USING (id)),
    stored AS (
      INSERT INTO pending_document (path, sha256, bytes)
      SELECT d.path, d.sha256, d.bytes
      FROM unnest($11::bigint[], $12::text[], $13::text[], $14::bytea[]) AS d(id, path, sha256, bytes) JOIN taken t USING (id)
      ON CONFLICT (path, sha256) DO NOTHING),
    published AS (
      INSERT INTO outbox (partition, event_id, topic, key, event)
      SELECT x.partition, x.event_id, x.topic, x.key, x.event FROM ${eventsFrom(5)} JOIN taken t USING (id)),
    noted AS (
      INSERT INTO recent_change (issuer, encf, revision)
      SELECT t.env || ':' || t.issuer_rnc, t.encf, b.revision FROM taken t JOIN begun b ON b.emission_id = t.id)
    ${last}
    SELECT id FROM taken`;

export const BEGIN = { name: 'emission_begin', text: begin({}) };

/** Binds idempotency keys to the attempts. */
const bound = (keys: string) => `, bound AS (
      INSERT INTO submission_key (account_id, env, idempotency_key, content_hash, emission_id, attempt)
      SELECT t.account_id, t.env, d.key, d.content_hash, t.id, t.attempt FROM ${keys} JOIN taken t USING (id))`;

/** As {@link BEGIN}, for documents that state their number and have an idempotency key ($18 to $20). */
export const BEGIN_KEYED = {
  name: 'emission_begin_keyed',
  text: begin({ last: bound('unnest($18::bigint[], $19::text[], $20::text[]) AS d(id, key, content_hash)') }),
};

const DRAWS = 'unnest($18::bigint[], $19::uuid[], $20::text[], $21::text[]) AS d(id, token, key, content_hash)';

/** As {@link BEGIN}, for documents whose numbers were drawn ($18 to $21). The reservation becomes the idempotency key. */
export const BEGIN_DRAWN = {
  name: 'emission_begin_drawn',
  text: begin({
    first: `reserved AS MATERIALIZED (
      SELECT d.id FROM ${DRAWS} JOIN reserved_number n ON n.token = d.token FOR UPDATE OF n),`,
    condition: 'JOIN reserved USING (id)',
    last: `, used AS (
      DELETE FROM reserved_number n USING ${DRAWS} JOIN taken t USING (id) WHERE n.token = d.token)${bound(DRAWS)}`,
  }),
};

/**
 * Stores attempts after a state transition ($1), unless their revision changed meanwhile ($9, $10). Also stores the answers
 * of the authority ($2), and the events of published changes ($3 to $8).
 */
const SAVED = `WITH saved AS (
      UPDATE attempt a SET revision = r.revision, state = r.state, has_own_certificate = r.has_own_certificate,
        track_id = r.track_id, track_id_adopted = r.track_id_adopted, status_revision = r.status_revision,
        verdict = r.verdict, submitted_at = r.submitted_at, lost_sends = r.lost_sends,
        transient_refusals = r.transient_refusals, not_found_since = r.not_found_since, failures = r.failures,
        next_action_at = r.next_action_at, owner = r.owner, alarm = r.alarm, past = r.past,
        queued_at = r.queued_at, deadline = coalesce(a.deadline, r.deadline)
      FROM json_populate_recordset(NULL::attempt, $1::json) r
      JOIN unnest($9::bigint[], $10::int[]) AS before(emission_id, revision) USING (emission_id)
      WHERE a.emission_id = r.emission_id AND a.attempt = r.attempt AND a.revision = before.revision
      RETURNING a.emission_id, a.attempt, a.revision, a.has_own_certificate),
    answered AS (
      INSERT INTO exchange (emission_id, attempt, operation, at, outcome, http_status, content_type, body)
      SELECT s.emission_id, s.attempt, x.operation, x.at, x.outcome, x.http_status, x.content_type, x.body
      FROM json_populate_recordset(NULL::exchange, $2::json) x JOIN saved s USING (emission_id)),
    published AS (
      INSERT INTO outbox (partition, event_id, topic, key, event)
      SELECT x.partition, x.event_id, x.topic, x.key, x.event FROM ${eventsFrom(3)}
      JOIN saved s ON s.emission_id = x.id),
    noted AS (
      INSERT INTO recent_change (issuer, encf, revision)
      SELECT e.env || ':' || e.issuer_rnc, e.encf, s.revision FROM saved s JOIN emission e ON e.id = s.emission_id
      WHERE s.emission_id = ANY($3::bigint[]))`;

/** Attempts that are not decided yet. */
export const SAVE = { name: 'emission_save', text: `${SAVED} SELECT emission_id FROM saved` };

/**
 * Decided attempts: the certificate that came with one is erased unless the delivery needs it, and notes that wait for it become
 * due. The revision of such a note is raised, so that a concurrent check that found the document undecided cannot postpone it.
 */
export const SAVE_DECIDED = {
  name: 'emission_save_decided',
  text: `${SAVED},
    erased AS (
      DELETE FROM sealed_certificate c USING saved s
      WHERE c.emission_id = s.emission_id AND c.attempt = s.attempt AND NOT s.has_own_certificate),
    released AS (
      UPDATE attempt note SET next_action_at = now(), revision = note.revision + 1
      FROM saved s JOIN emission e ON e.id = s.emission_id
      WHERE note.modifies = e.env || ':' || e.issuer_rnc || ':' || e.encf AND note.state = 'held')
    SELECT emission_id FROM saved`,
};

export const KEEP_EXCHANGES = {
  name: 'emission_keep_exchanges',
  text: `INSERT INTO exchange (emission_id, attempt, operation, at, outcome, http_status, content_type, body)
    SELECT emission_id, attempt, operation, at, outcome, http_status, content_type, body
    FROM json_populate_recordset(NULL::exchange, $1::json)`,
};

/** Leases due attempts, earliest first. Rows that another instance is claiming are passed over. */
export const CLAIM_DUE = {
  name: 'emission_claim_due',
  text: `WITH due AS (
      SELECT emission_id, attempt, next_action_at AS due_at FROM attempt WHERE next_action_at <= $1
      ORDER BY next_action_at LIMIT $2 FOR UPDATE SKIP LOCKED),
    claimed AS (
      UPDATE attempt a SET owner = $3, next_action_at = $4, revision = a.revision + 1
      FROM due WHERE a.emission_id = due.emission_id AND a.attempt = due.attempt
      RETURNING a.*, due.due_at)
    SELECT ${ATTEMPT_COLUMNS}
    FROM claimed a JOIN emission e ON e.id = a.emission_id ORDER BY a.due_at`,
};

export const SEALED = {
  name: 'emission_sealed_certificate',
  text: 'SELECT sealed FROM sealed_certificate WHERE emission_id = $1 AND attempt = $2',
};

/** The delivery of an accepted document ended, so nobody logs in with its certificate any more. */
export const ERASE_CERTIFICATE = {
  name: 'emission_erase_certificate',
  text: `WITH erased AS (
      DELETE FROM sealed_certificate s USING emission e
      WHERE e.env = stored_environment($1, $2, $4) AND e.issuer_rnc = $2 AND e.encf = $3 AND s.emission_id = e.id RETURNING s.emission_id, s.attempt)
    UPDATE attempt a SET has_own_certificate = false FROM erased
    WHERE a.emission_id = erased.emission_id AND a.attempt = erased.attempt`,
};

export const NOTES_ON = {
  name: 'emission_notes_on',
  text: `SELECT e.encf, e.ecf_type, a.state, a.facts->'summary'->>'total_amount' AS total_amount, e.attempt = a.attempt AS latest
    FROM attempt a JOIN emission e ON e.id = a.emission_id WHERE a.modifies = $1`,
};

/** Looks each taxpayer of the account up by the key of the emission. */
export const OTHER_ISSUER = {
  name: 'emission_other_issuer',
  text: `SELECT e.issuer_rnc FROM taxpayers t JOIN emission e ON e.env = stored_environment($1, t.rnc, NULL) AND e.issuer_rnc = t.rnc AND e.encf = $3
    WHERE t.account_id = $4 AND e.account_id = $4 AND t.rnc <> $2 AND ($5::text[] IS NULL OR t.rnc = ANY ($5)) LIMIT 1`,
};

/**
 * Makes attempts due that wait for a certificate, and late ones, which may wait for one. Attempts in flight do not
 * change. The raised revision prevents a concurrent check, which found no certificate, from postponing them.
 */
export const RESUME = {
  name: 'emission_resume',
  text: `UPDATE attempt a SET next_action_at = now(), revision = a.revision + 1 FROM emission e
    WHERE a.alarm IN ('no-certificate', 'overdue', 'contingency-late') AND a.next_action_at IS NOT NULL AND a.state NOT IN ('sending', 'resending') AND e.id = a.emission_id AND e.issuer_rnc = $1`,
};

/** Documents that the authority has to decide; a partial index has this very condition. */
const UNDECIDED = "state IN ('processing', 'not-found')";

export const BACKLOG = {
  name: 'emission_backlog',
  text: `SELECT state, alarm, count(*)::int AS count, min(committed_at) AS oldest FROM attempt
    WHERE next_action_at IS NOT NULL OR alarm IS NOT NULL OR queued_at IS NOT NULL OR ${UNDECIDED} GROUP BY state, alarm`,
};

/**
 * Deletes old changes whose events are published, that is, those before the oldest event in the outbox. A minute is
 * added because the order of positions is not exactly that of transactions.
 */
export const FORGET_CHANGES = {
  name: 'emission_forget_changes',
  text: `DELETE FROM recent_change WHERE at < least(now() - make_interval(secs => $1),
    (SELECT created_at FROM outbox WHERE partition >= 0 ORDER BY position LIMIT 1) - interval '1 minute')`,
};

/** Latest attempts in the order of their emissions' ids. */
export const PAGE = {
  name: 'emission_page',
  text: `SELECT ${ATTEMPT_COLUMNS}
    FROM (SELECT * FROM emission WHERE id > $1 ORDER BY id LIMIT $2) e
    JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt ORDER BY e.id`,
};

/**
 * Documents that the authority decides, in the order of their ids. A page reads only its own rows of the partial
 * index, however many documents wait.
 */
export const PAGE_OF_AWAITED = {
  name: 'emission_page_of_awaited',
  text: `WITH page AS MATERIALIZED (
      SELECT emission_id, attempt FROM attempt WHERE ${UNDECIDED} AND emission_id > $1 ORDER BY emission_id LIMIT $2)
    SELECT ${ATTEMPT_COLUMNS}
    FROM page JOIN attempt a USING (emission_id, attempt)
    JOIN emission e ON e.id = a.emission_id AND e.attempt = a.attempt ORDER BY e.id`,
};

/** Documents with an alarm, in the order of their ids. */
export const ALARMED = {
  name: 'emission_alarmed',
  text: `SELECT ${ATTEMPT_COLUMNS}
    FROM attempt a JOIN emission e ON e.id = a.emission_id AND e.attempt = a.attempt
    WHERE a.alarm IS NOT NULL AND ($1::text IS NULL OR environment_of(e.env) = $1)
      AND ($2::text IS NULL OR e.issuer_rnc = $2) AND e.id > $3 ORDER BY e.id LIMIT $4`,
};

export const EXCHANGES = {
  name: 'emission_exchanges',
  text: `SELECT x.attempt, x.operation, x.at, x.outcome, x.http_status, x.content_type, x.body
    FROM exchange x JOIN emission e ON e.id = x.emission_id
    WHERE e.env = stored_environment($1, $2, $4) AND e.issuer_rnc = $2 AND e.encf = $3 ORDER BY x.id`,
};

/** Reserves a number for each of several calls ($1), those of one range one after the other. */
export const DRAW = {
  name: 'number_draw',
  text: `SELECT c.position, d.outcome, d.encf, present_run(c.env, c.issuer) AS run
    FROM (SELECT * FROM json_to_recordset($1::json) AS c(position int, account text, env text, issuer text, type text, key text,
        token uuid, lease int, ranges json) ORDER BY env, issuer, type, position) c
    CROSS JOIN LATERAL draw_number(c.account, stored_environment(c.env, c.issuer, NULL), c.issuer, c.type, c.key, c.token, c.lease, c.ranges) d`,
};

/** The numbers left in the ranges $2 to $5 of an issuer. */
export const NUMBERS_LEFT = {
  name: 'number_left',
  text: `SELECT l.next_encf AS next, l.remaining
    FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[]) WITH ORDINALITY
      AS r(issuer, env, type, first, last, position)
    CROSS JOIN LATERAL numbers_left(stored_environment(r.env, r.issuer, NULL), r.issuer, r.type, r.first, r.last) l
    ORDER BY r.position`,
};

export const GIVE_BACK = {
  name: 'number_give_back',
  text: `UPDATE reserved_number SET until = '-infinity', idempotency_key = NULL WHERE token = $1`,
};

/** Binds an idempotency key to an attempt that was found, not made. */
export const BIND = {
  name: 'number_bind',
  text: `INSERT INTO submission_key (account_id, env, idempotency_key, content_hash, emission_id, attempt)
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING emission_id`,
};

/** The attempt of the submission under a key. */
export const SUBMITTED = {
  name: 'number_submitted',
  text: `SELECT k.content_hash AS key_content, ${ATTEMPT_COLUMNS}
    FROM submission_key k JOIN emission e ON e.id = k.emission_id
    JOIN attempt a ON a.emission_id = k.emission_id AND a.attempt = k.attempt
    WHERE k.account_id = $1 AND k.env = stored_environment($2, $4, NULL) AND k.idempotency_key = $3`,
};

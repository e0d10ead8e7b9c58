/** Statements of the cancellation store. Ranges are three arrays in one order: types, first and last sequences. */

const RANGES = 'unnest($3::text[], $4::bigint[], $5::bigint[])';

/** Held until the commit, so that nobody takes a number of the issuer meanwhile. */
export const LOCK_NUMBERS = {
  name: 'cancellation_lock_numbers',
  text: "SELECT pg_advisory_xact_lock(hashtextextended('numbers:' || $1 || ':' || $2, 0))",
};

/** The present certification run of an issuer, and the environment under which its numbers are stored. */
export const PRESENT = {
  name: 'cancellation_present_run',
  text: 'SELECT present_run($1, $2) AS run, stored_environment($1, $2, NULL) AS stored',
};

/**
 * Numbers that have an attempt, unless it is over and left the number free ($6: those states). The inner LIMIT makes
 * the planner use the index once for each range. Without it the planner may read all attempts.
 */
export const USED = {
  name: 'cancellation_used',
  text: `SELECT used.encf, used.state FROM ${RANGES} AS r(type, "from", "to")
    CROSS JOIN LATERAL (
      SELECT e.encf, a.state FROM emission e JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt
      WHERE e.env = $1 AND e.issuer_rnc = $2
        AND e.encf BETWEEN 'E' || r.type || lpad(r."from"::text, 10, '0') AND 'E' || r.type || lpad(r."to"::text, 10, '0')
        AND a.state <> ALL($6::text[]) LIMIT $7) used
    LIMIT $7`,
};

/**
 * Intersection of the requested ranges and the ranges in force. A look-up for each range would be slow, so ranges are
 * compared in pieces of $6. Each piece is one range set, compared with one set of the ranges in force between its ends.
 * Ranges in force never overlap. So each number of the intersection belongs to a range that begins inside it, or to the last
 * range that begins before it.
 */
export const CANCELLED = {
  name: 'cancellation_cancelled',
  text: `WITH piece AS (
      SELECT r.type, min(r."from") AS first, max(r."to") AS last, range_agg(int8range(r."from", r."to", '[]')) AS numbers,
        min(r.place) AS place
      FROM ${RANGES} WITH ORDINALITY AS r(type, "from", "to", place) GROUP BY r.type, (r.place - 1) / $6::int),
    met AS (
      SELECT piece.type, piece.numbers * in_force.numbers AS numbers FROM piece CROSS JOIN LATERAL (
        SELECT range_agg(int8range(c.first_number, c.last_number, '[]')) AS numbers FROM (
          (SELECT first_number, last_number FROM cancelled_range
            WHERE env = $1 AND issuer_rnc = $2 AND ecf_type = piece.type AND first_number < piece.first
            ORDER BY first_number DESC LIMIT 1)
          UNION ALL
          SELECT first_number, last_number FROM cancelled_range
            WHERE env = $1 AND issuer_rnc = $2 AND ecf_type = piece.type
              AND first_number BETWEEN piece.first AND piece.last) c) in_force
      ORDER BY piece.place)
    SELECT met.type, greatest(lower(both_hold), c.first_number) AS "from", least(upper(both_hold) - 1, c.last_number) AS "to",
      c.cancellation_id AS by
    FROM met CROSS JOIN LATERAL unnest(met.numbers) AS both_hold CROSS JOIN LATERAL (
      (SELECT first_number, last_number, cancellation_id FROM cancelled_range
        WHERE env = $1 AND issuer_rnc = $2 AND ecf_type = met.type AND first_number < lower(both_hold)
        ORDER BY first_number DESC LIMIT 1)
      UNION ALL
      (SELECT first_number, last_number, cancellation_id FROM cancelled_range
        WHERE env = $1 AND issuer_rnc = $2 AND ecf_type = met.type
          AND first_number BETWEEN lower(both_hold) AND upper(both_hold) - 1
        ORDER BY first_number LIMIT $7)) c
    WHERE c.last_number >= lower(both_hold)
    LIMIT $7`,
};

export const BLOCK = {
  name: 'cancellation_block',
  text: `INSERT INTO cancelled_range (env, issuer_rnc, ecf_type, first_number, last_number, cancellation_id)
    SELECT $1, $2, r.type, r."from", r."to", $6 FROM ${RANGES} AS r(type, "from", "to")`,
};

/** Automatic numbers go back to the first one that is free again: draws skipped it. */
export const UNBLOCK = {
  name: 'cancellation_unblock',
  text: `WITH freed AS (
      DELETE FROM cancelled_range WHERE cancellation_id = $1
      RETURNING env, issuer_rnc, ecf_type, first_number AS "from", last_number AS "to"),
    skipped AS (
      SELECT p.env, p.issuer_rnc, p.ecf_type, p.first_number, min(greatest(f."from", p.first_number)) AS next_number
      FROM number_position p JOIN freed f USING (env, issuer_rnc, ecf_type)
      WHERE f."to" >= p.first_number AND f."from" < p.next_number GROUP BY 1, 2, 3, 4)
    UPDATE number_position p SET next_number = least(p.next_number, s.next_number) FROM skipped s
    WHERE p.env = s.env AND p.issuer_rnc = s.issuer_rnc AND p.ecf_type = s.ecf_type AND p.first_number = s.first_number`,
};

export const ADD = {
  name: 'cancellation_add',
  text: `INSERT INTO cancellation (env, issuer_rnc, account_id, content_hash, version, reason, total, generated_at, created_at,
      xml_path, xml_sha256, lines, state, next_action_at, requested_at, created_by)
    VALUES (stored_environment($1, $2, NULL), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) RETURNING *`,
};

/** Held until the commit, so that nobody adds a cancellation with the same content meanwhile. */
export const LOCK_CONTENT = {
  name: 'cancellation_lock_content',
  text: "SELECT pg_advisory_xact_lock(hashtextextended('cancellation:' || $1 || ':' || $2 || ':' || $3, 0))",
};

export const SUBMIT = {
  name: 'cancellation_submit',
  text: `UPDATE cancellation SET state = 'sending', next_action_at = $2, requested_at = $3, revision = revision + 1
    WHERE id = $1 AND state = 'local' AND env = stored_environment(environment_of(env), issuer_rnc, NULL) RETURNING *`,
};

export const FIND_LOCAL = {
  name: 'cancellation_find_local',
  text: `SELECT * FROM cancellation WHERE env = stored_environment($1, issuer_rnc, NULL) AND account_id = $2
      AND content_hash = $3 AND state = 'local'
    ORDER BY id DESC LIMIT 1`,
};

export const FIND = { name: 'cancellation_find', text: 'SELECT * FROM cancellation WHERE id = $1' };

export const LIST = {
  name: 'cancellation_list',
  text: 'SELECT id FROM cancellation WHERE env = stored_environment($1, $2, NULL) AND issuer_rnc = $2 ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4',
};

/**
 * Leases due cancellations, earliest first. If the lease of a send ended, its outcome is unknown: it counts as lost. A first
 * send may have left when it was requested.
 */
export const CLAIM = {
  name: 'cancellation_claim',
  text: `WITH due AS (
      SELECT id, next_action_at FROM cancellation WHERE next_action_at <= $1 AND id <> ALL ($3::bigint[])
       ORDER BY next_action_at LIMIT $4 FOR UPDATE SKIP LOCKED),
    claimed AS (UPDATE cancellation c SET next_action_at = $2, revision = c.revision + 1, state = 'sending',
      lost_sends = c.lost_sends + CASE WHEN c.state = 'sending' THEN 1 ELSE 0 END,
      sent_at = CASE WHEN c.state <> 'sending' OR c.sent_at IS NOT NULL THEN c.sent_at
        WHEN c.failures > 0 THEN $1 ELSE coalesce(c.requested_at, c.created_at) END
    FROM due WHERE c.id = due.id RETURNING c.*)
    SELECT claimed.* FROM claimed JOIN due USING (id) ORDER BY due.next_action_at`,
};

export const RECORD = {
  name: 'cancellation_record',
  text: `UPDATE cancellation SET revision = revision + 1, state = $3, sent_at = $4, response = $5, refused = $6, lost_sends = $7,
      failures = $8, next_action_at = $9, alarm = $10, settled_at = $11, settled_note = $12
    WHERE id = $1 AND revision = $2 RETURNING *`,
};

export const NEEDING_PERSON = {
  name: 'cancellation_needing_person',
  text: `SELECT * FROM cancellation
    WHERE CASE WHEN $3 THEN settled_at IS NOT NULL ELSE alarm IS NOT NULL END AND id > $4
      AND ($1::text IS NULL OR environment_of(env) = $1) AND ($2::text IS NULL OR issuer_rnc = $2)
    ORDER BY id LIMIT $5`,
};

export const BACKLOG = {
  name: 'cancellation_backlog',
  text: `SELECT alarm, count(*)::int AS count, count(next_action_at)::int AS undecided FROM cancellation
    WHERE next_action_at IS NOT NULL OR alarm IS NOT NULL GROUP BY alarm`,
};

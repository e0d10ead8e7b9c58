/** The statements of the notices to taxpayers. */

/** Shortest time between two checks of a taxpayer that takes numbers, for all instances together. Seconds. */
const PAUSE = 10;
/** Longer than the pause and the time between two checks. Seconds. */
const ACTIVE = 60;

/**
 * Makes taxpayers due that are new, that changed, or that took numbers lately. This may miss a change, for example after a crash
 * of the database server, which may empty `recent_change`. The next regular check of the taxpayer finds it.
 */
export const WATCH = {
  name: 'notice_watch',
  text: `WITH active AS (
      SELECT DISTINCT split_part(issuer, ':', 2) AS rnc FROM recent_change WHERE at > now() - make_interval(secs => ${ACTIVE}))
    INSERT INTO taxpayer_watch AS w (rnc, revision, due_at)
    SELECT t.rnc, t.revision, $1 FROM taxpayers t LEFT JOIN taxpayer_watch p USING (rnc) LEFT JOIN active a USING (rnc)
     WHERE p.rnc IS NULL OR p.revision < t.revision
        OR (a.rnc IS NOT NULL AND p.due_at > $1
            AND coalesce(p.claimed_at <= $1::timestamptz - make_interval(secs => ${PAUSE}), true))
     ORDER BY t.rnc
    ON CONFLICT (rnc) DO UPDATE SET revision = excluded.revision, due_at = least(w.due_at, excluded.due_at)`,
};
export const CLAIM = {
  name: 'notice_claim',
  text: `WITH due AS (
      SELECT rnc, due_at FROM taxpayer_watch WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED),
    claimed AS (
      UPDATE taxpayer_watch w SET due_at = $2, claimed_at = $1 FROM due WHERE w.rnc = due.rnc
      RETURNING w.rnc, w.notified_certificate, w.due_at AS until, due.due_at)
    SELECT rnc, notified_certificate, until FROM claimed ORDER BY due_at`,
};
export const DONE = {
  name: 'notice_done',
  text: 'UPDATE taxpayer_watch SET due_at = $3 WHERE rnc = $1 AND due_at = $2',
};

const RANGES = `(SELECT stored_environment(g.env, $1, NULL) AS env, g.type, g.first, g.low, g.last, g.position
      FROM unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
        WITH ORDINALITY AS g(env, type, first, low, last, position)) AS r`;

/** Whether one of the numbers from `low` to `last` is used or cancelled, or automatic numbers have passed `low`. */
export const NEAR_END = {
  name: 'notice_near_end',
  text: `SELECT
      EXISTS (SELECT FROM emission e WHERE e.env = r.env AND e.issuer_rnc = $1
               AND e.encf BETWEEN encf_of(r.type, r.low) AND encf_of(r.type, r.last))
      OR EXISTS (SELECT FROM cancelled_range c WHERE c.env = r.env AND c.issuer_rnc = $1 AND c.ecf_type = r.type
                  AND c.first_number <= r.last AND c.last_number >= r.low)
      OR EXISTS (SELECT FROM number_position p WHERE p.env = r.env AND p.issuer_rnc = $1 AND p.ecf_type = r.type
                  AND p.first_number = r.first AND p.next_number > r.low) AS near
    FROM ${RANGES} ORDER BY r.position`,
};

/** Active taxpayers whose present certificate had its notice. */
export const CERTIFICATES_ENDING = {
  name: 'notice_certificates_ending',
  text: `SELECT count(*)::int AS count FROM taxpayer_watch w JOIN taxpayers t USING (rnc)
    WHERE w.notified_certificate = t.state->>'fingerprint' AND (t.state->>'active')::boolean AND (t.state->>'account_active')::boolean`,
};
/** Types of active taxpayers without a range that is open on day $1 and has no notice, by environment. */
export const RANGES_ENDING = {
  name: 'notice_ranges_ending',
  text: `SELECT env, count(*)::int AS count FROM (
      SELECT t.rnc, r.env, r.ecf_type FROM taxpayers t
       CROSS JOIN LATERAL json_to_recordset(t.state->'ranges') AS r(env text, ecf_type text, "from" text, "to" text, expires text)
       LEFT JOIN range_notice n
         ON n.issuer_rnc = t.rnc AND n.env = r.env AND n.ecf_type = r.ecf_type AND n.first_encf = r."from"
       WHERE (t.state->>'active')::boolean AND (t.state->>'account_active')::boolean
       GROUP BY 1, 2, 3
       HAVING bool_and(coalesce(n.low_up_to = r."to" OR n.expires = r.expires OR r.expires < $1, false))) AS ending
    GROUP BY env`,
};

/** Serialises the notices to one taxpayer. */
export const LOCK = {
  name: 'notice_lock',
  text: 'SELECT notified_certificate FROM taxpayer_watch WHERE rnc = $1 FOR UPDATE',
};
export const NOTICES = {
  name: 'notice_read',
  text: 'SELECT env, ecf_type, first_encf, low_up_to, expires FROM range_notice WHERE issuer_rnc = $1',
};
export const SAVE = {
  name: 'notice_save',
  text: `INSERT INTO range_notice (issuer_rnc, env, ecf_type, first_encf, low_up_to, expires)
    SELECT $1, r.* FROM json_to_recordset($2::json) AS r(env text, ecf_type text, first_encf text, low_up_to text, expires text)
    ON CONFLICT (issuer_rnc, env, ecf_type, first_encf) DO UPDATE SET low_up_to = excluded.low_up_to, expires = excluded.expires`,
};
export const SAVE_CERTIFICATE = {
  name: 'notice_save_certificate',
  text: 'UPDATE taxpayer_watch SET notified_certificate = $2 WHERE rnc = $1',
};

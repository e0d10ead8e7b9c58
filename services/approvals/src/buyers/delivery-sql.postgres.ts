/** The error of a delivery that was never tried. */
export const NEVER_REACHED = 'The receiver failed repeatedly and got no calls until the deadline.';
/** Rows that one claim looks at. Where those of one buyer or host fill it, the next claim leaves that one out. */
const LOOKED_AT = 1_000;

/** A buyer as claims name it: `<env>:<RNC>`. */
const BUYER = "split_part(env, '/', 1) || ':' || buyer_rnc";
/** The stored environment of the present certification run of the issuer $2 in $1. */
const PRESENT = `coalesce((SELECT $1 || '/' || c.run FROM certification_run c WHERE c.env = $1 AND c.issuer_rnc = $2), $1)`;

export const ADD = {
  name: 'delivery_add',
  text: `INSERT INTO deliveries (env, issuer_rnc, encf, buyer_rnc, account_id, xml_path, xml_sha256, status, created_at,
           deadline_at, due_at, traceparent, host)
         SELECT env, issuer_rnc, encf, buyer_rnc, account_id, xml_path, xml_sha256, status, created_at,
           deadline_at, due_at, traceparent, host
           FROM json_populate_recordset(NULL::deliveries, $1::json) ORDER BY env, issuer_rnc, encf
         ON CONFLICT (env, issuer_rnc, encf) DO NOTHING RETURNING *`,
};
// There are hundreds of names. PostgreSQL hashes the sub-selects; it would search plain arrays for every row.
export const CLAIM = {
  name: 'delivery_claim',
  text: `WITH due AS (
           SELECT id, due_at, ${BUYER} AS buyer, host FROM deliveries
            WHERE due_at <= $1 AND (claim IS NULL OR due_at <= $5) AND ${BUYER} NOT IN (SELECT unnest($6::text[]))
              AND (host IS NULL OR host NOT IN (SELECT unnest($8::text[]))) AND id NOT IN (SELECT unnest($11::bigint[])) ORDER BY due_at LIMIT ${LOOKED_AT}),
         of_buyer AS (SELECT id, due_at, buyer, host, row_number() OVER (PARTITION BY buyer ORDER BY due_at, id) AS number FROM due),
         of_host AS (
           SELECT id, host, row_number() OVER (PARTITION BY host ORDER BY due_at, id) AS number FROM of_buyer
            WHERE number <= coalesce(($7::jsonb ->> buyer)::int, 1)),
         picked AS (
           SELECT d.id FROM deliveries d JOIN of_host USING (id)
            WHERE d.due_at <= $1 AND d.status <> 'delivered'
              AND (of_host.host IS NULL OR of_host.number <= coalesce(($9::jsonb ->> of_host.host)::int, $10::int))
            ORDER BY d.due_at LIMIT $3 FOR UPDATE OF d SKIP LOCKED)
         UPDATE deliveries d SET due_at = $2, claim = $4, tries = d.tries + 1 FROM picked WHERE d.id = picked.id
         RETURNING d.*`,
};
export const RENEW = {
  name: 'delivery_renew',
  text: `WITH renewed AS (
           SELECT d.id FROM deliveries d JOIN unnest($1::bigint[], $2::uuid[]) AS k(id, claim) USING (id, claim)
            ORDER BY d.id FOR UPDATE OF d)
         UPDATE deliveries SET due_at = greatest(due_at, $3) FROM renewed WHERE deliveries.id = renewed.id`,
};
// A successful attempt counts even after its lease ended, and a delivered document stays delivered.
export const CONCLUDE = {
  name: 'delivery_conclude',
  text: `UPDATE deliveries SET status = $3, due_at = $4, last_error = $5, claim = NULL, needs_certificate = $6, host = $7,
           revision = revision + CASE WHEN status = $3 AND $4::timestamptz IS NOT NULL THEN 0 ELSE 1 END
          WHERE id = $1 AND status <> 'delivered' AND (claim = $2 OR $3 = 'delivered') RETURNING *`,
};
/**
 * Other deliveries of a buyer without receiver that wait for their first look-up. The same answer postpones them, so that
 * thousands are not claimed one by one. Their next look-ups are spread over ten minutes.
 */
export const POSTPONE_OTHERS = {
  name: 'delivery_postpone_others',
  text: `WITH others AS (
           SELECT id FROM deliveries
            WHERE env = $1 AND buyer_rnc = $2 AND created_at <= $3 AND status = 'no_receiver' AND tries = 0 AND claim IS NULL
              AND deadline_at > $4::timestamptz + interval '10 minutes'
            ORDER BY id FOR UPDATE SKIP LOCKED)
         UPDATE deliveries d SET tries = 1, due_at = $4::timestamptz + (d.id % 600) * interval '1 second', last_error = $5,
           host = NULL
         FROM others WHERE d.id = others.id`,
};
export const DEFER = {
  name: 'delivery_defer',
  text: `UPDATE deliveries SET due_at = $4, claim = NULL, tries = tries - 1, host = $3 WHERE id = $1 AND claim = $2`,
};
/** Rows of one statement; the rest follows. */
const GIVEN_UP_AT_ONCE = 500;
export const GIVE_UP = {
  name: 'delivery_give_up',
  text: `WITH over AS (
           SELECT id FROM deliveries WHERE due_at <= $1 AND deadline_at <= $1
              AND (${BUYER} IN (SELECT unnest($2::text[])) OR host IN (SELECT unnest($3::text[])))
            ORDER BY id LIMIT ${GIVEN_UP_AT_ONCE} FOR UPDATE SKIP LOCKED)
         UPDATE deliveries d SET status = 'failed', due_at = NULL, claim = NULL, needs_certificate = false,
           revision = d.revision + 1, last_error = coalesce(d.last_error, $4)
         FROM over WHERE d.id = over.id RETURNING d.*`,
};
export const FIND = { name: 'delivery_find', text: 'SELECT * FROM deliveries WHERE id = $1' };
export const LOCK = {
  name: 'delivery_lock',
  text: `SELECT * FROM deliveries WHERE env = ${PRESENT} AND issuer_rnc = $2 AND encf = $3 FOR UPDATE`,
};
export const RESUME = {
  name: 'delivery_resume',
  text: `UPDATE deliveries SET due_at = $2, needs_certificate = false
          WHERE issuer_rnc = $1 AND needs_certificate AND claim IS NULL AND due_at > $2`,
};
export const LIST = {
  name: 'delivery_list',
  text: `SELECT * FROM deliveries
          WHERE ($1::text IS NULL OR split_part(env, '/', 1) = $1) AND ($2::text IS NULL OR status = $2) AND ($3::text IS NULL OR issuer_rnc = $3)
            AND ($4::text IS NULL OR buyer_rnc = $4) AND ($5::text IS NULL OR encf = $5) AND ($6::bigint IS NULL OR id < $6)
          ORDER BY id DESC LIMIT $7`,
};
export const RETRY = {
  name: 'delivery_retry',
  text: `UPDATE deliveries SET due_at = $4, deadline_at = $5, claim = NULL, tries = 0, needs_certificate = false, host = NULL,
           status = CASE WHEN status = 'unacknowledged' THEN status ELSE 'pending' END,
           revision = revision + CASE WHEN status IN ('pending', 'unacknowledged') THEN 0 ELSE 1 END
         WHERE env = ${PRESENT} AND issuer_rnc = $2 AND encf = $3 AND status <> 'delivered' AND (status <> 'not_required' OR $6::boolean)
         RETURNING *`,
};

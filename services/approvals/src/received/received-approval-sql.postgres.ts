/** The statements about answers of buyers. $1 env, $2 issuer, $3 eNCF name the e-CF. */
const COLUMNS = `env, issuer_rnc, encf, buyer_rnc, account_id, decision, reason, decided_at, received_at, bytes, xml_path, xml_sha256,
  certificate_subject, certificate_serial, certificate_issuer, certificate_fingerprint, certificate_key, certificate_holder,
  certificate_trusted, canonical, request_id, sender, confirmed, content_sha256`;
const VALUES = COLUMNS.split(',').map((_, index) => `$${index + 1}`);
const ABOUT = 'a.env = $1 AND a.issuer_rnc = $2 AND a.encf = $3';
/** The present certification run of the issuer of a decision `d`. */
const RUN = 'coalesce((SELECT c.run FROM certification_run c WHERE c.env = d.env AND c.issuer_rnc = d.issuer_rnc), 1)';
/** Most answers that are listed. */
const MOST_ANSWERS = 1_000;

export const FIND = {
  name: 'received_approval_find',
  text: `SELECT a.*, true AS counts FROM received_decisions d JOIN received_approvals a ON a.id = d.answer_id
          WHERE d.env = $1 AND d.issuer_rnc = $2 AND d.encf = $3`,
};
export const ANSWERS = {
  name: 'received_approval_answers',
  text: `SELECT * FROM (
           SELECT a.*, EXISTS (SELECT 1 FROM received_decisions d
                                WHERE d.env = a.env AND d.issuer_rnc = a.issuer_rnc AND d.encf = a.encf
                                  AND d.answer_id = a.id) AS counts
             FROM received_approvals a WHERE ${ABOUT}
            ORDER BY counts DESC, a.confirmed DESC, a.id LIMIT ${MOST_ANSWERS}) first
          ORDER BY id`,
};
export const EQUAL = {
  name: 'received_approval_equal',
  text: `SELECT a.xml_path AS path, a.xml_sha256 AS sha256 FROM received_approvals a
          WHERE ${ABOUT} AND a.content_sha256 = $4 ORDER BY a.id LIMIT 1`,
};
/** Where identical bytes are kept; null if they were refused and not kept. */
export const PATH = {
  name: 'received_approval_path',
  text: `SELECT xml_path FROM (
           SELECT a.xml_path FROM received_approvals a WHERE ${ABOUT} AND a.xml_sha256 = $4
           UNION ALL
           SELECT a.xml_path FROM refused_approvals a WHERE ${ABOUT} AND a.sha256 = $4) kept
          ORDER BY xml_path NULLS LAST LIMIT 1`,
};
export const OF_ACCOUNT = {
  name: 'received_approval_of_account',
  text: "SELECT a.*, false AS counts FROM received_approvals a WHERE a.id = $1 AND a.account_id = $2 AND position('/' in a.env) = 0",
};
/** An answer that does not count. The same bytes are kept once. */
export const ADD = {
  name: 'received_approval_add',
  text: `INSERT INTO received_approvals (${COLUMNS}) VALUES (${VALUES})
         ON CONFLICT (env, issuer_rnc, encf, xml_sha256) DO NOTHING`,
};
/**
 * An answer that counts, unless an operator decided otherwise. Its bytes may be kept already, as an answer that did not
 * count.
 */
export const ADD_COUNTING = {
  name: 'received_approval_add_counting',
  text: `INSERT INTO received_approvals AS a (${COLUMNS}) VALUES (${VALUES})
         ON CONFLICT (env, issuer_rnc, encf, xml_sha256) DO UPDATE SET confirmed = a.confirmed OR excluded.confirmed
          WHERE a.ruled_counts IS NOT false
         RETURNING *, true AS counts, xmax = 0 AS fresh`,
};
export const DISMISSED = {
  name: 'received_approval_dismissed',
  text: `SELECT 1 FROM received_approvals a
          WHERE ${ABOUT} AND a.certificate_fingerprint = $4 AND a.ruled_counts = false LIMIT 1`,
};
export const RULE = {
  name: 'received_approval_rule',
  text: `UPDATE received_approvals SET ruled_counts = $2, ruled_reason = $3, ruled_at = $4 WHERE id = $1
         RETURNING *, true AS counts`,
};
/** Unconfirmed answers of a signer in the name of a buyer. $3 its key; $4, $5 its holder, if it leads to a trusted issuer. */
export const UNCONFIRMED_OF = {
  name: 'received_approval_unconfirmed_of',
  text: `SELECT *, false AS counts FROM received_approvals
          WHERE env = $1 AND buyer_rnc = $2 AND NOT confirmed
            AND (certificate_key = $3 OR ($4::boolean AND certificate_trusted AND certificate_holder = $5))
          ORDER BY issuer_rnc, encf, id`,
};
export const WITH_ID = {
  name: 'received_approval_with_id',
  text: 'SELECT a.*, true AS counts FROM received_approvals a WHERE a.id = $1',
};
export const CONFIRM = {
  name: 'received_approval_confirm',
  text: 'UPDATE received_approvals SET confirmed = true WHERE id = $1 RETURNING *, true AS counts',
};
/** A lock by a name, until the end of the transaction. */
export const LOCK_NAME = {
  name: 'received_approval_lock_name',
  text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
};
export const LOCK = {
  name: 'received_decision_lock',
  text: `INSERT INTO received_decisions AS d (env, issuer_rnc, encf, buyer_rnc) VALUES ($1, $2, $3, $4)
         ON CONFLICT (env, issuer_rnc, encf) DO UPDATE SET revision = d.revision`,
};
/** $5 whether the answer takes the place of the one that counts, which is remembered with it. */
export const DECIDE = {
  name: 'received_decision_decide',
  text: `WITH replaced AS (
           UPDATE received_approvals a SET replaced_id = before.answer_id FROM received_decisions before
            WHERE $5 AND before.env = $1 AND before.issuer_rnc = $2 AND before.encf = $3 AND a.id = $4
              AND before.answer_id <> a.id),
         d AS (
           UPDATE received_decisions SET answer_id = $4, revision = revision + 1
            WHERE env = $1 AND issuer_rnc = $2 AND encf = $3 RETURNING *)
         SELECT d.*, ${RUN} AS run, a.decision, a.confirmed, a.decided_at FROM d LEFT JOIN received_approvals a ON a.id = d.answer_id`,
};
export const PAGE = {
  name: 'received_decisions_page',
  text: `SELECT d.*, ${RUN} AS run, a.decision, a.confirmed, a.decided_at
           FROM received_decisions d LEFT JOIN received_approvals a ON a.id = d.answer_id
          WHERE d.id > $1 AND d.revision > 0 ORDER BY d.id LIMIT $2`,
};
/** A refusal of the same bytes is counted; the row has the latest reason. */
export const REFUSE_AGAIN = {
  name: 'refused_approval_repeat',
  text: `UPDATE refused_approvals SET repeats = repeats + 1, reason = $5
          WHERE env = $1 AND issuer_rnc = $2 AND encf = $3 AND sha256 = $4`,
};
export const REFUSE = {
  name: 'refused_approval_add',
  text: `INSERT INTO refused_approvals (env, issuer_rnc, encf, buyer_rnc, reason, received_at, bytes, sha256, xml_path,
           request_id, sender)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
};

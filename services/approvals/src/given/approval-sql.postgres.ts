import type { Target } from '../ports.js';

export const ABOUT = {
  name: 'approvals_about',
  text: `SELECT * FROM given_approvals WHERE env = $1 AND buyer_rnc = $2 AND issuer_rnc = $3 AND encf = $4 ORDER BY id`,
};
export const ABOUT_LOCKED = { name: 'approvals_about_locked', text: `${ABOUT.text} FOR NO KEY UPDATE` };
export const LOCK = {
  name: 'decision_lock',
  text: `INSERT INTO standing_decisions AS d (env, buyer_rnc, issuer_rnc, encf) VALUES ($1, $2, $3, $4)
         ON CONFLICT (env, buyer_rnc, issuer_rnc, encf) DO UPDATE SET revision = d.revision`,
};
export const ADVANCE = {
  name: 'decision_advance',
  text: `UPDATE standing_decisions SET revision = revision + 1
          WHERE env = $1 AND buyer_rnc = $2 AND issuer_rnc = $3 AND encf = $4 RETURNING revision`,
};
export const ADD = {
  name: 'approval_add',
  text: `INSERT INTO given_approvals (env, buyer_rnc, issuer_rnc, encf, account_id, ecf_document_id, decision, rejection_code,
           rejection_description, decided_at, date_issued, total_amount, warnings, xml_path, xml_sha256, created_at,
           submitted_at, authority_status, authority_tries, authority_due_at, issuer_status, issuer_tries, issuer_due_at,
           created_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
           CASE WHEN $17::timestamptz IS NULL THEN NULL ELSE $16::timestamptz END,
           CASE WHEN $17::timestamptz IS NULL THEN NULL ELSE 'submitted' END,
           CASE WHEN $17::timestamptz IS NULL THEN 0 ELSE 1 END, $17,
           CASE WHEN $17::timestamptz IS NULL OR $18::boolean THEN NULL ELSE 'pending' END,
           CASE WHEN $17::timestamptz IS NULL OR $18::boolean THEN 0 ELSE 1 END,
           CASE WHEN $18::boolean THEN NULL ELSE $17::timestamptz END, $19)
         RETURNING *`,
};
export const SUBMIT = {
  name: 'approval_submit',
  text: `UPDATE given_approvals SET submitted_at = $3, authority_status = 'submitted', authority_tries = 1,
           authority_due_at = $2::timestamptz, issuer_status = CASE WHEN $4::boolean THEN NULL ELSE 'pending' END,
           issuer_tries = CASE WHEN $4::boolean THEN 0 ELSE 1 END, issuer_due_at = CASE WHEN $4::boolean THEN NULL ELSE $2::timestamptz END
          WHERE id = $1 AND submitted_at IS NULL RETURNING *`,
};
/** Earlier decisions stop looking for a receiver of the issuer. Their rows are locked, so none is being claimed. */
export const SUPERSEDE = {
  name: 'approval_supersede',
  text: `UPDATE given_approvals SET issuer_due_at = NULL
          WHERE env = $1 AND buyer_rnc = $2 AND issuer_rnc = $3 AND encf = $4 AND id <> $5
            AND issuer_status = 'no_receiver' AND issuer_sent_at IS NULL`,
};
/**
 * Decisions about the document that held the number before. A sent copy is not undone; one that was not sent is not
 * sent any more. The rows are locked, so none is being claimed.
 */
export const OUTDATE = {
  name: 'approval_outdate',
  text: `UPDATE given_approvals SET superseded_at = $6,
           authority_due_at = CASE WHEN authority_sent_at IS NULL THEN NULL ELSE authority_due_at END,
           issuer_due_at = CASE WHEN issuer_sent_at IS NULL THEN NULL ELSE issuer_due_at END
          WHERE env = $1 AND buyer_rnc = $2 AND issuer_rnc = $3 AND encf = $4 AND superseded_at IS NULL
            AND CASE WHEN ecf_document_id IS NULL THEN created_at < $6 ELSE ecf_document_id <> $5 END
          RETURNING *`,
};
export const RETRY = {
  name: 'approval_retry',
  text: `UPDATE given_approvals SET issuer_status = 'pending', issuer_due_at = $2, issuer_retried_at = $2,
           issuer_retried_tries = issuer_tries
          WHERE id = $1 AND issuer_status IN ('pending', 'no_receiver', 'refused', 'failed') RETURNING *`,
};
export const OWE = {
  name: 'approval_owe_issuer',
  text: `UPDATE given_approvals SET issuer_status = 'pending', issuer_due_at = $2 WHERE id = $1 AND issuer_status IS NULL`,
};
export const FIND = { name: 'approval_find', text: 'SELECT * FROM given_approvals WHERE id = $1' };
export const RECORDED = {
  name: 'approval_recorded_sends',
  text: 'SELECT count(*)::int AS count FROM approval_exchanges WHERE approval_id = $1 AND target = $2',
};
export const EXCHANGE = {
  name: 'approval_exchange',
  text: `INSERT INTO approval_exchanges (approval_id, target, at, outcome, http_status, content_type, body)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
};
export const LIST = {
  name: 'approvals_list',
  text: `SELECT * FROM given_approvals WHERE env = $1 AND buyer_rnc = $2
          ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4`,
};
const UNDECIDED = "submitted_at IS NOT NULL AND superseded_at IS NULL AND authority_status IN ('submitted', 'failed')";
export const SETTLE = {
  name: 'approval_settle',
  text: `UPDATE given_approvals SET authority_status = $2, authority_due_at = NULL, settled_at = $3, settled_note = $4
          WHERE id = $1 AND ${UNDECIDED} RETURNING *`,
};
const listing = (name: string, which: string) => ({
  name,
  text: `SELECT * FROM given_approvals
          WHERE ${which} AND id > $1 AND ($2::text IS NULL OR env = $2) AND ($3::text IS NULL OR issuer_rnc = $3)
          ORDER BY id LIMIT $4`,
});
export const LISTED = {
  undecided: listing('approvals_undecided', UNDECIDED),
  settled: listing('approvals_settled', 'settled_at IS NOT NULL'),
  undelivered: listing('approvals_undelivered', "issuer_status IN ('no_receiver', 'refused', 'failed')"),
};
/** The status while a send is in flight, also where no earlier one arrived. */
const OPEN: Readonly<Record<Target, string>> = { authority: 'submitted', issuer: 'pending' };
/** Rows that one claim looks at. Where those of one issuer fill it, the next claim leaves that issuer out. */
const LOOKED_AT = 1_000;
const claim = (target: Target, due: string) => ({
  name: `approvals_due_${target}`,
  text: `UPDATE given_approvals SET ${target}_tries = ${target}_tries + 1, ${target}_due_at = $2,
           ${target}_status = '${OPEN[target]}'
          WHERE id IN (SELECT d.id FROM given_approvals d JOIN (${due}) turn USING (id) WHERE d.${target}_due_at <= $1
                        ORDER BY d.${target}_due_at LIMIT $3 FOR UPDATE OF d SKIP LOCKED)
          RETURNING *`,
});
const renew = (target: Target) => ({
  name: `approvals_renew_${target}`,
  text: `WITH renewed AS (
           SELECT id FROM given_approvals WHERE id = ANY($1::bigint[]) AND ${target}_due_at < $2
            ORDER BY id FOR NO KEY UPDATE)
         UPDATE given_approvals g SET ${target}_due_at = $2 FROM renewed WHERE g.id = renewed.id`,
});
export const RENEW = { authority: renew('authority'), issuer: renew('issuer') };
/**
 * A send is identified by its number of tries and, at an issuer, by the moment of the operator's retry. A send that was
 * overtaken records only that the document was taken, which is final, or that it may have arrived.
 */
const writing = (
  target: Target,
  words: 'authority_response' | 'issuer_error',
  taken: string,
  more = { own: '', taken: '' },
) => ({
  name: `approvals_progress_${target}`,
  text: `UPDATE given_approvals g SET ${target}_sent_at = coalesce(g.${target}_sent_at, $4),
           ${words} = CASE WHEN counts THEN $3 ELSE g.${words} END,
           ${target}_due_at = CASE WHEN counts THEN $5 ELSE g.${target}_due_at END,
           ${target}_status = CASE WHEN counts THEN $2
             WHEN g.${target}_due_at IS NOT NULL AND $4 IS NOT NULL THEN '${OPEN[target]}' ELSE g.${target}_status END
          FROM (SELECT id, (${target}_due_at IS NOT NULL AND ${target}_tries = $6${more.own})
                         OR ($2 = '${taken}' AND ${target}_status <> '${taken}'${more.taken}) AS counts
                  FROM given_approvals WHERE id = $1 FOR UPDATE) own
         WHERE g.id = own.id RETURNING g.*`,
});
export const PROGRESS = {
  authority: writing('authority', 'authority_response', 'Aceptado', {
    own: '',
    taken: ' AND settled_at IS NULL',
  }),
  issuer: writing('issuer', 'issuer_error', 'delivered', {
    own: ' AND issuer_retried_at IS NOT DISTINCT FROM $7::timestamptz',
    taken: '',
  }),
};
export const CLAIM = {
  authority: claim(
    'authority',
    `SELECT id FROM given_approvals WHERE authority_due_at <= $1 AND id <> ALL ($4::bigint[])
      ORDER BY authority_due_at LIMIT ${LOOKED_AT}`,
  ),
  // One for each issuer, and none for those in $5.
  issuer: claim(
    'issuer',
    `SELECT DISTINCT ON (env, issuer_rnc) id FROM (
       SELECT id, env, issuer_rnc, issuer_due_at FROM given_approvals
        WHERE issuer_due_at <= $1 AND id <> ALL ($4::bigint[]) AND env || ':' || issuer_rnc <> ALL ($5::text[])
        ORDER BY issuer_due_at LIMIT ${LOOKED_AT}) due
      ORDER BY env, issuer_rnc, issuer_due_at, id`,
  ),
};

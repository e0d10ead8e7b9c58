import { randomUUID } from 'node:crypto';
import { documentKey, TOPICS } from '@ecf/contracts';
import { type Environment, toIsoDominican } from '@ecf/domain';
import { appendToOutbox, type Database, makeEvent, type Queries, type Transaction } from '@ecf/service-kit';
import { admit, owedToIssuer, stands } from '../core/admission.js';
import { type DecisionKey, type GivenApproval, statusWord } from '../core/given-approval.js';
import type { ApprovalStore, Exchange, Progress, Target } from '../core/ports.js';
import { unwritable } from './unwritable.js';

const ABOUT = {
  name: 'approvals_about',
  text: `SELECT * FROM given_approvals WHERE env = $1 AND buyer_rnc = $2 AND issuer_rnc = $3 AND encf = $4 ORDER BY id`,
};
const ABOUT_LOCKED = { name: 'approvals_about_locked', text: `${ABOUT.text} FOR NO KEY UPDATE` };
const LOCK = {
  name: 'decision_lock',
  text: `INSERT INTO standing_decisions AS d (env, buyer_rnc, issuer_rnc, encf) VALUES ($1, $2, $3, $4)
         ON CONFLICT (env, buyer_rnc, issuer_rnc, encf) DO UPDATE SET revision = d.revision`,
};
const ADVANCE = {
  name: 'decision_advance',
  text: `UPDATE standing_decisions SET revision = revision + 1
          WHERE env = $1 AND buyer_rnc = $2 AND issuer_rnc = $3 AND encf = $4 RETURNING revision`,
};
const ADD = {
  name: 'approval_add',
  text: `INSERT INTO given_approvals (env, buyer_rnc, issuer_rnc, encf, account_id, ecf_document_id, decision, rejection_code,
           rejection_description, decided_at, date_issued, total_amount, warnings, xml_path, xml_sha256, created_at,
           submitted_at, authority_status, authority_tries, authority_due_at, issuer_status, issuer_tries, issuer_due_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
           CASE WHEN $17::timestamptz IS NULL THEN NULL ELSE $16::timestamptz END,
           CASE WHEN $17::timestamptz IS NULL THEN NULL ELSE 'submitted' END,
           CASE WHEN $17::timestamptz IS NULL THEN 0 ELSE 1 END, $17,
           CASE WHEN $17::timestamptz IS NULL OR $18::boolean THEN NULL ELSE 'pending' END,
           CASE WHEN $17::timestamptz IS NULL OR $18::boolean THEN 0 ELSE 1 END,
           CASE WHEN $18::boolean THEN NULL ELSE $17::timestamptz END)
         RETURNING *`,
};
const SUBMIT = {
  name: 'approval_submit',
  text: `UPDATE given_approvals SET submitted_at = $3, authority_status = 'submitted', authority_tries = 1,
           authority_due_at = $2::timestamptz, issuer_status = CASE WHEN $4::boolean THEN NULL ELSE 'pending' END,
           issuer_tries = CASE WHEN $4::boolean THEN 0 ELSE 1 END, issuer_due_at = CASE WHEN $4::boolean THEN NULL ELSE $2::timestamptz END
          WHERE id = $1 AND submitted_at IS NULL RETURNING *`,
};
/** A decision that came in its place goes to the issuer now, if any does. Its rows are locked, so none is being claimed. */
const SUPERSEDE = {
  name: 'approval_supersede',
  text: `UPDATE given_approvals SET issuer_due_at = NULL
          WHERE env = $1 AND buyer_rnc = $2 AND issuer_rnc = $3 AND encf = $4 AND id <> $5 AND issuer_status = 'no_receiver'`,
};
const RETRY = {
  name: 'approval_retry',
  text: `UPDATE given_approvals SET issuer_status = 'pending', issuer_due_at = $2, issuer_retried_at = $2,
           issuer_retried_tries = issuer_tries
          WHERE id = $1 AND issuer_status IN ('pending', 'no_receiver', 'refused', 'failed') RETURNING *`,
};
const OWE = {
  name: 'approval_owe_issuer',
  text: `UPDATE given_approvals SET issuer_status = 'pending', issuer_due_at = $2 WHERE id = $1 AND issuer_status IS NULL`,
};
const FIND = { name: 'approval_find', text: 'SELECT * FROM given_approvals WHERE id = $1' };
const RECORDED = {
  name: 'approval_recorded_sends',
  text: 'SELECT count(*)::int AS count FROM approval_exchanges WHERE approval_id = $1 AND target = $2',
};
const EXCHANGE = {
  name: 'approval_exchange',
  text: `INSERT INTO approval_exchanges (approval_id, target, at, outcome, http_status, content_type, body)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
};
const LIST = {
  name: 'approvals_list',
  text: `SELECT * FROM given_approvals WHERE env = $1 AND buyer_rnc = $2
          ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4`,
};
const UNDECIDED = "submitted_at IS NOT NULL AND authority_status IN ('submitted', 'failed')";
const SETTLE = {
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
const LISTED = {
  undecided: listing('approvals_undecided', UNDECIDED),
  settled: listing('approvals_settled', 'settled_at IS NOT NULL'),
  undelivered: listing('approvals_undelivered', "issuer_status IN ('no_receiver', 'refused', 'failed')"),
};
/** While a send is under way, also where all before did not arrive. */
const OPEN: Readonly<Record<Target, string>> = { authority: 'submitted', issuer: 'pending' };
/** Those of one issuer can fill a look; the next comes at once, and passes over whom the first one chose. */
const LOOKED_AT = 1_000;
const claim = (target: Target, due: string) => ({
  name: `approvals_due_${target}`,
  text: `UPDATE given_approvals SET ${target}_tries = ${target}_tries + 1, ${target}_due_at = $2,
           ${target}_status = '${OPEN[target]}'
          WHERE id IN (SELECT d.id FROM given_approvals d JOIN (${due}) turn USING (id) WHERE d.${target}_due_at <= $1
                        ORDER BY d.${target}_due_at LIMIT $3 FOR UPDATE OF d SKIP LOCKED)
          RETURNING *`,
});
const keep = (target: Target) => ({
  name: `approvals_keep_${target}`,
  text: `UPDATE given_approvals SET ${target}_due_at = $2 WHERE id = ANY($1::bigint[]) AND ${target}_due_at < $2`,
});
const KEEP = { authority: keep('authority'), issuer: keep('issuer') };
/**
 * The count of tries tells whose send it is: who was overtaken may only say that the document was taken, which nothing undoes,
 * or that it may have arrived.
 */
const writing = (target: Target, words: 'authority_response' | 'issuer_error', taken: string, settled = '') => ({
  name: `approvals_progress_${target}`,
  text: `UPDATE given_approvals g SET ${target}_sent_at = coalesce(g.${target}_sent_at, $4),
           ${words} = CASE WHEN counts THEN $3 ELSE g.${words} END,
           ${target}_due_at = CASE WHEN counts THEN $5 ELSE g.${target}_due_at END,
           ${target}_status = CASE WHEN counts THEN $2
             WHEN g.${target}_due_at IS NOT NULL AND $4 IS NOT NULL THEN '${OPEN[target]}' ELSE g.${target}_status END
          FROM (SELECT id, (${target}_due_at IS NOT NULL AND ${target}_tries = $6)
                         OR ($2 = '${taken}' AND ${target}_status <> '${taken}'${settled}) AS counts
                  FROM given_approvals WHERE id = $1 FOR UPDATE) own
         WHERE g.id = own.id RETURNING g.*`,
});
const PROGRESS = {
  authority: writing('authority', 'authority_response', 'Aceptado', ' AND settled_at IS NULL'),
  issuer: writing('issuer', 'issuer_error', 'delivered'),
};
const CLAIM = {
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

/** Approvals of ours in PostgreSQL. */
export function createApprovalStore(database: Database): ApprovalStore {
  return {
    about: (key) => about(database, key),
    add(approval, claimedUntil) {
      return database.transaction(async (tx) => {
        const earlier = await lockAll(tx, approval.key);
        const admission = admit(earlier, approval);
        if (admission.kind !== 'new') return { refused: admission };
        const { key } = approval;
        const { rows } = await tx.query<Row>(ADD, [
          ...keyValues(key),
          approval.accountId,
          approval.ecfDocumentId,
          approval.decision,
          approval.rejectionCode,
          approval.rejectionDescription,
          approval.decidedAt,
          approval.dateIssued,
          approval.totalAmount,
          JSON.stringify(approval.warnings),
          approval.xml.path,
          approval.xml.sha256,
          approval.createdAt,
          claimedUntil,
          admission.authorityAlone,
        ]);
        const added = fromRow(rows[0] as Row);
        if (claimedUntil !== null) await takesItsPlace(tx, added, approval.createdAt);
        return { added };
      });
    },
    submit(id, claimedUntil, at) {
      return database.transaction(async (tx) => {
        const present = await found(tx, id);
        const earlier = (await lockAll(tx, present.key)).filter((one) => one.id !== id);
        const admission = admit(earlier, present);
        if (admission.kind !== 'new' || earlier.some((one) => one.id > id)) return { refused: admission };
        const { rows } = await tx.query<Row>(SUBMIT, [id, claimedUntil, at, admission.authorityAlone]);
        if (rows[0] === undefined) return { refused: { kind: 'answered', by: await found(tx, id) } };
        const added = fromRow(rows[0]);
        await takesItsPlace(tx, added, at);
        return { added };
      });
    },
    async claimDue(target, { now, until, limit, busy, underWay }) {
      const params = [now, until, limit, underWay, ...(target === 'issuer' ? [busy] : [])];
      const { rows } = await database.query<Row>(CLAIM[target], params);
      return rows.map(fromRow);
    },
    async keepClaims(target, ids, until) {
      await database.query(KEEP[target], [ids, until]);
    },
    progress(claimed, progress, exchange) {
      const { id, key } = claimed;
      const written = database.transaction(async (tx) => {
        // What an issuer says changes no decision, so it waits for nobody, unless it ends without the issuer having it.
        const missed = missedIssuer(progress);
        const all = progress.target === 'issuer' && !missed ? [] : await lock(tx, key);
        if (exchange !== null) await tx.query(EXCHANGE, exchangeValues(id, exchange));
        const superseded = missed && all.some((one) => one.id !== id && stands(one));
        const after = await write(tx, claimed, superseded ? { ...progress, dueAt: null } : progress);
        if (missed) await oweIssuer(tx, [...all.filter((one) => one.id !== id), after], after.createdAt);
        const before = all.find((one) => one.id === id)?.authority.status;
        const now = after.authority.status;
        if (before === undefined || before === now || all.some((one) => one.id !== id && stands(one))) return after;
        const at = exchange?.at ?? after.createdAt;
        if (now === 'Rechazado') await announce(tx, after, 'pending', at);
        else if (before === 'Rechazado') await decided(tx, after, at);
        return after;
      });
      return written.catch(unwritable);
    },
    settle(id, status, note, at) {
      return database.transaction(async (tx) => {
        const all = await lock(tx, (await found(tx, id)).key);
        const { rows } = await tx.query<Row>(SETTLE, [id, status, at, note]);
        if (rows[0] === undefined) return null;
        const settled = fromRow(rows[0]);
        const stillDecided = all.some((one) => one.id !== id && stands(one));
        if (status === 'Rechazado' && !stillDecided) await announce(tx, settled, 'pending', at);
        return settled;
      });
    },
    retry(id, at) {
      return database.transaction(async (tx) => {
        const all = await lock(tx, (await found(tx, id)).key);
        if (!all.some((one) => one.id === id && stands(one))) return null;
        const { rows } = await tx.query<Row>(RETRY, [id, at]);
        return rows[0] === undefined ? null : fromRow(rows[0]);
      });
    },
    async listed({ env, issuerRnc, which, after, limit }) {
      const { rows } = await database.query<Row>(LISTED[which], [after, env, issuerRnc, limit]);
      return rows.map(fromRow);
    },
    async recordedSends(id, target) {
      const { rows } = await database.query<{ count: number }>(RECORDED, [id, target]);
      return rows[0]?.count ?? 0;
    },
    async find(id) {
      const { rows } = await database.query<Row>(FIND, [id]);
      return rows[0] === undefined ? null : fromRow(rows[0]);
    },
    async list({ env, buyerRnc, limit, offset }) {
      const { rows } = await database.query<Row>(LIST, [env, buyerRnc, limit, offset]);
      return rows.map(fromRow);
    },
    async backlog() {
      const { rows } = await database.query<{ target: Target; count: number; oldest: Date | null }>(
        `SELECT 'authority' AS target, count(*) AS count, min(submitted_at) AS oldest FROM given_approvals
          WHERE authority_due_at IS NOT NULL
         UNION ALL
         SELECT 'issuer', count(*), min(coalesce(issuer_retried_at, submitted_at)) FROM given_approvals
          WHERE issuer_due_at IS NOT NULL AND issuer_status = 'pending'`,
      );
      return rows;
    },
  };
}

/** The send ended, and the issuer does not have the document by it. */
function missedIssuer({ target, status }: Progress): boolean {
  return target === 'issuer' && status !== 'pending' && status !== 'delivered';
}

async function oweIssuer(tx: Transaction, all: readonly GivenApproval[], dueAt: Date): Promise<void> {
  const owed = owedToIssuer(all);
  if (owed !== null) await tx.query(OWE, [owed.id, dueAt]);
}

async function about(queries: Queries, key: DecisionKey): Promise<GivenApproval[]> {
  const { rows } = await queries.query<Row>(ABOUT, keyValues(key));
  return rows.map(fromRow);
}

/** Decisions about one document are taken one after the other. */
async function lock(tx: Transaction, key: DecisionKey): Promise<GivenApproval[]> {
  await tx.query(LOCK, keyValues(key));
  return about(tx, key);
}

/** The same, and none of them is claimed meanwhile. */
async function lockAll(tx: Transaction, key: DecisionKey): Promise<GivenApproval[]> {
  await tx.query(LOCK, keyValues(key));
  return (await tx.query<Row>(ABOUT_LOCKED, keyValues(key))).rows.map(fromRow);
}

async function found(queries: Queries, id: number): Promise<GivenApproval> {
  const { rows } = await queries.query<Row>(FIND, [id]);
  if (rows[0] === undefined) throw new Error(`the approval ${id} is gone`);
  return fromRow(rows[0]);
}

async function write(tx: Transaction, claimed: GivenApproval, progress: Progress): Promise<GivenApproval> {
  const words = progress.target === 'authority' ? progress.response : progress.error;
  const { rows } = await tx.query<Row>(PROGRESS[progress.target], [
    claimed.id,
    progress.status,
    words,
    progress.sentAt,
    progress.dueAt,
    claimed[progress.target].tries,
  ]);
  if (rows[0] === undefined) throw new Error(`the approval ${claimed.id} is gone`);
  return fromRow(rows[0]);
}

/** The decision stands from now on, and no earlier one looks for a receiver of its issuer any more. */
async function takesItsPlace(tx: Transaction, added: GivenApproval, at: Date): Promise<void> {
  await tx.query(SUPERSEDE, [...keyValues(added.key), added.id]);
  await decided(tx, added, at);
}

/** The decision stands from now on. */
async function decided(tx: Transaction, approval: GivenApproval, at: Date): Promise<void> {
  await announce(tx, approval, statusWord(approval.decision), at);
}

async function announce(
  tx: Transaction,
  { key, decidedAt }: GivenApproval,
  status: 'approved' | 'rejected' | 'pending',
  at: Date,
): Promise<void> {
  const { rows } = await tx.query<{ revision: number }>(ADVANCE, keyValues(key));
  const data = {
    direction: 'given',
    env: key.env,
    issuer_rnc: key.issuerRnc,
    encf: key.encf,
    buyer_rnc: key.buyerRnc,
    revision: rows[0]?.revision,
    approval_status: status,
    approval_datetime: status === 'pending' ? null : toIsoDominican(decidedAt),
  };
  await appendToOutbox(tx, [approvalEvent(data, at)]);
}

/** An `approval.changed` event; `data` is checked by the topic's schema. */
export function approvalEvent(data: { env: string; issuer_rnc: string; encf: string }, at: Date) {
  return makeEvent(
    {
      topic: TOPICS.approvals.name,
      type: 'approval.changed',
      source: 'approvals',
      subject: `${data.issuer_rnc}:${data.encf}`,
      key: documentKey(data),
      data,
    },
    { id: randomUUID(), time: at },
  );
}

function keyValues(key: DecisionKey): string[] {
  return [key.env, key.buyerRnc, key.issuerRnc, key.encf];
}

function exchangeValues(id: number, exchange: Exchange): unknown[] {
  const { target, at, outcome, httpStatus, contentType, body } = exchange;
  // PostgreSQL takes no NUL in text.
  return [id, target, at, outcome, httpStatus, contentType, body?.replaceAll('\u0000', '\ufffd') ?? null];
}

interface Row {
  id: number;
  env: Environment;
  buyer_rnc: string;
  issuer_rnc: string;
  encf: string;
  account_id: string;
  ecf_document_id: number | null;
  decision: 1 | 2;
  rejection_code: number | null;
  rejection_description: string | null;
  decided_at: Date;
  date_issued: string;
  total_amount: string;
  warnings: string[];
  xml_path: string;
  xml_sha256: string;
  created_at: Date;
  submitted_at: Date | null;
  settled_at: Date | null;
  settled_note: string | null;
  authority_status: GivenApproval['authority']['status'];
  authority_response: string | null;
  authority_sent_at: Date | null;
  authority_tries: number;
  issuer_status: GivenApproval['issuer']['status'];
  issuer_error: string | null;
  issuer_sent_at: Date | null;
  issuer_tries: number;
  issuer_retried_at: Date | null;
  issuer_retried_tries: number;
}

function fromRow(row: Row): GivenApproval {
  return {
    id: row.id,
    key: { env: row.env, buyerRnc: row.buyer_rnc, issuerRnc: row.issuer_rnc, encf: row.encf },
    accountId: row.account_id,
    ecfDocumentId: row.ecf_document_id,
    decision: row.decision,
    rejectionCode: row.rejection_code,
    rejectionDescription: row.rejection_description,
    decidedAt: row.decided_at,
    dateIssued: row.date_issued,
    totalAmount: row.total_amount,
    warnings: row.warnings,
    xml: { path: row.xml_path, sha256: row.xml_sha256 },
    createdAt: row.created_at,
    submittedAt: row.submitted_at,
    settled: row.settled_at === null ? null : { at: row.settled_at, note: row.settled_note ?? '' },
    authority: {
      status: row.authority_status,
      response: row.authority_response,
      sentAt: row.authority_sent_at,
      tries: row.authority_tries,
    },
    issuer: {
      status: row.issuer_status,
      error: row.issuer_error,
      sentAt: row.issuer_sent_at,
      tries: row.issuer_tries,
      retried: row.issuer_retried_at === null ? null : { at: row.issuer_retried_at, tries: row.issuer_retried_tries },
    },
  };
}

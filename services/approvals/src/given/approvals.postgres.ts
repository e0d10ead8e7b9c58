import type { AuditAct } from '@ecf/contracts';
import { environmentRun, storableText, toIsoDominican } from '@ecf/domain';
import { actEvents, appendToOutbox } from '@ecf/service-kit/outbox';
import type { Database, Queries, Transaction } from '@ecf/service-kit/postgres';
import { addPendingDocuments } from '@ecf/service-kit/xml-store';
import { ACTS, approvalEvent } from '../events.postgres.js';
import { AUTHORITY, type Claimed, type Ending, issuerRecipient } from '../sending/outgoing.js';
import { claimedFrom, concludeOutgoing, type OutgoingRow } from '../sending/outgoing.postgres.js';
import { unwritable } from '../unwritable.postgres.js';
import { admit, owedToIssuer, stands } from './admission.js';
import { type DecisionKey, type GivenApproval, type NewApproval, statusWord } from './given-approval.js';
import type { Admitted, ApprovalStore, Exchange, Target } from './ports.js';

/** Approvals with the state of their sends. */
const SELECT = `SELECT g.*, a.status AS authority_status, a.last_error AS authority_response, a.sent_at AS authority_sent_at,
    coalesce(a.tries, 0) AS authority_tries, i.status AS issuer_status, i.last_error AS issuer_error,
    i.sent_at AS issuer_sent_at, coalesce(i.tries, 0) AS issuer_tries, coalesce(i.uncertain, false) AS issuer_uncertain
  FROM given_approvals g
  LEFT JOIN outgoing_documents a ON a.approval_id = g.id AND a.kind = 'authority'
  LEFT JOIN outgoing_documents i ON i.approval_id = g.id AND i.kind = 'issuer'`;
const SAME = 'g.env = $1 AND g.buyer_rnc = $2 AND g.issuer_rnc = $3 AND g.encf = $4';
const UNDECIDED = `g.submitted_at IS NOT NULL AND g.superseded_at IS NULL AND g.settled_at IS NULL
  AND a.status IN ('submitted', 'failed')`;

const ABOUT = { name: 'approvals_about', text: `${SELECT} WHERE ${SAME} ORDER BY g.id` };
const FIND = { name: 'approval_find', text: `${SELECT} WHERE g.id = $1` };
const LIST = {
  name: 'approvals_list',
  text: `${SELECT} WHERE g.env = $1 AND g.buyer_rnc = $2 ORDER BY g.created_at DESC, g.id DESC LIMIT $3 OFFSET $4`,
};
const listing = (name: string, which: string) => ({
  name,
  text: `${SELECT} WHERE ${which} AND g.id > $1 AND ($2::text IS NULL OR g.env = $2) AND ($3::text IS NULL OR g.issuer_rnc = $3)
          ORDER BY g.id LIMIT $4`,
});
const LISTED = {
  undecided: listing('approvals_undecided', UNDECIDED),
  settled: listing('approvals_settled', 'g.settled_at IS NOT NULL'),
  undelivered: listing('approvals_undelivered', "i.status IN ('no_receiver', 'refused', 'failed')"),
};
const BACKLOG = `SELECT k.kind AS target, count(d.id) AS count, min(d.created_at) AS oldest
    FROM unnest('{authority,issuer}'::text[]) AS k(kind)
    LEFT JOIN outgoing_documents d ON d.kind = k.kind AND d.due_at IS NOT NULL AND (d.kind = 'authority' OR d.status = 'pending')
   GROUP BY k.kind ORDER BY k.kind`;

const LOCK = {
  name: 'decision_lock',
  text: `INSERT INTO standing_decisions AS d (env, buyer_rnc, issuer_rnc, encf) VALUES ($1, $2, $3, $4)
         ON CONFLICT (env, buyer_rnc, issuer_rnc, encf) DO UPDATE SET revision = d.revision`,
};
const LOCK_SENDS = {
  name: 'approvals_lock_sends',
  text: `SELECT d.id FROM outgoing_documents d JOIN given_approvals g ON g.id = d.approval_id WHERE ${SAME}
          ORDER BY d.id FOR UPDATE OF d`,
};
const ADVANCE = {
  name: 'decision_advance',
  text: `UPDATE standing_decisions SET revision = revision + 1
          WHERE env = $1 AND buyer_rnc = $2 AND issuer_rnc = $3 AND encf = $4 RETURNING revision`,
};
const ADD = {
  name: 'approval_add',
  text: `INSERT INTO given_approvals (env, buyer_rnc, issuer_rnc, encf, account_id, ecf_document_id, decision, rejection_code,
           rejection_description, decided_at, date_issued, total_amount, warnings, xml_path, xml_sha256, created_at, created_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) RETURNING id`,
};
const SUBMIT = {
  name: 'approval_submit',
  text: 'UPDATE given_approvals SET submitted_at = $2 WHERE id = $1 AND submitted_at IS NULL',
};
/** $8 says that the caller holds the lease, up to the due time. */
const SEND = {
  name: 'approval_send',
  text: `INSERT INTO outgoing_documents (kind, approval_id, env, issuer_rnc, encf, buyer_rnc, account_id, recipient, xml_path,
           xml_sha256, status, created_at, deadline_at, due_at, claim, tries)
         SELECT $2::text, id, env, issuer_rnc, encf, buyer_rnc, account_id, $3::text, xml_path, xml_sha256, $4::text,
           $5::timestamptz, $6::timestamptz, $7::timestamptz,
           CASE WHEN $8::boolean THEN gen_random_uuid() END, $8::boolean::int FROM given_approvals WHERE id = $1
         ON CONFLICT (approval_id, kind) DO NOTHING RETURNING *`,
};
/** Earlier decisions stop looking for a receiver of the issuer. Their rows are locked, so none is being claimed. */
const STOP_LOOKING = {
  name: 'approval_stop_looking',
  text: `UPDATE outgoing_documents SET due_at = NULL
          WHERE approval_id = ANY($1::bigint[]) AND kind = 'issuer' AND status = 'no_receiver' AND sent_at IS NULL`,
};
/**
 * Decisions about the document that held the number before. A sent copy is not undone; one that was not sent is no longer
 * sent. The rows are locked, so none is being claimed.
 */
const OUTDATE = {
  name: 'approval_outdate',
  text: `WITH outdated AS (
           UPDATE given_approvals g SET superseded_at = $6 WHERE ${SAME} AND superseded_at IS NULL
              AND CASE WHEN ecf_document_id IS NULL THEN created_at < $6 ELSE ecf_document_id <> $5 END RETURNING id),
         ended AS (
           UPDATE outgoing_documents d SET due_at = NULL, claim = NULL FROM outdated
            WHERE d.approval_id = outdated.id AND d.sent_at IS NULL)
         SELECT id FROM outdated`,
};
const RETRY = {
  name: 'approval_retry',
  text: `UPDATE outgoing_documents SET status = 'pending', due_at = $2, created_at = $2, deadline_at = $3, tries = 0,
           uncertain = uncertain OR claim IS NOT NULL, claim = NULL
          WHERE approval_id = $1 AND kind = 'issuer' AND status <> 'delivered'`,
};
const SETTLE = {
  name: 'approval_settle',
  text: `WITH decided AS (
           UPDATE given_approvals g SET settled_at = $3, settled_note = $4 FROM outgoing_documents a
            WHERE g.id = $1 AND a.approval_id = g.id AND a.kind = 'authority' AND ${UNDECIDED} RETURNING g.id)
         UPDATE outgoing_documents d SET status = $2, due_at = NULL, claim = NULL FROM decided
          WHERE d.approval_id = decided.id AND d.kind = 'authority'`,
};
const EXCHANGE = {
  name: 'approval_exchange',
  text: `INSERT INTO approval_exchanges (approval_id, target, at, outcome, http_status, content_type, body)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
};

/** The approvals that our taxpayers give, in PostgreSQL. They are sent to issuers for `issuerDeadlineMs`. */
export function createApprovalStore(database: Database, issuerDeadlineMs: number): ApprovalStore {
  /** Adds the send to the authority and, unless it goes there alone, to the issuer. The caller holds the leases. */
  async function send(
    tx: Transaction,
    id: number,
    at: Date,
    { until, authorityAlone }: { until: Date; authorityAlone: boolean },
  ): Promise<Claimed[]> {
    const sends = [await addSend(tx, id, 'authority', { at, dueAt: until, claimed: true })];
    if (!authorityAlone) sends.push(await addSend(tx, id, 'issuer', { at, dueAt: until, claimed: true }));
    return sends.flatMap((row) => (row === null ? [] : claimedFrom(row)));
  }

  async function addSend(
    tx: Transaction,
    id: number,
    target: Target,
    { at, dueAt, claimed }: { at: Date; dueAt: Date; claimed: boolean },
  ): Promise<OutgoingRow | null> {
    const { env, issuerRnc } = (await found(tx, id)).key;
    const [recipient, status, deadlineAt] =
      target === 'authority'
        ? [AUTHORITY, 'submitted', null]
        : [issuerRecipient(env, issuerRnc), 'pending', new Date(at.getTime() + issuerDeadlineMs)];
    const values = [id, target, recipient, status, at, deadlineAt, dueAt, claimed];
    return (await tx.query<OutgoingRow>(SEND, values)).rows[0] ?? null;
  }

  async function add(tx: Transaction, approval: NewApproval, bytes: Uint8Array, until: Date | null): Promise<Admitted> {
    const admission = admit(await lockAll(tx, approval.key), approval);
    if (admission.kind !== 'new') return { refused: admission };
    const { rows } = await tx.query<{ id: number }>(ADD, [
      ...keyValues(approval.key),
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
      approval.createdBy ?? null,
    ]);
    await addPendingDocuments(tx, [{ ...approval.xml, bytes }]);
    const id = rows[0]?.id as number;
    if (until === null) return { added: await found(tx, id), sends: [] };
    return begin(tx, id, approval.createdAt, { until, authorityAlone: admission.authorityAlone });
  }

  async function submit(tx: Transaction, id: number, until: Date, at: Date): Promise<Admitted> {
    const present = await found(tx, id);
    const earlier = (await lockAll(tx, present.key)).filter((one) => one.id !== id);
    const admission = admit(earlier, present);
    if (admission.kind !== 'new' || earlier.some((one) => one.id > id)) return { refused: admission };
    if ((await found(tx, id)).submittedAt !== null) return { refused: { kind: 'answered', by: await found(tx, id) } };
    return begin(tx, id, at, { until, authorityAlone: admission.authorityAlone });
  }

  /** From now on the decision counts, and earlier ones stop looking for a receiver of the issuer. */
  async function begin(
    tx: Transaction,
    id: number,
    at: Date,
    sending: { until: Date; authorityAlone: boolean },
  ): Promise<Admitted> {
    await tx.query(SUBMIT, [id, at]);
    const sends = await send(tx, id, at, sending);
    const added = await found(tx, id);
    const others = (await about(tx, added.key)).filter((one) => one.id !== id);
    await tx.query(STOP_LOOKING, [others.map((one) => one.id)]);
    await publish(tx, added, statusWord(added.decision), at);
    return { added, sends };
  }

  async function conclude(tx: Transaction, item: Claimed, ending: Ending, exchange: Exchange): Promise<void> {
    const id = item.approvalId as number;
    const { at, outcome, httpStatus, contentType, body } = exchange;
    // The sends to the issuer ended, and the issuer did not take the document.
    const missed = item.kind === 'issuer' && ending.status !== 'pending' && ending.status !== 'delivered';
    // An issuer's answer changes no decision, so it needs the lock only where the issuer ends without the document.
    const locked = item.kind === 'authority' || missed;
    const all = locked ? await lock(tx, { ...item.key, buyerRnc: item.buyerRnc }) : [];
    const others = all.filter((one) => one.id !== id);
    const text = body === null ? null : storableText(body);
    await tx.query(EXCHANGE, [id, item.kind, at, outcome, httpStatus, contentType, text]);
    const { settled } = await found(tx, id);
    const superseded = missed && ending.sentAt === null && others.some(stands);
    await concludeOutgoing(tx, item, superseded ? { ...ending, dueAt: null } : ending, {
      taken: ending.status === 'delivered' || (ending.status === 'Aceptado' && settled === null),
      open: item.kind === 'issuer' ? 'pending' : 'submitted',
    });
    if (!locked) return;
    const after = await found(tx, id);
    const owed = missed ? owedToIssuer([...others, after]) : null;
    if (owed !== null) await addSend(tx, owed.id, 'issuer', { at, dueAt: at, claimed: false });
    const before = all.find((one) => one.id === id);
    if (before === undefined || after.supersededAt !== null || others.some(stands)) return;
    await publishOutcome(tx, before, after, at);
  }

  return {
    about: (key) => about(database, key),
    add: (approval, bytes, until) => database.transaction((tx) => add(tx, approval, bytes, until)),
    submit: (id, until, at) => database.transaction((tx) => submit(tx, id, until, at)),
    conclude: (item, ending, exchange) =>
      database.transaction((tx) => conclude(tx, item, ending, exchange)).catch(unwritable),
    settle: (id, status, note, at, act) => database.transaction((tx) => settle(tx, id, { status, note, at, act })),
    retry(id, at, act) {
      return database.transaction(async (tx) => {
        const all = await lock(tx, (await found(tx, id)).key);
        if (!all.some((one) => one.id === id && stands(one))) return null;
        const { rowCount } = await tx.query(RETRY, [id, at, new Date(at.getTime() + issuerDeadlineMs)]);
        if (rowCount === 0) return null;
        await appendToOutbox(tx, actEvents(ACTS, act));
        return found(tx, id);
      });
    },
    documentPromoted(key, documentId, at) {
      return database.transaction(async (tx) => {
        const before = await lockAll(tx, key);
        const { rows } = await tx.query<{ id: number }>(OUTDATE, [...keyValues(key), documentId, at]);
        const outdated = new Set(rows.map(({ id }) => id));
        const standing = before.find((one) => outdated.has(one.id) && stands(one));
        if (standing !== undefined) await publish(tx, standing, 'pending', at);
      });
    },
    async listed({ env, issuerRnc, which, after, limit }) {
      const { rows } = await database.query<ApprovalRow>(LISTED[which], [after, env, issuerRnc, limit]);
      return rows.map(fromRow);
    },
    async find(id) {
      const { rows } = await database.query<ApprovalRow>(FIND, [id]);
      return rows[0] === undefined ? null : fromRow(rows[0]);
    },
    async list({ env, buyerRnc, limit, offset }) {
      const { rows } = await database.query<ApprovalRow>(LIST, [env, buyerRnc, limit, offset]);
      return rows.map(fromRow);
    },
    async backlog() {
      return (await database.query<{ target: Target; count: number; oldest: Date | null }>(BACKLOG)).rows;
    },
  };
}

/** Publishes what the answer of the authority or the issuer changed about a decision that no other one replaced. */
async function publishOutcome(tx: Transaction, before: GivenApproval, after: GivenApproval, at: Date): Promise<void> {
  if (before.issuer.status !== 'refused' && after.issuer.status === 'refused') {
    const status = stands(after) ? statusWord(after.decision) : 'pending';
    return publish(tx, after, status, at, { refused_by_issuer: true });
  }
  const [earlier, now] = [before.authority.status, after.authority.status];
  if (earlier === now) return;
  if (now === 'Rechazado') await publish(tx, after, 'pending', at, { refused_by_authority: true });
  else if (earlier === 'Rechazado') await publish(tx, after, statusWord(after.decision), at);
}

async function settle(
  tx: Transaction,
  id: number,
  { status, note, at, act }: { status: 'Aceptado' | 'Rechazado'; note: string; at: Date; act: AuditAct | null },
): Promise<GivenApproval | null> {
  const all = await lock(tx, (await found(tx, id)).key);
  const { rowCount } = await tx.query(SETTLE, [id, status, at, note]);
  if (rowCount === 0) return null;
  const settled = await found(tx, id);
  const stillDecided = all.some((one) => one.id !== id && stands(one));
  if (status === 'Rechazado' && !stillDecided && settled.supersededAt === null)
    await publish(tx, settled, 'pending', at, { refused_by_authority: true });
  await appendToOutbox(tx, actEvents(ACTS, act));
  return settled;
}

async function about(queries: Queries, key: DecisionKey): Promise<GivenApproval[]> {
  return (await queries.query<ApprovalRow>(ABOUT, keyValues(key))).rows.map(fromRow);
}

/** Serialises the decisions about one document. */
async function lock(tx: Transaction, key: DecisionKey): Promise<GivenApproval[]> {
  await tx.query(LOCK, keyValues(key));
  return about(tx, key);
}

/** Like `lock`; in addition, none of their sends is claimed meanwhile. */
async function lockAll(tx: Transaction, key: DecisionKey): Promise<GivenApproval[]> {
  await tx.query(LOCK, keyValues(key));
  await tx.query(LOCK_SENDS, keyValues(key));
  return about(tx, key);
}

async function found(queries: Queries, id: number): Promise<GivenApproval> {
  const { rows } = await queries.query<ApprovalRow>(FIND, [id]);
  if (rows[0] === undefined) throw new Error(`the approval ${id} does not exist`);
  return fromRow(rows[0]);
}

async function publish(
  tx: Transaction,
  { key, decidedAt }: GivenApproval,
  status: 'approved' | 'rejected' | 'pending',
  at: Date,
  more: { refused_by_authority?: true; refused_by_issuer?: true } = {},
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
    approval_confirmed: status !== 'pending',
    approval_datetime: status === 'pending' ? null : toIsoDominican(decidedAt),
    ...more,
  };
  await appendToOutbox(tx, [approvalEvent(data, at)]);
}

/** The parameters by which statements name a document. */
function keyValues(key: DecisionKey): string[] {
  return [key.env, key.buyerRnc, key.issuerRnc, key.encf];
}

/** A row of {@link SELECT}. */
interface ApprovalRow {
  id: number;
  /** A row of an earlier certification run has `<environment>/<run>/<RNC>` here. */
  env: string;
  buyer_rnc: string;
  issuer_rnc: string;
  encf: string;
  account_id: string;
  created_by: string | null;
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
  superseded_at: Date | null;
  authority_status: GivenApproval['authority']['status'];
  authority_response: string | null;
  authority_sent_at: Date | null;
  authority_tries: number;
  issuer_status: GivenApproval['issuer']['status'];
  issuer_error: string | null;
  issuer_sent_at: Date | null;
  issuer_tries: number;
  issuer_uncertain: boolean;
}

function fromRow(row: ApprovalRow): GivenApproval {
  return {
    id: row.id,
    key: { env: environmentRun(row.env).env, buyerRnc: row.buyer_rnc, issuerRnc: row.issuer_rnc, encf: row.encf },
    accountId: row.account_id,
    createdBy: row.created_by,
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
    supersededAt: row.superseded_at,
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
      uncertain: row.issuer_uncertain,
    },
  };
}

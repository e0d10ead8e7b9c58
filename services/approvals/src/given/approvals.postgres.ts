import type { AuditAct } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { actEvents, appendToOutbox } from '@ecf/service-kit/outbox';
import type { Database, Queries, Transaction } from '@ecf/service-kit/postgres';
import { addPendingDocuments } from '@ecf/service-kit/xml-store';
import type { ApprovalStore, Exchange, Progress, Target } from '../ports.js';
import { unwritable } from '../unwritable.postgres.js';
import { type Admission, admit, owedToIssuer, stands } from './admission.js';
import { ACTS, type ApprovalRow, approvalEvent, exchangeValues, fromRow, keyValues } from './approval-rows.postgres.js';
import * as sql from './approval-sql.postgres.js';
import { type DecisionKey, type GivenApproval, type NewApproval, statusWord } from './given-approval.js';

/** The approvals that our taxpayers give, in PostgreSQL. */
export function createApprovalStore(database: Database): ApprovalStore {
  return {
    about: (key) => about(database, key),
    add: (approval, bytes, claimedUntil) => database.transaction((tx) => add(tx, approval, bytes, claimedUntil)),
    submit: (id, claimedUntil, at) => database.transaction((tx) => submit(tx, id, claimedUntil, at)),
    async claimDue(target, { now, until, limit, busy, inFlight }) {
      const params = [now, until, limit, inFlight, ...(target === 'issuer' ? [busy] : [])];
      const { rows } = await database.query<ApprovalRow>(sql.CLAIM[target], params);
      return rows.map(fromRow);
    },
    async renewLeases(target, ids, until) {
      await database.query(sql.RENEW[target], [ids, until]);
    },
    progress: (claimed, progress, exchange) =>
      database.transaction((tx) => recordProgress(tx, claimed, progress, exchange)).catch(unwritable),
    settle: (id, status, note, at, act) => database.transaction((tx) => settle(tx, id, { status, note, at, act })),
    retry(id, at, act) {
      return database.transaction(async (tx) => {
        const all = await lock(tx, (await found(tx, id)).key);
        if (!all.some((one) => one.id === id && stands(one))) return null;
        const { rows } = await tx.query<ApprovalRow>(sql.RETRY, [id, at]);
        if (rows[0] === undefined) return null;
        await appendToOutbox(tx, actEvents(ACTS, act));
        return fromRow(rows[0]);
      });
    },
    documentPromoted(key, documentId, at) {
      return database.transaction(async (tx) => {
        const before = await lockAll(tx, key);
        const { rows } = await tx.query<ApprovalRow>(sql.OUTDATE, [...keyValues(key), documentId, at]);
        const outdated = new Set(rows.map(({ id }) => id));
        const standing = before.find((one) => outdated.has(one.id) && stands(one));
        if (standing !== undefined) await publish(tx, standing, 'pending', at);
      });
    },
    async listed({ env, issuerRnc, which, after, limit }) {
      const { rows } = await database.query<ApprovalRow>(sql.LISTED[which], [after, env, issuerRnc, limit]);
      return rows.map(fromRow);
    },
    async recordedSends(id, target) {
      const { rows } = await database.query<{ count: number }>(sql.RECORDED, [id, target]);
      return rows[0]?.count ?? 0;
    },
    async find(id) {
      const { rows } = await database.query<ApprovalRow>(sql.FIND, [id]);
      return rows[0] === undefined ? null : fromRow(rows[0]);
    },
    async list({ env, buyerRnc, limit, offset }) {
      const { rows } = await database.query<ApprovalRow>(sql.LIST, [env, buyerRnc, limit, offset]);
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

type Admitted = { added: GivenApproval } | { refused: Admission };

async function add(
  tx: Transaction,
  approval: NewApproval,
  bytes: Uint8Array,
  claimedUntil: Date | null,
): Promise<Admitted> {
  const admission = admit(await lockAll(tx, approval.key), approval);
  if (admission.kind !== 'new') return { refused: admission };
  const { rows } = await tx.query<ApprovalRow>(sql.ADD, [
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
    claimedUntil,
    admission.authorityAlone,
    approval.createdBy ?? null,
  ]);
  await addPendingDocuments(tx, [{ ...approval.xml, bytes }]);
  const added = fromRow(rows[0] as ApprovalRow);
  if (claimedUntil !== null) await replaceEarlier(tx, added, approval.createdAt);
  return { added };
}

async function submit(tx: Transaction, id: number, claimedUntil: Date, at: Date): Promise<Admitted> {
  const present = await found(tx, id);
  const earlier = (await lockAll(tx, present.key)).filter((one) => one.id !== id);
  const admission = admit(earlier, present);
  if (admission.kind !== 'new' || earlier.some((one) => one.id > id)) return { refused: admission };
  const { rows } = await tx.query<ApprovalRow>(sql.SUBMIT, [id, claimedUntil, at, admission.authorityAlone]);
  if (rows[0] === undefined) return { refused: { kind: 'answered', by: await found(tx, id) } };
  const added = fromRow(rows[0]);
  await replaceEarlier(tx, added, at);
  return { added };
}

async function recordProgress(
  tx: Transaction,
  claimed: GivenApproval,
  progress: Progress,
  exchange: Exchange | null,
): Promise<GivenApproval> {
  const { id, key } = claimed;
  // An issuer's answer changes no decision, so it needs the lock only where the issuer ends without the document.
  const missed = missedIssuer(progress);
  const all = progress.target === 'issuer' && !missed ? [] : await lock(tx, key);
  const others = all.filter((one) => one.id !== id);
  if (exchange !== null) await tx.query(sql.EXCHANGE, exchangeValues(id, exchange));
  const superseded = missed && progress.sentAt === null && others.some(stands);
  const after = await write(tx, claimed, superseded ? { ...progress, dueAt: null } : progress);
  if (missed) await oweIssuer(tx, [...others, after], after.createdAt);
  const before = all.find((one) => one.id === id);
  if (before === undefined || after.supersededAt !== null || others.some(stands)) return after;
  await publishOutcome(tx, before, after, exchange?.at ?? after.createdAt);
  return after;
}

/** Publishes what the answer of the authority or the issuer changed about a decision that no other one replaced. */
async function publishOutcome(tx: Transaction, before: GivenApproval, after: GivenApproval, at: Date): Promise<void> {
  if (before.issuer.status !== 'refused' && after.issuer.status === 'refused') {
    const status = stands(after) ? statusWord(after.decision) : 'pending';
    return publish(tx, after, status, at, { refused_by_issuer: true });
  }
  const [earlier, now] = [before.authority.status, after.authority.status];
  if (earlier === now) return;
  if (now === 'Rechazado') await publishRefusal(tx, after, at);
  else if (earlier === 'Rechazado') await publishDecision(tx, after, at);
}

async function settle(
  tx: Transaction,
  id: number,
  { status, note, at, act }: { status: 'Aceptado' | 'Rechazado'; note: string; at: Date; act: AuditAct | null },
): Promise<GivenApproval | null> {
  const all = await lock(tx, (await found(tx, id)).key);
  const { rows } = await tx.query<ApprovalRow>(sql.SETTLE, [id, status, at, note]);
  if (rows[0] === undefined) return null;
  const settled = fromRow(rows[0]);
  const stillDecided = all.some((one) => one.id !== id && stands(one));
  if (status === 'Rechazado' && !stillDecided && settled.supersededAt === null) await publishRefusal(tx, settled, at);
  await appendToOutbox(tx, actEvents(ACTS, act));
  return settled;
}

/** The sends to the issuer ended without it taking the document. */
function missedIssuer({ target, status }: Progress): boolean {
  return target === 'issuer' && status !== 'pending' && status !== 'delivered';
}

async function oweIssuer(tx: Transaction, all: readonly GivenApproval[], dueAt: Date): Promise<void> {
  const owed = owedToIssuer(all);
  if (owed !== null) await tx.query(sql.OWE, [owed.id, dueAt]);
}

async function about(queries: Queries, key: DecisionKey): Promise<GivenApproval[]> {
  const { rows } = await queries.query<ApprovalRow>(sql.ABOUT, keyValues(key));
  return rows.map(fromRow);
}

/** Serialises the decisions about one document. */
async function lock(tx: Transaction, key: DecisionKey): Promise<GivenApproval[]> {
  await tx.query(sql.LOCK, keyValues(key));
  return about(tx, key);
}

/** The same, and no send of them is claimed meanwhile. */
async function lockAll(tx: Transaction, key: DecisionKey): Promise<GivenApproval[]> {
  await tx.query(sql.LOCK, keyValues(key));
  return (await tx.query<ApprovalRow>(sql.ABOUT_LOCKED, keyValues(key))).rows.map(fromRow);
}

async function found(queries: Queries, id: number): Promise<GivenApproval> {
  const { rows } = await queries.query<ApprovalRow>(sql.FIND, [id]);
  if (rows[0] === undefined) throw new Error(`the approval ${id} is gone`);
  return fromRow(rows[0]);
}

async function write(tx: Transaction, claimed: GivenApproval, progress: Progress): Promise<GivenApproval> {
  const words = progress.target === 'authority' ? progress.response : progress.error;
  const { rows } = await tx.query<ApprovalRow>(sql.PROGRESS[progress.target], [
    claimed.id,
    progress.status,
    words,
    progress.sentAt,
    progress.dueAt,
    claimed[progress.target].tries,
    ...(progress.target === 'issuer' ? [claimed.issuer.retried?.at ?? null] : []),
  ]);
  if (rows[0] === undefined) throw new Error(`the approval ${claimed.id} is gone`);
  return fromRow(rows[0]);
}

/** The decision stands from now on, and earlier ones stop looking for a receiver of the issuer. */
async function replaceEarlier(tx: Transaction, added: GivenApproval, at: Date): Promise<void> {
  await tx.query(sql.SUPERSEDE, [...keyValues(added.key), added.id]);
  await publishDecision(tx, added, at);
}

async function publishDecision(tx: Transaction, approval: GivenApproval, at: Date): Promise<void> {
  await publish(tx, approval, statusWord(approval.decision), at);
}

/** The authority refused the decision that stood, so the document has none. */
async function publishRefusal(tx: Transaction, approval: GivenApproval, at: Date): Promise<void> {
  await publish(tx, approval, 'pending', at, { refused_by_authority: true });
}

async function publish(
  tx: Transaction,
  { key, decidedAt }: GivenApproval,
  status: 'approved' | 'rejected' | 'pending',
  at: Date,
  more: { refused_by_authority?: true; refused_by_issuer?: true } = {},
): Promise<void> {
  const { rows } = await tx.query<{ revision: number }>(sql.ADVANCE, keyValues(key));
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

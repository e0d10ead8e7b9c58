import type { ApprovalChanged } from '@ecf/contracts';
import { type Environment, environmentRun, toIsoDominican } from '@ecf/domain';
import { areKnownSigners, type SignerUse } from '@ecf/public-ingress';
import { actEvents, appendToOutbox } from '@ecf/service-kit/outbox';
import type { Database, Queries, Transaction } from '@ecf/service-kit/postgres';
import { addPendingDocuments } from '@ecf/service-kit/xml-store';
import { ACTS, approvalEvent } from '../events.postgres.js';
import { type DecisionKey, statusWord } from '../given/given-approval.js';
import type { StoredBytes } from '../sending/outgoing.js';
import { replaces } from './answers.js';
import type {
  AnswerRuling,
  NewReceivedApproval,
  NewRefusedApproval,
  ReceivedAnswer,
  ReceivedApprovalStore,
} from './ports.js';
import * as sql from './received-approval-sql.postgres.js';

/** Later than every use of a signer. */
const EVER = new Date('9999-12-31T00:00:00Z');

type EcfKey = Omit<DecisionKey, 'buyerRnc'>;

/** Answers of buyers in PostgreSQL. The row of `received_decisions` is the lock for the answers to an e-CF. */
export function createReceivedApprovalStore(database: Database): ReceivedApprovalStore {
  return {
    async find(key) {
      const { rows } = await database.query<ReceivedApprovalRow>(sql.FIND, keyValues(key));
      return rows[0] === undefined ? null : fromRow(rows[0]);
    },
    async answers(key) {
      const { rows } = await database.query<ReceivedApprovalRow>(sql.ANSWERS, keyValues(key));
      return rows.map(fromRow);
    },
    async equalTo(key, contentSha256) {
      const { rows } = await database.query<StoredBytes>(sql.EQUAL, [...keyValues(key), contentSha256]);
      return rows[0] ?? null;
    },
    async pathOf(key, sha256) {
      const { rows } = await database.query<{ xml_path: string | null }>(sql.PATH, [...keyValues(key), sha256]);
      return rows[0]?.xml_path;
    },
    add: (approval, bytes) => database.transaction((tx) => add(tx, approval, bytes)),
    refuse: (refusal, bytes, answer) => database.transaction((tx) => refuse(tx, refusal, bytes, answer)),
    rule: (id, accountId, ruling) => database.transaction((tx) => rule(tx, id, accountId, ruling)),
  };
}

async function add(tx: Transaction, approval: NewReceivedApproval, bytes: Uint8Array): Promise<boolean> {
  if (!approval.confirmed) await lockSigners(tx, approval.key.env, approval.key.buyerRnc);
  const decision = await lock(tx, approval.key);
  if (!replaces(approval, decision.standing)) return false;
  if (!approval.confirmed && (await isDismissed(tx, approval))) return false;
  const { rows } = await tx.query<ReceivedApprovalRow & { fresh: boolean }>(sql.ADD_COUNTING, newValues(approval));
  // An operator decided that these bytes do not count.
  if (rows[0] === undefined) return false;
  if (rows[0].fresh) await addPendingDocuments(tx, [{ ...approval.xml, bytes }]);
  await decide(tx, fromRow(rows[0]), approval.receivedAt);
  await confirmIfKnownByNow(tx, approval);
  return true;
}

/** The signer of an unconfirmed answer may have become known after the use case looked it up. */
async function confirmIfKnownByNow(tx: Transaction, answer: NewReceivedApproval): Promise<void> {
  if (answer.confirmed) return;
  const use = { env: answer.key.env, rnc: answer.key.buyerRnc, signer: answer.signer };
  const [known] = await areKnownSigners(tx, [{ ...use, at: EVER }]);
  if (known === true) await confirmAnswers(tx, { ...use, at: answer.receivedAt });
}

/**
 * Held while an unconfirmed answer in the name of an RNC is stored, and while one of its signers becomes known. So the one
 * transaction sees what the other committed.
 */
export async function lockSigners(tx: Transaction, env: Environment, rnc: string): Promise<void> {
  await tx.query(sql.LOCK_NAME, [`known signers ${env} ${rnc}`]);
}

/** An operator decided that an answer of this signer does not count, so another one of a stranger needs a decision too. */
async function isDismissed(tx: Transaction, { key, signer }: NewReceivedApproval): Promise<boolean> {
  const { rows } = await tx.query(sql.DISMISSED, [...keyValues(key), signer.fingerprint]);
  return rows.length > 0;
}

async function refuse(
  tx: Transaction,
  refusal: NewRefusedApproval,
  bytes: Uint8Array | null,
  answer: NewReceivedApproval | null,
): Promise<void> {
  const { sha256, xmlPath } = refusal;
  if (answer !== null && !answer.confirmed) await lockSigners(tx, answer.key.env, answer.key.buyerRnc);
  if (answer !== null) {
    await tx.query(sql.ADD, newValues(answer));
    await confirmIfKnownByNow(tx, answer);
  }
  await tx.query(sql.LOCK_NAME, [`refused approval ${sha256}`]);
  const again = await tx.query(sql.REFUSE_AGAIN, [...keyValues(refusal), sha256, refusal.reason]);
  if (again.rowCount > 0) return;
  if (xmlPath !== null && bytes !== null) await addPendingDocuments(tx, [{ path: xmlPath, sha256, bytes }]);
  await tx.query(sql.REFUSE, [
    refusal.env,
    refusal.issuerRnc,
    refusal.encf,
    refusal.buyerRnc,
    refusal.reason,
    refusal.receivedAt,
    refusal.bytes,
    sha256,
    xmlPath,
    refusal.requestId,
    refusal.sender,
  ]);
}

async function rule(
  tx: Transaction,
  id: number,
  accountId: string,
  { counts, reason, at, act }: AnswerRuling,
): Promise<ReceivedAnswer | null> {
  const [found] = (await tx.query<ReceivedApprovalRow>(sql.OF_ACCOUNT, [id, accountId])).rows;
  if (found === undefined) return null;
  const { standing } = await lock(tx, fromRow(found).key);
  const [row] = (await tx.query<ReceivedApprovalRow>(sql.RULE, [id, counts, reason, at])).rows;
  const answer = fromRow(row as ReceivedApprovalRow);
  if (counts && standing?.id !== id) await decide(tx, answer, at);
  if (!counts && standing?.id === id)
    await restore(tx, (await countedBefore(tx, id)) ?? { ...answer, counts: false }, at);
  await appendToOutbox(tx, actEvents(ACTS, act));
  return { ...answer, counts };
}

/**
 * A signer became known: its answers in the name of the buyer are confirmed. They count instead of those of strangers,
 * unless an operator decided otherwise.
 */
export async function confirmAnswers(tx: Transaction, { env, rnc, signer, at }: SignerUse): Promise<void> {
  const values = [env, rnc, signer.keyFingerprint, signer.trusted === true, signer.holderId];
  const { rows } = await tx.query<ReceivedApprovalRow>(sql.UNCONFIRMED_OF, values);
  for (const row of rows) {
    const { standing } = await lock(tx, fromRow(row).key);
    const [confirmed] = (await tx.query<ReceivedApprovalRow>(sql.CONFIRM, [row.id])).rows;
    const answer = fromRow(confirmed as ReceivedApprovalRow);
    const dismissed = confirmed?.ruled_counts === false;
    if (!dismissed && (standing?.id === answer.id || replaces(answer, standing))) await decide(tx, answer, at);
  }
}

interface LockedDecision {
  readonly standing: { readonly id: number; readonly confirmed: boolean } | null;
}

async function lock(tx: Transaction, { buyerRnc, ...key }: DecisionKey): Promise<LockedDecision> {
  await tx.query(sql.LOCK, [...keyValues(key), buyerRnc]);
  const { rows } = await tx.query<ReceivedApprovalRow>(sql.FIND, keyValues(key));
  return { standing: rows[0] ?? null };
}

/** The answer that counted before this one, and that no operator set aside; null if there is none. */
async function countedBefore(tx: Transaction, id: number): Promise<ReceivedAnswer | null> {
  // An answer may have counted twice, so the answers before it may form a circle.
  const seen = new Set<number>();
  for (let at: number | null = id; at !== null && !seen.has(at); ) {
    seen.add(at);
    const [row]: ReceivedApprovalRow[] = (await tx.query<ReceivedApprovalRow>(sql.WITH_ID, [at])).rows;
    if (row !== undefined && row.ruled_counts !== false) return fromRow(row);
    at = row?.replaced_id ?? null;
  }
  return null;
}

/** From now on the answer counts, instead of the one that counted. */
function decide(tx: Transaction, answer: ReceivedAnswer, at: Date): Promise<void> {
  return publish(tx, answer, at, true);
}

/** The answer counts again; or none, if it does not count. */
function restore(tx: Transaction, answer: ReceivedAnswer, at: Date): Promise<void> {
  return publish(tx, answer, at, false);
}

async function publish(tx: Transaction, answer: ReceivedAnswer, at: Date, replaces: boolean): Promise<void> {
  const { buyerRnc: _, ...key } = answer.key;
  const counting = answer.counts ? answer.id : null;
  const { rows } = await tx.query<DecisionRow>(sql.DECIDE, [...keyValues(key), counting, replaces]);
  await appendToOutbox(tx, [approvalEvent(decisionReceived(rows[0] as DecisionRow), at)]);
}

/** A page of the decisions that were published, by id. */
export async function pageOfDecisions(queries: Queries, after: number, limit: number): Promise<DecisionRow[]> {
  return (await queries.query<DecisionRow>(sql.PAGE, [after, limit])).rows;
}

/** The buyer's decision as it is published. */
export function decisionReceived(row: DecisionRow): ApprovalChanged {
  return {
    direction: 'received',
    env: row.env,
    run: row.run,
    issuer_rnc: row.issuer_rnc,
    encf: row.encf,
    buyer_rnc: row.buyer_rnc,
    revision: row.revision,
    approval_status: row.decision === null ? 'pending' : statusWord(row.decision),
    approval_confirmed: row.confirmed === true,
    approval_datetime: row.decided_at === null ? null : toIsoDominican(row.decided_at),
  };
}

/** A row of `received_decisions` with the answer that counts. */
export interface DecisionRow {
  id: number;
  env: Environment;
  issuer_rnc: string;
  encf: string;
  buyer_rnc: string;
  /** The present certification run of the issuer. */
  run: number;
  revision: number;
  decision: 1 | 2 | null;
  confirmed: boolean | null;
  decided_at: Date | null;
}

function keyValues({ env, issuerRnc, encf }: EcfKey): string[] {
  return [env, issuerRnc, encf];
}

function newValues(approval: NewReceivedApproval): unknown[] {
  const { key, signer, xml } = approval;
  return [
    ...keyValues(key),
    key.buyerRnc,
    approval.accountId,
    approval.decision,
    approval.reason,
    approval.decidedAt,
    approval.receivedAt,
    approval.bytes,
    xml.path,
    xml.sha256,
    signer.subject,
    signer.serialNumber,
    signer.issuer,
    signer.fingerprint,
    signer.keyFingerprint,
    signer.holderId,
    signer.trusted,
    approval.canonical,
    approval.requestId,
    approval.sender,
    approval.confirmed,
    approval.contentSha256,
  ];
}

/** A row of `received_approvals`; `counts` is read from `received_decisions`. */
interface ReceivedApprovalRow {
  id: number;
  /** Of the run before, with the run and an RNC. */
  env: string;
  issuer_rnc: string;
  encf: string;
  buyer_rnc: string;
  account_id: string;
  decision: 1 | 2;
  reason: string | null;
  decided_at: Date;
  received_at: Date;
  bytes: number;
  xml_path: string;
  xml_sha256: string;
  certificate_subject: string;
  certificate_serial: string;
  certificate_issuer: string;
  certificate_fingerprint: string;
  certificate_key: string;
  certificate_holder: string | null;
  certificate_trusted: boolean | null;
  canonical: 'as-is' | 'whitespace-dropped';
  request_id: string;
  sender: string | null;
  confirmed: boolean;
  content_sha256: string | null;
  ruled_counts: boolean | null;
  replaced_id: number | null;
  counts: boolean;
}

function fromRow(row: ReceivedApprovalRow): ReceivedAnswer {
  return {
    id: row.id,
    key: { env: environmentRun(row.env).env, buyerRnc: row.buyer_rnc, issuerRnc: row.issuer_rnc, encf: row.encf },
    accountId: row.account_id,
    decision: row.decision,
    reason: row.reason,
    decidedAt: row.decided_at,
    receivedAt: row.received_at,
    bytes: row.bytes,
    xml: { path: row.xml_path, sha256: row.xml_sha256 },
    signer: {
      subject: row.certificate_subject,
      serialNumber: row.certificate_serial,
      issuer: row.certificate_issuer,
      fingerprint: row.certificate_fingerprint,
      keyFingerprint: row.certificate_key,
      holderId: row.certificate_holder,
      trusted: row.certificate_trusted,
    },
    confirmed: row.confirmed,
    contentSha256: row.content_sha256,
    canonical: row.canonical,
    requestId: row.request_id,
    sender: row.sender,
    counts: row.counts,
  };
}

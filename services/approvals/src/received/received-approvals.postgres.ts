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

// In the statements $1 env, $2 issuer and $3 eNCF name the e-CF.
const COLUMNS = `env, issuer_rnc, encf, buyer_rnc, account_id, decision, reason, decided_at, received_at, bytes, xml_path, xml_sha256,
  certificate_subject, certificate_serial, certificate_issuer, certificate_fingerprint, certificate_key, certificate_holder,
  certificate_trusted, canonical, request_id, sender, confirmed, content_sha256`;
const VALUES = COLUMNS.split(',').map((_, index) => `$${index + 1}`);
const ABOUT = 'a.env = $1 AND a.issuer_rnc = $2 AND a.encf = $3';
/** The present certification run of the issuer of a decision `d`. */
const RUN = 'coalesce((SELECT c.run FROM certification_run c WHERE c.env = d.env AND c.issuer_rnc = d.issuer_rnc), 1)';
/** The largest number of answers that are listed. */
const MOST_ANSWERS = 1_000;

const FIND = {
  name: 'received_approval_find',
  text: `SELECT a.*, true AS counts FROM received_decisions d JOIN received_approvals a ON a.id = d.answer_id
          WHERE d.env = $1 AND d.issuer_rnc = $2 AND d.encf = $3`,
};
const ANSWERS = {
  name: 'received_approval_answers',
  text: `SELECT * FROM (
           SELECT a.*, EXISTS (SELECT 1 FROM received_decisions d
                                WHERE d.env = a.env AND d.issuer_rnc = a.issuer_rnc AND d.encf = a.encf
                                  AND d.answer_id = a.id) AS counts
             FROM received_approvals a WHERE ${ABOUT}
            ORDER BY counts DESC, a.confirmed DESC, a.id LIMIT ${MOST_ANSWERS}) first
          ORDER BY id`,
};
const EQUAL = {
  name: 'received_approval_equal',
  text: `SELECT a.xml_path AS path, a.xml_sha256 AS sha256 FROM received_approvals a
          WHERE ${ABOUT} AND a.content_sha256 = $4 ORDER BY a.id LIMIT 1`,
};
/** Where identical bytes are kept; null if they were refused and not kept. */
const PATH = {
  name: 'received_approval_path',
  text: `SELECT xml_path FROM (
           SELECT a.xml_path FROM received_approvals a WHERE ${ABOUT} AND a.xml_sha256 = $4
           UNION ALL
           SELECT a.xml_path FROM refused_approvals a WHERE ${ABOUT} AND a.sha256 = $4) kept
          ORDER BY xml_path NULLS LAST LIMIT 1`,
};
const OF_ACCOUNT = {
  name: 'received_approval_of_account',
  text: "SELECT a.*, false AS counts FROM received_approvals a WHERE a.id = $1 AND a.account_id = $2 AND position('/' in a.env) = 0",
};
/** An answer that does not count. The same bytes are kept once. */
const ADD = {
  name: 'received_approval_add',
  text: `INSERT INTO received_approvals (${COLUMNS}) VALUES (${VALUES})
         ON CONFLICT (env, issuer_rnc, encf, xml_sha256) DO NOTHING`,
};
/**
 * An answer that counts, unless an operator decided otherwise. Its bytes may be kept already, as an answer that did not
 * count.
 */
const ADD_COUNTING = {
  name: 'received_approval_add_counting',
  text: `INSERT INTO received_approvals AS a (${COLUMNS}) VALUES (${VALUES})
         ON CONFLICT (env, issuer_rnc, encf, xml_sha256) DO UPDATE SET confirmed = a.confirmed OR excluded.confirmed
          WHERE a.ruled_counts IS NOT false
         RETURNING *, true AS counts, xmax = 0 AS fresh`,
};
const DISMISSED = {
  name: 'received_approval_dismissed',
  text: `SELECT 1 FROM received_approvals a
          WHERE ${ABOUT} AND a.certificate_fingerprint = $4 AND a.ruled_counts = false LIMIT 1`,
};
const RULE = {
  name: 'received_approval_rule',
  text: `UPDATE received_approvals SET ruled_counts = $2, ruled_reason = $3, ruled_at = $4 WHERE id = $1
         RETURNING *, true AS counts`,
};
/** Unconfirmed answers of a signer in the name of a buyer. $3 its key; $4, $5 its holder, if it leads to a trusted issuer. */
const UNCONFIRMED_OF = {
  name: 'received_approval_unconfirmed_of',
  text: `SELECT *, false AS counts FROM received_approvals
          WHERE env = $1 AND buyer_rnc = $2 AND NOT confirmed
            AND (certificate_key = $3 OR ($4::boolean AND certificate_trusted AND certificate_holder = $5))
          ORDER BY issuer_rnc, encf, id`,
};
const WITH_ID = {
  name: 'received_approval_with_id',
  text: 'SELECT a.*, true AS counts FROM received_approvals a WHERE a.id = $1',
};
const CONFIRM = {
  name: 'received_approval_confirm',
  text: 'UPDATE received_approvals SET confirmed = true WHERE id = $1 RETURNING *, true AS counts',
};
/** A lock by a name, until the end of the transaction. */
const LOCK_NAME = {
  name: 'received_approval_lock_name',
  text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
};
const LOCK = {
  name: 'received_decision_lock',
  text: `INSERT INTO received_decisions AS d (env, issuer_rnc, encf, buyer_rnc) VALUES ($1, $2, $3, $4)
         ON CONFLICT (env, issuer_rnc, encf) DO UPDATE SET revision = d.revision`,
};
/** $5 whether the answer takes the place of the one that counts, which is remembered with it. */
const DECIDE = {
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
const PAGE = {
  name: 'received_decisions_page',
  text: `SELECT d.*, ${RUN} AS run, a.decision, a.confirmed, a.decided_at
           FROM received_decisions d LEFT JOIN received_approvals a ON a.id = d.answer_id
          WHERE d.id > $1 AND d.revision > 0 ORDER BY d.id LIMIT $2`,
};
/** A refusal of the same bytes is counted; the row has the latest reason. */
const REFUSE_AGAIN = {
  name: 'refused_approval_repeat',
  text: `UPDATE refused_approvals SET repeats = repeats + 1, reason = $5
          WHERE env = $1 AND issuer_rnc = $2 AND encf = $3 AND sha256 = $4`,
};
const REFUSE = {
  name: 'refused_approval_add',
  text: `INSERT INTO refused_approvals (env, issuer_rnc, encf, buyer_rnc, reason, received_at, bytes, sha256, xml_path,
           request_id, sender)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
};

/** Later than every use of a signer. */
const EVER = new Date('9999-12-31T00:00:00Z');

type EcfKey = Omit<DecisionKey, 'buyerRnc'>;

/** Answers of buyers in PostgreSQL. The row of `received_decisions` is the lock for the answers to an e-CF. */
export function createReceivedApprovalStore(database: Database): ReceivedApprovalStore {
  return {
    async find(key) {
      const { rows } = await database.query<ReceivedApprovalRow>(FIND, keyValues(key));
      return rows[0] === undefined ? null : fromRow(rows[0]);
    },
    async answers(key) {
      const { rows } = await database.query<ReceivedApprovalRow>(ANSWERS, keyValues(key));
      return rows.map(fromRow);
    },
    async equalTo(key, contentSha256) {
      const { rows } = await database.query<StoredBytes>(EQUAL, [...keyValues(key), contentSha256]);
      return rows[0] ?? null;
    },
    async pathOf(key, sha256) {
      const { rows } = await database.query<{ xml_path: string | null }>(PATH, [...keyValues(key), sha256]);
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
  const { rows } = await tx.query<ReceivedApprovalRow & { fresh: boolean }>(ADD_COUNTING, newValues(approval));
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
  await tx.query(LOCK_NAME, [`known signers ${env} ${rnc}`]);
}

/** An operator decided that an answer of this signer does not count, so another one of a stranger needs a decision too. */
async function isDismissed(tx: Transaction, { key, signer }: NewReceivedApproval): Promise<boolean> {
  const { rows } = await tx.query(DISMISSED, [...keyValues(key), signer.fingerprint]);
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
    await tx.query(ADD, newValues(answer));
    await confirmIfKnownByNow(tx, answer);
  }
  await tx.query(LOCK_NAME, [`refused approval ${sha256}`]);
  const again = await tx.query(REFUSE_AGAIN, [...keyValues(refusal), sha256, refusal.reason]);
  if (again.rowCount > 0) return;
  if (xmlPath !== null && bytes !== null) await addPendingDocuments(tx, [{ path: xmlPath, sha256, bytes }]);
  await tx.query(REFUSE, [
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
  const [found] = (await tx.query<ReceivedApprovalRow>(OF_ACCOUNT, [id, accountId])).rows;
  if (found === undefined) return null;
  const { standing } = await lock(tx, fromRow(found).key);
  const [row] = (await tx.query<ReceivedApprovalRow>(RULE, [id, counts, reason, at])).rows;
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
  const { rows } = await tx.query<ReceivedApprovalRow>(UNCONFIRMED_OF, values);
  for (const row of rows) {
    const { standing } = await lock(tx, fromRow(row).key);
    const [confirmed] = (await tx.query<ReceivedApprovalRow>(CONFIRM, [row.id])).rows;
    const answer = fromRow(confirmed as ReceivedApprovalRow);
    const dismissed = confirmed?.ruled_counts === false;
    if (!dismissed && (standing?.id === answer.id || replaces(answer, standing))) await decide(tx, answer, at);
  }
}

interface LockedDecision {
  readonly standing: { readonly id: number; readonly confirmed: boolean } | null;
}

async function lock(tx: Transaction, { buyerRnc, ...key }: DecisionKey): Promise<LockedDecision> {
  await tx.query(LOCK, [...keyValues(key), buyerRnc]);
  const { rows } = await tx.query<ReceivedApprovalRow>(FIND, keyValues(key));
  return { standing: rows[0] ?? null };
}

/** The answer that counted before this one, and that no operator set aside; null if there is none. */
async function countedBefore(tx: Transaction, id: number): Promise<ReceivedAnswer | null> {
  // An answer may have counted twice, so the answers before it may form a circle.
  const seen = new Set<number>();
  for (let at: number | null = id; at !== null && !seen.has(at); ) {
    seen.add(at);
    const [row]: ReceivedApprovalRow[] = (await tx.query<ReceivedApprovalRow>(WITH_ID, [at])).rows;
    if (row !== undefined && row.ruled_counts !== false) return fromRow(row);
    at = row?.replaced_id ?? null;
  }
  return null;
}

/** From now on the answer counts, instead of the one that counted. */
function decide(tx: Transaction, answer: ReceivedAnswer, at: Date): Promise<void> {
  return publish(tx, answer, at, true);
}

/** The answer counts again; if it does not count, no answer does. */
function restore(tx: Transaction, answer: ReceivedAnswer, at: Date): Promise<void> {
  return publish(tx, answer, at, false);
}

async function publish(tx: Transaction, answer: ReceivedAnswer, at: Date, replaces: boolean): Promise<void> {
  const { buyerRnc: _, ...key } = answer.key;
  const counting = answer.counts ? answer.id : null;
  const { rows } = await tx.query<DecisionRow>(DECIDE, [...keyValues(key), counting, replaces]);
  await appendToOutbox(tx, [approvalEvent(decisionReceived(rows[0] as DecisionRow), at)]);
}

/** A page of the decisions that were published, by id. */
export async function pageOfDecisions(queries: Queries, after: number, limit: number): Promise<DecisionRow[]> {
  return (await queries.query<DecisionRow>(PAGE, [after, limit])).rows;
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
  /** A row of an earlier certification run has `<environment>/<run>/<RNC>` here. */
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

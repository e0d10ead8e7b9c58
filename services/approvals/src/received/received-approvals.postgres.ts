import { addPendingDocuments } from '@ecf/archive';
import { appendToOutbox } from '@ecf/bus';
import { actEvents } from '@ecf/bus/events';
import type { ApprovalChanged, OutcomeOperations } from '@ecf/contracts';
import { type Environment, environmentRun, toIsoDominican } from '@ecf/domain';
import { type Database, pagesOf, type Queries, queryBuilder, type Transaction } from '@ecf/postgres';
import { areKnownSigners, isSignerNoted, noteKnownSigner, type SignerFacts, type SignerUse } from '@ecf/public-ingress';
import { type Insertable, type Selectable, sql } from 'kysely';
import { ACTS, approvalEvent } from '../events.postgres.js';
import type { DB, ReceivedApproval } from '../generated/tables.js';
import { type DecisionKey, statusWord } from '../given/given-approval.js';
import type { KnownSigners, ReceivedApprovalStore } from './ports.js';
import {
  type NewReceivedApproval,
  type NewRefusedApproval,
  type OperatorDecision,
  replaces,
  type StoredApproval,
} from './received-approval.js';

/** The largest number of answers that are listed. */
const MOST_LISTED = 1_000;
/** Later than every use of a signer. */
const EVER = new Date('9999-12-31T00:00:00Z');

/** A lock by a name, until the end of the transaction. */
const LOCK_NAME = {
  name: 'received_approval_lock_name',
  text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
};
/** Where identical bytes are kept, accepted or refused; null if they were refused and not kept. */
const PATH = {
  name: 'received_approval_path',
  text: `SELECT xml_path FROM (
           SELECT xml_path FROM received_approvals WHERE env = $1 AND issuer_rnc = $2 AND encf = $3 AND xml_sha256 = $4
           UNION ALL
           SELECT xml_path FROM refused_approvals WHERE env = $1 AND issuer_rnc = $2 AND encf = $3 AND sha256 = $4) kept
          ORDER BY xml_path NULLS LAST LIMIT 1`,
};

type EcfKey = Omit<DecisionKey, 'buyerRnc'>;
type ApprovalRow = Selectable<ReceivedApproval>;

/** Answers of buyers in PostgreSQL. The row of `received_decisions` is the lock for the answers to an e-CF. */
export function createReceivedApprovalStore(database: Database): ReceivedApprovalStore {
  return {
    find: (key) => findCounting(database, key),
    answers: (key) => listApprovals(database, key),
    async equalTo(key, contentSha256) {
      const equal = await approvalsOf(database, key)
        .select(['a.xmlPath as path', 'a.xmlSha256 as sha256'])
        .where('a.contentSha256', '=', contentSha256)
        .orderBy('a.id')
        .limit(1)
        .executeTakeFirst();
      return equal ?? null;
    },
    async pathOf({ env, issuerRnc, encf }, sha256) {
      const { rows } = await database.query<{ xml_path: string | null }>(PATH, [env, issuerRnc, encf, sha256]);
      return rows[0]?.xml_path;
    },
    add: (approval, bytes) => database.transaction((tx) => add(tx, approval, bytes)),
    refuse: (refusal, bytes, answer) => database.transaction((tx) => refuse(tx, refusal, bytes, answer)),
    decide: (id, accountId, decision) => database.transaction((tx) => decide(tx, id, accountId, decision)),
  };
}

/** Known signers in PostgreSQL. */
export function createKnownSigners(database: Database): KnownSigners {
  return {
    areKnown: (uses) => areKnownSigners(database, uses),
    confirmed: (use) => database.transaction((tx) => makeKnown(tx, use)),
  };
}

/** From now on the signer is known for the RNC, and its earlier answers are confirmed. */
export async function makeKnown(tx: Transaction, use: SignerUse): Promise<void> {
  if (await isSignerNoted(tx, use)) return;
  await lockSigners(tx, use.env, use.rnc);
  await noteKnownSigner(tx, use);
  await confirmApprovals(tx, use);
}

/** A page of the decisions that were published, by id, for a rebuild of read models. */
export const pageOfDecisions =
  (database: Database): OutcomeOperations['pageOfDecisions'] =>
  async ({ after, limit }) => {
    const published = decisions(database).where('d.id', '>', after).where('d.revision', '>', 0);
    const rows = await published.orderBy('d.id').limit(limit).execute();
    return { decisions: rows.map(decisionReceived), next: rows.length < limit ? null : (rows.at(-1)?.id ?? null) };
  };

/** Publishes the decisions about which an answer came since then again. */
export async function publishReceivedSince(tx: Transaction, since: Date, now: Date): Promise<void> {
  const read = (after: number, limit: number) =>
    decisions(tx)
      .where('d.id', '>', after)
      .where('d.revision', '>', 0)
      .where(({ eb, or }) => or([eb('a.receivedAt', '>=', since), eb('a.ruledAt', '>=', since)]))
      .orderBy('d.id')
      .limit(limit)
      .execute();
  for await (const rows of pagesOf(read, ({ id }) => id)) {
    const events = rows.map((row) => approvalEvent(decisionReceived(row), now));
    await appendToOutbox(tx, events);
  }
}

function approvalsOf(queries: Queries, { env, issuerRnc, encf }: EcfKey) {
  return queryBuilder<DB>(queries)
    .selectFrom('receivedApprovals as a')
    .where(({ and }) => and({ 'a.env': env, 'a.issuerRnc': issuerRnc, 'a.encf': encf }));
}

async function findCounting(queries: Queries, { env, issuerRnc, encf }: EcfKey): Promise<StoredApproval | null> {
  const row = await queryBuilder<DB>(queries)
    .selectFrom('receivedDecisions as d')
    .innerJoin('receivedApprovals as a', 'a.id', 'd.answerId')
    .selectAll('a')
    .where(({ and }) => and({ 'd.env': env, 'd.issuerRnc': issuerRnc, 'd.encf': encf }))
    .executeTakeFirst();
  return row === undefined ? null : approvalFrom(row, true);
}

async function listApprovals(queries: Queries, key: EcfKey): Promise<StoredApproval[]> {
  const rows = await approvalsOf(queries, key)
    .leftJoin('receivedDecisions as d', (join) =>
      join
        .onRef('d.env', '=', 'a.env')
        .onRef('d.issuerRnc', '=', 'a.issuerRnc')
        .onRef('d.encf', '=', 'a.encf')
        .onRef('d.answerId', '=', 'a.id'),
    )
    .selectAll('a')
    .select(({ eb }) => eb('d.id', 'is not', null).as('counts'))
    .orderBy('counts', 'desc')
    .orderBy('a.confirmed', 'desc')
    .orderBy('a.id')
    .limit(MOST_LISTED)
    .execute();
  return rows.map((row) => approvalFrom(row, row.counts === true)).sort((one, other) => one.id - other.id);
}

async function add(tx: Transaction, approval: NewReceivedApproval, bytes: Uint8Array): Promise<boolean> {
  if (!approval.confirmed) await lockSigners(tx, approval.key.env, approval.key.buyerRnc);
  const present = await lock(tx, approval.key);
  if (!replaces(approval, present)) return false;
  if (!approval.confirmed && (await isDismissed(tx, approval))) return false;
  // The bytes may be kept already, as an answer that did not count.
  const row = await queryBuilder<DB>(tx)
    .insertInto('receivedApprovals')
    .values(newRow(approval))
    .onConflict((conflict) =>
      conflict
        .columns(['env', 'issuerRnc', 'encf', 'xmlSha256'])
        .doUpdateSet({ confirmed: sql`received_approvals.confirmed OR excluded.confirmed` })
        .where('receivedApprovals.ruledCounts', 'is not', false),
    )
    .returningAll()
    .returning(sql<boolean>`xmax = 0`.as('fresh'))
    .executeTakeFirst();
  // An operator decided that these bytes do not count.
  if (row === undefined) return false;
  if (row.fresh) await addPendingDocuments(tx, [{ ...approval.xml, bytes }]);
  await replace(tx, present, approvalFrom(row, true), approval.receivedAt);
  await confirmIfKnownByNow(tx, approval);
  return true;
}

/** The signer of an unconfirmed answer may have become known after the use case looked it up. */
async function confirmIfKnownByNow(tx: Transaction, answer: NewReceivedApproval): Promise<void> {
  if (answer.confirmed) return;
  const use = { env: answer.key.env, rnc: answer.key.buyerRnc, signer: answer.signer };
  const [known] = await areKnownSigners(tx, [{ ...use, at: EVER }]);
  if (known === true) await confirmApprovals(tx, { ...use, at: answer.receivedAt });
}

/**
 * Held while an unconfirmed answer in the name of an RNC is stored, and while one of its signers becomes known. So the one
 * transaction sees what the other committed.
 */
async function lockSigners(tx: Transaction, env: Environment, rnc: string): Promise<void> {
  await tx.query(LOCK_NAME, [`known signers ${env} ${rnc}`]);
}

/** An operator decided that an answer of this signer does not count, so another one of a stranger needs a decision too. */
async function isDismissed(tx: Transaction, { key, signer }: NewReceivedApproval): Promise<boolean> {
  const dismissed = await approvalsOf(tx, key)
    .select('a.id')
    .where('a.certificateFingerprint', '=', signer.fingerprint)
    .where('a.ruledCounts', '=', false)
    .limit(1)
    .execute();
  return dismissed.length > 0;
}

async function refuse(
  tx: Transaction,
  refusal: NewRefusedApproval,
  bytes: Uint8Array | null,
  answer: NewReceivedApproval | null,
): Promise<void> {
  const { env, issuerRnc, encf, sha256, xmlPath, reason } = refusal;
  const builder = queryBuilder<DB>(tx);
  if (answer !== null) {
    if (!answer.confirmed) await lockSigners(tx, answer.key.env, answer.key.buyerRnc);
    await builder
      .insertInto('receivedApprovals')
      .values(newRow(answer))
      .onConflict((conflict) => conflict.columns(['env', 'issuerRnc', 'encf', 'xmlSha256']).doNothing())
      .execute();
    await confirmIfKnownByNow(tx, answer);
  }
  await tx.query(LOCK_NAME, [`refused approval ${sha256}`]);
  // A refusal of the same bytes is counted; the row has the latest reason.
  const again = await builder
    .updateTable('refusedApprovals')
    .set(({ eb }) => ({ repeats: eb('repeats', '+', 1), reason }))
    .where(({ and }) => and({ env, issuerRnc, encf, sha256 }))
    .returning('id')
    .execute();
  if (again.length > 0) return;
  if (xmlPath !== null && bytes !== null) await addPendingDocuments(tx, [{ path: xmlPath, sha256, bytes }]);
  await builder.insertInto('refusedApprovals').values(refusal).execute();
}

async function decide(
  tx: Transaction,
  id: number,
  accountId: string,
  { counts, reason, at, act }: OperatorDecision,
): Promise<StoredApproval | null> {
  const found = await withId(tx, id);
  // The environment of an earlier certification run has a slash.
  if (found === undefined || found.accountId !== accountId || found.env.includes('/')) return null;
  const present = await lock(tx, approvalFrom(found, false).key);
  const row = await queryBuilder<DB>(tx)
    .updateTable('receivedApprovals')
    .set({ ruledCounts: counts, ruledReason: reason, ruledAt: at })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const answer = approvalFrom(row, counts);
  if (counts && present?.id !== id) await replace(tx, present, answer, at);
  if (!counts && present?.id === id) await publish(tx, answer.key, await countedBefore(tx, id), at);
  await appendToOutbox(tx, actEvents(ACTS, act));
  return answer;
}

/**
 * A signer became known: its answers in the name of the buyer are confirmed. They count instead of those of strangers,
 * unless an operator decided otherwise.
 */
async function confirmApprovals(tx: Transaction, { env, rnc, signer, at }: SignerUse): Promise<void> {
  const builder = queryBuilder<DB>(tx);
  const unconfirmed = await builder
    .selectFrom('receivedApprovals')
    .selectAll()
    .where('env', '=', env)
    .where('buyerRnc', '=', rnc)
    .where(({ eb, not, and, or }) => {
      const sameKey = eb('certificateKey', '=', signer.keyFingerprint);
      const sameHolder = and([eb('certificateTrusted', '=', true), eb('certificateHolder', '=', signer.holderId)]);
      // Written as in the condition of the index.
      return and([not('confirmed'), signer.trusted === true ? or([sameKey, sameHolder]) : sameKey]);
    })
    .orderBy('issuerRnc')
    .orderBy('encf')
    .orderBy('id')
    .execute();
  for (const found of unconfirmed) {
    const present = await lock(tx, approvalFrom(found, false).key);
    const row = await builder
      .updateTable('receivedApprovals')
      .set({ confirmed: true })
      .where('id', '=', found.id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const answer = approvalFrom(row, true);
    if (row.ruledCounts !== false && (present?.id === answer.id || replaces(answer, present)))
      await replace(tx, present, answer, at);
  }
}

/** Locks the decision about an e-CF, and returns the answer that counts; null if none does. */
async function lock(tx: Transaction, { env, issuerRnc, encf, buyerRnc }: DecisionKey): Promise<StoredApproval | null> {
  const key = { env, issuerRnc, encf };
  await queryBuilder<DB>(tx)
    .insertInto('receivedDecisions')
    .values({ ...key, buyerRnc })
    .onConflict((conflict) =>
      conflict
        .columns(['env', 'issuerRnc', 'encf'])
        .doUpdateSet(({ ref }) => ({ revision: ref('receivedDecisions.revision') })),
    )
    .execute();
  return findCounting(tx, key);
}

/** The id of the answer that counted before this one, and that no operator set aside; null if there is none. */
async function countedBefore(tx: Transaction, id: number): Promise<number | null> {
  // An answer may have counted twice, so the answers before it may form a circle.
  const seen = new Set<number>();
  for (let at: number | null = id; at !== null && !seen.has(at); ) {
    seen.add(at);
    const row: ApprovalRow | undefined = await withId(tx, at);
    if (row !== undefined && row.ruledCounts !== false) return row.id;
    at = row?.replacedId ?? null;
  }
  return null;
}

function withId(tx: Transaction, id: number): Promise<ApprovalRow | undefined> {
  return queryBuilder<DB>(tx).selectFrom('receivedApprovals').selectAll().where('id', '=', id).executeTakeFirst();
}

/** From now on the answer counts, instead of the present one, which is stored with it. */
async function replace(tx: Transaction, present: StoredApproval | null, { id, key }: StoredApproval, at: Date) {
  if (present !== null && present.id !== id)
    await queryBuilder<DB>(tx)
      .updateTable('receivedApprovals')
      .set({ replacedId: present.id })
      .where('id', '=', id)
      .execute();
  await publish(tx, key, id, at);
}

/** Stores and publishes which answer counts; null: none does. */
async function publish(tx: Transaction, { env, issuerRnc, encf }: EcfKey, answerId: number | null, at: Date) {
  const { id } = await queryBuilder<DB>(tx)
    .updateTable('receivedDecisions')
    .set(({ eb }) => ({ answerId, revision: eb('revision', '+', 1) }))
    .where(({ and }) => and({ env, issuerRnc, encf }))
    .returning('id')
    .executeTakeFirstOrThrow();
  const decision = await decisions(tx).where('d.id', '=', id).executeTakeFirstOrThrow();
  await appendToOutbox(tx, [approvalEvent(decisionReceived(decision), at)]);
}

/** Decisions with the answer that counts and the present certification run of the issuer. */
function decisions(queries: Queries) {
  return queryBuilder<DB>(queries)
    .selectFrom('receivedDecisions as d')
    .leftJoin('receivedApprovals as a', 'a.id', 'd.answerId')
    .leftJoin('certificationRun as c', (join) =>
      join.onRef('c.env', '=', 'd.env').onRef('c.issuerRnc', '=', 'd.issuerRnc'),
    )
    .selectAll('d')
    .select(['c.run', 'a.decision', 'a.confirmed', 'a.decidedAt']);
}

/** The buyer's decision as it is published. */
function decisionReceived(
  row: Awaited<ReturnType<ReturnType<typeof decisions>['executeTakeFirstOrThrow']>>,
): ApprovalChanged {
  return {
    direction: 'received',
    env: row.env,
    run: row.run ?? 1,
    issuer_rnc: row.issuerRnc,
    encf: row.encf,
    buyer_rnc: row.buyerRnc,
    revision: row.revision,
    approval_status: row.decision === null ? 'pending' : statusWord(row.decision),
    approval_confirmed: row.confirmed === true,
    approval_datetime: row.decidedAt === null ? null : toIsoDominican(row.decidedAt),
  };
}

function newRow({ key, xml, signer, ...approval }: NewReceivedApproval): Insertable<ReceivedApproval> {
  return { ...approval, ...key, ...signerColumns(signer), xmlPath: xml.path, xmlSha256: xml.sha256 };
}

/** A row of an earlier certification run has `<environment>/<run>/<RNC>` as its environment. */
function approvalFrom(
  { env, issuerRnc, encf, buyerRnc, xmlPath, xmlSha256, ...row }: ApprovalRow,
  counts: boolean,
): StoredApproval {
  return {
    ...row,
    key: { env: environmentRun(env).env, buyerRnc, issuerRnc, encf },
    xml: { path: xmlPath, sha256: xmlSha256 },
    signer: signerFrom(row),
    counts,
  };
}

/** The signer of a stored document, in the columns of its table. */
export function signerColumns(signer: SignerFacts) {
  return {
    certificateSubject: signer.subject,
    certificateSerial: signer.serialNumber,
    certificateIssuer: signer.issuer,
    certificateFingerprint: signer.fingerprint,
    certificateKey: signer.keyFingerprint,
    certificateHolder: signer.holderId,
    certificateTrusted: signer.trusted,
  };
}

export type SignerColumns = ReturnType<typeof signerColumns>;

/** The signer that {@link signerColumns} stored. */
export function signerFrom(row: SignerColumns): SignerFacts {
  return {
    subject: row.certificateSubject,
    serialNumber: row.certificateSerial,
    issuer: row.certificateIssuer,
    fingerprint: row.certificateFingerprint,
    keyFingerprint: row.certificateKey,
    holderId: row.certificateHolder,
    trusted: row.certificateTrusted,
  };
}

import { addPendingDocuments } from '@ecf/archive';
import { appendToOutbox } from '@ecf/bus';
import { actEvents } from '@ecf/bus/events';
import type { AuditAct } from '@ecf/contracts';
import { environmentRun, storableText, toIsoDominican } from '@ecf/domain';
import { camelCaseRows, type Database, pagesOf, type Queries, queryBuilder, type Transaction } from '@ecf/postgres';
import { sql } from 'kysely';
import { ACTS, approvalEvent } from '../events.postgres.js';
import type { DB } from '../generated/tables.js';
import { AUTHORITY, type Claimed, type Ending, issuerRecipient } from '../sending/outgoing.js';
import { claimedFrom, concludeOutgoing, type OutgoingRow, unwritable } from '../sending/outgoing.postgres.js';
import { admit, counts, owedToIssuer } from './admission.js';
import { type DecisionKey, type GivenApproval, type NewApproval, statusWord } from './given-approval.js';
import type { Admitted, ApprovalStore, Exchange, Target } from './ports.js';

const BACKLOG = `SELECT k.kind AS target, count(d.id) AS count, min(d.created_at) AS oldest
    FROM unnest('{authority,issuer}'::text[]) AS k(kind)
    LEFT JOIN outgoing_documents d ON d.kind = k.kind AND d.due_at IS NOT NULL AND (d.kind = 'authority' OR d.status = 'pending')
   GROUP BY k.kind ORDER BY k.kind`;

const LOCK_SENDS = {
  name: 'approvals_lock_sends',
  text: `SELECT d.id FROM outgoing_documents d JOIN given_approvals g ON g.id = d.approval_id
          WHERE g.env = $1 AND g.buyer_rnc = $2 AND g.issuer_rnc = $3 AND g.encf = $4
          ORDER BY d.id FOR UPDATE OF d`,
};
/**
 * $8 says that the caller holds the lease, up to the due time. If the e-CF existed before the database was restored, the same approval
 * may have been sent in the lost time.
 */
const SEND = {
  name: 'approval_send',
  text: `INSERT INTO outgoing_documents (kind, approval_id, env, issuer_rnc, encf, buyer_rnc, account_id, recipient, xml_path,
           xml_sha256, status, created_at, deadline_at, due_at, claim, tries, uncertain)
         SELECT $2::text, id, env, issuer_rnc, encf, buyer_rnc, account_id, $3::text, xml_path, xml_sha256, $4::text,
           $5::timestamptz, $6::timestamptz, $7::timestamptz,
           CASE WHEN $8::boolean THEN gen_random_uuid() END, $8::boolean::int,
           EXISTS (SELECT FROM restored r
                    WHERE NOT r.of_others AND date_issued <= (r.restored_at AT TIME ZONE 'America/Santo_Domingo')::date)
           FROM given_approvals WHERE id = $1
         ON CONFLICT (approval_id, kind) DO NOTHING RETURNING *`,
};
/**
 * Decisions about the document that held the number before. A sent copy is not undone; one that was not sent is no longer
 * sent. The rows are locked, so none is being claimed.
 */
const OUTDATE = {
  name: 'approval_outdate',
  text: `WITH outdated AS (
           UPDATE given_approvals SET superseded_at = $6
            WHERE env = $1 AND buyer_rnc = $2 AND issuer_rnc = $3 AND encf = $4 AND superseded_at IS NULL
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
            WHERE g.id = $1 AND a.approval_id = g.id AND a.kind = 'authority' AND g.submitted_at IS NOT NULL
              AND g.superseded_at IS NULL AND g.settled_at IS NULL AND a.status IN ('submitted', 'failed') RETURNING g.id)
         UPDATE outgoing_documents d SET status = $2, due_at = NULL, claim = NULL FROM decided
          WHERE d.approval_id = decided.id AND d.kind = 'authority'`,
};
const SENDS_MAY_HAVE_ARRIVED = `UPDATE outgoing_documents SET uncertain = true
  WHERE kind IN ('authority', 'issuer') AND due_at IS NOT NULL AND NOT uncertain`;

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
    return camelCaseRows<OutgoingRow>((await tx.query(SEND, values)).rows)[0] ?? null;
  }

  async function add(tx: Transaction, approval: NewApproval, bytes: Uint8Array, until: Date | null): Promise<Admitted> {
    const admission = admit(await lockAll(tx, approval.key), approval);
    if (admission.kind !== 'new') return { refused: admission };
    const { key, xml, warnings, ...decision } = approval;
    const { id } = await queryBuilder<DB>(tx)
      .insertInto('givenApprovals')
      .values({
        ...key,
        ...decision,
        warnings: sql`${JSON.stringify(warnings)}`,
        xmlPath: xml.path,
        xmlSha256: xml.sha256,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    await addPendingDocuments(tx, [{ ...approval.xml, bytes }]);
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
    await queryBuilder<DB>(tx)
      .updateTable('givenApprovals')
      .set({ submittedAt: at })
      .where('id', '=', id)
      .where('submittedAt', 'is', null)
      .execute();
    const sends = await send(tx, id, at, sending);
    const added = await found(tx, id);
    const others = (await about(tx, added.key)).filter((one) => one.id !== id);
    // Their rows are locked, so none is being claimed.
    await queryBuilder<DB>(tx)
      .updateTable('outgoingDocuments')
      .set({ dueAt: null })
      .where(({ eb, val }) => eb('approvalId', '=', eb.fn.any(val(others.map((one) => one.id)))))
      .where('kind', '=', 'issuer')
      .where('status', '=', 'no_receiver')
      .where('sentAt', 'is', null)
      .execute();
    await publish(tx, added, statusWord(added.decision), at);
    return { added, sends };
  }

  async function conclude(tx: Transaction, item: Claimed, ending: Ending, exchange: Exchange): Promise<void> {
    const id = item.approvalId as number;
    const { at, body } = exchange;
    // The sends to the issuer ended, and the issuer did not take the document.
    const missed = item.kind === 'issuer' && ending.status !== 'pending' && ending.status !== 'delivered';
    // An issuer's answer changes no decision, so it needs the lock only where the issuer ends without the document.
    const locked = item.kind === 'authority' || missed;
    const all = locked ? await lock(tx, { ...item.key, buyerRnc: item.buyerRnc }) : [];
    const others = all.filter((one) => one.id !== id);
    await queryBuilder<DB>(tx)
      .insertInto('approvalExchanges')
      .values({
        ...exchange,
        approvalId: id,
        target: item.kind as Target,
        body: body === null ? null : storableText(body),
      })
      .execute();
    const { settled } = await found(tx, id);
    const superseded = missed && ending.sentAt === null && others.some(counts);
    await concludeOutgoing(tx, item, superseded ? { ...ending, dueAt: null } : ending, {
      taken: ending.status === 'delivered' || (ending.status === 'Aceptado' && settled === null),
      open: item.kind === 'issuer' ? 'pending' : 'submitted',
    });
    if (!locked) return;
    const after = await found(tx, id);
    const owed = missed ? owedToIssuer([...others, after]) : null;
    if (owed !== null) await addSend(tx, owed.id, 'issuer', { at, dueAt: at, claimed: false });
    const before = all.find((one) => one.id === id);
    if (before === undefined || after.supersededAt !== null || others.some(counts)) return;
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
        if (!all.some((one) => one.id === id && counts(one))) return null;
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
        const counting = before.find((one) => outdated.has(one.id) && counts(one));
        if (counting !== undefined) await publish(tx, counting, 'pending', at);
      });
    },
    async listed({ env, issuerRnc, which, after, limit }) {
      let query = approvals(database).where('g.id', '>', after);
      if (env !== null) query = query.where('g.env', '=', env);
      if (issuerRnc !== null) query = query.where('g.issuerRnc', '=', issuerRnc);
      if (which === 'settled') query = query.where('g.settledAt', 'is not', null);
      if (which === 'undelivered') query = query.where('i.status', 'in', ['no_receiver', 'refused', 'failed']);
      if (which === 'undecided')
        query = query
          .where('g.submittedAt', 'is not', null)
          .where('g.supersededAt', 'is', null)
          .where('g.settledAt', 'is', null)
          .where('a.status', 'in', ['submitted', 'failed']);
      return (await query.orderBy('g.id').limit(limit).execute()).map(approvalFrom);
    },
    async find(id) {
      const row = await approvals(database).where('g.id', '=', id).executeTakeFirst();
      return row === undefined ? null : approvalFrom(row);
    },
    async list({ env, buyerRnc, issuerRnc, encf, open, limit, offset }) {
      let query = approvals(database).where('g.env', '=', env).where('g.buyerRnc', '=', buyerRnc);
      if (issuerRnc !== null) query = query.where('g.issuerRnc', '=', issuerRnc);
      if (encf !== null) query = query.where('g.encf', '=', encf);
      if (open)
        query = query
          .where('g.submittedAt', 'is not', null)
          .where('g.supersededAt', 'is', null)
          .where('a.status', '<>', 'Rechazado')
          .where(({ eb, or }) =>
            or([
              eb('a.status', 'in', ['submitted', 'failed']),
              eb('i.status', 'in', ['pending', 'no_receiver', 'refused', 'failed']),
            ]),
          );
      const page = query.orderBy('g.createdAt', 'desc').orderBy('g.id', 'desc').limit(limit).offset(offset);
      return (await page.execute()).map(approvalFrom);
    },
    async backlog() {
      return (await database.query<{ target: Target; count: number; oldest: Date | null }>(BACKLOG)).rows;
    },
  };
}

/** Publishes what the answer of the authority or the issuer changed about a decision that no other one replaced. */
async function publishOutcome(tx: Transaction, before: GivenApproval, after: GivenApproval, at: Date): Promise<void> {
  if (before.issuer.status !== 'refused' && after.issuer.status === 'refused') {
    const status = counts(after) ? statusWord(after.decision) : 'pending';
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
  const stillDecided = all.some((one) => one.id !== id && counts(one));
  if (status === 'Rechazado' && !stillDecided && settled.supersededAt === null)
    await publish(tx, settled, 'pending', at, { refused_by_authority: true });
  await appendToOutbox(tx, actEvents(ACTS, act));
  return settled;
}

/** Approvals with the state of their sends to the authority (`a`) and to the issuer (`i`). */
function approvals(queries: Queries) {
  return queryBuilder<DB>(queries)
    .selectFrom('givenApprovals as g')
    .leftJoin('outgoingDocuments as a', (join) =>
      join.onRef('a.approvalId', '=', 'g.id').on('a.kind', '=', 'authority'),
    )
    .leftJoin('outgoingDocuments as i', (join) => join.onRef('i.approvalId', '=', 'g.id').on('i.kind', '=', 'issuer'))
    .selectAll('g')
    .select(['a.status as authorityStatus', 'a.lastError as authorityResponse', 'a.sentAt as authoritySentAt'])
    .select(['a.tries as authorityTries', 'i.status as issuerStatus', 'i.lastError as issuerError'])
    .select(['i.sentAt as issuerSentAt', 'i.tries as issuerTries', 'i.uncertain as issuerUncertain']);
}

async function about(queries: Queries, { env, buyerRnc, issuerRnc, encf }: DecisionKey): Promise<GivenApproval[]> {
  const rows = await approvals(queries)
    .where(({ and }) => and({ 'g.env': env, 'g.buyerRnc': buyerRnc, 'g.issuerRnc': issuerRnc, 'g.encf': encf }))
    .orderBy('g.id')
    .execute();
  return rows.map(approvalFrom);
}

/** Serialises the decisions about one document. */
async function lock(tx: Transaction, { env, buyerRnc, issuerRnc, encf }: DecisionKey): Promise<GivenApproval[]> {
  const key = { env, buyerRnc, issuerRnc, encf };
  await queryBuilder<DB>(tx)
    .insertInto('standingDecisions')
    .values(key)
    .onConflict((conflict) =>
      conflict
        .columns(['env', 'buyerRnc', 'issuerRnc', 'encf'])
        .doUpdateSet(({ ref }) => ({ revision: ref('standingDecisions.revision') })),
    )
    .execute();
  return about(tx, key);
}

/** Like `lock`; in addition, none of their sends is claimed meanwhile. */
async function lockAll(tx: Transaction, key: DecisionKey): Promise<GivenApproval[]> {
  await lock(tx, key);
  await tx.query(LOCK_SENDS, keyValues(key));
  return about(tx, key);
}

async function found(queries: Queries, id: number): Promise<GivenApproval> {
  return approvalFrom(await approvals(queries).where('g.id', '=', id).executeTakeFirstOrThrow());
}

/** After a restore: the sends that were open when the backup was made may have arrived since. */
export async function openSendsMayHaveArrived(tx: Transaction): Promise<void> {
  await tx.query(SENDS_MAY_HAVE_ARRIVED);
}

/** Publishes the latest decision about each document again that was given since then, with the revision that it has. */
export async function publishGivenSince(tx: Transaction, since: Date, now: Date): Promise<void> {
  const read = (after: number, limit: number) =>
    approvals(tx)
      .innerJoin('standingDecisions as s', (join) =>
        join
          .onRef('s.env', '=', 'g.env')
          .onRef('s.buyerRnc', '=', 'g.buyerRnc')
          .onRef('s.issuerRnc', '=', 'g.issuerRnc')
          .onRef('s.encf', '=', 'g.encf'),
      )
      .select('s.revision')
      .where('g.id', '>', after)
      .where('g.createdAt', '>=', since)
      .where('s.revision', '>', 0)
      // An earlier decision has the same revision, so consumers would ignore the latest after it.
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('givenApprovals as later')
              .select('later.id')
              .whereRef('later.env', '=', 'g.env')
              .whereRef('later.buyerRnc', '=', 'g.buyerRnc')
              .whereRef('later.issuerRnc', '=', 'g.issuerRnc')
              .whereRef('later.encf', '=', 'g.encf')
              .whereRef('later.id', '>', 'g.id'),
          ),
        ),
      )
      .orderBy('g.id')
      .limit(limit)
      .execute();
  for await (const rows of pagesOf(read, ({ id }) => id)) {
    const events = rows.map((row) => {
      const given = approvalFrom(row);
      const status = counts(given) && given.supersededAt === null ? statusWord(given.decision) : 'pending';
      return approvalEvent(approvalGiven(given, row.revision, status), now);
    });
    await appendToOutbox(tx, events);
  }
}

async function publish(
  tx: Transaction,
  given: GivenApproval,
  status: 'approved' | 'rejected' | 'pending',
  at: Date,
  more: { refused_by_authority?: true; refused_by_issuer?: true } = {},
): Promise<void> {
  const { key } = given;
  const { revision } = await queryBuilder<DB>(tx)
    .updateTable('standingDecisions')
    .set(({ eb }) => ({ revision: eb('revision', '+', 1) }))
    .where(({ and }) => and({ env: key.env, buyerRnc: key.buyerRnc, issuerRnc: key.issuerRnc, encf: key.encf }))
    .returning('revision')
    .executeTakeFirstOrThrow();
  await appendToOutbox(tx, [approvalEvent({ ...approvalGiven(given, revision, status), ...more }, at)]);
}

function approvalGiven(
  { key, decidedAt }: GivenApproval,
  revision: number,
  status: 'approved' | 'rejected' | 'pending',
) {
  return {
    direction: 'given',
    env: key.env,
    issuer_rnc: key.issuerRnc,
    encf: key.encf,
    buyer_rnc: key.buyerRnc,
    revision,
    approval_status: status,
    approval_confirmed: status !== 'pending',
    approval_datetime: status === 'pending' ? null : toIsoDominican(decidedAt),
  };
}

/** The parameters by which statements name a document. */
function keyValues(key: DecisionKey): string[] {
  return [key.env, key.buyerRnc, key.issuerRnc, key.encf];
}

type ApprovalRow = Awaited<ReturnType<ReturnType<typeof approvals>['executeTakeFirstOrThrow']>>;

/** A row of an earlier certification run has `<environment>/<run>/<RNC>` as its environment. */
function approvalFrom({ env, buyerRnc, issuerRnc, encf, xmlPath, xmlSha256, ...row }: ApprovalRow): GivenApproval {
  return {
    ...row,
    key: { env: environmentRun(env).env, buyerRnc, issuerRnc, encf },
    xml: { path: xmlPath, sha256: xmlSha256 },
    settled: row.settledAt === null ? null : { at: row.settledAt, note: row.settledNote ?? '' },
    authority: {
      status: row.authorityStatus as GivenApproval['authority']['status'],
      response: row.authorityResponse,
      sentAt: row.authoritySentAt,
      tries: row.authorityTries ?? 0,
    },
    issuer: {
      status: row.issuerStatus as GivenApproval['issuer']['status'],
      error: row.issuerError,
      sentAt: row.issuerSentAt,
      tries: row.issuerTries ?? 0,
      uncertain: row.issuerUncertain ?? false,
    },
  };
}

import { randomUUID } from 'node:crypto';
import { MAX_EVENT_CONFLICTS, type ReceivedInvoiceDecision } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import { appendToOutbox, once } from '@ecf/service-kit/outbox';
import type { Database, Queries, Transaction } from '@ecf/service-kit/postgres';
import { addPendingDocuments } from '@ecf/service-kit/xml-store';
import type {
  Conflict,
  NewRefusedDocument,
  ReceivedDocument,
  StoredBytes,
} from '../core/documents/received-document.js';
import type { DocumentStore, ListedDocument, NumberSearch, ReceivedFilter } from '../core/ports.js';
import {
  type ConflictRow,
  fromConflictRow,
  fromReceivedRow,
  fromUnkeptRow,
  REFUSED_COLUMNS,
  type ReceivedRow,
  refusedValues,
  type UnkeptRow,
} from './document-rows.js';
import { createNumbers } from './numbers.postgres.js';
import { receivedInvoiceEvent } from './received-invoice-event.js';

/** The consumer group of this service; also the name under which handled events are noted. */
export const RECEPTION_GROUP = 'reception';

/** Documents under one number that are looked at: more than one is already ambiguous. */
const MAX_UNDER_NUMBER = 50;

const parameters = (columns: readonly string[]) => columns.map((_, index) => `$${index + 1}`).join(', ');

const LOCK =
  'SELECT * FROM received_documents WHERE env = $1 AND buyer_rnc = $2 AND encf = $3 AND issuer_rnc = $4 FOR UPDATE';
const REFUSE = {
  name: 'received_refuse',
  text: `INSERT INTO refused_documents (${REFUSED_COLUMNS.join(', ')}) VALUES (${parameters(REFUSED_COLUMNS)})
         ON CONFLICT (conflict_of, sha256) DO NOTHING`,
};
const ANSWERED = {
  name: 'received_answered',
  text: `UPDATE received_documents d SET answered_at = a.left_at, answer_due_at = a.due_at
           FROM unnest($1::bigint[], $2::timestamptz[], $3::timestamptz[]) AS a(id, left_at, due_at)
          WHERE d.id = a.id AND d.answered_at IS NULL`,
};
const CONFLICTS = {
  name: 'received_conflicts',
  text: `SELECT c.id, c.conflict_of, c.sha256, c.received_at, c.certificate_subject, c.xml_path
           FROM unnest($1::bigint[]) AS d(id)
          CROSS JOIN LATERAL (
            SELECT * FROM (SELECT r.id, r.conflict_of, r.sha256, r.received_at, r.certificate_subject, r.xml_path,
                                  row_number() OVER (PARTITION BY r.certificate_fingerprint ORDER BY r.id) AS nth
                             FROM refused_documents r WHERE r.conflict_of = d.id AND r.xml_path IS NOT NULL) AS ranked
             ORDER BY nth, id LIMIT $2) AS c
          ORDER BY c.id`,
};
/** Of one document, those whose signer signed for the issuer before: they are shown however many others compete. */
const KNOWN_CONFLICTS = {
  name: 'received_known_conflicts',
  text: `SELECT id, conflict_of, sha256, received_at, certificate_subject, xml_path FROM refused_documents
          WHERE conflict_of = $1 AND xml_path IS NOT NULL AND certificate_fingerprint = ANY (ARRAY(
                SELECT certificate_fingerprint FROM received_documents
                 WHERE env = $2 AND buyer_rnc = $3 AND issuer_rnc = $4 AND received_at < $5
                 ORDER BY received_at DESC LIMIT 1000))
          ORDER BY id LIMIT $6`,
};
const UNKEPT = {
  name: 'received_unkept_conflicts',
  text: `SELECT c.conflict_of, c.sha256, c.received_at, c.certificate_subject
           FROM unnest($1::bigint[]) AS d(id)
          CROSS JOIN LATERAL (SELECT * FROM refused_documents r
                               WHERE r.conflict_of = d.id AND r.xml_path IS NULL ORDER BY r.id DESC LIMIT $2) AS c
          ORDER BY c.id DESC`,
};
const CONFLICT_COUNTS = {
  name: 'received_conflict_counts',
  text: 'SELECT conflict_of, count(*) AS count FROM refused_documents WHERE conflict_of = ANY($1::bigint[]) GROUP BY conflict_of',
};
const KEEP = {
  name: 'received_keep_conflict',
  text: `UPDATE refused_documents SET xml_path = $3 WHERE conflict_of = $1 AND sha256 = $2 AND xml_path IS NULL`,
};
const SIGNED_EARLIER = {
  name: 'received_signed_earlier',
  text: `SELECT 1 FROM (SELECT certificate_fingerprint FROM received_documents
                         WHERE env = $1 AND buyer_rnc = $2 AND issuer_rnc = $3 AND received_at < $4
                         ORDER BY received_at DESC LIMIT 1000) AS earlier
          WHERE certificate_fingerprint = $5 LIMIT 1`,
};
const ACKNOWLEDGED = {
  name: 'received_acknowledged',
  text: `SELECT arecf_path AS path, arecf_sha256 AS sha256 FROM received_documents
          WHERE env = $1 AND buyer_rnc = ANY($2::text[]) AND encf = $3 AND issuer_rnc = $4 LIMIT 2`,
};
/** A look for each buyer, however many refusals one of them has. */
const REFUSED = {
  name: 'received_refused',
  text: `SELECT latest.path, latest.sha256 FROM unnest($2::text[]) AS b(rnc)
          CROSS JOIN LATERAL (SELECT arecf_path AS path, arecf_sha256 AS sha256 FROM refused_documents
                               WHERE env = $1 AND buyer_rnc = b.rnc AND encf = $3 AND issuer_rnc = $4
                               ORDER BY id DESC LIMIT 1) AS latest
          LIMIT 2`,
};
const FILTER = `env = $1 AND buyer_rnc = $2 AND received_at >= $3 AND received_at < $4`;

/** Received documents in PostgreSQL, each change with its event in one transaction. */
export function createDocumentStore(database: Database, makeId: () => string = randomUUID): DocumentStore {
  async function changed(tx: Transaction, document: ReceivedDocument, conflicts: readonly Conflict[], at: Date) {
    await appendToOutbox(tx, [receivedInvoiceEvent(document, conflicts, { id: makeId(), time: at })]);
  }

  /** Raises the revision of a locked document by a change of its columns and tells of it. */
  async function change(tx: Transaction, id: number, set: string, values: readonly unknown[], at: Date): Promise<void> {
    const { rows } = await tx.query<ReceivedRow>(
      `UPDATE received_documents SET revision = revision + 1${set} WHERE id = $1 RETURNING *`,
      [id, ...values],
    );
    const document = fromReceivedRow(rows[0] as ReceivedRow);
    const conflicts = await conflictsOf(tx, [document]);
    await changed(tx, document, conflicts.get(id) ?? [], at);
  }

  async function compete(tx: Transaction, refusal: NewRefusedDocument, holderId: number): Promise<void> {
    await tx.query('SELECT 1 FROM received_documents WHERE id = $1 FOR UPDATE', [holderId]);
    const first = await tx.query(REFUSE, refusedValues(refusal, holderId));
    let kept = first.rowCount === 1 && refusal.xmlPath !== null;
    if (first.rowCount === 0) {
      await tx.query(REFUSE, refusedValues(refusal, null));
      // There was no room for these bytes when they came first.
      if (refusal.xmlPath !== null)
        kept = (await tx.query(KEEP, [holderId, refusal.sha256, refusal.xmlPath])).rowCount === 1;
    }
    if (kept && (await isShown(tx, holderId, refusal.sha256)))
      await change(tx, holderId, '', [], refusal.acknowledgedAt);
  }

  return {
    ...createNumbers(database, makeId),
    async refuse(refusal, files) {
      await database.transaction(async (tx) => {
        await addPendingDocuments(tx, files);
        if (refusal.competes && refusal.holderId !== null) await compete(tx, refusal, refusal.holderId);
        else await tx.query(REFUSE, refusedValues(refusal, null));
      });
    },
    async keptConflict(holderId, sha256) {
      const { rows } = await database.query<{ xml_path: string | null }>(
        'SELECT xml_path FROM refused_documents WHERE conflict_of = $1 AND sha256 = $2',
        [holderId, sha256],
      );
      return rows[0]?.xml_path ?? null;
    },
    async signedEarlier({ key: { env, buyerRnc, issuerRnc }, receivedAt }, fingerprint) {
      const values = [env, buyerRnc, issuerRnc, receivedAt, fingerprint];
      return (await database.query(SIGNED_EARLIER, values)).rowCount > 0;
    },
    async noteAnswers(answers) {
      await database.query(ANSWERED, [
        answers.map(({ id }) => id),
        answers.map(({ leftAt }) => leftAt),
        answers.map(({ dueAt }) => dueAt),
      ]);
    },
    async list(filter, page) {
      const { where, values } = filtered(filter);
      const { rows } = await database.query<ReceivedRow>(
        `SELECT * FROM received_documents WHERE ${where}
          ORDER BY received_at DESC, id DESC LIMIT $${values.length + 1} OFFSET $${values.length + 2}`,
        [...values, page.limit, page.offset],
      );
      return listed(database, rows);
    },
    async totals(filter) {
      const { where, values } = filtered(filter);
      const { rows } = await database.query<{ count: number; amount: string }>(
        `SELECT count(*) AS count, round(coalesce(sum(total_amount), 0), 2)::text AS amount
           FROM received_documents WHERE ${where}`,
        values,
      );
      return rows[0] ?? { count: 0, amount: '0.00' };
    },
    async byNumber(search) {
      const { rows } = await database.query<ReceivedRow>(
        `SELECT * FROM received_documents WHERE ${NUMBER}
          ORDER BY received_at DESC, id DESC LIMIT ${MAX_UNDER_NUMBER}`,
        numberValues(search),
      );
      return listed(database, rows);
    },
    async latestAcknowledgements(search) {
      const received = await database.query<StoredBytes>(ACKNOWLEDGED, numberValues(search));
      if (received.rows.length > 0) return received.rows;
      return (await database.query<StoredBytes>(REFUSED, numberValues(search))).rows;
    },
    async decide(decision, eventId) {
      await database.transaction(async (tx) => {
        if (!(await once(tx, RECEPTION_GROUP, eventId))) return;
        const document = await lockForDecision(tx, decision);
        if (document === null || document.approval_revision >= decision.revision) return;
        const set = ', approval_status = $2, approval_datetime = $3, approval_revision = $4';
        const values = [decision.approval_status, decision.approval_datetime, decision.revision];
        await change(tx, document.id, set, values, new Date(decision.approval_datetime ?? document.received_at));
      });
    },
    async unansweredSince(before) {
      const { rows } = await database.query<{ env: Environment; count: number }>(UNANSWERED, [before]);
      return rows;
    },
    async page(afterId, limit) {
      const { rows } = await database.query<ReceivedRow>(
        'SELECT * FROM received_documents WHERE id > $1 ORDER BY id LIMIT $2',
        [afterId, limit],
      );
      return listed(database, rows);
    },
  };
}

const UNANSWERED = {
  name: 'documents_unanswered',
  text: `SELECT env, count(*) AS count
           FROM (SELECT env FROM received_documents WHERE approval_status = 'pending' AND received_at < $1 LIMIT 100000) late
          GROUP BY env`,
};
const NUMBER = 'env = $1 AND buyer_rnc = ANY($2::text[]) AND encf = $3 AND ($4::text IS NULL OR issuer_rnc = $4)';

function numberValues(search: NumberSearch): unknown[] {
  return [search.env, search.buyerRncs, search.encf, search.issuerRnc];
}

function filtered(filter: ReceivedFilter): { where: string; values: unknown[] } {
  const values: unknown[] = [filter.env, filter.buyerRnc, filter.from, filter.until];
  if (filter.issuerRnc === null) return { where: FILTER, values };
  return { where: `${FILTER} AND issuer_rnc = $5`, values: [...values, filter.issuerRnc] };
}

async function listed(queries: Queries, rows: readonly ReceivedRow[]): Promise<ListedDocument[]> {
  const documents = rows.map(fromReceivedRow);
  const conflicts = await conflictsOf(queries, documents);
  const { rows: counts } = await queries.query<{ conflict_of: number; count: number }>(CONFLICT_COUNTS, [
    documents.map(({ id }) => id),
  ]);
  const totals = new Map(counts.map(({ conflict_of, count }) => [conflict_of, count]));
  const partly = documents.filter(({ id }) => (totals.get(id) ?? 0) > (conflicts.get(id)?.length ?? 0));
  const unkept = await unkeptOf(queries, partly);
  return documents.map((document) => ({
    document,
    conflicts: conflicts.get(document.id) ?? [],
    unkept: unkept.filter((row) => row.conflict_of === document.id).map(fromUnkeptRow),
    conflictsTotal: totals.get(document.id) ?? 0,
  }));
}

async function unkeptOf(queries: Queries, documents: readonly ReceivedDocument[]): Promise<UnkeptRow[]> {
  if (documents.length === 0) return [];
  const { rows } = await queries.query<UnkeptRow>(UNKEPT, [documents.map(({ id }) => id), MAX_EVENT_CONFLICTS]);
  return rows;
}

/** Whether a kept competitor is among those that are shown; the others change nothing that readers see. */
async function isShown(tx: Transaction, holderId: number, sha256: string): Promise<boolean> {
  const { rows } = await tx.query<ReceivedRow>('SELECT * FROM received_documents WHERE id = $1', [holderId]);
  const documents = rows.map(fromReceivedRow);
  return (await conflictsOf(tx, documents)).get(holderId)?.some((conflict) => conflict.sha256 === sha256) ?? false;
}

async function conflictsOf(queries: Queries, documents: readonly ReceivedDocument[]): Promise<Map<number, Conflict[]>> {
  const found = new Map<number, Conflict[]>();
  if (documents.length === 0) return found;
  const { rows } = await queries.query<ConflictRow>(CONFLICTS, [documents.map(({ id }) => id), MAX_EVENT_CONFLICTS]);
  const shown = new Map<number, ConflictRow[]>();
  for (const row of rows) {
    const present = shown.get(row.conflict_of);
    if (present === undefined) shown.set(row.conflict_of, [row]);
    else present.push(row);
  }
  for (const document of documents) {
    const conflicts = shown.get(document.id) ?? [];
    const all = conflicts.length < MAX_EVENT_CONFLICTS ? conflicts : await withKnown(queries, document, conflicts);
    found.set(document.id, all.map(fromConflictRow));
  }
  return found;
}

/** As many conflicts as may be shown, those of known signers among them, oldest first. */
async function withKnown(
  queries: Queries,
  { id, key: { env, buyerRnc, issuerRnc }, receivedAt }: Pick<ReceivedDocument, 'id' | 'key' | 'receivedAt'>,
  conflicts: readonly ConflictRow[],
): Promise<ConflictRow[]> {
  const values = [id, env, buyerRnc, issuerRnc, receivedAt, MAX_EVENT_CONFLICTS / 2];
  const { rows: known } = await queries.query<ConflictRow>(KNOWN_CONFLICTS, values);
  const others = conflicts.filter(({ sha256 }) => !known.some((one) => one.sha256 === sha256));
  return [...known, ...others.slice(0, MAX_EVENT_CONFLICTS - known.length)].sort((one, other) => one.id - other.id);
}

/**
 * The locked document of a decision. Where there is none, the decision is kept for its arrival: with arrivals under this
 * number held back for that moment, either the document is found or it will find the decision.
 */
async function lockForDecision(tx: Transaction, decision: ReceivedInvoiceDecision): Promise<ReceivedRow | null> {
  const { env, buyer_rnc, issuer_rnc, encf } = decision;
  const find = async () => (await tx.query<ReceivedRow>(LOCK, [env, buyer_rnc, encf, issuer_rnc])).rows[0] ?? null;
  const document = await find();
  if (document !== null) return document;
  await tx.query('SELECT pg_advisory_xact_lock(document_number_lock($1, $2, $3, $4))', [
    env,
    buyer_rnc,
    issuer_rnc,
    encf,
  ]);
  const arrived = await find();
  if (arrived !== null) return arrived;
  await tx.query(
    `INSERT INTO early_decisions (env, buyer_rnc, issuer_rnc, encf, revision, approval_status, approval_datetime)
     VALUES ($1, $2, $3, $4, $5, $6, $7)
     ON CONFLICT (env, buyer_rnc, issuer_rnc, encf) DO UPDATE
        SET revision = excluded.revision, approval_status = excluded.approval_status, approval_datetime = excluded.approval_datetime
      WHERE early_decisions.revision < excluded.revision`,
    [env, buyer_rnc, issuer_rnc, encf, decision.revision, decision.approval_status, decision.approval_datetime],
  );
  return null;
}

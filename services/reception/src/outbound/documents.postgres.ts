import { randomUUID } from 'node:crypto';
import type { ReceivedInvoiceDecision } from '@ecf/contracts';
import { appendToOutbox, once } from '@ecf/service-kit/outbox';
import type { Database, Transaction } from '@ecf/service-kit/postgres';
import { addPendingDocuments } from '@ecf/service-kit/xml-store';
import type { NewRefusedDocument } from '../core/documents/received-document.js';
import type { DocumentStore } from '../core/ports.js';
import { conflictsOf, isShown } from './conflicts.postgres.js';
import { createDocumentListings } from './document-listings.postgres.js';
import { fromReceivedRow, REFUSED_COLUMNS, type ReceivedRow, refusedValues } from './document-rows.js';
import { createNumbers } from './numbers.postgres.js';
import { receivedInvoiceEvent } from './received-invoice-event.js';

/** The consumer group of this service; also the name under which handled events are noted. */
export const RECEPTION_GROUP = 'reception';

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

/** Received documents in PostgreSQL, each change with its event in one transaction. */
export function createDocumentStore(database: Database, makeId: () => string = randomUUID): DocumentStore {
  /** Changes columns of a locked document, raises its revision, and publishes the change. */
  async function change(tx: Transaction, id: number, set: string, values: readonly unknown[], at: Date): Promise<void> {
    const { rows } = await tx.query<ReceivedRow>(
      `UPDATE received_documents SET revision = revision + 1${set} WHERE id = $1 RETURNING *`,
      [id, ...values],
    );
    const document = fromReceivedRow(rows[0] as ReceivedRow);
    const conflicts = await conflictsOf(tx, [document]);
    const event = receivedInvoiceEvent(document, conflicts.get(id) ?? [], { id: makeId(), time: at });
    await appendToOutbox(tx, [event]);
  }

  /** A refused document that competes for the number of a received one. */
  async function compete(tx: Transaction, refusal: NewRefusedDocument, holderId: number): Promise<void> {
    await tx.query('SELECT 1 FROM received_documents WHERE id = $1 FOR UPDATE', [holderId]);
    const first = await tx.query(REFUSE, refusedValues(refusal, holderId));
    let kept = first.rowCount === 1 && refusal.xmlPath !== null;
    if (first.rowCount === 0) {
      await tx.query(REFUSE, refusedValues(refusal, null));
      // The quota had no room for these bytes when they came first.
      if (refusal.xmlPath !== null)
        kept = (await tx.query(KEEP, [holderId, refusal.sha256, refusal.xmlPath])).rowCount === 1;
    }
    if (kept && (await isShown(tx, holderId, refusal.sha256)))
      await change(tx, holderId, '', [], refusal.acknowledgedAt);
  }

  return {
    ...createNumbers(database, makeId),
    ...createDocumentListings(database),
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
  };
}

/**
 * Locks the document of a decision. If it has not arrived yet, the decision is stored for its arrival. A lock on the number
 * keeps arrivals back meanwhile, so either the decision finds the document or the document finds the decision.
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

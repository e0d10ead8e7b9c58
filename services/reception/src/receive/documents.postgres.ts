import { randomUUID } from 'node:crypto';
import type { ReceivedInvoiceDecision } from '@ecf/contracts';
import { appendToOutbox, once } from '@ecf/service-kit/outbox';
import type { Database, Queries, Transaction } from '@ecf/service-kit/postgres';
import { addPendingDocuments } from '@ecf/service-kit/xml-store';
import { addConfirmation, newConfirmationRow } from '../confirmation/confirmation-rows.postgres.js';
import { createDocumentListings } from '../listings/document-listings.postgres.js';
import type { ListingStore } from '../listings/ports.js';
import { createArrivals } from './arrivals.postgres.js';
import { isShown } from './conflicts.postgres.js';
import { RECEIVED, REFUSED_COLUMNS, type ReceivedRow, refusedValues } from './document-rows.postgres.js';
import type { DocumentStore } from './ports.js';
import { createReceivedChanges, refusalEvents } from './received-changes.postgres.js';
import type { NewRefusedDocument, StoredBytes } from './received-document.js';

/** The consumer group of this service; also the name under which handled events are noted. */
export const RECEPTION_GROUP = 'reception';

const LOCK = `SELECT ${RECEIVED} FROM received_documents d
               WHERE env = $1 AND buyer_rnc = $2 AND encf = $3 AND issuer_rnc = $4 FOR UPDATE OF d`;
// The document that holds the number may lose it meanwhile.
const REFUSE = {
  name: 'received_refuse',
  text: `INSERT INTO refused_documents (${REFUSED_COLUMNS.join(', ')})
         VALUES (${REFUSED_COLUMNS.map((column, index) => (column === 'holder_id' ? `(SELECT id FROM received_documents WHERE id = $${index + 1})` : `$${index + 1}`)).join(', ')})`,
};
const NEXT_ID = { name: 'received_next_id', text: `SELECT nextval('received_documents_id_seq') AS id` };
const ANSWERED = {
  name: 'received_answered',
  text: `UPDATE received_documents d SET answered_at = a.left_at
           FROM unnest($1::bigint[], $2::timestamptz[]) AS a(id, left_at)
          WHERE d.id = a.id AND d.answered_at IS NULL`,
};
// A confirmed competitor takes the number when the authority is queried about it once more.
const KEEP = {
  name: 'received_keep_conflict',
  text: `WITH kept AS (
           UPDATE refused_documents SET xml_path = $2, sha256 = $3, bytes = $4 WHERE id = $1 AND xml_path IS NULL
           RETURNING document_id
         ), again AS (
           UPDATE confirmations SET due_at = $5 WHERE document_id IN (SELECT document_id FROM kept)
         )
         SELECT 1 FROM kept`,
};
const COMPETITOR = {
  name: 'received_competitor',
  text: `SELECT r.id, r.xml_path, r.sha256, coalesce(c.status = 'confirmed', false) AS confirmed
           FROM refused_documents r LEFT JOIN confirmations c USING (document_id)
          WHERE r.conflict_of = $1 AND (r.sha256 = $2 OR r.content_sha256 = $3)
          ORDER BY r.id LIMIT 1`,
};

const WAS_REFUSED = {
  name: 'received_was_refused',
  text: `SELECT 1 FROM refused_documents
          WHERE env = $1 AND buyer_rnc = $2 AND encf = $3 AND issuer_rnc = $4 AND motive = $5 AND reason = $6 LIMIT 1`,
};
/** The latest one is found first, however often the same document was refused. */
const KEPT_REFUSAL = {
  name: 'received_kept_refusal',
  text: `SELECT xml_path AS path, sha256 FROM refused_documents
          WHERE env = $1 AND buyer_rnc = $2 AND encf = $3 AND issuer_rnc = $4 AND content_sha256 = $5 AND xml_path IS NOT NULL
          ORDER BY id DESC LIMIT 1`,
};

/** Received documents in PostgreSQL, each change with its event in one transaction. */
export function createDocumentStore(
  database: Database,
  makeId: () => string = randomUUID,
): DocumentStore & ListingStore {
  const publish = createReceivedChanges(makeId);

  /** A refused document that competes for the number of a received one. */
  async function compete(tx: Transaction, refusal: NewRefusedDocument): Promise<void> {
    const { key, confirmable, acknowledgedAt, sha256, xmlPath } = refusal;
    const { rows } = await tx.query<ReceivedRow>(LOCK, [key.env, key.buyerRnc, key.encf, key.issuerRnc]);
    const holder = rows[0];
    // Since the request was decided, this document took the number itself, or the holder lost it.
    if (holder === undefined || holder.xml_sha256 === sha256) {
      await tx.query(REFUSE, refusedValues(refusal, null, null));
      return;
    }
    const present = { ...refusal, holderId: holder.id };
    const earlier = await findCompetitor(tx, holder.id, refusal);
    let kept = xmlPath !== null;
    if (earlier === null) {
      const documentId = (await tx.query<{ id: number }>(NEXT_ID)).rows[0]?.id as number;
      await tx.query(REFUSE, refusedValues(present, holder.id, documentId));
      if (confirmable !== null)
        await addConfirmation(tx, newConfirmationRow(documentId, key, confirmable, acknowledgedAt));
    } else {
      await tx.query(REFUSE, refusedValues(present, null, null));
      // When the document came first, the quota had no room for its bytes.
      if (kept)
        kept = (await tx.query(KEEP, [earlier.id, xmlPath, sha256, refusal.bytes, acknowledgedAt])).rowCount === 1;
    }
    if (kept && (await isShown(tx, holder.id, sha256))) await publish(tx, { id: holder.id, at: acknowledgedAt });
  }

  return {
    ...createArrivals(database, makeId),
    ...createDocumentListings(database),
    async refuse(refusal, files) {
      await database.transaction(async (tx) => {
        await addPendingDocuments(tx, files);
        if (refusal.competes) await compete(tx, refusal);
        else await tx.query(REFUSE, refusedValues(refusal, null, null));
        await appendToOutbox(tx, refusalEvents(refusal, makeId()));
      });
    },
    async wasRefused({ key, motive, reason }) {
      const { rowCount } = await database.query(WAS_REFUSED, [
        key.env,
        key.buyerRnc,
        key.encf,
        key.issuerRnc,
        motive,
        reason,
      ]);
      return rowCount > 0;
    },
    async competitor(holderId, document) {
      const found = await findCompetitor(database, holderId, document);
      if (found === null) return null;
      const { xml_path: path, sha256, confirmed } = found;
      return { kept: path === null ? null : { path, sha256 }, confirmed };
    },
    async keptRefusal({ env, buyerRnc, encf, issuerRnc }, contentSha256) {
      const { rows } = await database.query<StoredBytes>(KEPT_REFUSAL, [env, buyerRnc, encf, issuerRnc, contentSha256]);
      return rows[0] ?? null;
    },
    async noteAnswered(answers) {
      await database.query(ANSWERED, [answers.map(([id]) => id), answers.map(([, at]) => at)]);
    },
    async decide(decision, eventId) {
      await database.transaction(async (tx) => {
        if (!(await once(tx, RECEPTION_GROUP, eventId))) return;
        const document = await lockForDecision(tx, decision);
        if (document === null || document.approval_revision >= decision.revision) return;
        const set = ', approval_status = $2, approval_datetime = $3, approval_revision = $4';
        const values = [decision.approval_status, decision.approval_datetime, decision.revision];
        const at = new Date(decision.approval_datetime ?? document.received_at);
        await publish(tx, { id: document.id, at, set, values });
      });
    },
  };
}

interface CompetitorRow {
  id: number;
  xml_path: string | null;
  sha256: string;
  confirmed: boolean;
}

/**
 * Finds the same document among the competitors of a received one: one with the same signed content, even if the bytes
 * outside differ.
 */
async function findCompetitor(
  queries: Queries,
  holderId: number,
  { sha256, contentSha256 }: Pick<NewRefusedDocument, 'sha256' | 'contentSha256'>,
): Promise<CompetitorRow | null> {
  const { rows } = await queries.query<CompetitorRow>(COMPETITOR, [holderId, sha256, contentSha256]);
  return rows[0] ?? null;
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

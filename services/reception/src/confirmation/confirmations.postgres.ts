import { randomUUID } from 'node:crypto';
import { addPendingDocuments } from '@ecf/archive';
import { environmentRun } from '@ecf/domain';
import { camelCaseRows, type Database, type Transaction } from '@ecf/postgres';
import { noteKnownSigner } from '@ecf/public-ingress';
import { receivedColumns } from '../receive/arrivals.postgres.js';
import { type ReceivedDocument, signerOf } from '../receive/received-document.js';
import { publishChange, RECEIVED, readReceived } from '../receive/received-documents.postgres.js';
import type { Competitor, Confirmation } from './confirmation.js';
import { PRIORITY } from './new-confirmation.postgres.js';
import type { ConfirmationStore, Promotion } from './ports.js';

const CLAIM = {
  name: 'confirmations_claim',
  text: `UPDATE confirmations SET due_at = $2
          WHERE document_id IN (SELECT due.document_id
                                  FROM unnest('{${Object.values(PRIORITY).join()}}'::smallint[]) AS p(priority)
                                 CROSS JOIN LATERAL (SELECT document_id, due_at FROM confirmations c
                                                      WHERE c.priority = p.priority AND due_at <= $1
                                                      ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED) AS due
                                 ORDER BY p.priority, due.due_at LIMIT $3)
         RETURNING *`,
};
const ANSWERED = {
  name: 'confirmations_answered',
  text: `WITH before AS (SELECT document_id, status FROM confirmations WHERE document_id = $1 FOR UPDATE)
         UPDATE confirmations c SET status = $2, checked_at = $3, due_at = $4, priority = ${PRIORITY.repeat}, answers = c.answers + 1, failures = 0
           FROM before b WHERE c.document_id = b.document_id AND b.status <> 'confirmed'
         RETURNING b.status <> c.status AS changed`,
};
const UNANSWERED = {
  name: 'confirmations_unanswered',
  text: `UPDATE confirmations SET due_at = $2, priority = ${PRIORITY.repeat}, failures = failures + 1 WHERE document_id = $1 AND due_at IS NOT NULL`,
};
// A document holds its number, or competes with the one that does.
const LOCK_HOLDER = {
  name: 'confirmations_lock_holder',
  text: `SELECT ${RECEIVED} FROM received_documents d
          WHERE d.id = coalesce((SELECT r.conflict_of FROM refused_documents r WHERE r.document_id = $1), $1) FOR UPDATE OF d`,
};
const COMPETITOR = {
  name: 'confirmations_competitor',
  text: `SELECT r.received_at, r.bytes, r.xml_path, r.sha256, r.request_id, r.sender, d.account_id,
                coalesce(c.status = 'confirmed', false) AS holder_confirmed
           FROM refused_documents r
           JOIN received_documents d ON d.id = r.conflict_of
           LEFT JOIN confirmations c ON c.document_id = d.id
          WHERE r.document_id = $1`,
};
/** Columns that received and refused documents have in common. */
const COMMON = `env, buyer_rnc, issuer_rnc, encf, received_at, bytes, xml_path, arecf_path, arecf_sha256, acknowledged_at,
  certificate_subject, certificate_serial, certificate_fingerprint, certificate_holder, certificate_issuer, certificate_key,
  certificate_trusted, content_sha256, request_id, sender`;
const KEEP_FORMER = {
  name: 'confirmations_keep_former',
  text: `INSERT INTO refused_documents (${COMMON}, sha256, motive, reason, faults, conflict_of, document_id)
         SELECT ${COMMON}, xml_sha256, 0, 'the authority confirmed another document of this number', '[]', id, id
           FROM received_documents WHERE id = $1`,
};
const COMPETE_WITH = {
  name: 'confirmations_compete_with',
  text: `UPDATE refused_documents SET conflict_of = CASE WHEN document_id = $2 THEN NULL ELSE $2 END,
                document_id = CASE WHEN document_id = $2 THEN NULL ELSE document_id END
          WHERE conflict_of = $1`,
};
/** The last answer to a document that holds its number. */
const OUTCOMES = { pending: null, confirmed: 'confirmed', rejected: 'disputed', unknown: 'disputed' } as const;

/** Statuses of documents at the authority, in PostgreSQL. A claim is a lease by due time. */
export function createConfirmationStore(database: Database, makeId: () => string = randomUUID): ConfirmationStore {
  /** Locks the document that holds the number of this one: it is the same, or it competes with this one. */
  async function lockHolder(tx: Transaction, documentId: number): Promise<ReceivedDocument | undefined> {
    return (await readReceived(tx, LOCK_HOLDER, [documentId]))[0];
  }

  /** The former document keeps its id, its bytes and its acknowledgement among the competitors of the new one. */
  async function exchange(tx: Transaction, formerId: number, { documentId, document, files, at }: Promotion) {
    await addPendingDocuments(tx, files);
    await tx.query(KEEP_FORMER, [formerId]);
    await tx.query(COMPETE_WITH, [formerId, documentId]);
    const row = { ...receivedColumns(document), id: documentId };
    const set = Object.keys(row).map((column) => `${column} = p.${column}`);
    await tx.query(
      `UPDATE received_documents d
          SET ${set.join(', ')}, promoted_at = $3, approval_status = 'pending', approval_datetime = NULL, answered_at = NULL
         FROM json_populate_record(NULL::received_documents, $2::json) AS p WHERE d.id = $1`,
      [formerId, JSON.stringify(row), at],
    );
  }

  return {
    async claimDue({ now, until, limit }) {
      const { rows } = await database.query(CLAIM, [now, until, limit]);
      return camelCaseRows<Confirmation>(rows);
    },
    async answered({ documentId, status, at, dueAt }) {
      return database.transaction(async (tx) => {
        const holder = await lockHolder(tx, documentId);
        const { rows } = await tx.query<{ changed: boolean }>(ANSWERED, [documentId, status, at, dueAt]);
        const [answer] = rows;
        if (holder === undefined || answer === undefined) return null;
        const outcome = holder.id === documentId && dueAt === null ? OUTCOMES[status] : null;
        if (outcome === 'confirmed') {
          const { env } = environmentRun(holder.env);
          await noteKnownSigner(tx, { env, rnc: holder.issuerRnc, signer: signerOf(holder), at: holder.receivedAt });
        }
        const also = outcome === null ? [] : ([`received.${outcome}`] as const);
        if (answer.changed || outcome !== null) await publishChange(tx, { id: holder.id, at, also }, makeId);
        return outcome;
      });
    },
    async unanswered(documentId, dueAt) {
      await database.query(UNANSWERED, [documentId, dueAt]);
    },
    async competitor(documentId) {
      const { rows } = await database.query(COMPETITOR, [documentId]);
      return camelCaseRows<Competitor>(rows)[0] ?? null;
    },
    promote(promotion) {
      return database.transaction(async (tx) => {
        const { documentId, document, at } = promotion;
        const former = await lockHolder(tx, documentId);
        if (former === undefined || former.id === documentId || former.authorityStatus === 'confirmed') return false;
        // A certification run set it aside; its number belongs to the present run.
        if (former.env !== document.env) return false;
        await exchange(tx, former.id, promotion);
        await tx.query(ANSWERED, [documentId, 'confirmed', at, null]);
        const { env, issuerRnc: rnc, receivedAt } = document;
        await noteKnownSigner(tx, { env, rnc, signer: signerOf(document), at: receivedAt });
        await publishChange(tx, { id: documentId, at, also: ['received.confirmed'] }, makeId);
        return true;
      });
    },
  };
}

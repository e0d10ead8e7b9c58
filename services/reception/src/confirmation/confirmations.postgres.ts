import { randomUUID } from 'node:crypto';
import { noteKnownSigner } from '@ecf/public-ingress';
import type { Database, Transaction } from '@ecf/service-kit/postgres';
import { addPendingDocuments } from '@ecf/service-kit/xml-store';
import {
  fromReceivedRow,
  NEW_RECEIVED_COLUMNS,
  newReceivedRow,
  RECEIVED,
  type ReceivedRow,
} from '../receive/document-rows.postgres.js';
import { createReceivedChanges } from '../receive/received-changes.postgres.js';
import { type ConfirmationRow, fromConfirmationRow, PRIORITY } from './confirmation-rows.postgres.js';
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
const KEEP_FORMER = {
  name: 'confirmations_keep_former',
  text: `INSERT INTO refused_documents (env, buyer_rnc, issuer_rnc, encf, motive, reason, faults, received_at, bytes, sha256,
                xml_path, arecf_path, arecf_sha256, acknowledged_at, certificate_subject, certificate_serial,
                certificate_fingerprint, certificate_holder, certificate_issuer, certificate_key, certificate_trusted,
                content_sha256, conflict_of, document_id, request_id, sender)
         SELECT env, buyer_rnc, issuer_rnc, encf, 0, 'the authority confirmed another document of this number', '[]', received_at,
                bytes, xml_sha256, xml_path, arecf_path, arecf_sha256, acknowledged_at, certificate_subject, certificate_serial,
                certificate_fingerprint, certificate_holder, certificate_issuer, certificate_key, certificate_trusted,
                content_sha256, id, id, request_id, sender
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
/** The columns that the promoted document brings; its revision continues that of the former document. */
const PROMOTED_COLUMNS = NEW_RECEIVED_COLUMNS.filter((column) => column !== 'revision');

/** Statuses of documents at the authority, in PostgreSQL. A claim is a lease by due time. */
export function createConfirmationStore(database: Database, makeId: () => string = randomUUID): ConfirmationStore {
  const publish = createReceivedChanges(makeId);

  /** Locks the document that holds the number of this one: it is the same, or it competes with this one. */
  async function lockHolder(tx: Transaction, documentId: number): Promise<ReceivedRow | null> {
    return (await tx.query<ReceivedRow>(LOCK_HOLDER, [documentId])).rows[0] ?? null;
  }

  /** The former document keeps its id, its bytes and its acknowledgement among the competitors of the new one. */
  async function exchange(
    tx: Transaction,
    former: ReceivedRow,
    { documentId, document, files, at }: Promotion,
  ): Promise<void> {
    await addPendingDocuments(tx, files);
    await tx.query(KEEP_FORMER, [former.id]);
    await tx.query(COMPETE_WITH, [former.id, documentId]);
    const row = newReceivedRow(documentId, document);
    const set = PROMOTED_COLUMNS.map((column) => `${column} = p.${column}`).join(', ');
    await tx.query(
      `UPDATE received_documents d
          SET ${set}, promoted_at = $3, approval_status = 'pending', approval_datetime = NULL, answered_at = NULL
         FROM json_populate_record(NULL::received_documents, $2::json) AS p WHERE d.id = $1`,
      [former.id, JSON.stringify(row), at],
    );
  }

  return {
    async claimDue({ now, until, limit }) {
      const { rows } = await database.query<ConfirmationRow>(CLAIM, [now, until, limit]);
      return rows.map(fromConfirmationRow);
    },
    async answered({ documentId, status, at, dueAt }) {
      return database.transaction(async (tx) => {
        const holder = await lockHolder(tx, documentId);
        const { rows } = await tx.query<{ changed: boolean }>(ANSWERED, [documentId, status, at, dueAt]);
        const [answer] = rows;
        if (holder === null || answer === undefined) return null;
        const outcome = holder.id === documentId && dueAt === null ? OUTCOMES[status] : null;
        if (outcome === 'confirmed') {
          const { key, signer, receivedAt } = fromReceivedRow(holder);
          await noteKnownSigner(tx, { env: key.env, rnc: key.issuerRnc, signer, at: receivedAt });
        }
        const also = outcome === null ? [] : ([`received.${outcome}`] as const);
        if (answer.changed || outcome !== null) await publish(tx, { id: holder.id, at, also });
        return outcome;
      });
    },
    async unanswered(documentId, dueAt) {
      await database.query(UNANSWERED, [documentId, dueAt]);
    },
    async competitor(documentId) {
      const { rows } = await database.query<CompetitorRow>(COMPETITOR, [documentId]);
      const [row] = rows;
      if (row === undefined) return null;
      return {
        holderConfirmed: row.holder_confirmed,
        accountId: row.account_id,
        receivedAt: row.received_at,
        bytes: row.bytes,
        xml: row.xml_path === null ? null : { path: row.xml_path, sha256: row.sha256 },
        origin: { requestId: row.request_id, sender: row.sender },
      };
    },
    promote(promotion) {
      return database.transaction(async (tx) => {
        const { documentId, document, at } = promotion;
        const former = await lockHolder(tx, documentId);
        if (former === null || former.id === documentId || former.authority_status === 'confirmed') return false;
        // A certification run set it aside; its number belongs to the present run.
        if (former.env !== document.key.env) return false;
        await exchange(tx, former, promotion);
        await tx.query(ANSWERED, [documentId, 'confirmed', at, null]);
        const { key, signer, receivedAt } = document;
        await noteKnownSigner(tx, { env: key.env, rnc: key.issuerRnc, signer, at: receivedAt });
        await publish(tx, { id: documentId, at, also: ['received.confirmed'] });
        return true;
      });
    },
  };
}

interface CompetitorRow {
  received_at: Date;
  bytes: number;
  xml_path: string | null;
  sha256: string;
  request_id: string;
  sender: string | null;
  account_id: string;
  holder_confirmed: boolean;
}

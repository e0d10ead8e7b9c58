import { randomUUID } from 'node:crypto';
import { type PendingDocument, pendingColumns } from '@ecf/archive';
import { type BusEvent, outboxColumns } from '@ecf/bus';
import { camelCaseRows, createIds, createSharedCalls, type Database, snakeCaseRow } from '@ecf/postgres';
import { isConfirmable, type NewConfirmation, newConfirmation } from '../confirmation/new-confirmation.postgres.js';
import type { DocumentStore } from './ports.js';
import type { NewReceivedDocument, NumberHolder, ReceivedDocument } from './received-document.js';
import { NOT_AVAILABLE } from './received-documents.postgres.js';
import { receivedEvent } from './received-events.js';

const HOLDER = {
  name: 'received_holder',
  text: `SELECT id, xml_path, xml_sha256, arecf_path, arecf_sha256, answered_at, promoted_at, content_sha256
           FROM received_documents WHERE env = $1 AND buyer_rnc = $2 AND encf = $3 AND issuer_rnc = $4`,
};
const NEXT_IDS = {
  name: 'received_next_ids',
  text: `SELECT nextval('received_documents_id_seq') AS id FROM generate_series(1, $1::int)`,
};
// A decision that came before its document is put into the event, which was made without it. Documents are added in the
// order of their numbers, so that two instances that add the same ones do not wait for each other.
const add = (received: readonly string[]) => ({
  name: 'received_add',
  text: `WITH added AS (
           INSERT INTO received_documents (${received.join(', ')}, approval_status, approval_datetime, approval_revision)
           SELECT ${received.map((column) => `g.${column}`).join(', ')},
                  coalesce(d.approval_status, 'pending'), d.approval_datetime, coalesce(d.revision, 0)
             FROM (SELECT * FROM json_populate_recordset(NULL::received_documents, $1::json)
                    ORDER BY env, buyer_rnc, encf, issuer_rnc) AS g
             LEFT JOIN LATERAL early_decision(g.env, g.buyer_rnc, g.issuer_rnc, g.encf) AS d ON true
           ON CONFLICT (env, buyer_rnc, encf, issuer_rnc) DO NOTHING
           RETURNING id, approval_status, approval_datetime
         ), published AS (
           INSERT INTO outbox (event_id, topic, key, event)
           SELECT e.event_id, e.topic, e.key,
                  CASE WHEN a.approval_status = 'pending' THEN e.event ELSE jsonb_set(jsonb_set(jsonb_set(e.event::jsonb,
                    '{data,approval_status}', to_jsonb(a.approval_status)), '{data,approval_confirmed}', 'true'),
                    '{data,approval_datetime}', coalesce(to_jsonb(to_char(a.approval_datetime AT TIME ZONE
                      INTERVAL '-04:00', 'YYYY-MM-DD"T"HH24:MI:SS"-04:00"')), 'null'))::json END
             FROM added a
             JOIN ROWS FROM (unnest($2::bigint[], $3::uuid[], $4::text[], $5::text[]), json_array_elements($6::json))
                  AS e(id, event_id, topic, key, event) USING (id)
         ), kept AS (
           INSERT INTO pending_document (path, sha256, bytes)
           SELECT f.path, f.sha256, f.bytes
             FROM added a
             JOIN unnest($7::bigint[], $8::text[], $9::text[], $10::bytea[]) AS f(id, path, sha256, bytes) USING (id)
            ORDER BY f.path
           ON CONFLICT (path, sha256) DO NOTHING
         ), awaited AS (
           INSERT INTO confirmations (document_id, env, issuer_rnc, encf, buyer_rnc, security_code, total_amount, priority, due_at)
           SELECT c.document_id, c.env, c.issuer_rnc, c.encf, c.buyer_rnc, c.security_code, c.total_amount, c.priority, c.due_at
             FROM added a
             JOIN json_populate_recordset(NULL::confirmations, $11::json) AS c ON c.document_id = a.id
         )
         SELECT id FROM added`,
});
const ANSWERED = {
  name: 'received_answered',
  text: `UPDATE received_documents d SET answered_at = a.left_at
           FROM unnest($1::bigint[], $2::timestamptz[]) AS a(id, left_at)
          WHERE d.id = a.id AND d.answered_at IS NULL`,
};

interface Addition {
  /** The row in snake case. */
  readonly row: Record<string, unknown> & { readonly id: number };
  readonly event: BusEvent;
  readonly files: readonly PendingDocument[];
  /** Null if the authority cannot be queried. */
  readonly confirmation: NewConfirmation | null;
}

/**
 * Finds the document that holds a number, and stores a new one. Documents that arrive during a statement are stored by the next one,
 * because PostgreSQL takes most of the processor time of an arrival.
 */
export function createArrivals(
  database: Database,
  makeId: () => string = randomUUID,
): Pick<DocumentStore, 'holder' | 'add' | 'noteAnswered'> {
  const nextId = createIds(async (count) => {
    const { rows } = await database.query<{ id: number }>(NEXT_IDS, [count]);
    return rows.map(({ id }) => id);
  });

  const additions = createSharedCalls<Addition, number | null>({
    maxItems: 64,
    maxInFlight: 2,
    keyOf: ({ event }) => event.key,
    async work(items) {
      const columns = Object.keys(items[0]?.row ?? {}).sort();
      const { rows } = await database.query<{ id: number }>(add(columns), [
        JSON.stringify(items.map(({ row }) => row)),
        items.map(({ row }) => row.id),
        ...outboxColumns(items.map(({ event }) => event)),
        items.flatMap(({ row, files }) => files.map(() => row.id)),
        ...pendingColumns(items.flatMap(({ files }) => files)),
        JSON.stringify(
          items.flatMap(({ confirmation }) => (confirmation === null ? [] : [snakeCaseRow(confirmation)])),
        ),
      ]);
      database.signalOutbox();
      const added = new Set(rows.map(({ id }) => id));
      return items.map(({ row }) => (added.has(row.id) ? row.id : null));
    },
  });

  return {
    async holder({ env, buyerRnc, encf, issuerRnc }) {
      const { rows } = await database.query(HOLDER, [env, buyerRnc, encf, issuerRnc]);
      return camelCaseRows<NumberHolder>(rows)[0] ?? null;
    },
    async add(document, files) {
      const id = await nextId();
      const stamp = { id: makeId(), time: document.acknowledgedAt };
      const event = receivedEvent(newlyReceived(id, document), [], stamp);
      const confirmation = newConfirmation(id, document, document, document.acknowledgedAt);
      return additions.run({ row: { ...receivedColumns(document), id }, event, files, confirmation });
    },
    async noteAnswered(answers) {
      await database.query(ANSWERED, [answers.map(([id]) => id), answers.map(([, at]) => at)]);
    },
  };
}

/** The columns of `received_documents` that come with a document, in snake case. */
export function receivedColumns(document: NewReceivedDocument): Record<string, unknown> {
  const { securityCode: _, signerKnown: __, ...columns } = document;
  return snakeCaseRow(columns);
}

/** A new document as it is once it is added, where no decision came before it. */
function newlyReceived(id: number, document: NewReceivedDocument): ReceivedDocument {
  return {
    ...document,
    id,
    revision: 1,
    updatedAt: document.acknowledgedAt,
    approvalStatus: 'pending',
    approvalDatetime: null,
    approvalRevision: 0,
    authorityStatus: isConfirmable(document.env) ? 'pending' : NOT_AVAILABLE,
    authorityCheckedAt: null,
    promotedAt: null,
    answeredAt: null,
  };
}

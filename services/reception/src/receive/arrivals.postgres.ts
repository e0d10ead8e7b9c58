import type { BusEvent } from '@ecf/service-kit/bus';
import { outboxColumns } from '@ecf/service-kit/outbox';
import { createIds, createSharedCalls, type Database } from '@ecf/service-kit/postgres';
import { type PendingDocument, pendingColumns } from '@ecf/service-kit/xml-store';
import {
  NEW_CONFIRMATION_COLUMNS,
  type NewConfirmationRow,
  newConfirmationRow,
} from '../confirmation/confirmation-rows.postgres.js';
import { NEW_RECEIVED_COLUMNS, newlyReceived, newReceivedRow, type ReceivedRow } from './document-rows.postgres.js';
import type { DocumentStore } from './ports.js';
import { receivedInvoiceEvent } from './received-changes.postgres.js';
import type { DocumentKey, NewReceivedDocument, NumberHolder } from './received-document.js';

const HOLDER = {
  name: 'received_holder',
  text: `SELECT id, xml_path, xml_sha256, arecf_path, arecf_sha256, received_at, answered_at, promoted_at, content_sha256
           FROM received_documents WHERE env = $1 AND buyer_rnc = $2 AND encf = $3 AND issuer_rnc = $4`,
};
const NEXT_IDS = {
  name: 'received_next_ids',
  text: `SELECT nextval('received_documents_id_seq') AS id FROM generate_series(1, $1::int)`,
};
// A decision that came before its document is put into the event, which was made without it. Documents are added in the
// order of their numbers, so that two instances that add the same ones do not wait for each other.
const ADD = {
  name: 'received_add',
  text: `WITH added AS (
           INSERT INTO received_documents (${NEW_RECEIVED_COLUMNS.join(', ')}, approval_status, approval_datetime, approval_revision)
           SELECT ${NEW_RECEIVED_COLUMNS.map((column) => `g.${column}`).join(', ')},
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
           INSERT INTO confirmations (${NEW_CONFIRMATION_COLUMNS.join(', ')})
           SELECT ${NEW_CONFIRMATION_COLUMNS.map((column) => `c.${column}`).join(', ')}
             FROM added a
             JOIN json_populate_recordset(NULL::confirmations, $11::json) AS c ON c.document_id = a.id
         )
         SELECT id FROM added`,
};

interface Addition {
  readonly row: ReturnType<typeof newReceivedRow>;
  readonly event: BusEvent;
  readonly files: readonly PendingDocument[];
  /** Null if the authority cannot be queried. */
  readonly confirmation: NewConfirmationRow | null;
}

/**
 * Finds the document that holds a number, and stores a new one. Documents that arrive during a statement are stored by the next one,
 * because PostgreSQL takes most of the processor time of an arrival.
 */
export function createArrivals(database: Database, makeId: () => string): Pick<DocumentStore, 'holder' | 'add'> {
  const nextId = createIds(async (count) => {
    const { rows } = await database.query<{ id: number }>(NEXT_IDS, [count]);
    return rows.map(({ id }) => id);
  });

  const additions = createSharedCalls<Addition, number | null>({
    maxItems: 64,
    maxInFlight: 2,
    keyOf: ({ event }) => event.key,
    async work(items) {
      const { rows } = await database.query<{ id: number }>(ADD, [
        JSON.stringify(items.map(({ row }) => row)),
        items.map(({ row }) => row.id),
        ...outboxColumns(items.map(({ event }) => event)),
        items.flatMap(({ row, files }) => files.map(() => row.id)),
        ...pendingColumns(items.flatMap(({ files }) => files)),
        JSON.stringify(items.flatMap(({ confirmation }) => confirmation ?? [])),
      ]);
      database.signalOutbox();
      const added = new Set(rows.map(({ id }) => id));
      return items.map(({ row }) => (added.has(row.id) ? row.id : null));
    },
  });

  return {
    async holder(key) {
      const { rows } = await database.query<HolderRow>(HOLDER, [key.env, key.buyerRnc, key.encf, key.issuerRnc]);
      return fromHolderRow(key, rows[0]);
    },
    async add(document: NewReceivedDocument, files: readonly PendingDocument[]) {
      const id = await nextId();
      const { facts, securityCode, signerKnown } = document;
      const stamp = { id: makeId(), time: document.acknowledgedAt };
      const event = receivedInvoiceEvent(newlyReceived(id, document), [], stamp);
      const confirmation = newConfirmationRow(
        id,
        document.key,
        { securityCode, totalAmount: facts.totalAmount, signerKnown },
        document.acknowledgedAt,
      );
      return additions.run({ row: newReceivedRow(id, document), event, files, confirmation });
    },
  };
}

type HolderRow = Pick<
  ReceivedRow,
  | 'id'
  | 'xml_path'
  | 'xml_sha256'
  | 'arecf_path'
  | 'arecf_sha256'
  | 'received_at'
  | 'answered_at'
  | 'promoted_at'
  | 'content_sha256'
>;

function fromHolderRow(key: DocumentKey, row: HolderRow | undefined): NumberHolder | null {
  if (row === undefined) return null;
  return {
    id: row.id,
    key,
    xml: { path: row.xml_path, sha256: row.xml_sha256 },
    acknowledgement: { path: row.arecf_path, sha256: row.arecf_sha256 },
    receivedAt: row.received_at,
    answeredAt: row.answered_at,
    promotedAt: row.promoted_at,
    contentSha256: row.content_sha256,
  };
}

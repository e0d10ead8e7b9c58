import { MAX_EVENT_CONFLICTS } from '@ecf/contracts';
import { isKnownSql } from '@ecf/public-ingress';
import type { Queries, Transaction } from '@ecf/service-kit/postgres';
import {
  CONFLICT,
  type ConflictRow,
  fromConflictRow,
  fromReceivedRow,
  RECEIVED,
  type ReceivedRow,
} from './document-rows.postgres.js';
import type { Conflict, ReceivedDocument } from './received-document.js';

const CONFLICTS = {
  name: 'received_conflicts',
  text: `SELECT ${CONFLICT} FROM refused_documents r JOIN (
           SELECT c.id FROM unnest($1::bigint[]) AS d(id)
            CROSS JOIN LATERAL (
              SELECT * FROM (SELECT r.id, row_number() OVER (PARTITION BY r.certificate_fingerprint ORDER BY r.id) AS nth
                               FROM refused_documents r WHERE r.conflict_of = d.id AND r.xml_path IS NOT NULL) AS ranked
               ORDER BY nth, id LIMIT $2) AS c) AS shown USING (id)
          ORDER BY r.id`,
};
/** Competitors of one document from known signers. They are shown regardless of the number of other competitors. */
const KNOWN_CONFLICTS = {
  name: 'received_known_conflicts',
  text: `SELECT ${CONFLICT} FROM refused_documents r
          WHERE conflict_of = $1 AND xml_path IS NOT NULL AND ${isKnownSql({
            env: 'r.env',
            rnc: 'r.issuer_rnc',
            key: 'r.certificate_key',
            holder: 'r.certificate_holder',
            trusted: 'r.certificate_trusted',
            at: 'r.received_at',
          })}
          ORDER BY id LIMIT $2`,
};

/** The competing documents that are shown, by the id of the received document. */
export async function conflictsOf(
  queries: Queries,
  documents: readonly ReceivedDocument[],
): Promise<Map<number, Conflict[]>> {
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

/** Whether a kept competitor is shown. A competitor that is not shown does not change what readers see. */
export async function isShown(tx: Transaction, holderId: number, sha256: string): Promise<boolean> {
  const { rows } = await tx.query<ReceivedRow>(`SELECT ${RECEIVED} FROM received_documents d WHERE id = $1`, [
    holderId,
  ]);
  const documents = rows.map(fromReceivedRow);
  return (await conflictsOf(tx, documents)).get(holderId)?.some((conflict) => conflict.sha256 === sha256) ?? false;
}

/** As many conflicts as may be shown, those of known signers among them, oldest first. */
async function withKnown(
  queries: Queries,
  { id }: Pick<ReceivedDocument, 'id'>,
  conflicts: readonly ConflictRow[],
): Promise<ConflictRow[]> {
  const { rows: known } = await queries.query<ConflictRow>(KNOWN_CONFLICTS, [id, MAX_EVENT_CONFLICTS / 2]);
  const others = conflicts.filter(({ sha256 }) => !known.some((one) => one.sha256 === sha256));
  return [...known, ...others.slice(0, MAX_EVENT_CONFLICTS - known.length)].sort((one, other) => one.id - other.id);
}

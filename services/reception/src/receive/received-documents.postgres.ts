import { randomUUID } from 'node:crypto';
import { appendToOutbox } from '@ecf/bus';
import { type AuthorityStatus, MAX_EVENT_CONFLICTS } from '@ecf/contracts';
import {
  camelCaseRows,
  changedSince,
  pagesOf,
  type Queries,
  type Restore,
  type Statement,
  type Transaction,
} from '@ecf/postgres';
import { isKnownSql } from '@ecf/public-ingress';
import type { Conflict, ReceivedDocument } from './received-document.js';
import { type ReceivedEventType, receivedEvent } from './received-events.js';

/** The authority's status of documents without a query at the authority. */
export const NOT_AVAILABLE: AuthorityStatus = 'not_available';

/** The columns of a {@link ReceivedDocument}, from `received_documents AS d`. */
export const RECEIVED = `d.*,
  coalesce((SELECT c.status FROM confirmations c WHERE c.document_id = d.id), '${NOT_AVAILABLE}') AS authority_status,
  (SELECT c.checked_at FROM confirmations c WHERE c.document_id = d.id) AS authority_checked_at`;

/** Whether the signer of a document of the table `t` was known when the document came. */
export const knownSigner = (t: 'd' | 'r') =>
  isKnownSql({
    env: `${t}.env`,
    rnc: `${t}.issuer_rnc`,
    key: `${t}.certificate_key`,
    holder: `${t}.certificate_holder`,
    trusted: `${t}.certificate_trusted`,
    at: `${t}.received_at`,
  });

/** A refused document that competes for a number. Its own id gives the order in which competitors came. */
export type ConflictRow = Conflict & { readonly refusalId: number; readonly conflictOf: number };

/** The columns of a {@link ConflictRow}, from `refused_documents AS r`. */
export const CONFLICT = `r.document_id AS id, r.id AS refusal_id, r.conflict_of, r.sha256, r.received_at, r.xml_path,
  r.certificate_subject, r.certificate_serial, r.certificate_fingerprint, r.certificate_holder, r.certificate_issuer,
  r.certificate_key, r.certificate_trusted, ${knownSigner('r')} AS known,
  coalesce((SELECT c.status FROM confirmations c WHERE c.document_id = r.document_id), '${NOT_AVAILABLE}') AS authority_status`;

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
          WHERE conflict_of = $1 AND xml_path IS NOT NULL AND ${knownSigner('r')}
          ORDER BY r.id LIMIT $2`,
};

/** Reads received documents. The statement selects {@link RECEIVED}. */
export async function readReceived(
  queries: Queries,
  statement: string | Statement,
  values: unknown[],
): Promise<ReceivedDocument[]> {
  return camelCaseRows<ReceivedDocument>((await queries.query(statement, values)).rows);
}

/** The competing documents that are shown, by the id of the received document. */
export async function conflictsOf(queries: Queries, ids: readonly number[]): Promise<Map<number, ConflictRow[]>> {
  const shown = new Map<number, ConflictRow[]>(ids.map((id) => [id, []]));
  if (ids.length === 0) return shown;
  const { rows } = await queries.query(CONFLICTS, [ids, MAX_EVENT_CONFLICTS]);
  for (const row of camelCaseRows<ConflictRow>(rows)) shown.get(row.conflictOf)?.push(row);
  for (const [id, conflicts] of shown)
    if (conflicts.length >= MAX_EVENT_CONFLICTS) shown.set(id, await withKnown(queries, id, conflicts));
  return shown;
}

/** As many conflicts as may be shown, those of known signers among them, oldest first. */
async function withKnown(queries: Queries, id: number, conflicts: readonly ConflictRow[]): Promise<ConflictRow[]> {
  const { rows } = await queries.query(KNOWN_CONFLICTS, [id, MAX_EVENT_CONFLICTS / 2]);
  const known = camelCaseRows<ConflictRow>(rows);
  const others = conflicts.filter(({ sha256 }) => !known.some((one) => one.sha256 === sha256));
  return [...known, ...others.slice(0, MAX_EVENT_CONFLICTS - known.length)].sort(
    (one, other) => one.refusalId - other.refusalId,
  );
}

/** Documents that changed since $1, after the id $2, $3 at most. */
const CHANGED = `SELECT ${RECEIVED} FROM received_documents d WHERE d.updated_at >= $1 AND d.id > $2 ORDER BY d.id LIMIT $3`;

/** After a restore of this service or others: publishes the documents that changed since the backup again. */
export async function publishAfterRestore(tx: Transaction, restore: Restore, now: Date): Promise<void> {
  const read = (after: number, limit: number) => readReceived(tx, CHANGED, [changedSince(restore), after, limit]);
  for await (const rows of pagesOf(read, ({ id }) => id)) {
    const conflicts = await conflictsOf(
      tx,
      rows.map(({ id }) => id),
    );
    const events = rows.map((document) => {
      const stamp = { id: randomUUID(), time: now };
      return receivedEvent(document, conflicts.get(document.id) ?? [], stamp, 'received_invoice.changed');
    });
    await appendToOutbox(tx, events);
  }
}

export interface ReceivedChange {
  /** Id of the document, which the transaction has locked. */
  readonly id: number;
  readonly at: Date;
  /** Further columns that change, as `, column = $2`; their values. */
  readonly set?: string;
  readonly values?: readonly unknown[];
  /** Events that are published beside the change. */
  readonly also?: readonly ReceivedEventType[];
}

/** Changes columns of a locked document, raises its revision, and publishes its state. `makeId` makes the ids of events. */
export async function publishChange(
  tx: Transaction,
  { id, at, set = '', values = [], also = [] }: ReceivedChange,
  makeId: () => string,
): Promise<void> {
  const [document] = await readReceived(
    tx,
    `UPDATE received_documents d SET revision = revision + 1, updated_at = clock_timestamp()${set} WHERE id = $1 RETURNING ${RECEIVED}`,
    [id, ...values],
  );
  if (document === undefined) throw new Error(`the received document ${id} is missing`);
  const conflicts = (await conflictsOf(tx, [id])).get(id) ?? [];
  const types: readonly ReceivedEventType[] = ['received_invoice.changed', ...also];
  const events = types.map((type) => receivedEvent(document, conflicts, { id: makeId(), time: at }, type));
  await appendToOutbox(tx, events);
}

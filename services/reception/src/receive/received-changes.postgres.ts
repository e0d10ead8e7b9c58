import { TOPICS } from '@ecf/contracts';
import { type BusEvent, makeEvent } from '@ecf/service-kit/bus';
import { appendToOutbox } from '@ecf/service-kit/outbox';
import type { Transaction } from '@ecf/service-kit/postgres';
import { conflictsOf } from './conflicts.postgres.js';
import { fromReceivedRow, RECEIVED, type ReceivedRow } from './document-rows.postgres.js';
import {
  type Conflict,
  type NewRefusedDocument,
  type ReceivedDocument,
  receivedDocumentKey,
  receivedInvoiceChanged,
  receivedRefused,
} from './received-document.js';

type EventType = 'received_invoice.changed' | 'received.confirmed' | 'received.disputed';

/** The event that publishes the present state of a received document. */
export function receivedInvoiceEvent(
  document: ReceivedDocument,
  conflicts: readonly Conflict[],
  stamp: { id: string; time: Date },
  type: EventType = 'received_invoice.changed',
): BusEvent {
  const { key } = document;
  const draft = {
    topic: TOPICS.receivedInvoices.name,
    type,
    source: 'reception',
    subject: `${key.issuerRnc}:${key.encf}`,
    key: receivedDocumentKey(key),
    data: receivedInvoiceChanged(document, conflicts),
  };
  return makeEvent(draft, stamp);
}

/** The event `received.refused`; none if no account gets it. */
export function refusalEvents(refusal: NewRefusedDocument, id: string): BusEvent[] {
  const data = receivedRefused(refusal);
  if (data === null) return [];
  const { key, acknowledgedAt: time } = refusal;
  const subject = `${key.issuerRnc}:${key.encf}`;
  const draft = { topic: TOPICS.refusals.name, type: 'received.refused', source: 'reception', subject } as const;
  return [makeEvent({ ...draft, key: receivedDocumentKey(key), data }, { id, time })];
}

export interface ReceivedChange {
  /** Id of the document, which the transaction has locked. */
  readonly id: number;
  readonly at: Date;
  /** Further columns that change, as `, column = $2`; their values. */
  readonly set?: string;
  readonly values?: readonly unknown[];
  /** Events that are published beside the change. */
  readonly also?: readonly EventType[];
}

/** Changes columns of a locked document, raises its revision, and publishes its state. */
export function createReceivedChanges(makeId: () => string) {
  return async function publish(tx: Transaction, change: ReceivedChange): Promise<void> {
    const { id, at, set = '', values = [], also = [] } = change;
    const { rows } = await tx.query<ReceivedRow>(
      `UPDATE received_documents d SET revision = revision + 1, updated_at = clock_timestamp()${set} WHERE id = $1 RETURNING ${RECEIVED}`,
      [id, ...values],
    );
    const document = fromReceivedRow(rows[0] as ReceivedRow);
    const conflicts = (await conflictsOf(tx, [document])).get(document.id) ?? [];
    const types: readonly EventType[] = ['received_invoice.changed', ...also];
    const events = types.map((type) => receivedInvoiceEvent(document, conflicts, { id: makeId(), time: at }, type));
    await appendToOutbox(tx, events);
  };
}

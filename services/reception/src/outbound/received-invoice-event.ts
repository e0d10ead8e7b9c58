import { TOPICS } from '@ecf/contracts';
import { type BusEvent, makeEvent } from '@ecf/service-kit/bus';
import {
  type Conflict,
  type ReceivedDocument,
  receivedDocumentKey,
  receivedInvoiceChanged,
} from '../core/documents/received-document.js';

/** The event that publishes the present state of a received document. */
export function receivedInvoiceEvent(
  document: ReceivedDocument,
  conflicts: readonly Conflict[],
  stamp: { id: string; time: Date },
): BusEvent {
  const { key } = document;
  const draft = {
    topic: TOPICS.receivedInvoices.name,
    type: 'received_invoice.changed',
    source: 'reception',
    subject: `${key.issuerRnc}:${key.encf}`,
    key: receivedDocumentKey(key),
    data: receivedInvoiceChanged(document, conflicts),
  };
  return makeEvent(draft, stamp);
}

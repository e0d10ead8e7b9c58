import type { ReceivedInvoiceChanged } from '@ecf/contracts';
import type { Selectable } from 'kysely';
import type { ReceivedInvoice } from '../generated/tables.js';

/** Bytes in the XML store; the checksum is SHA-256 in lower-case hex. */
export interface StoredXml {
  readonly path: string;
  readonly checksum: string;
}

/** The read model of a received document: where its bytes are, and those of documents that compete for its number. */
export type ReceivedRecord = Readonly<Selectable<ReceivedInvoice>>;

/** The read model of an event. */
export function receivedRecord(event: ReceivedInvoiceChanged): ReceivedRecord {
  return {
    env: event.env,
    encf: event.encf,
    issuerRnc: event.issuer_rnc,
    buyerRnc: event.buyer_rnc,
    id: event.id,
    revision: event.revision,
    dateReceived: new Date(event.date_received),
    xmlPath: event.xml_storage_path,
    xmlChecksum: event.xml_checksum,
    conflicts: event.conflicts.map(({ xml_storage_path, sha256 }) => ({ path: xml_storage_path, checksum: sha256 })),
  };
}

import type { ReceivedInvoiceChanged } from '@ecf/contracts';

/** Bytes in the XML store; the checksum is SHA-256 in lower-case hex. */
export interface StoredXml {
  readonly path: string;
  readonly checksum: string;
}

/** The read model of a received document: the place of its bytes, and of those of documents that compete for its number. */
export interface ReceivedRecord {
  readonly env: ReceivedInvoiceChanged['env'];
  readonly encf: string;
  /** The provider. */
  readonly issuerRnc: string;
  readonly buyerRnc: string;
  readonly id: number;
  readonly revision: number;
  readonly dateReceived: Date;
  readonly xmlPath: string;
  readonly xmlChecksum: string;
  readonly conflicts: readonly StoredXml[];
}

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

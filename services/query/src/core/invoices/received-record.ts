import type { ReceivedInvoiceChanged } from '@ecf/contracts';

/** Bytes in the XML store; the checksum is SHA-256 in lower-case hex. */
export interface StoredXml {
  readonly path: string;
  readonly checksum: string;
}

/** What is kept of a received document: where its bytes are, and those of the documents that compete for its number. */
export interface ReceivedRecord {
  readonly env: ReceivedInvoiceChanged['env'];
  readonly encf: string;
  /** The provider. */
  readonly issuerRnc: string;
  readonly buyerRnc: string;
  readonly id: number;
  readonly revision: number;
  readonly dateReceived: Date;
  readonly xml: StoredXml;
  readonly conflicts: readonly StoredXml[];
}

/** The read model of what the owner tells. */
export function receivedRecord(told: ReceivedInvoiceChanged): ReceivedRecord {
  return {
    env: told.env,
    encf: told.encf,
    issuerRnc: told.issuer_rnc,
    buyerRnc: told.buyer_rnc,
    id: told.id,
    revision: told.revision,
    dateReceived: new Date(told.date_received),
    xml: { path: told.xml_storage_path, checksum: told.xml_checksum },
    conflicts: told.conflicts.map(({ xml_storage_path, sha256 }) => ({ path: xml_storage_path, checksum: sha256 })),
  };
}

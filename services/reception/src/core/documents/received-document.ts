import { type ApprovalStatus, documentKey, type ReceivedConflict, type ReceivedInvoiceChanged } from '@ecf/contracts';
import { type Environment, type Fault, toIsoDominican } from '@ecf/domain';
import type { SignerFacts } from '@ecf/public-ingress/signed-document';
import type { Motive } from '../acknowledgements/motives.js';
import type { QuotedParties } from '../acknowledgements/quoted-parties.js';
import type { DocumentFacts } from './document-facts.js';

/** The identity of a received e-CF: a number is unique for its issuer, per buyer and environment. */
export interface DocumentKey extends QuotedParties {
  readonly env: Environment;
}

/** Bytes in the XML store. */
export interface StoredBytes {
  readonly path: string;
  /** SHA-256 in lower-case hex. */
  readonly sha256: string;
}

/** The origin of a call. */
export interface Origin {
  readonly requestId: string;
  readonly sender: string | null;
}

/** A document that was acknowledged with Estado 0, before it has an id. */
export interface NewReceivedDocument {
  readonly key: DocumentKey;
  readonly accountId: string;
  readonly facts: DocumentFacts;
  readonly receivedAt: Date;
  readonly acknowledgedAt: Date;
  readonly bytes: number;
  readonly xml: StoredBytes;
  readonly acknowledgement: StoredBytes;
  readonly signer: SignerFacts;
  readonly canonical: 'as-is' | 'whitespace-dropped';
  readonly observations: readonly Fault[];
  readonly origin: Origin;
}

/** The record of a received document. */
export interface ReceivedDocument extends NewReceivedDocument {
  readonly id: number;
  readonly revision: number;
  readonly approvalStatus: ApprovalStatus;
  readonly approvalDatetime: Date | null;
  /** When an answer with the acknowledgement first left completely; null while none did. */
  readonly answeredAt: Date | null;
  /** Until when an answer may be on its way of which nothing is noted; null = a moment after the acknowledgement. */
  readonly answerDueAt: Date | null;
}

/** The document that holds a number, as far as answers to later documents under that number need it. */
export type NumberHolder = Pick<
  ReceivedDocument,
  'id' | 'key' | 'xml' | 'acknowledgement' | 'receivedAt' | 'acknowledgedAt' | 'answeredAt' | 'answerDueAt'
>;

/** An answer with Estado 1. */
export interface NewRefusedDocument {
  readonly key: DocumentKey;
  readonly motive: Motive;
  readonly reason: string;
  readonly faults: readonly Fault[];
  readonly receivedAt: Date;
  readonly bytes: number;
  readonly sha256: string;
  /** Null where the document is not kept. */
  readonly xmlPath: string | null;
  readonly acknowledgement: StoredBytes;
  readonly acknowledgedAt: Date;
  readonly signer: SignerFacts | null;
  /** The document that holds the number (motive 3), else null. */
  readonly holderId: number | null;
  /** True where that document has other bytes, so that the two compete for the number. */
  readonly competes: boolean;
  readonly origin: Origin;
}

/** A signed document with other bytes under the number of a received one, and kept. */
export interface Conflict {
  readonly sha256: string;
  readonly receivedAt: Date;
  readonly certificateSubject: string;
  readonly xmlPath: string;
}

/** A signed document with other bytes under the number of a received one, of which the bytes were not kept. */
export type UnkeptConflict = Omit<Conflict, 'xmlPath'>;

/** The data of `received_invoice.changed`. */
export function receivedInvoiceChanged(
  document: ReceivedDocument,
  conflicts: readonly Conflict[],
): ReceivedInvoiceChanged {
  const { key, facts } = document;
  return {
    id: document.id,
    env: key.env,
    issuer_rnc: key.issuerRnc,
    encf: key.encf,
    buyer_rnc: key.buyerRnc,
    account_id: document.accountId,
    revision: document.revision,
    ecf_type: facts.ecfType,
    issuer_name: facts.issuerName,
    buyer_name: facts.buyerName,
    date_received: toIsoDominican(document.receivedAt),
    date_issued: facts.dateIssued,
    total_amount: facts.totalAmount,
    total_itbis: facts.totalItbis,
    modified_encf: facts.modifiedEncf,
    signature_datetime: facts.signatureDatetime,
    xml_storage_path: document.xml.path,
    xml_checksum: document.xml.sha256,
    arecf_storage_path: document.acknowledgement.path,
    arecf_checksum: document.acknowledgement.sha256,
    acknowledged_at: toIsoDominican(document.acknowledgedAt),
    certificate_subject: document.signer.subject,
    approval_status: document.approvalStatus,
    approval_confirmed: document.approvalStatus !== 'pending',
    approval_datetime: document.approvalDatetime === null ? null : toIsoDominican(document.approvalDatetime),
    observations: [...document.observations],
    conflicts: conflicts.map(eventConflict),
  };
}

function eventConflict(conflict: Conflict): ReceivedConflict {
  return {
    sha256: conflict.sha256,
    date_received: toIsoDominican(conflict.receivedAt),
    certificate_subject: conflict.certificateSubject,
    xml_storage_path: conflict.xmlPath,
  };
}

/** The bus key of a received document. */
export function receivedDocumentKey(key: DocumentKey): string {
  return documentKey({ env: key.env, issuer_rnc: key.issuerRnc, encf: key.encf });
}

import {
  type ApprovalStatus,
  type AuthorityStatus,
  documentKey,
  type EventSigner,
  type ReceivedConflict,
  type ReceivedInvoiceChanged,
  type ReceivedRefused,
} from '@ecf/contracts';
import { type Environment, type Fault, toIsoDominican } from '@ecf/domain';
import type { SignerFacts } from '@ecf/public-ingress/signed-document';
import type { DocumentFacts } from './document-facts.js';
import type { Motive } from './motives.js';
import type { QuotedParties } from './quoted-parties.js';

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
  /** Whether the issuer used this signer before in a confirmed document. */
  readonly signerKnown: boolean;
  /** First six characters of its SignatureValue. */
  readonly securityCode: string;
  /** SHA-256 of what its signature covers, and of the signature; null for documents of earlier versions. */
  readonly contentSha256: string | null;
  readonly canonical: 'as-is' | 'whitespace-dropped';
  readonly observations: readonly Fault[];
  readonly origin: Origin;
}

/** The record of a received document. */
export interface ReceivedDocument extends Omit<NewReceivedDocument, 'securityCode' | 'signerKnown'> {
  readonly id: number;
  readonly revision: number;
  readonly approvalStatus: ApprovalStatus;
  readonly approvalDatetime: Date | null;
  readonly authorityStatus: AuthorityStatus;
  /** When the authority answered last. */
  readonly authorityCheckedAt: Date | null;
  /** When it took the number from another document, because the authority confirmed it; null = it was the first. */
  readonly promotedAt: Date | null;
  /** When an answer with the acknowledgement first left completely; null while none did. */
  readonly answeredAt: Date | null;
}

/** The document that holds a number, as far as answers to later documents under that number need it. */
export type NumberHolder = Pick<
  ReceivedDocument,
  'id' | 'key' | 'xml' | 'acknowledgement' | 'receivedAt' | 'answeredAt' | 'promotedAt' | 'contentSha256'
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
  /** Null if the document is not kept. */
  readonly xmlPath: string | null;
  readonly acknowledgement: StoredBytes;
  readonly acknowledgedAt: Date;
  readonly signer: SignerFacts | null;
  /** The document that holds the number (motive 3), else null. */
  readonly holderId: number | null;
  /** True if that document has other bytes, so that the two compete for the number. */
  readonly competes: boolean;
  /** SHA-256 of what its signature covers, and of the signature; null for a document that is not valid. */
  readonly contentSha256: string | null;
  /** The query to the authority about a competing document; null for others. */
  readonly confirmable: ConfirmableFacts | null;
  readonly origin: Origin;
  /** The account that gets the event `received.refused`; null if none. */
  readonly notify: Pick<ReceivedRefused, 'account_id' | 'ecf_type'> | null;
}

/** The facts of a document by which the authority finds it, and how urgent the first query is. */
export interface ConfirmableFacts {
  readonly securityCode: string;
  readonly totalAmount: string;
  readonly signerKnown: boolean;
}

/** A signed document with other bytes under the number of a received one, and kept. */
export interface Conflict {
  /** It keeps this id when it takes the number. */
  readonly id: number;
  readonly sha256: string;
  readonly receivedAt: Date;
  readonly signer: SignerFacts;
  readonly authorityStatus: AuthorityStatus;
  readonly xmlPath: string;
}

/** A signed document with other bytes under the number of a received one; its bytes were not kept. */
export type UnkeptConflict = Omit<Conflict, 'xmlPath'>;

/** The data of `received_invoice.changed`, `received.confirmed` and `received.disputed`. */
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
    signer: eventSigner(document.signer),
    authority_status: document.authorityStatus,
    authority_checked_at: document.authorityCheckedAt === null ? null : toIsoDominican(document.authorityCheckedAt),
    promoted_at: document.promotedAt === null ? null : toIsoDominican(document.promotedAt),
    approval_status: document.approvalStatus,
    approval_confirmed: document.approvalStatus !== 'pending',
    approval_datetime: document.approvalDatetime === null ? null : toIsoDominican(document.approvalDatetime),
    observations: [...document.observations],
    conflicts: conflicts.map(eventConflict),
  };
}

/** The data of `received.refused`; null if no account gets it. */
export function receivedRefused(refusal: NewRefusedDocument): ReceivedRefused | null {
  const { notify, key, acknowledgement } = refusal;
  if (notify === null) return null;
  return {
    ...notify,
    env: key.env,
    issuer_rnc: key.issuerRnc,
    encf: key.encf,
    buyer_rnc: key.buyerRnc,
    date_received: toIsoDominican(refusal.receivedAt),
    rejection_code: refusal.motive,
    rejection_reason: refusal.reason,
    xml_checksum: refusal.sha256,
    arecf_storage_path: acknowledgement.path,
    arecf_checksum: acknowledgement.sha256,
  };
}

function eventSigner(signer: SignerFacts): EventSigner {
  return {
    subject: signer.subject,
    serial_number: signer.serialNumber,
    issuer: signer.issuer,
    fingerprint: signer.fingerprint,
    key_fingerprint: signer.keyFingerprint,
    holder_id: signer.holderId,
    trusted: signer.trusted,
  };
}

function eventConflict(conflict: Conflict): ReceivedConflict {
  return {
    id: conflict.id,
    sha256: conflict.sha256,
    date_received: toIsoDominican(conflict.receivedAt),
    certificate_subject: conflict.signer.subject,
    xml_storage_path: conflict.xmlPath,
    authority_status: conflict.authorityStatus,
  };
}

/** The bus key of a received document. */
export function receivedDocumentKey(key: DocumentKey): string {
  return documentKey({ env: key.env, issuer_rnc: key.issuerRnc, encf: key.encf });
}

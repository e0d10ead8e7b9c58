import type { AuthorityStatus } from '@ecf/contracts';
import { environmentRun, type Fault } from '@ecf/domain';
import type { SignerFacts } from '@ecf/public-ingress';
import { isConfirmable } from '../confirmation/confirmation-rows.postgres.js';
import type { DocumentFacts } from './document-facts.js';
import type {
  Conflict,
  NewReceivedDocument,
  NewRefusedDocument,
  ReceivedDocument,
  UnkeptConflict,
} from './received-document.js';

/** A row of `received_documents`. */
export interface ReceivedRow {
  id: number;
  /** A row of an earlier certification run has `<environment>/<run>/<RNC>` here. */
  env: string;
  buyer_rnc: string;
  issuer_rnc: string;
  encf: string;
  account_id: string;
  revision: number;
  ecf_type: DocumentFacts['ecfType'];
  issuer_name: string;
  buyer_name: string | null;
  date_issued: string | null;
  total_amount: string;
  total_itbis: string;
  modified_encf: string | null;
  signature_datetime: string | null;
  received_at: Date;
  bytes: number;
  xml_path: string;
  xml_sha256: string;
  arecf_path: string;
  arecf_sha256: string;
  acknowledged_at: Date;
  answered_at: Date | null;
  certificate_subject: string;
  certificate_serial: string;
  certificate_fingerprint: string;
  certificate_holder: string | null;
  certificate_issuer: string;
  certificate_key: string;
  certificate_trusted: boolean | null;
  content_sha256: string | null;
  canonical: ReceivedDocument['canonical'];
  observations: Fault[];
  approval_status: ReceivedDocument['approvalStatus'];
  approval_datetime: Date | null;
  approval_revision: number;
  promoted_at: Date | null;
  authority_status: AuthorityStatus;
  authority_checked_at: Date | null;
  request_id: string;
  sender: string | null;
}

/** Statuses of documents without a query at the authority. */
export const NOT_AVAILABLE: AuthorityStatus = 'not_available';

/** The authority's status of a row of `received_documents AS d`. */
const AUTHORITY_STATUS = `coalesce((SELECT c.status FROM confirmations c WHERE c.document_id = d.id), '${NOT_AVAILABLE}')`;

/** The columns of a {@link ReceivedRow}, from `received_documents AS d`. */
export const RECEIVED = `d.*, ${AUTHORITY_STATUS} AS authority_status,
  (SELECT c.checked_at FROM confirmations c WHERE c.document_id = d.id) AS authority_checked_at`;

/** Columns of a new row that come with the document; the rest has defaults or follows from a decision made before. */
export const NEW_RECEIVED_COLUMNS = [
  'id',
  'env',
  'buyer_rnc',
  'issuer_rnc',
  'encf',
  'account_id',
  'revision',
  'ecf_type',
  'issuer_name',
  'buyer_name',
  'date_issued',
  'total_amount',
  'total_itbis',
  'modified_encf',
  'signature_datetime',
  'received_at',
  'bytes',
  'xml_path',
  'xml_sha256',
  'arecf_path',
  'arecf_sha256',
  'acknowledged_at',
  'certificate_subject',
  'certificate_serial',
  'certificate_fingerprint',
  'certificate_holder',
  'certificate_issuer',
  'certificate_key',
  'certificate_trusted',
  'content_sha256',
  'canonical',
  'observations',
  'request_id',
  'sender',
] as const satisfies readonly (keyof ReceivedRow)[];

export function newReceivedRow(
  id: number,
  document: NewReceivedDocument,
): Pick<ReceivedRow, (typeof NEW_RECEIVED_COLUMNS)[number]> {
  const { key, facts, signer } = document;
  return {
    id,
    env: key.env,
    buyer_rnc: key.buyerRnc,
    issuer_rnc: key.issuerRnc,
    encf: key.encf,
    account_id: document.accountId,
    revision: FIRST_REVISION,
    ecf_type: facts.ecfType,
    issuer_name: facts.issuerName,
    buyer_name: facts.buyerName,
    date_issued: facts.dateIssued,
    total_amount: facts.totalAmount,
    total_itbis: facts.totalItbis,
    modified_encf: facts.modifiedEncf,
    signature_datetime: facts.signatureDatetime,
    received_at: document.receivedAt,
    bytes: document.bytes,
    xml_path: document.xml.path,
    xml_sha256: document.xml.sha256,
    arecf_path: document.acknowledgement.path,
    arecf_sha256: document.acknowledgement.sha256,
    acknowledged_at: document.acknowledgedAt,
    certificate_subject: signer.subject,
    certificate_serial: signer.serialNumber,
    certificate_fingerprint: signer.fingerprint,
    certificate_holder: signer.holderId,
    certificate_issuer: signer.issuer,
    certificate_key: signer.keyFingerprint,
    certificate_trusted: signer.trusted,
    content_sha256: document.contentSha256,
    canonical: document.canonical,
    observations: [...document.observations],
    request_id: document.origin.requestId,
    sender: document.origin.sender,
  };
}

/** A new document as it is once it is added, where no decision came before it. */
export function newlyReceived(id: number, document: NewReceivedDocument): ReceivedDocument {
  const pending = { approvalStatus: 'pending', approvalDatetime: null, answeredAt: null } as const;
  const authorityStatus = isConfirmable(document.key.env) ? 'pending' : NOT_AVAILABLE;
  const unconfirmed = { authorityStatus, authorityCheckedAt: null, promotedAt: null } as const;
  return { ...document, id, revision: FIRST_REVISION, ...pending, ...unconfirmed };
}

const FIRST_REVISION = 1;

export function fromReceivedRow(row: ReceivedRow): ReceivedDocument {
  return {
    id: row.id,
    revision: row.revision,
    key: { env: environmentRun(row.env).env, buyerRnc: row.buyer_rnc, issuerRnc: row.issuer_rnc, encf: row.encf },
    accountId: row.account_id,
    facts: {
      ecfType: row.ecf_type,
      issuerName: row.issuer_name,
      buyerName: row.buyer_name,
      dateIssued: row.date_issued,
      totalAmount: row.total_amount,
      totalItbis: row.total_itbis,
      modifiedEncf: row.modified_encf,
      signatureDatetime: row.signature_datetime,
    },
    receivedAt: row.received_at,
    acknowledgedAt: row.acknowledged_at,
    answeredAt: row.answered_at,
    bytes: row.bytes,
    xml: { path: row.xml_path, sha256: row.xml_sha256 },
    acknowledgement: { path: row.arecf_path, sha256: row.arecf_sha256 },
    signer: fromSignerColumns(row),
    contentSha256: row.content_sha256,
    canonical: row.canonical,
    observations: row.observations,
    approvalStatus: row.approval_status,
    approvalDatetime: row.approval_datetime,
    authorityStatus: row.authority_status,
    authorityCheckedAt: row.authority_checked_at,
    promotedAt: row.promoted_at,
    origin: { requestId: row.request_id, sender: row.sender },
  };
}

/** The columns of a signer in both tables of documents. */
type SignerColumns = Pick<
  ReceivedRow,
  | 'certificate_subject'
  | 'certificate_serial'
  | 'certificate_fingerprint'
  | 'certificate_holder'
  | 'certificate_issuer'
  | 'certificate_key'
  | 'certificate_trusted'
>;

function fromSignerColumns(row: SignerColumns): SignerFacts {
  return {
    subject: row.certificate_subject,
    serialNumber: row.certificate_serial,
    issuer: row.certificate_issuer,
    fingerprint: row.certificate_fingerprint,
    keyFingerprint: row.certificate_key,
    holderId: row.certificate_holder,
    trusted: row.certificate_trusted,
  };
}

/** A row of `refused_documents` as a competitor of the document that holds the number. */
export interface ConflictRow extends SignerColumns {
  id: number;
  document_id: number;
  conflict_of: number;
  sha256: string;
  received_at: Date;
  xml_path: string | null;
  authority_status: AuthorityStatus;
}

/** The columns of a {@link ConflictRow}, from `refused_documents AS r`. */
export const CONFLICT = `r.id, coalesce(r.document_id, r.id) AS document_id, r.conflict_of, r.sha256, r.received_at, r.xml_path,
  coalesce(r.certificate_subject, '') AS certificate_subject, coalesce(r.certificate_serial, '') AS certificate_serial,
  coalesce(r.certificate_fingerprint, '') AS certificate_fingerprint, r.certificate_holder, r.certificate_issuer,
  r.certificate_key, r.certificate_trusted,
  coalesce((SELECT c.status FROM confirmations c WHERE c.document_id = r.document_id), '${NOT_AVAILABLE}') AS authority_status`;

export function fromUnkeptRow(row: ConflictRow): UnkeptConflict {
  return {
    id: row.document_id,
    sha256: row.sha256,
    receivedAt: row.received_at,
    signer: fromSignerColumns(row),
    authorityStatus: row.authority_status,
  };
}

export function fromConflictRow(row: ConflictRow): Conflict {
  return { ...fromUnkeptRow(row), xmlPath: row.xml_path as string };
}

/** Columns of a refusal, in the order of {@link refusedValues}. */
export const REFUSED_COLUMNS = [
  'env',
  'buyer_rnc',
  'issuer_rnc',
  'encf',
  'motive',
  'reason',
  'faults',
  'received_at',
  'bytes',
  'sha256',
  'xml_path',
  'arecf_path',
  'arecf_sha256',
  'acknowledged_at',
  'certificate_subject',
  'certificate_serial',
  'certificate_fingerprint',
  'certificate_holder',
  'certificate_issuer',
  'certificate_key',
  'certificate_trusted',
  'content_sha256',
  'holder_id',
  'request_id',
  'sender',
  'conflict_of',
  'document_id',
] as const;

/** @param documentId its id among those of received documents, where it competes for a number */
export function refusedValues(
  refusal: NewRefusedDocument,
  conflictOf: number | null,
  documentId: number | null,
): unknown[] {
  const { key, signer } = refusal;
  return [
    key.env,
    key.buyerRnc,
    key.issuerRnc,
    key.encf,
    refusal.motive,
    refusal.reason,
    JSON.stringify(refusal.faults),
    refusal.receivedAt,
    refusal.bytes,
    refusal.sha256,
    refusal.xmlPath,
    refusal.acknowledgement.path,
    refusal.acknowledgement.sha256,
    refusal.acknowledgedAt,
    signer?.subject ?? null,
    signer?.serialNumber ?? null,
    signer?.fingerprint ?? null,
    signer?.holderId ?? null,
    signer?.issuer ?? '',
    signer?.keyFingerprint ?? '',
    signer?.trusted ?? null,
    refusal.contentSha256,
    refusal.holderId,
    refusal.origin.requestId,
    refusal.origin.sender,
    conflictOf,
    documentId,
  ];
}

import type {
  Approval,
  ApprovalRequest,
  ApprovalStatus,
  AuthoritySubmissionStatus,
  IssuerDeliveryStatus,
} from '@ecf/contracts';
import { type Environment, toIsoDominican } from '@ecf/domain';
import type { StoredBytes } from '../sending/outgoing.js';

/** The received e-CF of a decision. */
export interface DecisionKey {
  readonly env: Environment;
  readonly buyerRnc: string;
  readonly issuerRnc: string;
  readonly encf: string;
}

/** A buyer's decision, as its ACECF states it. */
export interface Decision {
  /** Estado: 1 approved, 2 rejected. */
  readonly decision: 1 | 2;
  readonly rejectionCode: number | null;
  readonly rejectionDescription: string | null;
  readonly decidedAt: Date;
  /** `YYYY-MM-DD` */
  readonly dateIssued: string;
  /** Two decimals. */
  readonly totalAmount: string;
}

/** A signed ACECF before it has an id. */
export interface NewApproval extends Decision {
  readonly key: DecisionKey;
  readonly accountId: string;
  /** Id of the API key that made it; null if unknown. */
  readonly createdBy?: string | null;
  readonly ecfDocumentId: number | null;
  readonly warnings: readonly string[];
  readonly xml: StoredBytes;
  readonly createdAt: Date;
}

/** The state of an ACECF at the authority. */
export interface AuthoritySide {
  /** Null until it is to be sent. `failed`: no send so far arrived, or none can. */
  readonly status: AuthoritySubmissionStatus | null;
  readonly response: string | null;
  readonly sentAt: Date | null;
  /** Sends begun. */
  readonly tries: number;
}

/** The state of an ACECF at its issuer. */
export interface IssuerSide {
  /** Null if it does not go there. */
  readonly status: IssuerDeliveryStatus | null;
  readonly error: string | null;
  readonly sentAt: Date | null;
  /** Sends begun since sending was last requested. */
  readonly tries: number;
  /** A send ended without a record, or a restore lost the record, so the issuer may have it. */
  readonly uncertain: boolean;
}

/** A commercial approval (Aprobación Comercial, ACECF) that one of our taxpayers gave. */
export interface GivenApproval extends NewApproval {
  readonly id: number;
  readonly authority: AuthoritySide;
  readonly issuer: IssuerSide;
  /** When sending was requested; null for a local record. */
  readonly submittedAt: Date | null;
  /** When another document took the number of the one that it answered; null if it answers the present one. */
  readonly supersededAt: Date | null;
  /** An operator's note on the decision at the authority; it is final. */
  readonly settled: { readonly at: Date; readonly note: string } | null;
}

/** What a request may leave out, because a received e-CF states it. */
export interface ApprovedInvoice {
  /** `YYYY-MM-DD` */
  readonly dateIssued: string;
  readonly totalAmount: string;
}

/** The decision of a request that passed its schema. A request that states no time decides now. */
export function decisionOf(request: ApprovalRequest, invoice: ApprovedInvoice, now: Date): Decision {
  const [whole, cents = ''] = invoice.totalAmount.split('.') as [string, string?];
  return {
    decision: request.approval_status,
    rejectionCode: request.rejection_code,
    rejectionDescription: request.rejection_description,
    decidedAt: instantOf(request.approval_datetime ?? now.toISOString()),
    dateIssued: invoice.dateIssued,
    totalAmount: `${whole.replace(/^0+(\d)/, '$1')}.${cents.padEnd(2, '0')}`,
  };
}

/** A timestamp without offset is Dominican time. Documents carry whole seconds. */
function instantOf(timestamp: string): Date {
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(timestamp) ? timestamp : `${timestamp}-04:00`;
  return new Date(Math.floor(Date.parse(zoned) / 1_000) * 1_000);
}

/** Whether two decisions make the very same document. */
export function sameDecision(one: Decision, other: Decision): boolean {
  return (
    one.decision === other.decision &&
    one.rejectionCode === other.rejectionCode &&
    one.rejectionDescription === other.rejectionDescription &&
    one.decidedAt.getTime() === other.decidedAt.getTime() &&
    one.dateIssued === other.dateIssued &&
    one.totalAmount === other.totalAmount
  );
}

/** The word of `approval_status` for a decision. */
export function statusWord(decision: 1 | 2): Exclude<ApprovalStatus, 'pending'> {
  return decision === 1 ? 'approved' : 'rejected';
}

/** The record as the interface shows it. */
export function publicApproval(approval: GivenApproval): Approval {
  const { key, authority, issuer } = approval;
  return {
    id: approval.id,
    ecf_document_id: approval.ecfDocumentId,
    version: '1.0',
    issuer_rnc: key.issuerRnc,
    receiver_rnc: key.buyerRnc,
    encf: key.encf,
    approval_status: approval.decision,
    rejection_code: approval.rejectionCode,
    rejection_description: approval.rejectionDescription,
    approval_datetime: toIsoDominican(approval.decidedAt),
    authority_environment: key.env,
    invoice_date_issued: approval.dateIssued,
    invoice_total_amount: approval.totalAmount,
    xml_storage_path: approval.xml.path,
    xml_checksum: approval.xml.sha256,
    xml_schema_version: '1.0',
    sent_to_authority: authority.sentAt !== null,
    sent_to_authority_at: isoOrNull(authority.sentAt),
    authority_submission_status: authority.status,
    authority_response: authority.response,
    sent_to_issuer: issuer.sentAt !== null,
    sent_to_issuer_at: isoOrNull(issuer.sentAt),
    issuer_delivery_status: issuer.status,
    issuer_delivery_error: issuer.error,
    warnings: [...approval.warnings],
    superseded: approval.supersededAt !== null,
    created_at: toIsoDominican(approval.createdAt),
    created_by: approval.createdBy ?? null,
  };
}

function isoOrNull(at: Date | null): string | null {
  return at === null ? null : toIsoDominican(at);
}

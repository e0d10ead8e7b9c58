import { hash } from 'node:crypto';
import {
  type DocumentNode,
  formatDocumentDate,
  formatSignatureDateTime,
  isStillToCome,
  toCalendarDate,
  withLineFeeds,
} from '@ecf/domain';
import { examineJson, writeXml } from '@ecf/ecf-xml';
import { refusalFolder } from '@ecf/public-ingress/stored-bytes-quota';
import { type SigningCertificate, signXml } from '@ecf/xml-signing';
import { FieldsRefused } from '../errors.js';
import type { Decision, DecisionKey } from './given-approval.js';

/** Texts of rejection codes 1 and 2; the buyer describes code 3. The document has no element for a code. */
const REASONS: Readonly<Record<number, string>> = {
  1: 'Bienes o servicios no recibidos',
  2: 'Bienes o servicios defectuosos',
};

/** The text of DetalleMotivoRechazo; null for an approval. CR becomes LF, as the software of the issuer reads it. */
export function rejectionReason(decision: Decision): string | null {
  if (decision.decision === 1) return null;
  return REASONS[decision.rejectionCode ?? 3] ?? withLineFeeds(decision.rejectionDescription ?? '');
}

/** The tree of an approval. Source: Formato Aprobación Comercial v1.0 pp.4-5. */
function approvalTree(key: DecisionKey, decision: Decision): DocumentNode {
  const reason = rejectionReason(decision);
  return {
    ACECF: {
      DetalleAprobacionComercial: {
        Version: '1.0',
        RNCEmisor: key.issuerRnc,
        eNCF: key.encf,
        FechaEmision: formatDocumentDate(decision.dateIssued),
        MontoTotal: decision.totalAmount,
        RNCComprador: key.buyerRnc,
        Estado: String(decision.decision),
        ...(reason === null ? {} : { DetalleMotivoRechazo: reason }),
        FechaHoraAprobacionComercial: formatSignatureDateTime(decision.decidedAt),
      },
    },
  };
}

/** The request's field of each element. */
const FIELDS: Readonly<Record<string, string>> = {
  RNCEmisor: 'issuer_rnc',
  eNCF: 'encf',
  FechaEmision: 'invoice_date_issued',
  MontoTotal: 'invoice_total_amount',
  RNCComprador: 'receiver_rnc',
  Estado: 'approval_status',
  DetalleMotivoRechazo: 'rejection_description',
  FechaHoraAprobacionComercial: 'approval_datetime',
};

/** Refuses a document that the authority would refuse, and names the fields of the request. Throws FieldsRefused. */
export function checkApproval(key: DecisionKey, decision: Decision, now: Date): void {
  const { faults } = examineJson(approvalTree(key, decision), { now });
  if (faults.length === 0) return;
  throw new FieldsRefused(
    faults.map(({ path, message, rule }) => {
      const element = path.split('.').at(-1) ?? path;
      return { loc: ['body', FIELDS[element] ?? element], msg: message, type: rule };
    }),
  );
}

/**
 * Refuses a decision in the future, because the issuer validates the signature at that time. A decision older than the
 * certificate passes, because the authority accepts it. Throws FieldsRefused.
 */
export function requirePastDecision(decidedAt: Date, now: Date): void {
  if (!isStillToCome(decidedAt, now)) return;
  const msg = 'approval_datetime is in the future; write the time of the decision';
  throw new FieldsRefused([{ loc: ['body', 'approval_datetime'], msg, type: 'future' }]);
}

/** The signed document as bytes. */
export async function signApproval(
  key: DecisionKey,
  decision: Decision,
  certificate: SigningCertificate,
): Promise<{ bytes: Uint8Array; sha256: string }> {
  const { xml } = await signXml(writeXml(approvalTree(key, decision)), certificate);
  const bytes = Buffer.from(xml, 'utf8');
  return { bytes, sha256: hash('sha256', bytes, 'hex') };
}

/** Path of an approval that we issued or received: the file name is buyer RNC and eNCF, as the authority names ACECF. */
export function approvalPath(key: DecisionKey, kind: 'issued' | 'received', at: Date, sha256: string): string {
  const holder = kind === 'issued' ? key.buyerRnc : key.issuerRnc;
  const month = toCalendarDate(at).slice(0, 7).replace('-', '/');
  return `${key.env}/acecf/${holder}/${kind}/${month}/${key.buyerRnc}${key.encf}-${sha256}.xml`;
}

/**
 * Path of a refused approval, below the issuer of the e-CF. The sender chooses no part of it, and accepted approvals have other
 * folders.
 */
export function refusedApprovalPath(about: Omit<DecisionKey, 'buyerRnc'>, at: Date, sha256: string): string {
  return `${about.env}/acecf/${about.issuerRnc}/received/${refusalFolder(at, sha256)}/${about.encf}-${sha256}.xml`;
}

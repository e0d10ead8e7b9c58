import { hash } from 'node:crypto';
import {
  checkBusinessRules,
  Decimal,
  type DocumentNode,
  type Fault,
  groupOf,
  parseDocumentDate,
  parseSignatureDateTime,
  textOf,
} from '@ecf/domain';
import { type CanonicalXml, checkXml, readXml, XmlRefused } from '@ecf/ecf-xml';
import {
  parseReceived,
  refusalText,
  type SignatureVerdict,
  type SignerFacts,
  type TrustCheck,
  validateSignature,
} from '@ecf/public-ingress/signed-document';
import { type CertificateFacts, type Verification, verifyXml } from '@ecf/xml-signing';
import { UnreadableApproval } from '../errors.js';

/** The facts of an approval; the signature covers all of them. */
export interface ApprovalFacts {
  readonly issuerRnc: string;
  readonly buyerRnc: string;
  readonly encf: string;
  /** `YYYY-MM-DD` */
  readonly dateIssued: string | null;
  readonly totalAmount: Decimal | null;
  readonly decision: 1 | 2;
  readonly reason: string | null;
  readonly decidedAt: Date | null;
}

/** An approval with a valid structure and signature. */
export interface ValidApproval {
  readonly refusal: null;
  readonly facts: Omit<ApprovalFacts, 'totalAmount'> & { readonly totalAmount: string };
  readonly signer: SignerFacts;
  /** SHA-256 of the verified text and its signature value: the same for equal content, however it is written. */
  readonly contentSha256: string;
  readonly canonical: 'as-is' | 'whitespace-dropped';
}

/** An approval with a fault. `about` names its e-CF, as far as it can be read; no signature proves it. */
export interface InvalidApproval {
  readonly refusal: string;
  readonly about: { readonly issuerRnc: string; readonly encf: string; readonly buyerRnc: string | null } | null;
}

export type ApprovalValidationResult = ValidApproval | InvalidApproval;

export interface ValidateApprovalOptions {
  readonly now: Date;
  readonly trust: TrustCheck;
  readonly maxBytes: number;
}

/** Reasons of refusals in the authority's words. Source: Descripción Técnica v1.6 pp.28-29. */
export const REFUSALS = {
  structure:
    'La estructura del archivo XML no es válido, favor proveer un XML con una estructura válida, verificar el XSD correspondiente',
  signature: 'La firma del XML no es válida',
  notFound: 'Factura no encontrada para esta Aprobación comercial.',
  type: 'Aprobación Comercial no es requerida para este tipo de e-CF',
  invalid: 'No se encuentra un e-CF válido para esta aprobación comercial',
} as const;

const DETAIL = 'ACECF.DetalleAprobacionComercial';

/**
 * Validates a received approval (ACECF) without its context: structure, then signature. The texts are the authority's. The
 * schema forbids an amount without decimals, but the authority sends it, so it is accepted.
 *
 * Throws UnreadableApproval if the bytes are not XML.
 */
export function validateApproval(bytes: Uint8Array, options: ValidateApprovalOptions): ApprovalValidationResult {
  const xml = parse(bytes, options.maxBytes);
  const checked = checkXml(xml);
  const about = quoted(checked.tree);
  if (checked.document !== 'ACECF' || checked.tree === null) return { refusal: REFUSALS.structure, about };
  const { faults, warnings } = checkBusinessRules(checked.tree, { now: options.now });
  // A wrong type is refused later, with its own text. A reason that contradicts the decision leaves the decision open.
  const rules = [
    ...faults.filter(({ rule }) => rule !== 'business.approval-type'),
    ...warnings.filter(({ rule }) => rule.startsWith('business.approval-reason-')),
  ];
  const wrong = [...checked.faults.filter((fault) => !tolerated(fault, checked.tree)), ...rules];
  const [first] = wrong;
  if (first !== undefined) return { refusal: `${REFUSALS.structure}. ${first.path}: ${first.message}`, about };
  const verification = verifyXml(xml, options.now);
  const decidedAt = factsOf(checked.tree)?.decidedAt ?? options.now;
  const { doubt, signer } = validateSigner(verification, decidedAt, options);
  if (doubt !== null) return { refusal: REFUSALS.signature, about };
  const { verified, canonical } = verification;
  const facts = verified === null ? null : factsOf(canonical === 'as-is' ? checked.tree : readXml(verified));
  if (signer === null || facts === null || verified === null) return { refusal: REFUSALS.signature, about };
  return {
    refusal: null,
    facts: { ...facts, totalAmount: facts.totalAmount?.toFixed(2) ?? '' },
    signer,
    contentSha256: hash('sha256', `${verified.text}${verification.signatureValue}`, 'hex'),
    canonical: canonical ?? 'as-is',
  };
}

function parse(bytes: Uint8Array, maxBytes: number): CanonicalXml {
  try {
    return parseReceived(bytes, maxBytes);
  } catch (cause) {
    if (!(cause instanceof XmlRefused)) throw cause;
    throw new UnreadableApproval(`xml.${cause.code}`, refusalText(cause), { cause });
  }
}

/**
 * An approval states the time of the decision, and its signature came later. A buyer that renewed its certificate meanwhile
 * signed with the new one. So a certificate counts that is valid at either time.
 */
function validateSigner(
  verification: Verification,
  decidedAt: Date,
  { now, trust }: ValidateApprovalOptions,
): SignatureVerdict {
  const { certificate } = verification;
  if (certificate === null || certificate.valid_at_signing || !isValidAt(certificate, now))
    return validateSignature(verification, decidedAt, trust, now);
  return validateSignature(
    { ...verification, certificate: { ...certificate, valid_at_signing: true } },
    now,
    trust,
    now,
  );
}

function isValidAt({ not_before: first, not_after: last }: CertificateFacts, at: Date): boolean {
  return Date.parse(first) <= at.getTime() && at.getTime() <= Date.parse(last);
}

function tolerated(fault: Fault, tree: DocumentNode | null): boolean {
  if (fault.path !== `${DETAIL}.MontoTotal`) return false;
  return /^\s*\d{1,16}(\.\d{1,2})?\s*$/.test(textOf(detailOf(tree), 'MontoTotal') ?? '');
}

function detailOf(tree: DocumentNode | null): DocumentNode | null {
  return groupOf(groupOf(tree, 'ACECF'), 'DetalleAprobacionComercial');
}

function quoted(tree: DocumentNode | null): InvalidApproval['about'] {
  const detail = detailOf(tree);
  const text = (name: string) => textOf(detail, name)?.trim() ?? '';
  const [issuerRnc, encf, buyerRnc] = [text('RNCEmisor'), text('eNCF'), text('RNCComprador')];
  if (!/^(\d{9}|\d{11})$/.test(issuerRnc) || !/^E\d{12}$/.test(encf)) return null;
  return { issuerRnc, encf, buyerRnc: /^(\d{9}|\d{11})$/.test(buyerRnc) ? buyerRnc : null };
}

function factsOf(tree: DocumentNode): ApprovalFacts | null {
  const detail = detailOf(tree);
  const text = (name: string) => textOf(detail, name)?.trim() ?? '';
  const decision = Number(text('Estado'));
  if (decision !== 1 && decision !== 2) return null;
  return {
    issuerRnc: text('RNCEmisor'),
    buyerRnc: text('RNCComprador'),
    encf: text('eNCF'),
    dateIssued: parseDocumentDate(text('FechaEmision')),
    totalAmount: Decimal.parse(text('MontoTotal')),
    decision,
    reason: textOf(detail, 'DetalleMotivoRechazo'),
    decidedAt: parseSignatureDateTime(text('FechaHoraAprobacionComercial')),
  };
}

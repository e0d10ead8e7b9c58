import type { ApprovalStatus, DeliveryChanged, Invoice, InvoiceChanged } from '@ecf/contracts';
import {
  APPROVABLE_TYPES,
  canTransition,
  EMISSION_STATES,
  type EmissionState,
  environmentRun,
  storedEnvironment,
  toIsoDominican,
} from '@ecf/domain';
import type { Selectable } from 'kysely';
import type { Invoice as InvoiceRow } from '../generated/tables.js';

/** The read model of an issued document: its row. */
export type IssuedInvoice = Readonly<Selectable<InvoiceRow>>;

/** The key of an issued document; `env` names the certification run, as {@link storedEnvironment} writes it. */
export type InvoiceKey = Pick<IssuedInvoice, 'env' | 'issuerRnc' | 'encf'>;

/** The read model of an event. */
export function issuedInvoice(event: InvoiceChanged): IssuedInvoice {
  const facts = EMISSION_STATES[event.state as EmissionState] as (typeof EMISSION_STATES)[EmissionState] | undefined;
  return {
    env: storedEnvironment({ env: event.env, run: event.run ?? 1 }),
    issuerRnc: event.issuer_rnc,
    encf: event.encf,
    id: event.id,
    revision: event.revision,
    listed: true,
    settled: facts?.decided === true && !canTransition(event.state as EmissionState, 'new-attempt'),
    ecfType: event.ecf_type,
    route: event.route,
    status: event.status,
    code: event.code,
    messages: event.messages,
    sequenceUsed: event.sequence_used,
    trackId: event.track_id,
    buyerRnc: event.buyer_rnc,
    buyerName: event.buyer_name,
    dateIssued: event.date_issued,
    createdAt: new Date(event.created_at),
    signedAt: new Date(event.signed_at),
    totalAmount: event.total_amount,
    totalItbis: event.total_itbis,
    modifiedEncf: event.modified_encf,
    reference: event.reference ?? null,
    submittedBy: event.submitted_by ?? null,
    requestId: event.request_id ?? null,
    contingency: event.contingency !== undefined && event.contingency !== null,
    securityCode: event.security_code,
    qrUrl: event.qr_url,
    xmlPath: event.xml_storage_path,
    xmlChecksum: event.xml_checksum,
    rfcePath: event.rfce_storage_path,
    rfceChecksum: event.rfce_checksum,
    attempts: event.attempts,
  };
}

/** False if the event had no room for all submissions or messages. */
export function isComplete(attempts: IssuedInvoice['attempts']): boolean {
  return attempts.every((attempt) => attempt.messages_cut !== true && attempt.earlier_omitted === undefined);
}

/** Reports of other services about an issued document; null before the first report. */
export interface Outcome {
  readonly delivery: DeliveryChanged['delivery_status'] | null;
  readonly decision: ApprovalStatus | null;
  /** A known signer made the decision. */
  readonly confirmed: boolean;
}

/** Types that go to a buyer's receiver, and that the buyer may approve. Source: Descripción Técnica v1.6 pp.42-46. */
const SENT_TO_BUYERS: ReadonlySet<string> = new Set(APPROVABLE_TYPES);

/** The Invoice of the public interface. A list or a single answer adds `superseded`. */
export function publicInvoice(invoice: IssuedInvoice, { delivery, decision, confirmed }: Outcome): Invoice {
  const goesToBuyer = SENT_TO_BUYERS.has(invoice.ecfType);
  const awaited = goesToBuyer && invoice.buyerRnc !== null && invoice.status !== 'Rechazado';
  return {
    id: invoice.id,
    encf: invoice.encf,
    ecf_type: invoice.ecfType,
    ...environmentRun(invoice.env),
    issuer_rnc: invoice.issuerRnc,
    buyer_rnc: invoice.buyerRnc,
    buyer_name: invoice.buyerName,
    date_issued: invoice.dateIssued,
    created_at: toIsoDominican(invoice.createdAt),
    signed_at: toIsoDominican(invoice.signedAt),
    total_amount: invoice.totalAmount,
    total_itbis: invoice.totalItbis,
    status: invoice.status,
    code: invoice.code,
    messages: invoice.messages,
    track_id: invoice.trackId,
    security_code: invoice.securityCode,
    qr_url: invoice.qrUrl,
    route: invoice.route,
    sequence_used: invoice.sequenceUsed,
    delivery_status: delivery ?? (awaited ? 'pending' : 'not_required'),
    approval_status: decision ?? (goesToBuyer ? 'pending' : null),
    approval_confirmed: confirmed,
    xml_storage_path: invoice.xmlPath,
    xml_checksum: invoice.xmlChecksum,
    modified_encf: invoice.modifiedEncf,
    reference: invoice.reference,
    submitted_by: invoice.submittedBy,
    request_id: invoice.requestId,
  };
}

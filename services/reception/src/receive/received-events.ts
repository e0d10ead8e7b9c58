import type { BusEvent } from '@ecf/bus';
import { makeEvent } from '@ecf/bus/events';
import { documentKey, type ReceivedInvoiceChanged, type ReceivedRefused, TOPICS } from '@ecf/contracts';
import { environmentRun, toIsoDominican } from '@ecf/domain';
import { type Conflict, type NewRefusedDocument, type ReceivedDocument, signerOf } from './received-document.js';

export type ReceivedEventType = 'received_invoice.changed' | 'received.confirmed' | 'received.disputed';

/** An event that publishes the present state of a received document. */
export function receivedEvent(
  document: ReceivedDocument,
  conflicts: readonly Conflict[],
  stamp: { id: string; time: Date },
  type: ReceivedEventType = 'received_invoice.changed',
): BusEvent {
  const data = receivedInvoiceChanged(document, conflicts);
  return makeEvent({ topic: TOPICS.receivedInvoices.name, type, ...addressOf(data), data }, stamp);
}

/** The event `received.refused`; none if no account gets it. */
export function refusalEvents(refusal: NewRefusedDocument, id: string): BusEvent[] {
  if (refusal.notify === null) return [];
  const data: ReceivedRefused = {
    ...refusal.notify,
    env: refusal.env,
    issuer_rnc: refusal.issuerRnc,
    encf: refusal.encf,
    buyer_rnc: refusal.buyerRnc,
    date_received: toIsoDominican(refusal.receivedAt),
    rejection_code: refusal.motive,
    rejection_reason: refusal.reason,
    xml_checksum: refusal.sha256,
    arecf_storage_path: refusal.arecfPath,
    arecf_checksum: refusal.arecfSha256,
  };
  const draft = { topic: TOPICS.refusals.name, type: 'received.refused', ...addressOf(data), data };
  return [makeEvent(draft, { id, time: refusal.acknowledgedAt })];
}

function addressOf(data: Parameters<typeof documentKey>[0]) {
  return { source: 'reception', subject: `${data.issuer_rnc}:${data.encf}`, key: documentKey(data) };
}

/** The data of `received_invoice.changed`, `received.confirmed` and `received.disputed`. */
export function receivedInvoiceChanged(
  document: ReceivedDocument,
  conflicts: readonly Conflict[],
): ReceivedInvoiceChanged {
  const signer = signerOf(document);
  const time = (at: Date | null) => (at === null ? null : toIsoDominican(at));
  return {
    id: document.id,
    env: environmentRun(document.env).env,
    issuer_rnc: document.issuerRnc,
    encf: document.encf,
    buyer_rnc: document.buyerRnc,
    account_id: document.accountId,
    revision: document.revision,
    ecf_type: document.ecfType,
    issuer_name: document.issuerName,
    buyer_name: document.buyerName,
    date_received: toIsoDominican(document.receivedAt),
    date_issued: document.dateIssued,
    total_amount: document.totalAmount,
    total_itbis: document.totalItbis,
    modified_encf: document.modifiedEncf,
    signature_datetime: document.signatureDatetime,
    xml_storage_path: document.xmlPath,
    xml_checksum: document.xmlSha256,
    arecf_storage_path: document.arecfPath,
    arecf_checksum: document.arecfSha256,
    acknowledged_at: toIsoDominican(document.acknowledgedAt),
    certificate_subject: signer.subject,
    signer: {
      subject: signer.subject,
      serial_number: signer.serialNumber,
      issuer: signer.issuer,
      fingerprint: signer.fingerprint,
      key_fingerprint: signer.keyFingerprint,
      holder_id: signer.holderId,
      trusted: signer.trusted,
    },
    authority_status: document.authorityStatus,
    authority_checked_at: time(document.authorityCheckedAt),
    promoted_at: time(document.promotedAt),
    approval_status: document.approvalStatus,
    approval_confirmed: document.approvalStatus !== 'pending',
    approval_datetime: time(document.approvalDatetime),
    observations: [...document.observations],
    conflicts: conflicts.map((conflict) => ({
      id: conflict.id,
      sha256: conflict.sha256,
      date_received: toIsoDominican(conflict.receivedAt),
      certificate_subject: conflict.certificateSubject,
      xml_storage_path: conflict.xmlPath,
      authority_status: conflict.authorityStatus,
    })),
  };
}

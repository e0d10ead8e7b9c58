import type { ApprovalReceipt, InvoiceChanged } from '@ecf/contracts';
import { APPROVABLE_TYPES, Decimal, type Environment, encfType } from '@ecf/domain';
import { createReceivedBytesQuota, createRefusedBytesQuota, type Unkept } from '@ecf/public-ingress/stored-bytes-quota';
import { approvalPath, refusedApprovalPath, sha256Of } from '../given/approval-document.js';
import type { DecisionKey } from '../given/given-approval.js';
import type { NewReceivedApproval, Ports } from '../ports.js';
import { REFUSALS, repeatedRefusal } from './approval-refusals.js';
import type { ApprovalValidationResult, ValidApproval } from './validate-approval.js';

/** An approval as it came in. */
export interface ApprovalArrival {
  readonly bytes: Uint8Array;
  readonly env: Environment;
  readonly arrivedAt: Date;
  readonly requestId: string;
  readonly sender: string | null;
  /** Network of the sender, by which quotas count: an IPv4 address or an IPv6 /48. */
  readonly network: string;
}

/** The answer to the sender. */
export interface ApprovalOutcome {
  readonly receipt: ApprovalReceipt;
  /** Null where the approval is accepted. */
  readonly refusal: string | null;
  /** Why the bytes of a refused approval of an e-CF of ours were not kept; null where they were. */
  readonly unkept: Unkept | null;
}

export type ReceiveApproval = (arrival: ApprovalArrival) => Promise<ApprovalOutcome>;

type ReceivePorts = Pick<Ports, 'received' | 'validation' | 'quotas' | 'emission' | 'settings' | 'clock'>;

/**
 * Receives a buyer's approval or rejection of an e-CF of ours (Aprobación Comercial). Order of the checks: structure,
 * signature, type, known and ours, buyer with date and amount, not answered before. The e-CF that a note modifies does not
 * matter: the authority's certification set approves notes on 32 and 46. Bytes, record and event are durable when it resolves.
 *
 * Throws UnreadableApproval where the bytes are not XML, DailyBytesUsed where the sender's daily quota is used up, and the error
 * of emission where emission cannot be queried.
 */
export function createReceiveApproval(ports: ReceivePorts): ReceiveApproval {
  const { quotas, settings } = ports;
  const receivedQuota = createReceivedBytesQuota(quotas, settings.maxReceivedBytesPerSender);
  const refusedQuota = createRefusedBytesQuota(quotas, settings);

  async function receive(arrival: ApprovalArrival): Promise<ApprovalOutcome> {
    const validation = await ports.validation.approval(arrival.bytes, ports.clock());
    const about = validation.refusal === null ? validation.facts : validation.about;
    const invoice = about === null ? null : await findInvoice(arrival.env, about.issuerRnc, about.encf);
    const refusal = refusalOf(validation, invoice);
    if (refusal === null && validation.refusal === null && invoice !== null) {
      if (await accept(arrival, validation, invoice)) return TAKEN;
      return refuse(arrival, validation, invoice, repeatedRefusal(invoice.encf));
    }
    return refuse(arrival, validation, invoice, refusal ?? REFUSALS.notFound);
  }

  async function findInvoice(env: Environment, issuerRnc: string, encf: string): Promise<InvoiceChanged | null> {
    const { invoices } = await ports.emission.findInvoices({ env, numbers: [{ issuer_rnc: issuerRnc, encf }] });
    return invoices[0] ?? null;
  }

  async function accept(
    arrival: ApprovalArrival,
    validation: ValidApproval,
    invoice: InvoiceChanged,
  ): Promise<boolean> {
    const { facts } = validation;
    const key = { env: arrival.env, buyerRnc: facts.buyerRnc, issuerRnc: facts.issuerRnc, encf: facts.encf };
    if ((await ports.received.find(key)) !== null) return false;
    const { bytes, arrivedAt: receivedAt, network } = arrival;
    await receivedQuota.take({ bytes: bytes.length, receivedAt, network });
    const sha256 = sha256Of(arrival.bytes);
    const path = approvalPath(key, 'received', arrival.arrivedAt, sha256);
    const approval: NewReceivedApproval = {
      key,
      accountId: invoice.account_id,
      decision: facts.decision,
      reason: facts.reason,
      decidedAt: facts.decidedAt ?? arrival.arrivedAt,
      receivedAt: arrival.arrivedAt,
      bytes: bytes.length,
      xml: { path, sha256 },
      signer: validation.signer,
      canonical: validation.canonical,
      requestId: arrival.requestId,
      sender: arrival.sender,
    };
    return ports.received.add(approval, bytes);
  }

  /** Records the refusal of an approval of an e-CF of ours. Other refusals only write a log line. */
  async function refuse(
    arrival: ApprovalArrival,
    validation: ApprovalValidationResult,
    invoice: InvoiceChanged | null,
    reason: string,
  ): Promise<ApprovalOutcome> {
    const receipt: ApprovalReceipt = { codigo: '2', estado: 'Aprobacion Comercial Rechazada', mensaje: [reason] };
    if (invoice === null) return { receipt, refusal: reason, unkept: null };
    const { env, arrivedAt: receivedAt, bytes, requestId, sender } = arrival;
    const about = { env, issuerRnc: invoice.issuer_rnc, encf: invoice.encf };
    const sha256 = sha256Of(bytes);
    const { path: xmlPath, unkept } = await keepRefused(arrival, about, sha256);
    const buyerRnc = validation.refusal === null ? validation.facts.buyerRnc : (validation.about?.buyerRnc ?? null);
    const refused = { buyerRnc, reason, receivedAt, bytes: bytes.length, sha256, xmlPath, requestId, sender };
    await ports.received.refuse({ ...about, ...refused }, bytes);
    return { receipt, refusal: reason, unkept };
  }

  /** Bytes that are stored already are not stored again; others count against the quotas. */
  async function keepRefused(
    { bytes, arrivedAt: receivedAt, network }: ApprovalArrival,
    about: Omit<DecisionKey, 'buyerRnc'>,
    sha256: string,
  ): Promise<{ path: string | null; unkept: Unkept | null }> {
    const taken = await ports.received.find(about);
    if (taken?.xml.sha256 === sha256) return { path: taken.xml.path, unkept: null };
    const unkept = await refusedQuota.take({ bytes: bytes.length, receivedAt, network });
    if (unkept !== null) return { path: null, unkept };
    return { path: refusedApprovalPath(about, receivedAt, sha256), unkept };
  }

  return receive;
}

const TAKEN: ApprovalOutcome = {
  receipt: { codigo: '1', estado: 'Aprobacion Comercial Aceptada', mensaje: [] },
  refusal: null,
  unkept: null,
};

function refusalOf(validation: ApprovalValidationResult, invoice: InvoiceChanged | null): string | null {
  if (validation.refusal !== null) return validation.refusal;
  const { facts } = validation;
  if (!isApprovable(facts.encf)) return REFUSALS.type;
  if (invoice === null) return REFUSALS.notFound;
  const total = Decimal.parse(facts.totalAmount);
  const same =
    // Only what the authority accepted can be answered (IT p.18); until then the number may come to hold another document.
    (invoice.status === 'Aceptado' || invoice.status === 'AceptadoCondicional') &&
    invoice.buyer_rnc === facts.buyerRnc &&
    invoice.date_issued === facts.dateIssued &&
    total?.equals(Decimal.parse(invoice.total_amount) ?? Decimal.ZERO) === true;
  return same ? null : REFUSALS.invalid;
}

function isApprovable(encf: string): boolean {
  return (APPROVABLE_TYPES as readonly string[]).includes(encfType(encf) ?? '');
}

import { hash } from 'node:crypto';
import type { ApprovalReceipt, EmissionOperations, InvoiceChanged } from '@ecf/contracts';
import { APPROVABLE_TYPES, Decimal, type Environment, encfType } from '@ecf/domain';
import type { QuotaStore, StoredBytesLimits } from '@ecf/public-ingress';
import { createStoredBytesQuota, type Storer, signedStorer } from '@ecf/public-ingress/stored-bytes-quota';
import { approvalPath, refusedApprovalPath } from '../given/approval-document.js';
import type { DecisionKey } from '../given/given-approval.js';
import type { ApprovalValidation, KnownSigners, ReceivedApprovalStore } from './ports.js';
import { type NewReceivedApproval, replaces } from './received-approval.js';
import { type ApprovalValidationResult, REFUSALS, type ValidApproval } from './validate-approval.js';

/** An approval as it came in. */
export interface ApprovalArrival {
  readonly bytes: Uint8Array;
  readonly env: Environment;
  readonly arrivedAt: Date;
  readonly requestId: string;
  readonly sender: string | null;
  /** The name by which quotas count the sender. */
  readonly quotaSender: string;
}

/** Why the bytes of a refused approval are not kept. */
export type Unkept = 'size';

/** The answer to the sender. */
export interface ApprovalOutcome {
  readonly receipt: ApprovalReceipt;
  /** Null where the approval is accepted. */
  readonly refusal: string | null;
  /** Why the bytes of a refused approval of one of our e-CF were not kept; null where they were. */
  readonly unkept: Unkept | null;
}

export type ReceiveApproval = (arrival: ApprovalArrival) => Promise<ApprovalOutcome>;

/** The approximate size of a refusal's record in the database. */
const RECORD_BYTES = 1_000;

export interface ReceiveApprovalParts {
  readonly received: ReceivedApprovalStore;
  readonly validation: ApprovalValidation;
  readonly quotas: QuotaStore;
  readonly signers: Pick<KnownSigners, 'areKnown'>;
  readonly emission: Pick<EmissionOperations, 'findInvoices'>;
  /** `maxRefusedBytes`: longest refused approval that is kept. */
  readonly settings: StoredBytesLimits & { readonly maxRefusedBytes: number };
  readonly clock: () => Date;
}

/**
 * Receives a buyer's approval or rejection of one of our e-CF (Aprobación Comercial). Order of the checks: structure,
 * signature, type, issued by us, buyer with date and amount, not answered before. The e-CF that a note modifies does not
 * matter: the authority's certification set approves notes on 32 and 46. Bytes, record and event are durable when it resolves.
 *
 * A signature proves that the document is whole, not that its signer acts for the buyer. So the answer of a signer who is not
 * known for the buyer counts as unconfirmed, and the first answer of a known one replaces it. An answer that does not count is
 * kept beside it.
 *
 * Throws UnreadableApproval where the bytes are not XML, StoredBytesUsed where a quota of kept bytes is used up, and the error
 * of emission where emission cannot be queried.
 */
export function createReceiveApproval(ports: ReceiveApprovalParts): ReceiveApproval {
  const { quotas, settings } = ports;
  const stored = createStoredBytesQuota(quotas, settings);

  async function receive(arrival: ApprovalArrival): Promise<ApprovalOutcome> {
    const validation = await ports.validation.approval(arrival.bytes, ports.clock());
    const about = validation.refusal === null ? validation.facts : validation.about;
    const invoice = about === null ? null : await findInvoice(arrival.env, about.issuerRnc, about.encf);
    const refusal = refusalOf(validation, invoice);
    if (refusal === null && validation.refusal === null && invoice !== null) {
      const answer = await answerOf(arrival, validation, invoice);
      if (await accept(arrival, answer)) return TAKEN;
      return refuse(arrival, { invoice, answer, buyerRnc: answer.key.buyerRnc }, repeatedRefusal(invoice.encf));
    }
    const buyerRnc = about?.buyerRnc ?? null;
    return refuse(arrival, { invoice, answer: null, buyerRnc }, refusal ?? REFUSALS.notFound);
  }

  async function findInvoice(env: Environment, issuerRnc: string, encf: string): Promise<InvoiceChanged | null> {
    const { invoices } = await ports.emission.findInvoices({ env, numbers: [{ issuer_rnc: issuerRnc, encf }] });
    return invoices[0] ?? null;
  }

  async function answerOf(
    arrival: ApprovalArrival,
    { facts, signer, contentSha256, canonical }: ValidApproval,
    invoice: InvoiceChanged,
  ): Promise<NewReceivedApproval> {
    const { env, bytes, arrivedAt, requestId, sender } = arrival;
    const key = { env, buyerRnc: facts.buyerRnc, issuerRnc: facts.issuerRnc, encf: facts.encf };
    const sha256 = hash('sha256', bytes, 'hex');
    return {
      key,
      accountId: invoice.account_id,
      decision: facts.decision,
      reason: facts.reason,
      decidedAt: facts.decidedAt ?? arrivedAt,
      receivedAt: arrivedAt,
      bytes: bytes.length,
      xml: { path: approvalPath(key, 'received', arrivedAt, sha256), sha256 },
      signer,
      confirmed: (await ports.signers.areKnown([{ env, rnc: key.buyerRnc, signer, at: arrivedAt }])).includes(true),
      contentSha256,
      canonical,
      requestId,
      sender,
    };
  }

  async function accept(arrival: ApprovalArrival, answer: NewReceivedApproval): Promise<boolean> {
    if (!replaces(answer, await ports.received.find(answer.key))) return false;
    await stored.take(storerOf(arrival, answer), arrival.bytes.length);
    return ports.received.add(answer, arrival.bytes);
  }

  /** Records the refusal of an approval of one of our e-CF. Other refusals only write a log line. */
  async function refuse(
    arrival: ApprovalArrival,
    { invoice, answer, buyerRnc }: Refused,
    reason: string,
  ): Promise<ApprovalOutcome> {
    const receipt: ApprovalReceipt = { codigo: '2', estado: 'Aprobacion Comercial Rechazada', mensaje: [reason] };
    if (invoice === null) return { receipt, refusal: reason, unkept: null };
    const { env, arrivedAt: receivedAt, bytes, requestId, sender } = arrival;
    const about = { env, issuerRnc: invoice.issuer_rnc, encf: invoice.encf };
    const equal = answer === null ? null : await ports.received.equalTo(about, answer.contentSha256);
    if (equal !== null) {
      const again = { buyerRnc, reason, receivedAt, bytes: bytes.length, sha256: equal.sha256, xmlPath: equal.path };
      await ports.received.refuse({ ...about, ...again, requestId, sender }, null, null);
      return { receipt, refusal: reason, unkept: null };
    }
    const sha256 = hash('sha256', bytes, 'hex');
    const { path: xmlPath, unkept } = await keepRefused(arrival, about, answer, sha256);
    const refused = { buyerRnc, reason, receivedAt, bytes: bytes.length, sha256, xmlPath, requestId, sender };
    // An answer cannot be shown without its bytes.
    const kept = answer === null || xmlPath === null ? null : { ...answer, xml: { path: xmlPath, sha256 } };
    await ports.received.refuse({ ...about, ...refused }, bytes, kept);
    return { receipt, refusal: reason, unkept };
  }

  /** Identical bytes are stored once. Stored bytes count towards the quotas, and so does a record without bytes. */
  async function keepRefused(
    arrival: ApprovalArrival,
    about: Omit<DecisionKey, 'buyerRnc'>,
    answer: NewReceivedApproval | null,
    sha256: string,
  ): Promise<{ path: string | null; unkept: Unkept | null }> {
    const present = await ports.received.pathOf(about, sha256);
    if (present !== undefined) return { path: present, unkept: present === null ? 'size' : null };
    const { bytes, arrivedAt } = arrival;
    if (bytes.length > settings.maxRefusedBytes) {
      await stored.take(storerOf(arrival, answer), RECORD_BYTES);
      return { path: null, unkept: 'size' };
    }
    await stored.take(storerOf(arrival, answer), bytes.length);
    return { path: refusedApprovalPath(about, arrivedAt, sha256), unkept: null };
  }

  return receive;
}

/** The sender and signer that count for the quotas; an invalid answer has no signer. */
function storerOf(
  { env, arrivedAt: at, quotaSender: sender }: ApprovalArrival,
  answer: NewReceivedApproval | null,
): Storer {
  if (answer === null) return { at, sender, signer: null };
  const { signer, confirmed, key } = answer;
  return signedStorer(sender, { env, rnc: key.buyerRnc, signer, at }, confirmed);
}

interface Refused {
  readonly invoice: InvoiceChanged | null;
  /** A valid answer that does not count. */
  readonly answer: NewReceivedApproval | null;
  readonly buyerRnc: string | null;
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

/** For an e-CF that was answered before. Source: field. */
function repeatedRefusal(encf: string): string {
  return `La aprobación comercial del e-CF ${encf} ya habia sido cargada y aceptada previamente`;
}

function isApprovable(encf: string): boolean {
  return (APPROVABLE_TYPES as readonly string[]).includes(encfType(encf) ?? '');
}

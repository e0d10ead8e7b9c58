import type { ApprovalReceipt, InvoiceChanged } from '@ecf/contracts';
import { APPROVABLE_TYPES, Decimal, type Environment, encfType } from '@ecf/domain';
import { DailyReceivedBytes, DailyRefusedBytes, type Gate, signerFacts, type Unkept } from '@ecf/public-door';
import { approvalPath, refusedApprovalPath, sha256Of } from '../given/approval-document.js';
import type { DecisionKey } from '../given/given-approval.js';
import type { NewReceivedApproval, Ports } from '../ports.js';
import type { ApprovalJudgement, SoundApproval } from './approval-judgement.js';
import { REFUSALS, repeatedRefusal } from './approval-refusals.js';

/** An approval as it came in. */
export interface ApprovalArrival {
  readonly bytes: Uint8Array;
  readonly env: Environment;
  readonly arrivedAt: Date;
  readonly requestId: string;
  readonly sender: string | null;
  /** Network of the sender: an IPv4 address or an IPv6 /48, what limits count by. */
  readonly network: string;
}

/** What the sender is told. */
export interface ApprovalOutcome {
  readonly receipt: ApprovalReceipt;
  /** Null where it is taken. */
  readonly refusal: string | null;
  /** Why the bytes of a refused one about an e-CF of ours were not kept; null where they were. */
  readonly unkept: Unkept | null;
}

type ReceivePorts = Pick<Ports, 'received' | 'judges' | 'budgets' | 'emission' | 'settings' | 'clock'>;

/**
 * Receives a buyer's approval or rejection of an e-CF of ours (Aprobación Comercial). Order: structure, signature, type,
 * known and ours, buyer with date and amount, not answered before. What a note refers to does not matter: the authority's own
 * certification set approves notes on 32 and 46. Bytes, record and event are durable when it resolves.
 *
 * Throws UnreadableApproval for what is no XML, ApiError where too much waits to be recorded or was taken of the sender on this day, and what emission throws where it
 * cannot be asked.
 */
export class ReceiveApproval {
  readonly #room: { readonly received: DailyReceivedBytes; readonly refused: DailyRefusedBytes };

  constructor(
    private readonly ports: ReceivePorts,
    private readonly gate: Gate,
  ) {
    const { budgets, settings } = ports;
    this.#room = {
      received: new DailyReceivedBytes(budgets, settings.maxReceivedBytesPerSender),
      refused: new DailyRefusedBytes(budgets, settings),
    };
  }

  async receive(arrival: ApprovalArrival): Promise<ApprovalOutcome> {
    const judgement = await this.ports.judges.judge(arrival.bytes, this.ports.clock(), arrival.network);
    return this.gate.pass(arrival.network, arrival.bytes.length, () => this.#record(arrival, judgement));
  }

  async #record(arrival: ApprovalArrival, judgement: ApprovalJudgement): Promise<ApprovalOutcome> {
    const about = judgement.refusal === null ? judgement.facts : judgement.about;
    const invoice = about === null ? null : await this.#invoice(arrival.env, about.issuerRnc, about.encf);
    const refusal = refusalOf(judgement, invoice);
    if (refusal === null && judgement.refusal === null && invoice !== null) {
      if (await this.#accept(arrival, judgement, invoice)) return TAKEN;
      return this.#refuse(arrival, judgement, invoice, repeatedRefusal(invoice.encf));
    }
    return this.#refuse(arrival, judgement, invoice, refusal ?? REFUSALS.notFound);
  }

  async #invoice(env: Environment, issuerRnc: string, encf: string): Promise<InvoiceChanged | null> {
    const { invoices } = await this.ports.emission.findInvoices({ env, numbers: [{ issuer_rnc: issuerRnc, encf }] });
    return invoices[0] ?? null;
  }

  async #accept(arrival: ApprovalArrival, judgement: SoundApproval, invoice: InvoiceChanged): Promise<boolean> {
    const { facts } = judgement;
    const key = { env: arrival.env, buyerRnc: facts.buyerRnc, issuerRnc: facts.issuerRnc, encf: facts.encf };
    if ((await this.ports.received.find(key)) !== null) return false;
    const { bytes, arrivedAt: receivedAt, network } = arrival;
    const sent = { bytes: bytes.length, receivedAt, network };
    await this.#room.received.take(sent);
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
      signer: signerFacts(judgement.certificate),
      canonical: judgement.canonical,
      requestId: arrival.requestId,
      sender: arrival.sender,
    };
    let added = false;
    try {
      added = await this.ports.received.add(approval, bytes);
    } finally {
      if (!added) this.#room.received.giveBack(sent);
    }
    return added;
  }

  /** Recorded where it is about an e-CF of ours; what strangers say about nothing leaves a line in the log. */
  async #refuse(
    arrival: ApprovalArrival,
    judgement: ApprovalJudgement,
    invoice: InvoiceChanged | null,
    reason: string,
  ): Promise<ApprovalOutcome> {
    const receipt: ApprovalReceipt = { codigo: '2', estado: 'Aprobacion Comercial Rechazada', mensaje: [reason] };
    if (invoice === null) return { receipt, refusal: reason, unkept: null };
    const { env, arrivedAt: receivedAt, bytes, requestId, sender } = arrival;
    const about = { env, issuerRnc: invoice.issuer_rnc, encf: invoice.encf };
    const sha256 = sha256Of(bytes);
    const { path: xmlPath, unkept } = await this.#keepRefused(arrival, about, sha256);
    const buyerRnc = judgement.refusal === null ? judgement.facts.buyerRnc : (judgement.about?.buyerRnc ?? null);
    const refused = { buyerRnc, reason, receivedAt, bytes: bytes.length, sha256, xmlPath, requestId, sender };
    await this.ports.received.refuse({ ...about, ...refused }, bytes);
    return { receipt, refusal: reason, unkept };
  }

  /** Bytes that were taken before are kept already; others where there is room for them. */
  async #keepRefused(
    { bytes, arrivedAt: receivedAt, network }: ApprovalArrival,
    about: Omit<DecisionKey, 'buyerRnc'>,
    sha256: string,
  ): Promise<{ path: string | null; unkept: Unkept | null }> {
    const taken = await this.ports.received.find(about);
    if (taken?.xml.sha256 === sha256) return { path: taken.xml.path, unkept: null };
    const unkept = await this.#room.refused.take({ bytes: bytes.length, receivedAt, network });
    if (unkept !== null) return { path: null, unkept };
    return { path: refusedApprovalPath(about, receivedAt, sha256), unkept };
  }
}

const TAKEN: ApprovalOutcome = {
  receipt: { codigo: '1', estado: 'Aprobacion Comercial Aceptada', mensaje: [] },
  refusal: null,
  unkept: null,
};

function refusalOf(judgement: ApprovalJudgement, invoice: InvoiceChanged | null): string | null {
  if (judgement.refusal !== null) return judgement.refusal;
  const { facts } = judgement;
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

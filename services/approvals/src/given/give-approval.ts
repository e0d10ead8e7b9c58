import type { TokenProvider } from '@ecf/authority-client';
import { retryAfterSeconds } from '@ecf/authority-client/answers';
import { LoginError } from '@ecf/authority-client/login';
import type {
  ApprovalRequest,
  ReceivedInvoiceChanged,
  ReceptionOperations,
  TaxpayerState,
  ValidationItem,
} from '@ecf/contracts';
import { APPROVABLE_TYPES, Decimal, type Environment, encfType } from '@ecf/domain';
import {
  type AccountPorts,
  type Caller,
  type Certificates,
  type RecordCertificateUse,
  readAccount,
} from '@ecf/taxpayer-replica';
import type { SigningCertificate } from '@ecf/xml-signing';
import { ApprovalsError, FieldsRefused } from '../errors.js';
import type { Claimed } from '../sending/outgoing.js';
import { type Admission, admit, atStoredTime } from './admission.js';
import { approvalPath, checkApproval, requirePastDecision, signApproval } from './approval-document.js';
import {
  type ApprovedInvoice,
  type Decision,
  type DecisionKey,
  decisionOf,
  type GivenApproval,
  type NewApproval,
} from './given-approval.js';
import type { ApprovalStore } from './ports.js';

export interface ApprovalOrder {
  readonly caller: Caller;
  readonly env: Environment;
  readonly request: ApprovalRequest;
  /** False: signed and stored only. */
  readonly submit: boolean;
}

/** Tries of a request: after a concurrent request about the same document it reads the result and starts again. */
const ROUNDS = 3;

export interface GiveApprovalParts extends AccountPorts {
  readonly approvals: Pick<ApprovalStore, 'about' | 'add' | 'submit' | 'find'>;
  readonly certificates: Certificates;
  readonly tokens: Pick<TokenProvider, 'get'>;
  /** Before every signature. */
  readonly recordUse: RecordCertificateUse;
  readonly reception: Pick<ReceptionOperations, 'findReceived'>;
  /** Sends a claimed document; resolves when the send has ended. */
  readonly send: (item: Claimed) => Promise<void>;
  readonly leaseMs: number;
  /** How long a request waits for the issuer's answer after the authority's. */
  readonly issuerWaitMs: number;
  readonly clock: () => Date;
  /** Ends early when the service stops. */
  readonly sleep: (ms: number) => Promise<void>;
}

/**
 * Takes a buyer's decision (`POST /acecf/`): checked, signed and durable before the first byte leaves. Unless it is local, it
 * is then sent to the authority and to the issuer, independently. Resolves with the record, whatever they answer.
 *
 * Throws FieldsRefused, ApprovalsError `taxpayer_not_found`, `already_answered`, `certificate_*`, and, if the authority
 * refuses the login before anything is signed, `login_refused` and `authority_unreachable`.
 */
export type GiveApproval = (order: ApprovalOrder) => Promise<GivenApproval>;

interface Wanted {
  readonly key: DecisionKey;
  readonly decision: Decision;
  readonly buyer: TaxpayerState;
  /** The document as it was received here; null if it was not. */
  readonly found: ReceivedInvoiceChanged | null;
}

export function createGiveApproval(parts: GiveApprovalParts): GiveApproval {
  async function give(order: ApprovalOrder): Promise<GivenApproval> {
    const { request } = order;
    const key: DecisionKey = {
      env: order.env,
      buyerRnc: request.receiver_rnc,
      issuerRnc: request.issuer_rnc,
      encf: request.encf,
    };
    const buyer = await findBuyer(parts, order.caller, key.buyerRnc);
    requireApprovable(key.encf);
    const found = await findReceived(parts, key);
    const decision = decisionOf(request, invoiceOf(request, found), parts.clock());
    requireMatch(request, decision, found);
    checkApproval(key, decision, parts.clock());
    for (let round = 0; round < ROUNDS; round++) {
      const earlier = await parts.approvals.about(key);
      const wanted = request.approval_datetime === null ? atStoredTime(decision, earlier) : decision;
      const given = await follow(order, { key, decision: wanted, buyer, found }, admit(earlier, wanted));
      if (given !== null) return given;
    }
    throw new ApprovalsError(
      'service_unavailable',
      'Too many decisions about this document at the same time; repeat after Retry-After.',
    );
  }

  /** Null if another request decided meanwhile. */
  async function follow(order: ApprovalOrder, wanted: Wanted, admission: Admission): Promise<GivenApproval | null> {
    if (admission.kind === 'answered') throw alreadyAnswered(admission.by);
    if (admission.kind === 'unsent' && !order.submit) return admission.present;
    const certificate = parts.certificates.open(wanted.buyer, parts.clock());
    if (admission.kind === 'new') requirePastDecision(wanted.decision.decidedAt, parts.clock());
    if (order.submit) await requireLogin(parts, order.env, wanted.buyer, certificate);
    const leaseEnd = () => new Date(parts.clock().getTime() + parts.leaseMs);
    const outcome =
      admission.kind === 'unsent'
        ? await parts.approvals.submit(admission.present.id, leaseEnd(), parts.clock())
        : await addSigned(wanted, order.caller, certificate, admission.authorityAlone, () =>
            order.submit ? leaseEnd() : null,
          );
    if ('refused' in outcome) return null;
    await sendAll(outcome.sends);
    return outcome.sends.length > 0 ? ((await parts.approvals.find(outcome.added.id)) ?? outcome.added) : outcome.added;
  }

  /**
   * Starts all sends. Resolves when the authority has answered and the issuer has had its time; a send in flight continues.
   */
  async function sendAll(sends: readonly Claimed[]): Promise<void> {
    const [toAuthority, toIssuer] = (['authority', 'issuer'] as const).map((kind) =>
      Promise.all(sends.filter((item) => item.kind === kind).map(parts.send)),
    );
    await toAuthority;
    await Promise.race([toIssuer, parts.sleep(parts.issuerWaitMs)]);
  }

  async function addSigned(
    { key, decision, buyer, found }: Wanted,
    caller: Caller,
    certificate: SigningCertificate,
    authorityAlone: boolean,
    claimedUntil: () => Date | null,
  ) {
    await parts.recordUse({ account: buyer.account_id, rnc: buyer.rnc, use: 'acecf', certificate });
    const { bytes, sha256 } = await signApproval(key, decision, certificate);
    const createdAt = parts.clock();
    const approval: NewApproval = {
      ...decision,
      key,
      accountId: buyer.account_id,
      createdBy: caller.keyId ?? null,
      ecfDocumentId: found?.id ?? null,
      warnings: warningsOf(found, authorityAlone, decision, certificate),
      xml: { path: approvalPath(key, 'issued', createdAt, sha256), sha256 },
      createdAt,
    };
    return parts.approvals.add(approval, bytes, claimedUntil());
  }

  return give;
}

function warningsOf(
  found: ReceivedInvoiceChanged | null,
  authorityAlone: boolean,
  decision: Decision,
  certificate: SigningCertificate,
) {
  return [
    ...(found === null ? ['This e-CF was not received here, so date and amount could not be compared.'] : []),
    ...(authorityAlone ? ['The issuer may already have this decision, so it is sent to the authority alone.'] : []),
    ...(decision.decidedAt < certificate.notBefore
      ? ['The decision is older than the certificate that signs it; an issuer that compares the two may refuse it.']
      : []),
    ...(decision.rejectionCode === 3 && decision.rejectionDescription?.includes('\r')
      ? [
          'rejection_description holds a carriage return (CR); it is written as a line feed (LF), as recipients read it.',
        ]
      : []),
  ];
}

async function findBuyer(parts: GiveApprovalParts, caller: Caller, rnc: string): Promise<TaxpayerState> {
  const { taxpayers } = await readAccount(parts, caller);
  const buyer = taxpayers.find((taxpayer) => taxpayer.rnc === rnc);
  if (buyer?.active && buyer.account_active) return buyer;
  throw new ApprovalsError(
    'taxpayer_not_found',
    `${rnc} is not an active taxpayer of this account; register it, or use another RNC.`,
  );
}

async function findReceived(
  { reception }: GiveApprovalParts,
  { env, buyerRnc, issuerRnc, encf }: DecisionKey,
): Promise<ReceivedInvoiceChanged | null> {
  const { received } = await reception.findReceived({ env, buyer_rncs: [buyerRnc], issuer_rnc: issuerRnc, encf });
  return received[0] ?? null;
}

/** Throws, before an approval is signed, if the authority is unreachable or refuses the login of this taxpayer. */
async function requireLogin(
  { tokens }: GiveApprovalParts,
  env: Environment,
  buyer: TaxpayerState,
  certificate: SigningCertificate,
): Promise<void> {
  try {
    await tokens.get({ env, account: buyer.account_id, rnc: buyer.rnc, certificate });
  } catch (error) {
    throw loginFailure(error);
  }
}

function loginFailure(error: unknown): unknown {
  if (!(error instanceof LoginError)) return error;
  if (error.code === 'login_refused') {
    const reason = error.reason ? `: ${error.reason}` : '';
    return new ApprovalsError(
      'login_refused',
      `The authority refuses the login with this certificate${reason}. The approval was not signed.`,
      {
        cause: error,
      },
    );
  }
  return new ApprovalsError(
    'authority_unreachable',
    'The login of the authority is unavailable, so the approval was not signed. Repeat after Retry-After.',
    {
      cause: error,
      retryAfterSeconds: retryAfterSeconds(error.retryAfterMs),
    },
  );
}

function alreadyAnswered(by: GivenApproval): ApprovalsError {
  const word = by.decision === 1 ? 'approved' : 'rejected';
  return new ApprovalsError(
    'already_answered',
    `This invoice was ${word} by the approval with id ${by.id}; see GET /acecf/${by.id}.`,
  );
}

function requireApprovable(encf: string): void {
  const type = encfType(encf);
  if (type !== null && (APPROVABLE_TYPES as readonly string[]).includes(type)) return;
  refuse('encf', `only e-CF of types ${APPROVABLE_TYPES.join(', ')} have commercial approvals`, 'ecf_type');
}

/** Date and amount as the request states them, else as the received document does. Names each field that neither states. */
function invoiceOf(request: ApprovalRequest, found: ReceivedInvoiceChanged | null): ApprovedInvoice {
  const dateIssued = request.invoice_date_issued ?? found?.date_issued ?? null;
  const totalAmount = request.invoice_total_amount ?? found?.total_amount ?? null;
  if (dateIssued !== null && totalAmount !== null) return { dateIssued, totalAmount };
  const why = found === null ? 'this e-CF was not received here' : 'the received e-CF states none that is possible';
  const needed = (field: string, value: string | null) =>
    value === null ? [item(field, `is required, because ${why}`, 'missing')] : [];
  throw new FieldsRefused([
    ...needed('invoice_date_issued', dateIssued),
    ...needed('invoice_total_amount', totalAmount),
  ]);
}

/** The request must match a document that we received. */
function requireMatch(request: ApprovalRequest, decision: Decision, found: ReceivedInvoiceChanged | null): void {
  const items: ValidationItem[] = [];
  const id = request.ecf_document_id;
  if (id !== null && id !== found?.id)
    items.push(
      item('ecf_document_id', 'this is not the id of the received invoice of that issuer and eNCF', 'mismatch'),
    );
  if (found !== null && found.date_issued !== null && found.date_issued !== decision.dateIssued)
    items.push(item('invoice_date_issued', `the received invoice says ${found.date_issued}`, 'mismatch'));
  if (found !== null && !sameAmount(found.total_amount, decision.totalAmount))
    items.push(item('invoice_total_amount', `the received invoice says ${found.total_amount}`, 'mismatch'));
  if (items.length > 0) throw new FieldsRefused(items);
}

function sameAmount(one: string, other: string): boolean {
  const [first, second] = [Decimal.parse(one), Decimal.parse(other)];
  return first !== null && second !== null && first.equals(second);
}

function item(field: string, msg: string, type: string): ValidationItem {
  return { loc: ['body', field], msg, type };
}

function refuse(field: string, msg: string, type: string): never {
  throw new FieldsRefused([item(field, msg, type)]);
}

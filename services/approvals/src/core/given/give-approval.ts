import { LoginError } from '@ecf/authority-client/login';
import type { ApprovalRequest, ReceivedInvoiceChanged, TaxpayerState, ValidationItem } from '@ecf/contracts';
import { APPROVABLE_TYPES, Decimal, type Environment, encfType } from '@ecf/domain';
import { type Caller, readAccount } from '@ecf/taxpayer-replica';
import type { SigningCertificate } from '@ecf/xml-signing';
import { ApprovalsError, FieldsRefused } from '../errors.js';
import type { Ports } from '../ports.js';
import { type Admission, admit } from './admission.js';
import { approvalPath, checkApproval, requirePastDecision, signApproval } from './approval-document.js';
import { type Decision, type DecisionKey, decisionOf, type GivenApproval, type NewApproval } from './given-approval.js';
import type { SendApproval } from './send-approval.js';

export interface ApprovalOrder {
  readonly asker: Caller;
  readonly env: Environment;
  readonly request: ApprovalRequest;
  /** False: signed and stored only. */
  readonly submit: boolean;
}

/** Two requests about one document that overlap look again at what the other did. */
const ROUNDS = 3;

type GivePorts = Pick<
  Ports,
  'approvals' | 'taxpayers' | 'source' | 'certificates' | 'tokens' | 'reception' | 'observer' | 'settings' | 'clock'
>;

/**
 * Takes a buyer's decision (`POST /acecf/`): checked, signed and durable before the first byte leaves; then, unless it is
 * local, sent to the authority and to the issuer, each for itself. Resolves with the record whatever they say.
 *
 * Throws FieldsRefused, ApprovalsError `taxpayer_not_found`, `already_answered`, `certificate_*`, and where the authority's
 * login says so before anything is signed, `login_refused` and `authority_unreachable`.
 */
export class GiveApproval {
  constructor(
    private readonly ports: GivePorts,
    private readonly sending: SendApproval,
  ) {}

  async give(order: ApprovalOrder): Promise<GivenApproval> {
    const { request } = order;
    const key: DecisionKey = {
      env: order.env,
      buyerRnc: request.receiver_rnc,
      issuerRnc: request.issuer_rnc,
      encf: request.encf,
    };
    const decision = decisionOf(request);
    const buyer = await this.#buyer(order.asker, key.buyerRnc);
    requireApprovable(key.encf);
    const found = await this.#received(key);
    requireMatch(request, decision, found);
    checkApproval(key, decision, this.ports.clock());
    for (let round = 0; round < ROUNDS; round++) {
      const admission = admit(await this.ports.approvals.about(key), decision);
      const given = await this.#follow(order, buyer, { key, decision, found }, admission);
      if (given !== null) return given;
    }
    throw new ApprovalsError('service_unavailable', 'Too many decisions about this document at once; repeat shortly.');
  }

  /** Null where another request decided meanwhile. */
  async #follow(
    order: ApprovalOrder,
    buyer: TaxpayerState,
    { key, decision, found }: { key: DecisionKey; decision: Decision; found: ReceivedInvoiceChanged | null },
    admission: Admission,
  ): Promise<GivenApproval | null> {
    if (admission.kind === 'answered') throw alreadyAnswered(admission.by);
    if (admission.kind === 'unsent' && !order.submit) return admission.present;
    const certificate = this.ports.certificates.open(buyer, this.ports.clock());
    if (admission.kind !== 'unsent') requirePastDecision(decision.decidedAt, this.ports.clock());
    if (order.submit) await this.#logIn(order.env, buyer, certificate);
    const until = () => new Date(this.ports.clock().getTime() + this.ports.settings.leaseMs);
    const outcome =
      admission.kind === 'unsent'
        ? await this.ports.approvals.submit(admission.present.id, until(), this.ports.clock())
        : await this.ports.approvals.add(
            ...(await this.#sign(key, decision, buyer, certificate, {
              found,
              authorityAlone: admission.authorityAlone,
            })),
            order.submit ? until() : null,
          );
    if ('refused' in outcome) return null;
    return order.submit ? this.sending.atOnce(outcome.added) : outcome.added;
  }

  async #sign(
    key: DecisionKey,
    decision: Decision,
    buyer: TaxpayerState,
    certificate: SigningCertificate,
    about: { found: ReceivedInvoiceChanged | null; authorityAlone: boolean },
  ): Promise<[NewApproval, Uint8Array]> {
    const { bytes, sha256 } = await signApproval(key, decision, certificate);
    const createdAt = this.ports.clock();
    const path = approvalPath(key, 'issued', createdAt, sha256);
    const warnings = [
      ...(about.found === null ? ['This e-CF was not received here, so date and amount could not be compared.'] : []),
      ...(about.authorityAlone
        ? ['The issuer has this decision already, or may have it; it goes to the authority alone while that is so.']
        : []),
      ...(decision.decidedAt < certificate.notBefore
        ? ['The decision is older than the certificate that signs it; an issuer that compares the two may refuse it.']
        : []),
    ];
    const approval: NewApproval = {
      ...decision,
      key,
      accountId: buyer.account_id,
      ecfDocumentId: about.found?.id ?? null,
      warnings,
      xml: { path, sha256 },
      createdAt,
    };
    return [approval, bytes];
  }

  async #buyer(asker: Caller, rnc: string): Promise<TaxpayerState> {
    const { taxpayers } = await readAccount(this.ports, asker);
    const buyer = taxpayers.find((taxpayer) => taxpayer.rnc === rnc);
    if (buyer?.active && buyer.account_active) return buyer;
    throw new ApprovalsError(
      'taxpayer_not_found',
      `${rnc} is not an active taxpayer of this account; register it, or use another RNC.`,
    );
  }

  async #received({ env, buyerRnc, issuerRnc, encf }: DecisionKey): Promise<ReceivedInvoiceChanged | null> {
    const { received } = await this.ports.reception.findReceived({
      env,
      buyer_rncs: [buyerRnc],
      issuer_rnc: issuerRnc,
      encf,
    });
    return received[0] ?? null;
  }

  /** Nothing is signed for an authority that cannot be reached, or that does not let this taxpayer in. */
  async #logIn(env: Environment, buyer: TaxpayerState, certificate: SigningCertificate): Promise<void> {
    try {
      await this.ports.tokens.get({ env, account: buyer.account_id, certificate });
    } catch (error) {
      throw loginFailure(error);
    }
  }
}

function loginFailure(error: unknown): unknown {
  if (!(error instanceof LoginError)) return error;
  if (error.code === 'login_refused') {
    const reason = error.reason ? `: ${error.reason}` : '';
    return new ApprovalsError(
      'login_refused',
      `The authority refuses the login with this certificate${reason}. Nothing was signed.`,
      {
        cause: error,
      },
    );
  }
  return new ApprovalsError(
    'authority_unreachable',
    "The authority's login cannot be used now; nothing was signed. Repeat later.",
    {
      cause: error,
      ...(error.retryAfterMs === null ? {} : { retryAfterSeconds: Math.ceil(error.retryAfterMs / 1_000) }),
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
  refuse(
    'encf',
    `e-CF of this type are not approved commercially; only types ${APPROVABLE_TYPES.join(', ')} are`,
    'ecf_type',
  );
}

/** What is said about a document that we received has to be true of it. */
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

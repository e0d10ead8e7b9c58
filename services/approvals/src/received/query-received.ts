import {
  type ApprovalAnswers,
  actOf,
  type DeliveryOperations,
  type EmissionOperations,
  type ReceivedApproval,
} from '@ecf/contracts';
import { APPROVABLE_TYPES, type Environment, encfType, toIsoDominican } from '@ecf/domain';
import { ApiError } from '@ecf/kit';
import { shownSigner } from '@ecf/public-ingress/signed-document';
import type { AccountPorts, Caller } from '@ecf/taxpayer-replica';
import { ApprovalsError } from '../errors.js';
import { statusWord } from '../given/given-approval.js';
import { requireTaxpayer } from '../given/query-approvals.js';
import type { ReceivedApprovalStore } from './ports.js';
import { publicAnswer, type StoredApproval } from './received-approval.js';

/** One of our e-CF. */
interface IssuedQuery {
  readonly caller: Caller;
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly encf: string;
}

/** Reads what buyers decided about the e-CF of our taxpayers. Those of other accounts are 404. */
export interface QueryReceivedApprovals {
  /** The buyer's decision about one of our e-CF. */
  decision(query: IssuedQuery): Promise<ReceivedApproval>;
  /** Every answer that came, whether it counts or not. */
  answers(query: IssuedQuery): Promise<ApprovalAnswers>;
}

export function createQueryReceivedApprovals(
  received: Pick<ReceivedApprovalStore, 'find' | 'answers'>,
  emission: Pick<EmissionOperations, 'findInvoices'>,
  account: AccountPorts,
): QueryReceivedApprovals {
  /** The e-CF, of a type that can be approved, with the answer that counts. */
  async function find({ caller, env, issuerRnc, encf }: IssuedQuery): Promise<{
    answer: StoredApproval | null;
    buyerRnc: string | null;
  }> {
    await requireTaxpayer(account, caller, issuerRnc);
    const answer = await received.find({ env, issuerRnc, encf });
    const { invoices } = await emission.findInvoices({ env, numbers: [{ issuer_rnc: issuerRnc, encf }] });
    const [invoice] = invoices;
    if (invoice === undefined && answer === null)
      throw new ApprovalsError('not_found', `${issuerRnc} issued no ${encf} in ${env}.`);
    if (!(APPROVABLE_TYPES as readonly string[]).includes(encfType(encf) ?? ''))
      throw new ApprovalsError('not_found', `e-CF of the type of ${encf} have no commercial approval.`);
    return { answer, buyerRnc: answer?.key.buyerRnc ?? invoice?.buyer_rnc ?? null };
  }

  return {
    async decision(query) {
      const { answer, buyerRnc } = await find(query);
      return {
        encf: query.encf,
        issuer_rnc: query.issuerRnc,
        buyer_rnc: buyerRnc,
        approval_status: answer === null ? 'pending' : statusWord(answer.decision),
        approval_confirmed: answer?.confirmed ?? false,
        approval_datetime: answer === null ? null : toIsoDominican(answer.decidedAt),
        rejection_reason: answer?.reason ?? null,
        signer: answer === null ? null : shownSigner(answer.signer, answer.confirmed),
      };
    },
    async answers(query) {
      await find(query);
      const answers = await received.answers(query);
      return { count: answers.length, answers: answers.map(publicAnswer) };
    },
  };
}

/** For operators: decides whether an answer counts, for example where the wrong person signed it. The reason is kept. */
export function answerOperations(
  received: Pick<ReceivedApprovalStore, 'decide'>,
  clock: () => Date,
): Pick<DeliveryOperations, 'decideAnswer'> {
  return {
    async decideAnswer({ account_id: accountId, answer_id: id, counts, reason, by }) {
      const at = clock();
      const target = `/accounts/${accountId}/approvals/${id}`;
      const what = { action: 'approval.decide', target, details: { counts, reason } };
      const act = actOf(by, what, toIsoDominican(at));
      const answer = await received.decide(id, accountId, { counts, reason, at, act });
      if (answer === null) throw new ApiError(404, 'not_found', `This account has no answer ${id} of a buyer.`);
      return { ...publicAnswer(answer), id: String(answer.id) };
    },
  };
}

import { actOf, type DeliveryOperations } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { ApiError } from '@ecf/kit';
import { publicAnswer } from './answers.js';
import type { ReceivedApprovalStore } from './ports.js';

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

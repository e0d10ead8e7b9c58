import { actOf, type DeliveryOperations } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { ApiError } from '@ecf/service-kit/errors';
import type { Ports } from '../ports.js';
import { publicAnswer } from './answers.js';

/** For operators: decides whether an answer counts, for example where the wrong person signed it. The reason is kept. */
export function operatedAnswers(ports: Pick<Ports, 'received' | 'clock'>): Pick<DeliveryOperations, 'decideAnswer'> {
  return {
    async decideAnswer({ account_id: accountId, answer_id: id, counts, reason, by }) {
      const at = ports.clock();
      const target = `/accounts/${accountId}/approvals/${id}`;
      const what = { action: 'approval.decide', target, details: { counts, reason } };
      const act = actOf(by, what, toIsoDominican(at));
      const answer = await ports.received.rule(id, accountId, { counts, reason, at, act });
      if (answer === null) throw new ApiError(404, 'not_found', `This account has no answer ${id} of a buyer.`);
      return { ...publicAnswer(answer), id: String(answer.id) };
    },
  };
}

import { actOf, type DeliveryOperations } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { ApiError } from '@ecf/kit';
import { deliveryBody } from './delivery.js';
import type { DeliveryStore } from './ports.js';

export interface DeliveryOperationsParts {
  readonly deliveries: Pick<DeliveryStore, 'list' | 'retry'>;
  readonly settings: { readonly deadlineMs: number; readonly deliver45: boolean };
  /** A delivery is due. */
  readonly wake: () => void;
  readonly clock: () => Date;
}

/** For operators: lists deliveries and sends one again. */
export function deliveryOperations({
  deliveries: store,
  settings,
  wake,
  clock,
}: DeliveryOperationsParts): Pick<DeliveryOperations, 'listDeliveries' | 'retryDelivery'> {
  return {
    async listDeliveries(filter) {
      const deliveries = await store.list(filter);
      const last = deliveries.at(-1);
      const next = deliveries.length === filter.limit && last !== undefined ? last.id : null;
      return { deliveries: deliveries.map(deliveryBody), next };
    },
    async retryDelivery({ env, issuer_rnc: issuerRnc, encf, by }) {
      const now = clock();
      const { deadlineMs, deliver45 } = settings;
      const target = `/deliveries/${env}/${issuerRnc}/${encf}`;
      const act = actOf(by, { action: 'delivery.retry', target, details: {} }, toIsoDominican(now));
      const deadlineAt = new Date(now.getTime() + deadlineMs);
      const delivery = await store.retry({ env, issuerRnc, encf }, { now, deadlineAt, deliver45, act });
      if (delivery === null)
        throw new ApiError(404, 'not_found', `There is no delivery of ${encf} of ${issuerRnc} in ${env}.`);
      if (delivery.status === 'delivered')
        throw new ApiError(409, 'conflict', `${delivery.buyerRnc} acknowledged ${encf}; it is not sent again.`);
      if (delivery.status === 'not_required') {
        const words = `${encf} is not delivered: type 45 is delivered only with DELIVER_TYPE_45=true.`;
        throw new ApiError(409, 'conflict', words);
      }
      wake();
      return deliveryBody(delivery);
    },
  };
}

import type { Bus, Subscription } from '@ecf/bus';
import { type ApprovalChanged, type TaxpayerState, TOPICS } from '@ecf/contracts';
import { runHandler, type TaxpayerReplica } from '@ecf/taxpayer-replica';
import type { DecisionStore } from './receive/ports.js';

/**
 * Consumes the events of taxpayers, for whom the service receives and signs, and of buyers' decisions about received
 * documents; the start of a certification run sets documents aside. `group` names the service's consumer group.
 */
export async function subscribeToEvents(
  bus: Bus,
  group: string,
  stores: { taxpayers: Pick<TaxpayerReplica, 'apply'>; decisions: DecisionStore },
): Promise<Subscription[]> {
  const taxpayers = await bus.subscribe({
    topics: [TOPICS.taxpayers.name],
    group,
    handler: (event) => stores.taxpayers.apply(event.data as TaxpayerState),
  });
  const approvals = await bus.subscribe({
    topics: [TOPICS.approvals.name],
    group,
    async handler(event) {
      const decision = event.data as ApprovalChanged;
      if (decision.direction === 'given') await stores.decisions.decide(decision, event.id);
    },
  });
  const runs = await bus.subscribe({ topics: [TOPICS.runs.name], group, handler: runHandler(stores.decisions) });
  return [taxpayers, approvals, runs];
}

import { type TaxpayerState, TOPICS } from '@ecf/contracts';
import type { Bus, Subscription } from '@ecf/service-kit/bus';
import type { TaxpayerReplica } from '@ecf/taxpayer-replica';

/** The consumer group of this service. The inbox notes handled events under this name. */
export const APPROVALS_GROUP = 'approvals';

/** Keeps the replica of the taxpayers; `onTaxpayer` is called with each taxpayer that was applied. */
export async function subscribeToEvents(
  bus: Bus,
  group: string,
  stores: { taxpayers: Pick<TaxpayerReplica, 'apply'> },
  onTaxpayer: (taxpayer: TaxpayerState) => Promise<void>,
): Promise<Subscription[]> {
  return [
    await bus.subscribe({
      topics: [TOPICS.taxpayers.name],
      group,
      async handler({ data }) {
        await stores.taxpayers.apply(data as TaxpayerState);
        await onTaxpayer(data as TaxpayerState);
      },
    }),
  ];
}

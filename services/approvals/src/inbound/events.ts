import { type TaxpayerState, TOPICS } from '@ecf/contracts';
import type { Bus, Subscription } from '@ecf/service-kit/bus';
import type { TaxpayerReplica } from '@ecf/taxpayer-replica';

/**
 * What the service listens to: taxpayers, for whom it signs and answers. `group` names its consumer group; `onTaxpayer` hears
 * of each once it is known.
 */
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

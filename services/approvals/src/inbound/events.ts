import { type TaxpayerState, TOPICS } from '@ecf/contracts';
import type { Bus, Subscription } from '@ecf/service-kit';
import type { TaxpayerStore } from '@ecf/taxpayer-copy';

/** What the service listens to: taxpayers, for whom it signs and answers. `group` names its consumer group. */
export async function subscribeToEvents(
  bus: Bus,
  group: string,
  stores: { taxpayers: Pick<TaxpayerStore, 'apply'> },
): Promise<Subscription[]> {
  return [
    await bus.subscribe({
      topics: [TOPICS.taxpayers.name],
      group,
      handler: (event) => stores.taxpayers.apply(event.data as TaxpayerState, event.id),
    }),
  ];
}

import { type TaxpayerState, TOPICS } from '@ecf/contracts';
import type { Bus, Subscription } from '@ecf/service-kit';
import type { TaxpayerStore } from '../core/ports.js';

/** Keeps the copy of the taxpayers current from `taxpayers.v1`. The store notes each event in the transaction of its effect. */
export function subscribeTaxpayers(
  bus: Bus,
  group: string,
  taxpayers: Pick<TaxpayerStore, 'apply'>,
): Promise<Subscription> {
  return bus.subscribe({
    topics: [TOPICS.taxpayers.name],
    group,
    handler: (event) => taxpayers.apply(event.data as TaxpayerState, event.id),
  });
}

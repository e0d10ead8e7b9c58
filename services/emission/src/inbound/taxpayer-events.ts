import { type TaxpayerState, TOPICS } from '@ecf/contracts';
import type { Bus, Subscription } from '@ecf/service-kit/bus';
import type { EmissionStore, TaxpayerStore } from '../core/ports.js';

/**
 * Keeps the copy of the taxpayers current from `taxpayers.v1`; the store notes each event in the transaction of its effect.
 * Documents that nobody could follow for want of a certificate are taken up at once when there is one.
 */
export function subscribeTaxpayers(
  bus: Bus,
  group: string,
  ports: { taxpayers: Pick<TaxpayerStore, 'apply'>; emissions: Pick<EmissionStore, 'resume'> },
): Promise<Subscription> {
  return bus.subscribe({
    topics: [TOPICS.taxpayers.name],
    group,
    async handler({ data, id }) {
      const taxpayer = data as TaxpayerState;
      await ports.taxpayers.apply(taxpayer, id);
      if (taxpayer.certificate !== null) await ports.emissions.resume(taxpayer.rnc);
    },
  });
}

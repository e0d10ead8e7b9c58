import { type TaxpayerState, TOPICS } from '@ecf/contracts';
import type { Bus, Subscription } from '@ecf/service-kit/bus';
import type { TaxpayerReplica } from '@ecf/taxpayer-replica';
import type { EmissionStore } from '../core/ports.js';

/**
 * Keeps the replica of the taxpayers current from `taxpayers.v1`. A certificate that arrives resumes at once the documents that
 * waited for one.
 */
export function subscribeTaxpayers(
  bus: Bus,
  group: string,
  ports: { taxpayers: Pick<TaxpayerReplica, 'apply'>; emissions: Pick<EmissionStore, 'resume'> },
): Promise<Subscription> {
  return bus.subscribe({
    topics: [TOPICS.taxpayers.name],
    group,
    async handler({ data }) {
      const taxpayer = data as TaxpayerState;
      await ports.taxpayers.apply(taxpayer);
      if (taxpayer.certificate !== null) await ports.emissions.resume(taxpayer.rnc);
    },
  });
}

import type { DeliveryChanged } from '@ecf/contracts';
import { type InvoiceStatusChanged, type TaxpayerState, TOPICS } from '@ecf/contracts';
import type { Bus, Subscription } from '@ecf/service-kit/bus';
import type { TaxpayerReplica } from '@ecf/taxpayer-replica';
import type { EmissionStore } from '../core/ports.js';

/**
 * Hears from `invoice-status.v1` what the status poller learned. No inbox is needed: the effect is a move of the life
 * cycle guarded by the document's revision, and a move that was made cannot be made again.
 */
export function subscribeInvoiceStatus(
  bus: Bus,
  group: string,
  apply: (told: InvoiceStatusChanged) => Promise<void>,
): Promise<Subscription> {
  return bus.subscribe({
    topics: [TOPICS.invoiceStatus.name],
    group,
    handler: (event) => apply(event.data as InvoiceStatusChanged),
  });
}

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

/** Erases certificates that came along with documents once nothing is left to be done for those. Can be repeated. */
export function subscribeDeliveries(
  bus: Bus,
  group: string,
  emissions: Pick<EmissionStore, 'eraseCertificate'>,
): Promise<Subscription> {
  return bus.subscribe({
    topics: [TOPICS.deliveries.name],
    group,
    async handler({ data }) {
      const { env, issuer_rnc, encf, final } = data as DeliveryChanged;
      if (final === true) await emissions.eraseCertificate({ env, issuerRnc: issuer_rnc, encf });
    },
  });
}

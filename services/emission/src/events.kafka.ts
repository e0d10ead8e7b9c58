import type { DeliveryChanged } from '@ecf/contracts';
import { type InvoiceStatusChanged, type TaxpayerState, TOPICS } from '@ecf/contracts';
import type { Bus, Subscription } from '@ecf/service-kit/bus';
import type { TaxpayerReplica } from '@ecf/taxpayer-replica';
import type { EmissionStore } from './attempt/ports.js';

/**
 * Applies results that the status poller publishes on `invoice-status.v1`. No inbox is needed: the revision guards
 * the state transition, and a transition that was made cannot be made again.
 */
export function subscribeInvoiceStatus(
  bus: Bus,
  group: string,
  apply: (result: InvoiceStatusChanged) => Promise<void>,
): Promise<Subscription> {
  return bus.subscribe({
    topics: [TOPICS.invoiceStatus.name],
    group,
    handler: (event) => apply(event.data as InvoiceStatusChanged),
  });
}

/**
 * Keeps the taxpayer replica current from `taxpayers.v1`. A new certificate resumes the documents that wait for one. The notices of
 * the changed taxpayer are published.
 */
export function subscribeTaxpayers(
  bus: Bus,
  group: string,
  ports: { taxpayers: Pick<TaxpayerReplica, 'apply'>; emissions: Pick<EmissionStore, 'resume'> },
  publishNotices: (rnc: string) => Promise<void>,
): Promise<Subscription> {
  return bus.subscribe({
    topics: [TOPICS.taxpayers.name],
    group,
    async handler({ data }) {
      const taxpayer = data as TaxpayerState;
      await ports.taxpayers.apply(taxpayer);
      if (taxpayer.certificate !== null) await ports.emissions.resume(taxpayer.rnc);
      await publishNotices(taxpayer.rnc);
    },
  });
}

/** Erases the certificate of a document when its delivery has ended. Safe to repeat. */
export function subscribeDeliveries(
  bus: Bus,
  group: string,
  emissions: Pick<EmissionStore, 'eraseCertificate'>,
): Promise<Subscription> {
  return bus.subscribe({
    topics: [TOPICS.deliveries.name],
    group,
    async handler({ data }) {
      const { env, issuer_rnc, encf, run = 1, final } = data as DeliveryChanged;
      if (final === true) await emissions.eraseCertificate({ env, issuerRnc: issuer_rnc, encf, run });
    },
  });
}

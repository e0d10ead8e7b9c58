import type { Bus, Subscription } from '@ecf/bus';
import { type DeliveryChanged, type InvoiceStatusChanged, type TaxpayerState, TOPICS } from '@ecf/contracts';
import type { TaxpayerReplica } from '@ecf/taxpayer-replica';
import type { EmissionStore } from './attempt/ports.js';

/** The consumer group of this service. */
const group = 'emission';

/** Subscribes to the events of other services. Each handler is safe to repeat, so no inbox is needed. */
export async function subscribeToEvents(
  bus: Bus,
  {
    replica,
    emissions,
    publishNotices,
    applyStatus,
  }: {
    readonly replica: Pick<TaxpayerReplica, 'apply'>;
    readonly emissions: Pick<EmissionStore, 'resume' | 'eraseCertificate'>;
    /** Publishes the notices of a taxpayer that changed. */
    readonly publishNotices: (rnc: string) => Promise<void>;
    /** The revision guards the state transition, and a transition that was made cannot be made again. */
    readonly applyStatus: (result: InvoiceStatusChanged) => Promise<void>;
  },
): Promise<readonly Subscription[]> {
  return [
    await bus.subscribe({
      topics: [TOPICS.taxpayers.name],
      group,
      async handler({ data }) {
        const taxpayer = data as TaxpayerState;
        await replica.apply(taxpayer);
        // A new certificate resumes the documents that wait for one.
        if (taxpayer.certificate !== null) await emissions.resume(taxpayer.rnc);
        await publishNotices(taxpayer.rnc);
      },
    }),
    await bus.subscribe({
      topics: [TOPICS.invoiceStatus.name],
      group,
      handler: ({ data }) => applyStatus(data as InvoiceStatusChanged),
    }),
    await bus.subscribe({
      topics: [TOPICS.deliveries.name],
      group,
      async handler({ data }) {
        const { env, issuer_rnc, encf, run = 1, final } = data as DeliveryChanged;
        // No later login uses the certificate that came with the document.
        if (final === true) await emissions.eraseCertificate({ env, issuerRnc: issuer_rnc, encf, run });
      },
    }),
  ];
}

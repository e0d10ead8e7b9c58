import type { Bus, BusEvent, Subscription } from '@ecf/bus';
import { type InvoiceChanged, type ReceivedInvoiceChanged, type TaxpayerState, TOPICS } from '@ecf/contracts';
import type { SignerUse } from '@ecf/public-ingress';
import { runHandler, type TaxpayerReplica } from '@ecf/taxpayer-replica';
import { deliveryOf, type NewDeliveryParts } from './buyers/delivery.js';
import type { DeliveryStore } from './buyers/ports.js';
import type { ApprovalStore } from './given/ports.js';
import type { KnownSigners } from './received/ports.js';
import type { RunStore } from './sending/certification-runs.postgres.js';

/** The consumer group of this service. The inbox notes handled events under this name. */
export const APPROVALS_GROUP = 'approvals';

export interface EventStores {
  readonly taxpayers: Pick<TaxpayerReplica, 'apply'>;
  readonly approvals: Pick<ApprovalStore, 'documentPromoted'>;
  readonly deliveries: Pick<DeliveryStore, 'add' | 'resume'>;
  readonly signers: Pick<KnownSigners, 'confirmed'>;
  readonly runs: Pick<RunStore, 'start'>;
}

/**
 * Subscribes to the topics of this service. `wake` is called when a delivery is due.
 *
 * - A taxpayer is replicated; its deliveries that waited for a certificate become due.
 * - An accepted e-CF is delivered.
 * - Decisions about a document that lost its number no longer answer the number. The signer of an e-CF that the authority
 *   confirmed is known for its issuer.
 */
export async function subscribeToEvents(
  bus: Bus,
  group: string,
  stores: EventStores,
  delivering: NewDeliveryParts,
  wake: () => void,
): Promise<Subscription[]> {
  async function deliver(events: readonly BusEvent[]): Promise<void> {
    const additions = events.flatMap(({ id, data, traceparent }) => {
      const delivery = deliveryOf(data as InvoiceChanged, delivering, traceparent ?? null);
      return delivery === null ? [] : [{ delivery, eventId: id }];
    });
    if (additions.length > 0 && (await stores.deliveries.add(additions))) wake();
  }
  return [
    await bus.subscribe({
      topics: [TOPICS.taxpayers.name],
      group,
      async handler({ data }) {
        const taxpayer = data as TaxpayerState;
        await stores.taxpayers.apply(taxpayer);
        if (taxpayer.certificate === null) return;
        if ((await stores.deliveries.resume(taxpayer.rnc, delivering.clock())) > 0) wake();
      },
    }),
    await bus.subscribe({ topics: [TOPICS.runs.name], group, handler: runHandler(stores.runs) }),
    await bus.subscribe({
      topics: [TOPICS.invoices.name],
      group,
      handler: (event) => deliver([event]),
      batchHandler: deliver,
    }),
    await bus.subscribe({
      topics: [TOPICS.receivedInvoices.name],
      group,
      async handler({ data }) {
        const received = data as ReceivedInvoiceChanged;
        const confirmed = confirmedSigner(received);
        if (confirmed !== null) await stores.signers.confirmed(confirmed);
        // Later changes of the document repeat it, which changes nothing.
        if (!received.promoted_at) return;
        const { env, buyer_rnc: buyerRnc, issuer_rnc: issuerRnc, encf } = received;
        const key = { env, buyerRnc, issuerRnc, encf };
        await stores.approvals.documentPromoted(key, received.id, new Date(received.promoted_at));
      },
    }),
  ];
}

function confirmedSigner({ env, issuer_rnc: rnc, ...received }: ReceivedInvoiceChanged): SignerUse | null {
  const { signer } = received;
  if (received.authority_status !== 'confirmed' || signer === undefined) return null;
  const { key_fingerprint: keyFingerprint, holder_id: holderId, trusted } = signer;
  return { env, rnc, signer: { keyFingerprint, holderId, trusted }, at: new Date(received.date_received) };
}

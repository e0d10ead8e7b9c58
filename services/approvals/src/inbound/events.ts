import { type ReceivedInvoiceChanged, type TaxpayerState, TOPICS } from '@ecf/contracts';
import type { Bus, Subscription } from '@ecf/service-kit/bus';
import type { TaxpayerReplica } from '@ecf/taxpayer-replica';
import type { ApprovalStore } from '../core/ports.js';

/** The consumer group of this service. The inbox notes handled events under this name. */
export const APPROVALS_GROUP = 'approvals';

/**
 * Keeps the replica of the taxpayers; `onTaxpayer` is called with each taxpayer that was applied. Decisions about a document that
 * lost its number answer it no more.
 */
export async function subscribeToEvents(
  bus: Bus,
  group: string,
  stores: { taxpayers: Pick<TaxpayerReplica, 'apply'>; approvals: Pick<ApprovalStore, 'documentPromoted'> },
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
    await bus.subscribe({
      topics: [TOPICS.receivedInvoices.name],
      group,
      async handler({ data }) {
        const received = data as ReceivedInvoiceChanged;
        // Later changes of the document repeat it, which changes nothing.
        if (!received.promoted_at) return;
        const { env, buyer_rnc: buyerRnc, issuer_rnc: issuerRnc, encf } = received;
        const key = { env, buyerRnc, issuerRnc, encf };
        await stores.approvals.documentPromoted(key, received.id, new Date(received.promoted_at));
      },
    }),
  ];
}

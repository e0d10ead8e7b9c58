import { type ReceivedInvoiceChanged, type TaxpayerState, TOPICS } from '@ecf/contracts';
import type { SignerUse } from '@ecf/public-ingress';
import type { Bus, Subscription } from '@ecf/service-kit/bus';
import { runHandler, type TaxpayerReplica } from '@ecf/taxpayer-replica';
import type { ApprovalStore, KnownSigners, RunStore } from './ports.js';

/** The consumer group of this service. The inbox notes handled events under this name. */
export const APPROVALS_GROUP = 'approvals';

/**
 * Keeps the replica of the taxpayers; `onTaxpayer` is called with each taxpayer that was applied. Decisions about a document that
 * lost its number answer it no more. The signer of an e-CF that the authority confirmed is known for its issuer.
 */
export async function subscribeToEvents(
  bus: Bus,
  group: string,
  stores: {
    taxpayers: Pick<TaxpayerReplica, 'apply'>;
    approvals: Pick<ApprovalStore, 'documentPromoted'>;
    signers: Pick<KnownSigners, 'confirmed'>;
    runs: Pick<RunStore, 'start'>;
  },
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
    await bus.subscribe({ topics: [TOPICS.runs.name], group, handler: runHandler(stores.runs) }),
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

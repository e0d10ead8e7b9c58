import {
  type ApprovalChanged,
  type DeliveryChanged,
  type InvoiceChanged,
  type ReceivedInvoiceChanged,
  type TaxpayerState,
  TOPICS,
} from '@ecf/contracts';
import type { Bus, BusEvent, Subscription } from '@ecf/service-kit/bus';
import type { TaxpayerReplica } from '@ecf/taxpayer-replica';
import { issuedInvoice } from '../core/invoices/issued-invoice.js';
import { receivedRecord } from '../core/invoices/received-record.js';
import type { AftermathStore, Projection } from '../core/ports.js';

/** The consumer group of this service. */
export const QUERY_GROUP = 'query';

export interface EventParts {
  readonly projection: Projection;
  readonly aftermath: AftermathStore;
  readonly taxpayers: Pick<TaxpayerReplica, 'apply'>;
  /** Told of each event that is taken over, with the seconds since its cause. */
  readonly took: (event: BusEvent) => void;
}

/**
 * What the service listens to. No event is noted: each carries a whole state with a revision, the highest of which wins,
 * so a repeat or a straggler changes nothing.
 */
export function subscribeToEvents(bus: Bus, parts: EventParts): Promise<Subscription> {
  const { projection, aftermath, taxpayers } = parts;
  const handlers: Readonly<Record<string, (event: BusEvent) => Promise<void>>> = {
    [TOPICS.invoices.name]: ({ data }) => projection.keepInvoice(issuedInvoice(data as InvoiceChanged)),
    [TOPICS.receivedInvoices.name]: ({ data }) =>
      projection.keepReceived([receivedRecord(data as ReceivedInvoiceChanged)]),
    [TOPICS.taxpayers.name]: ({ data }) => taxpayers.apply(data as TaxpayerState),
    [TOPICS.deliveries.name]: ({ data }) => aftermath.keepDelivery(data as DeliveryChanged),
    [TOPICS.approvals.name]: async ({ data }) => {
      const decision = data as ApprovalChanged;
      if (decision.direction === 'received') await aftermath.keepDecision(decision);
    },
  };
  return bus.subscribe({
    topics: Object.keys(handlers),
    group: QUERY_GROUP,
    async handler(event) {
      await handlers[event.topic]?.(event);
      parts.took(event);
    },
  });
}

import type { Bus, BusEvent, Subscription } from '@ecf/bus';
import {
  type ApprovalChanged,
  type DeliveryChanged,
  type InvoiceChanged,
  type ReceivedInvoiceChanged,
  type RunStarted,
  type TaxpayerState,
  TOPICS,
} from '@ecf/contracts';
import type { TaxpayerReplica } from '@ecf/taxpayer-replica';
import type { FeedStore } from './feed/ports.js';
import { publicEvents } from './feed/public-events.js';
import { issuedInvoice } from './invoices/issued-invoice.js';
import type { OutcomeStore, Projection, RunStore } from './invoices/ports.js';
import { receivedRecord } from './invoices/received-record.js';

/** The consumer group of this service. */
const QUERY_GROUP = 'query';

export interface EventPorts {
  readonly projection: Projection;
  readonly outcomes: OutcomeStore;
  readonly runs: Pick<RunStore, 'note'>;
  readonly feed: Pick<FeedStore, 'append'>;
  readonly clock: () => Date;
  readonly taxpayers: Pick<TaxpayerReplica, 'apply'>;
  readonly deliveriesAdded: () => void;
  /** Called for each event after its effect is committed. */
  readonly projected: (event: BusEvent) => void;
}

/**
 * Subscribes to the events of the read models and of the feed. The inbox is not needed: each event carries a whole
 * state with a revision, and the highest revision wins. The feed takes each occurrence once.
 */
export function subscribeToEvents(bus: Bus, ports: EventPorts): Promise<Subscription> {
  const { projection, outcomes, runs, taxpayers, feed, clock } = ports;
  const handlers: Readonly<Record<string, (data: readonly unknown[]) => Promise<void>>> = {
    [TOPICS.invoices.name]: (data) => projection.keepInvoices((data as InvoiceChanged[]).map(issuedInvoice)),
    [TOPICS.receivedInvoices.name]: (data) =>
      projection.keepReceived((data as ReceivedInvoiceChanged[]).map(receivedRecord)),
    [TOPICS.taxpayers.name]: async (data) => {
      for (const state of data as TaxpayerState[]) await taxpayers.apply(state);
    },
    [TOPICS.deliveries.name]: (data) => outcomes.keepDeliveries(data as DeliveryChanged[]),
    [TOPICS.approvals.name]: (data) =>
      outcomes.keepDecisions((data as ApprovalChanged[]).filter((decision) => decision.direction === 'received')),
    [TOPICS.runs.name]: (data) =>
      runs.note((data as RunStarted[]).map(({ env, issuer_rnc: issuerRnc, run }) => ({ env, issuerRnc, run }))),
    // These have no read model here and appear only in the feed.
    [TOPICS.refusals.name]: async () => undefined,
    [TOPICS.notices.name]: async () => undefined,
    [TOPICS.cancellations.name]: async () => undefined,
    [TOPICS.batches.name]: async () => undefined,
  };
  async function project(events: readonly BusEvent[]): Promise<void> {
    // A confirmation or dispute carries no state: the owner publishes a change together with it.
    const states = events.filter(({ type }) => type !== 'received.confirmed' && type !== 'received.disputed');
    if (states.length > 0) await handlers[states[0]?.topic ?? '']?.(states.map(({ data }) => data));
    if ((await feed.append(publicEvents(events), clock())) > 0) ports.deliveriesAdded();
    for (const event of events) ports.projected(event);
  }
  return bus.subscribe({
    topics: Object.keys(handlers),
    group: QUERY_GROUP,
    handler: (event) => project([event]),
    batchHandler: project,
  });
}

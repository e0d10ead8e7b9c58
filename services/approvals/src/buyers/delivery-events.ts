import { type InvoiceChanged, type TaxpayerState, TOPICS } from '@ecf/contracts';
import type { Bus, BusEvent, Subscription } from '@ecf/service-kit/bus';
import { type DeliveryOfPorts, deliveryOf } from './delivery.js';
import type { DeliveryPorts } from './delivery-ports.js';

/** Deliveries that waited for this taxpayer's certificate are due at once. */
export async function resumeWithCertificate(
  { certificate, rnc }: TaxpayerState,
  ports: Pick<DeliveryPorts, 'deliveries' | 'clock'>,
  onDelivery: () => void,
): Promise<void> {
  if (certificate === null) return;
  if ((await ports.deliveries.resume(rnc, ports.clock())) > 0) onDelivery();
}

/** Adds a delivery for each accepted e-CF of `invoices.v1`; `onDelivery` is called when one is due. */
export function subscribeToAccepted(
  bus: Bus,
  group: string,
  ports: DeliveryOfPorts & Pick<DeliveryPorts, 'deliveries'>,
  onDelivery: () => void,
): Promise<Subscription> {
  async function handle(events: readonly BusEvent[]): Promise<void> {
    const additions = events.flatMap(({ id, data, traceparent }) => {
      const delivery = deliveryOf(data as InvoiceChanged, ports, traceparent ?? null);
      return delivery === null ? [] : [{ delivery, eventId: id }];
    });
    if (additions.length > 0 && (await ports.deliveries.add(additions))) onDelivery();
  }
  return bus.subscribe({
    topics: [TOPICS.invoices.name],
    group,
    handler: (event) => handle([event]),
    batchHandler: handle,
  });
}

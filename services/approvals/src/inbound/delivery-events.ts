import { type InvoiceChanged, type TaxpayerState, TOPICS } from '@ecf/contracts';
import type { Bus, Subscription } from '@ecf/service-kit/bus';
import { currentTraceparent } from '@ecf/service-kit/telemetry';
import { type DeliveryOfPorts, deliveryOf } from '../core/deliveries/delivery.js';
import type { DeliveryPorts } from '../core/deliveries/delivery-ports.js';

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
  return bus.subscribe({
    topics: [TOPICS.invoices.name],
    group,
    async handler(event) {
      const invoice = event.data as InvoiceChanged;
      const delivery = deliveryOf(invoice, ports, currentTraceparent() ?? null);
      if (delivery === null) return;
      const added = await ports.deliveries.add(delivery, event.id);
      if (added && delivery.status === 'pending') onDelivery();
    },
  });
}

import { type InvoiceChanged, type TaxpayerState, TOPICS } from '@ecf/contracts';
import type { Bus, Subscription } from '@ecf/service-kit/bus';
import { currentTraceparent } from '@ecf/service-kit/telemetry';
import { type DeliveryOfPorts, deliveryOf } from '../core/deliveries/delivery.js';
import type { DeliveryPorts } from '../core/deliveries/delivery-ports.js';

/** Hears of certificates from `taxpayers.v1`: what waited for one is taken up at once. */
export async function resumeWithCertificate(
  { certificate, rnc }: TaxpayerState,
  ports: Pick<DeliveryPorts, 'deliveries' | 'clock'>,
  onDelivery: () => void,
): Promise<void> {
  if (certificate === null) return;
  if ((await ports.deliveries.resume(rnc, ports.clock())) > 0) onDelivery();
}

/** Hears of every accepted e-CF from `invoices.v1`; `onDelivery` is called when one was added that is to be delivered. */
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

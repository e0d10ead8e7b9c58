import { type InvoiceStatusChanged, TOPICS } from '@ecf/contracts';
import type { Bus, Subscription } from '@ecf/service-kit/bus';

/**
 * Hears from `invoice-status.v1` what the status poller learned. No inbox is needed: the effect is a move of the life
 * cycle guarded by the document's revision, and a move that was made cannot be made again.
 */
export function subscribeInvoiceStatus(
  bus: Bus,
  group: string,
  apply: (told: InvoiceStatusChanged) => Promise<void>,
): Promise<Subscription> {
  return bus.subscribe({
    topics: [TOPICS.invoiceStatus.name],
    group,
    handler: (event) => apply(event.data as InvoiceStatusChanged),
  });
}

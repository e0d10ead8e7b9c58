import { type InvoiceChanged, TOPICS } from '@ecf/contracts';
import type { Bus, Subscription } from '@ecf/service-kit/bus';
import { currentTraceparent } from '@ecf/service-kit/telemetry';
import type { Ports } from '../core/ports.js';
import { firstDue } from '../core/schedule.js';
import { toldSubmissions } from '../core/submission.js';

/** Hears of every submission from `invoices.v1`; `onPoll` is called when one was added that has to be asked for. */
export function subscribeToInvoices(
  bus: Bus,
  group: string,
  ports: Pick<Ports, 'submissions' | 'clock' | 'random' | 'settings'>,
  onPoll: () => void,
): Promise<Subscription> {
  return bus.subscribe({
    topics: [TOPICS.invoices.name],
    group,
    async handler(event) {
      const now = ports.clock();
      const added = await ports.submissions.apply(
        toldSubmissions(event.data as InvoiceChanged, new Date(event.time), currentTraceparent() ?? null),
        (told) => firstDue(told.submittedAt, now, ports.settings.firstQueryMs, ports.random),
        event.id,
      );
      if (added) onPoll();
    },
  });
}

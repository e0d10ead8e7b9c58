import { type InvoiceChanged, TOPICS } from '@ecf/contracts';
import type { Bus, BusEvent, Subscription } from '@ecf/service-kit/bus';
import type { Ports } from './ports.js';
import { firstDue } from './schedule.js';
import { publishedSubmissions } from './submission.js';

/** Keeps every submission of `invoices.v1`. Calls `onPoll` after it added one whose result has to be queried. */
export function subscribeToInvoices(
  bus: Bus,
  group: string,
  ports: Pick<Ports, 'submissions' | 'clock' | 'random' | 'settings'>,
  onPoll: () => void,
): Promise<Subscription> {
  async function handle(events: readonly BusEvent[]): Promise<void> {
    const now = ports.clock();
    const added = await ports.submissions.apply(
      events.map(({ id, data, time, traceparent }) => ({
        eventId: id,
        submissions: publishedSubmissions(data as InvoiceChanged, new Date(time), traceparent ?? null),
      })),
      ({ submittedAt }) => firstDue(submittedAt, now, ports.settings.firstQueryMs, ports.random),
    );
    if (added) onPoll();
  }
  return bus.subscribe({
    topics: [TOPICS.invoices.name],
    group,
    handler: (event) => handle([event]),
    batchHandler: handle,
  });
}

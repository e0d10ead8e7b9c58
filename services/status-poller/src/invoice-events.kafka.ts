import type { Bus, BusEvent, Subscription } from '@ecf/bus';
import { type InvoiceChanged, TOPICS } from '@ecf/contracts';
import type { SubmissionStore } from './ports.js';
import { publishedSubmissions } from './submission.js';

/** Keeps every submission of `invoices.v1`. Calls `onPoll` after it added one whose result has to be queried. */
export function subscribeToInvoices(
  bus: Bus,
  group: string,
  submissions: Pick<SubmissionStore, 'apply'>,
  onPoll: () => void,
): Promise<Subscription> {
  async function handle(events: readonly BusEvent[]): Promise<void> {
    const added = await submissions.apply(
      events.map(({ id, data, time, traceparent }) => ({
        eventId: id,
        submissions: publishedSubmissions(data as InvoiceChanged, new Date(time), traceparent ?? null),
      })),
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

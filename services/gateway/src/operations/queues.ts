import type { GaugeValue, QUEUE_NAMES, QueueBody } from '@ecf/contracts';

/** The gauges of each queue: how many wait, and the age of the oldest where it is measured. */
const QUEUES: Readonly<Record<(typeof QUEUE_NAMES)[number], readonly [waiting: string, oldest?: string]>> = {
  undecided_documents: ['ecf_undecided_documents', 'ecf_oldest_undecided_seconds'],
  held_documents: ['ecf_held_documents'],
  contingency_documents: ['ecf_contingency_documents'],
  batch_lines: ['ecf_batch_lines_waiting', 'ecf_oldest_batch_line_seconds'],
  status_queries: ['ecf_status_polls', 'ecf_status_oldest_poll_seconds'],
  cancellations: ['ecf_undecided_cancellations'],
  deliveries: ['ecf_deliveries_open', 'ecf_delivery_oldest_seconds'],
  approvals: ['ecf_approvals_undecided', 'ecf_approvals_undecided_seconds'],
  webhook_events: ['ecf_webhook_pending_events'],
  unpublished_events: ['ecf_outbox_pending', 'ecf_outbox_lag_seconds'],
  unhandled_events: ['ecf_consumer_lag'],
  archive_documents: ['ecf_archive_pending_documents', 'ecf_archive_oldest_pending_seconds'],
};

/** The work that waits, in the order of the table. A queue that no service reports is left out. */
export function queuesOf(gauges: readonly GaugeValue[]): QueueBody[] {
  const valuesOf = (gauge: string | undefined) => gauges.filter(({ name }) => name === gauge).map(({ value }) => value);
  return Object.entries(QUEUES).flatMap(([queue, [waiting, oldest]]) => {
    const counts = valuesOf(waiting);
    if (counts.length === 0) return [];
    const ages = valuesOf(oldest);
    return {
      queue: queue as keyof typeof QUEUES,
      waiting: counts.reduce((sum, count) => sum + count, 0),
      oldest_seconds: ages.length === 0 ? null : Math.max(...ages),
    };
  });
}

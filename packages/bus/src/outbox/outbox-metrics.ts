import type { Metrics } from '@ecf/kit/telemetry';
import type { Queries } from '@ecf/postgres';

const COUNTED = 100_000;
const STATE = `SELECT count(*) AS pending, coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8 AS oldest,
                 (SELECT count(*) FROM outbox WHERE refused) AS refused
               FROM (SELECT created_at FROM outbox WHERE NOT refused ORDER BY position LIMIT ${COUNTED}) AS waiting`;

export interface OutboxMetrics {
  published(topic: string, delaySeconds: number): void;
  failed(): void;
  /** Stops the look-ups. */
  close(): void;
}

/** The metrics of a service's outbox: rows waiting, age of the oldest, events published with their delay, failures. */
export function outboxMetrics(metrics: Metrics, service: string, queries: Queries): OutboxMetrics {
  const pending = metrics.gauge({
    name: 'ecf_outbox_pending',
    help: `Events committed and not yet published (counted up to ${COUNTED})`,
    labels: ['service'],
  });
  const oldest = metrics.gauge({
    name: 'ecf_outbox_lag_seconds',
    help: 'Age of the oldest event not yet published',
    labels: ['service'],
  });
  const refused = metrics.gauge({
    name: 'ecf_outbox_refused',
    help: 'Events that the bus refuses for their content, put aside in the outbox until a person looks at them',
    labels: ['service'],
  });
  const published = metrics.counter({
    name: 'ecf_outbox_published_total',
    help: 'Events published',
    labels: ['service', 'topic'],
  });
  const failures = metrics.counter({
    name: 'ecf_outbox_failures_total',
    help: 'Batches that could not be published and are tried again',
    labels: ['service'],
  });
  const delay = metrics.histogram({
    name: 'ecf_outbox_delay_seconds',
    help: 'Time from the append of an event to its publication',
    labels: ['service'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300],
  });
  const close = metrics.onRender(async () => {
    const { rows } = await queries.query<{ pending: number; oldest: number; refused: number }>(STATE);
    pending.set({ service }, rows[0]?.pending ?? 0);
    oldest.set({ service }, rows[0]?.oldest ?? 0);
    refused.set({ service }, rows[0]?.refused ?? 0);
  });
  return {
    published(topic, delaySeconds) {
      published.inc({ service, topic });
      delay.observe({ service }, Math.max(0, delaySeconds));
    },
    failed: () => failures.inc({ service }),
    close,
  };
}

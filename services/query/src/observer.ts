import type { BusEvent } from '@ecf/service-kit/bus';
import type { Logger, Metrics } from '@ecf/service-kit/telemetry';
import type { Observer } from './core/ports.js';

export interface QueryMetrics {
  readonly observer: Observer;
  readonly projected: (event: BusEvent, now: Date) => void;
}

const LATENCY = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

/** Metrics and log lines of this service. */
export function createQueryMetrics(metrics: Metrics, logger: Logger): QueryMetrics {
  const lag = metrics.histogram({
    name: 'ecf_read_model_lag_seconds',
    help: 'Seconds from a change to its arrival in the read models',
    labels: ['topic'],
    buckets: LATENCY,
  });
  const ownerQueries = metrics.counter({
    name: 'ecf_read_model_owner_queries_total',
    help: 'Queries to the owners before an answer: nothing new, something found, failed, paused after a failure',
    labels: ['outcome'],
  });

  return {
    observer: {
      failed: (what, error) => logger.warn({ err: error }, `${what} failed`),
      freshened: (outcome) => ownerQueries.inc({ outcome }),
    },
    projected: (event, now) =>
      lag.observe({ topic: event.topic }, Math.max(0, (now.getTime() - Date.parse(event.time)) / 1_000)),
  };
}

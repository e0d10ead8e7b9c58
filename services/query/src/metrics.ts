import type { BusEvent } from '@ecf/bus';
import { TOPICS } from '@ecf/contracts';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { DocumentCounts } from './invoices/documents-today.postgres.js';
import type { DeliveryOutcome, WebhookDeliveries, WebhookDelivery } from './webhooks/ports.js';

export interface QueryMetrics {
  /** A warning in the log. */
  readonly failed: (what: string, error: unknown) => void;
  readonly projected: (event: BusEvent, now: Date) => void;
  /** Milliseconds that the latest change of an issued document took to arrive here; 0 before the first. */
  readonly lagMs: () => number;
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
  let lagMs = 0;

  return {
    failed: (what, error) => logger.warn({ err: error }, `${what} failed`),
    projected(event, now) {
      const ms = Math.max(0, now.getTime() - Date.parse(event.time));
      lag.observe({ topic: event.topic }, ms / 1_000);
      if (event.topic === TOPICS.invoices.name) lagMs = ms;
    },
    lagMs: () => lagMs,
  };
}

/** Shows the documents that were created on the present Dominican day, as far as the read models have them. */
export function showDocumentsToday(metrics: Metrics, count: () => Promise<DocumentCounts>): void {
  const today = metrics.gauge({
    name: 'ecf_documents_today',
    help: 'Documents created on the present Dominican day that are in the read models',
    labels: ['env', 'status'],
  });
  metrics.onRender(async () => {
    const counts = await count();
    today.reset();
    for (const { env, status, count: documents } of counts) today.set({ env, status }, documents);
  });
}

/** Metrics and log lines of webhooks. Answers what notes the end of a delivery. */
export function observeWebhooks(
  metrics: Metrics,
  logger: Logger,
  parts: { deliveries: Pick<WebhookDeliveries, 'waiting'>; clock: () => Date },
): (outcome: DeliveryOutcome, delivery: WebhookDelivery, events: number) => void {
  const outcomes = metrics.counter({
    name: 'ecf_webhook_events_total',
    help: 'Calls of webhooks: delivered, failed, deactivated by status 410; and events that were given up',
    labels: ['outcome'],
  });
  const pending = metrics.gauge({
    name: 'ecf_webhook_pending_events',
    help: 'Events that wait for their delivery to a webhook',
    labels: [],
  });
  const failing = metrics.gauge({
    name: 'ecf_webhooks_failing',
    help: 'Active webhooks that fail while events wait for them',
    labels: [],
  });
  const since = metrics.gauge({
    name: 'ecf_webhook_failing_seconds',
    help: 'Seconds since the first failure of the one among these webhooks that has failed for the longest time',
    labels: [],
  });
  metrics.onRender(async () => {
    const waiting = await parts.deliveries.waiting(parts.clock());
    pending.set({}, waiting.events);
    failing.set({}, waiting.failing);
    since.set({}, Math.max(0, waiting.failingSeconds));
  });
  return (outcome, { webhookId, event }, events) => {
    outcomes.inc({ outcome }, events);
    const line = { webhook_id: webhookId, event_id: event?.id };
    if (outcome === 'given_up') logger.warn({ ...line, events }, 'events for a webhook were given up after 72 hours');
    if (outcome === 'deactivated') logger.warn(line, 'a receiver answered 410, so its webhook was deactivated');
  };
}

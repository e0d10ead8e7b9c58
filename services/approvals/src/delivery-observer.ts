import type { Logger, Metrics } from '@ecf/service-kit/telemetry';
import type { DeliveryObserver, DeliveryStore } from './buyers/delivery-ports.js';

/** Metrics and log lines of deliveries. */
export function createDeliveryObserver(metrics: Metrics, logger: Logger, clock: () => Date): DeliveryObserver {
  const attempts = metrics.histogram({
    name: 'ecf_delivery_attempt_seconds',
    help: 'Attempts to deliver an e-CF to its buyer, by outcome',
    labels: ['env', 'outcome'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  });
  const statuses = metrics.counter({
    name: 'ecf_delivery_status_total',
    help: 'Deliveries that reached a status',
    labels: ['env', 'status'],
  });
  const acknowledgements = metrics.counter({
    name: 'ecf_received_acknowledgements_total',
    help: 'Acknowledgements that buyers returned, by Estado and validity',
    labels: ['env', 'receipt_status', 'valid'],
  });
  const opened = metrics.counter({
    name: 'ecf_delivery_circuit_opened_total',
    help: 'Pauses of buyers: an open circuit breaker, or a pause that the receiver asked for',
    labels: ['env'],
  });
  return {
    failed: (what, error, key) =>
      logger.error(
        { ...(key === undefined ? {} : { env: key.env, issuer_rnc: key.issuerRnc, encf: key.encf }), err: error },
        `${what} failed`,
      ),
    attempted: ({ key }, outcome, ms) => attempts.observe({ env: key.env, outcome }, ms / 1_000),
    changed({ key, buyerRnc, lastError }, status) {
      statuses.inc({ env: key.env, status });
      if (status !== 'failed') return;
      const { env, issuerRnc, encf } = key;
      logger.error(
        { env, issuer_rnc: issuerRnc, encf, buyer_rnc: buyerRnc, error: lastError },
        'an e-CF could not be delivered before its deadline',
      );
    },
    acknowledged: ({ key, receiptStatus, fault }) =>
      acknowledgements.inc({
        env: key.env,
        receipt_status: String(receiptStatus ?? ''),
        valid: String(fault === null),
      }),
    paused(buyer, pauseMs) {
      opened.inc({ env: buyer.split(':')[0] ?? '' });
      logger.warn(
        { buyer, until: new Date(clock().getTime() + pauseMs).toISOString() },
        'a buyer gets no calls for a while',
      );
    },
  };
}

/** Counts the deliveries that have not ended whenever metrics are read; returns how to stop that. */
export function observeDeliveries(
  metrics: Metrics,
  parts: { deliveries: Pick<DeliveryStore, 'backlog'>; pausedCount: () => number; clock: () => Date },
): () => void {
  const count = metrics.gauge({
    name: 'ecf_deliveries_open',
    help: 'Deliveries that have not ended, by status',
    labels: ['env', 'status'],
  });
  const oldest = metrics.gauge({
    name: 'ecf_delivery_oldest_seconds',
    help: 'Age of the oldest delivery that has not ended, by status',
    labels: ['env', 'status'],
  });
  const paused = metrics.gauge({
    name: 'ecf_delivery_receivers_paused',
    help: 'Buyers and hosts of receivers that get no calls from this instance now',
    labels: [],
  });
  let shown: { env: string; status: string }[] = [];
  return metrics.onRender(async () => {
    for (const labels of shown) {
      count.set(labels, 0);
      oldest.set(labels, 0);
    }
    const now = parts.clock().getTime();
    const backlog = await parts.deliveries.backlog();
    shown = backlog.map(({ env, status }) => ({ env, status }));
    for (const { env, status, count: number, oldest: since } of backlog) {
      count.set({ env, status }, number);
      oldest.set({ env, status }, Math.max(0, (now - since.getTime()) / 1_000));
    }
    paused.set({}, parts.pausedCount());
  });
}

import type { Logger, Metrics } from '@ecf/service-kit/telemetry';
import type { ApprovalStore, Observer } from './ports.js';

/** An older undecided approval raises an alarm; it is still sent. */
const OVERDUE_MS = 72 * 3_600_000;

/** Log lines and metrics of sends. */
export function createObserver(metrics: Metrics, logger: Logger): Observer {
  const sends = metrics.counter({
    name: 'ecf_approvals_sends_total',
    help: 'Sends of our approvals, by target (authority, issuer) and outcome.',
    labels: ['target', 'outcome'],
  });
  return {
    failed: (what, error) => logger.warn({ err: error }, `${what} failed`),
    sent: (target, outcome) => sends.inc({ target, outcome }),
  };
}

/** Counts the undecided approvals whenever metrics are read; returns how to stop that. */
export function observeBacklog(metrics: Metrics, store: Pick<ApprovalStore, 'backlog'>, clock: () => Date): () => void {
  const undecided = metrics.gauge({
    name: 'ecf_approvals_undecided',
    help: 'Our approvals without a decision of the target (authority, issuer).',
    labels: ['target'],
  });
  const age = metrics.gauge({
    name: 'ecf_approvals_undecided_seconds',
    help: 'Age of the oldest of them.',
    labels: ['target'],
  });
  const overdue = metrics.gauge({
    name: 'ecf_approvals_overdue',
    help: '1 where an approval has been undecided for more than 72 hours: an operator has to look.',
    labels: ['target'],
  });
  return metrics.onRender(async () => {
    for (const { target, count, oldest } of await store.backlog()) {
      const milliseconds = oldest === null ? 0 : Math.max(0, clock().getTime() - oldest.getTime());
      undecided.set({ target }, count);
      age.set({ target }, milliseconds / 1_000);
      overdue.set({ target }, milliseconds > OVERDUE_MS ? 1 : 0);
    }
  });
}

import { storableText } from '@ecf/domain';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { PublicCall } from '@ecf/public-ingress';
import type { DeliveryReport, DeliveryStore } from './buyers/ports.js';
import type { ApprovalStore, Target } from './given/ports.js';
import type { ApprovalOutcome } from './received/receive-approval.js';

/** An older undecided approval raises an alarm; it is still sent. */
const OVERDUE_MS = 72 * 3_600_000;
/** Statuses at which a delivery has ended, unless a person repeats it. */
const ENDED: readonly string[] = ['delivered', 'refused', 'failed'];

/** Log lines and metrics of sends: deliveries to buyers, and approvals that our taxpayers give. */
export interface SendReport extends DeliveryReport {
  /** A send of an approval ended. */
  sent(target: Target, outcome: string): void;
  /** A buyer (environment and RNC) gets no calls for `pauseMs` milliseconds. */
  paused(buyer: string, pauseMs: number): void;
}

export function createSendReport(metrics: Metrics, logger: Logger, clock: () => Date): SendReport {
  const sends = metrics.counter({
    name: 'ecf_approvals_sends_total',
    help: 'Sends of our approvals, by target (authority, issuer) and outcome.',
    labels: ['target', 'outcome'],
  });
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
  const durations = metrics.histogram({
    name: 'ecf_delivery_seconds',
    help: 'Seconds from the arrival of an accepted e-CF until its delivery ended: delivered, refused, failed',
    labels: ['env', 'status'],
    buckets: [1, 5, 15, 60, 300, 900, 3_600, 21_600, 86_400, 259_200],
  });
  const acknowledgements = metrics.counter({
    name: 'ecf_received_acknowledgements_total',
    help: 'Acknowledgements that buyers returned, by Estado and validity',
    labels: ['env', 'receipt_status', 'valid'],
  });
  const opened = metrics.counter({
    name: 'ecf_delivery_circuit_opened_total',
    help: 'Pauses of buyers: an open circuit breaker, or a pause that the receiver requested',
    labels: ['env'],
  });
  return {
    failed: (what, error, key) =>
      logger.error(
        { ...(key === undefined ? {} : { env: key.env, issuer_rnc: key.issuerRnc, encf: key.encf }), err: error },
        `${what} failed`,
      ),
    sent: (target, outcome) => sends.inc({ target, outcome }),
    attempted: ({ key }, outcome, ms) => attempts.observe({ env: key.env, outcome }, ms / 1_000),
    changed({ key, buyerRnc, lastError, createdAt }, status) {
      statuses.inc({ env: key.env, status });
      if (ENDED.includes(status))
        durations.observe({ env: key.env, status }, Math.max(0, clock().getTime() - createdAt.getTime()) / 1_000);
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

/** Counts the documents that are not sent yet whenever metrics are read; returns a function that stops this. */
export function observeBacklog(
  metrics: Metrics,
  parts: {
    readonly approvals: Pick<ApprovalStore, 'backlog'>;
    readonly deliveries: Pick<DeliveryStore, 'backlog'>;
    readonly paused: () => number;
    readonly clock: () => Date;
  },
): () => void {
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
    help: '1 where an approval has been undecided for more than 72 hours: an operator must check it.',
    labels: ['target'],
  });
  const open = metrics.gauge({
    name: 'ecf_deliveries_open',
    help: 'Deliveries that have not ended, by status',
    labels: ['env', 'status'],
  });
  const oldestOpen = metrics.gauge({
    name: 'ecf_delivery_oldest_seconds',
    help: 'Age of the oldest delivery that has not ended, by status',
    labels: ['env', 'status'],
  });
  const paused = metrics.gauge({
    name: 'ecf_delivery_receivers_paused',
    help: 'Buyers and hosts of receivers that get no calls from this instance now',
    labels: [],
  });
  const ageOf = (since: Date | null) => (since === null ? 0 : Math.max(0, parts.clock().getTime() - since.getTime()));
  let shown: { env: string; status: string }[] = [];
  return metrics.onRender(async () => {
    for (const { target, count, oldest } of await parts.approvals.backlog()) {
      undecided.set({ target }, count);
      age.set({ target }, ageOf(oldest) / 1_000);
      overdue.set({ target }, ageOf(oldest) > OVERDUE_MS ? 1 : 0);
    }
    for (const labels of shown) {
      open.set(labels, 0);
      oldestOpen.set(labels, 0);
    }
    const backlog = await parts.deliveries.backlog();
    shown = backlog.map(({ env, status }) => ({ env, status }));
    for (const { env, status, count, oldest } of backlog) {
      open.set({ env, status }, count);
      oldestOpen.set({ env, status }, ageOf(oldest) / 1_000);
    }
    paused.set({}, parts.paused());
  });
}

/** Metrics and log lines about approvals at the public ingress. */
export interface ApprovalReport {
  answered(outcome: ApprovalOutcome, call: PublicCall, milliseconds: number): void;
  /** A call that was neither accepted nor refused with a receipt. */
  refused(kind: string, call: PublicCall): void;
}

/** Longest reason in a log line. */
const LONGEST_REASON = 500;

/** Every refusal writes a log line with its reason, and with no other part of the document. */
export function createApprovalReport(metrics: Metrics, logger: Logger): ApprovalReport {
  const answers = metrics.counter({
    name: 'ecf_approvals_received_total',
    help: 'Commercial approvals of buyers that were answered, by outcome: accepted, refused.',
    labels: ['env', 'outcome'],
  });
  const refusals = metrics.counter({
    name: 'ecf_approvals_ingress_refusals_total',
    help: 'Calls of the public ingress for approvals that got no receipt, by reason.',
    labels: ['env', 'reason'],
  });
  const unkept = metrics.counter({
    name: 'ecf_approvals_unkept_documents_total',
    help: 'Refused approvals whose bytes were not kept, by the limit that they exceed: size.',
    labels: ['env', 'reason'],
  });
  const seconds = metrics.histogram({
    name: 'ecf_approvals_received_seconds',
    help: 'Seconds from the request to the answer, stored and ready to leave.',
    labels: ['outcome'],
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 15, 60],
  });
  return {
    answered({ refusal, unkept: reason }, call, milliseconds) {
      const { env } = call;
      const outcome = refusal === null ? 'accepted' : 'refused';
      answers.inc({ env, outcome });
      seconds.observe({ outcome }, milliseconds / 1_000);
      if (refusal !== null)
        logger.info({ ...call, reason: storableText(refusal, LONGEST_REASON) }, 'a commercial approval was refused');
      if (reason !== null) {
        unkept.inc({ env, reason });
        logger.info({ ...call, reason }, 'the bytes of a refused document were not kept');
      }
    },
    refused(reason, call) {
      refusals.inc({ env: call.env, reason });
      logger.info({ ...call, reason }, 'a call of the public ingress was refused');
    },
  };
}

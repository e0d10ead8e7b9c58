import type { AuthorityClient } from '@ecf/authority-client';
import { ENVIRONMENTS } from '@ecf/domain';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { Attempt } from './attempt/attempt.js';
import type { Backlog, Observer } from './attempt/ports.js';
import type { BatchBacklog } from './batches/ports.js';
import type { CancellationObserver, CancellationStore } from './cancellation/ports.js';
import type { ContingencyBacklog } from './contingency/ports.js';
import type { EndsBacklog } from './notices/notices.postgres.js';
import { publicStatus } from './published/invoice-event.js';

export interface EmissionMetrics {
  readonly observer: Observer;
  readonly backlog: (backlog: Backlog, now: Date) => void;
}

/** Metrics and log lines of documents. */
export function createEmissionMetrics(metrics: Metrics, logger: Logger): EmissionMetrics {
  const document = ['ecf_type', 'route', 'env'] as const;
  const submissions = metrics.counter({
    name: 'ecf_submissions_total',
    help: 'Sends of documents to the authority',
    labels: [...document, 'outcome'],
  });
  const decisions = metrics.counter({
    name: 'ecf_decisions_total',
    help: 'Documents that reached their final state',
    labels: [...document, 'status'],
  });
  const withdrawn = metrics.counter({
    name: 'ecf_withdrawn_documents_total',
    help: 'Documents that are never sent: the document they refer to was rejected, or the authority refused the x-token',
    labels: [...document],
  });
  const alarms = metrics.counter({
    name: 'ecf_alarms_total',
    help: 'Documents that a person has to look at',
    labels: ['kind', 'env'],
  });
  const signing = metrics.histogram({
    name: 'ecf_signing_seconds',
    help: 'Time to sign a document, the wait for a thread included',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5],
  });
  const undecided = metrics.gauge({
    name: 'ecf_undecided_documents',
    help: 'Documents not decided yet',
    labels: ['state'],
  });
  const held = metrics.gauge({
    name: 'ecf_held_documents',
    help: 'Documents that wait until the document they refer to is accepted',
  });
  const alarmed = metrics.gauge({
    name: 'ecf_alarmed_documents',
    help: 'Undecided documents with an alarm',
    labels: ['kind'],
  });
  const oldest = metrics.gauge({ name: 'ecf_oldest_undecided_seconds', help: 'Age of the oldest undecided document' });

  return {
    observer: {
      signed: (seconds) => signing.observe(seconds),
      submitted: (attempt, outcome) => submissions.inc({ outcome, ...labelsOf(attempt) }),
      decided(attempt) {
        if (attempt.state === 'withdrawn') withdrawn.inc(labelsOf(attempt));
        else decisions.inc({ status: publicStatus(attempt.state), ...labelsOf(attempt) });
      },
      alarm(attempt) {
        alarms.inc({ kind: attempt.alarm ?? '', env: attempt.env });
        logger.error({ ...namesOf(attempt), alarm: attempt.alarm }, 'a document needs a person');
      },
      mismatchedAnswer: (attempt, detail) =>
        logger.error({ ...namesOf(attempt), track_id: attempt.trackId, detail }, 'an answer about another document'),
      failed: (what, error, attempt) =>
        logger.error({ ...(attempt === undefined ? {} : namesOf(attempt)), err: error }, `${what} failed`),
    },
    backlog(backlog, now) {
      undecided.reset();
      for (const { state, count } of backlog.undecided) undecided.set({ state }, count);
      held.set(backlog.undecided.find(({ state }) => state === 'held')?.count ?? 0);
      alarmed.reset();
      for (const { kind, count } of backlog.alarms) alarmed.set({ kind }, count);
      oldest.set(
        backlog.oldestCommittedAt === null ? 0 : (now.getTime() - backlog.oldestCommittedAt.getTime()) / 1_000,
      );
    },
  };
}

/** Shows whether the services of the authority that take documents answer this process. */
export function showAuthority(metrics: Metrics, authority: Pick<AuthorityClient, 'isUnreachable'>): void {
  const reachable = metrics.gauge({
    name: 'ecf_authority_reachable',
    help: '1 while the authority answers submissions of this process, or there were none; 0 while it does not',
    labels: ['env'],
  });
  metrics.onRender(async () => {
    for (const env of ENVIRONMENTS) {
      const isAway = authority.isUnreachable(env, 'recepcion') || authority.isUnreachable(env, 'recepcionfc');
      reachable.set({ env }, isAway ? 0 : 1);
    }
  });
}

function labelsOf({ ecfType, route, env }: Attempt) {
  return { ecf_type: ecfType, route, env };
}

function namesOf({ env, issuerRnc, encf, attempt, state }: Attempt) {
  return { env, issuer_rnc: issuerRnc, encf, attempt, state };
}

/** Metrics and log lines of cancellations. */
export function createCancellationMetrics(
  metrics: Metrics,
  logger: Logger,
): {
  readonly observer: CancellationObserver;
  readonly backlog: (backlog: Awaited<ReturnType<CancellationStore['backlog']>>) => void;
} {
  const sends = metrics.counter({
    name: 'ecf_cancellations_sent_total',
    help: 'Sends of cancellations to the authority',
    labels: ['env', 'outcome'],
  });
  const undecided = metrics.gauge({
    name: 'ecf_undecided_cancellations',
    help: 'Cancellations that are not decided yet; their numbers are blocked',
  });
  const alarmed = metrics.gauge({
    name: 'ecf_alarmed_cancellations',
    help: 'Cancellations that a person has to look at',
    labels: ['kind'],
  });
  return {
    observer: {
      sent: ({ env }, outcome) => sends.inc({ env, outcome }),
      alarm: ({ id, env, issuerRnc, alarm }) =>
        logger.error({ cancellation: id, env, issuer_rnc: issuerRnc, alarm }, 'a cancellation needs a person'),
      settled: ({ id, env, issuerRnc, state, settledNote }) =>
        logger.info(
          { cancellation: id, env, issuer_rnc: issuerRnc, state, note: settledNote },
          'a cancellation was settled by a person',
        ),
      failed: (what, error, id) => logger.error({ cancellation: id, err: error }, `${what} failed`),
    },
    backlog(present) {
      undecided.set(present.undecided);
      alarmed.reset();
      for (const { kind, count } of present.alarms) alarmed.set({ kind }, count);
    },
  };
}

/** Metrics of the documents that wait for the authority. */
export function createContingencyMetrics(
  metrics: Metrics,
): (backlog: readonly ContingencyBacklog[], now: Date) => void {
  const waiting = metrics.gauge({
    name: 'ecf_contingency_documents',
    help: 'Documents signed in contingency that wait for the authority',
    labels: ['env'],
  });
  const left = metrics.gauge({
    name: 'ecf_contingency_seconds_left',
    help: 'Seconds until the first deadline of those documents; absent before the return of the authority',
    labels: ['env'],
  });
  return (backlog, now) => {
    waiting.reset();
    left.reset();
    for (const { env, count, deadline } of backlog) {
      waiting.set({ env }, count);
      if (deadline !== null) left.set({ env }, (deadline.getTime() - now.getTime()) / 1_000);
    }
  };
}

/** Metrics of certificates and number ranges that end. */
export function createEndsMetrics(metrics: Metrics): (backlog: EndsBacklog) => void {
  const certificates = metrics.gauge({
    name: 'ecf_certificates_expiring',
    help: 'Active taxpayers whose certificate ends within 30 days, or has ended',
  });
  const ranges = metrics.gauge({
    name: 'ecf_ranges_ending',
    help: 'Types of active taxpayers of which every registered range is low, ends within 30 days or has ended',
    labels: ['env'],
  });
  return (backlog) => {
    certificates.set(backlog.certificates);
    ranges.reset();
    for (const { env, count } of backlog.ranges) ranges.set({ env }, count);
  };
}

/** Metrics of the work that batches have left. */
export function createBatchMetrics(metrics: Metrics): (backlog: BatchBacklog, now: Date) => void {
  const open = metrics.gauge({ name: 'ecf_open_batches', help: 'Batches that are not finished' });
  const waiting = metrics.gauge({ name: 'ecf_batch_lines_waiting', help: 'Lines of batches without an outcome' });
  const oldest = metrics.gauge({
    name: 'ecf_oldest_batch_line_seconds',
    help: 'Age of the oldest batch with a line without an outcome',
  });
  return ({ batches, lines, oldestCreatedAt }, now) => {
    open.set(batches);
    waiting.set(lines);
    oldest.set(oldestCreatedAt === null ? 0 : (now.getTime() - oldestCreatedAt.getTime()) / 1_000);
  };
}

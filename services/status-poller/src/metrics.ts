import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { Backlog, Observer } from './ports.js';

export interface PollerMetrics {
  readonly observer: Observer;
  readonly backlog: (backlog: readonly Backlog[], now: Date) => void;
}

/** Metrics and log lines of this service. */
export function createPollerMetrics(metrics: Metrics, logger: Logger): PollerMetrics {
  const queries = metrics.counter({
    name: 'ecf_status_queries_total',
    help: 'Queries for the result of a submission, by the status that it brought or the reason why there was none',
    labels: ['env', 'outcome'],
  });
  const changes = metrics.counter({
    name: 'ecf_status_changes_total',
    help: 'Changes of a status that were published',
    labels: ['env', 'status'],
  });
  const perDecision = metrics.histogram({
    name: 'ecf_status_queries_per_decision',
    help: 'Answered queries of the background until a submission was decided',
    labels: ['env'],
    buckets: [1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 50],
  });
  const alarms = metrics.counter({
    name: 'ecf_status_alarms_total',
    help: 'Submissions that stayed undecided for more than 72 hours',
    labels: ['env'],
  });
  const polls = metrics.gauge({
    name: 'ecf_status_polls',
    help: 'Undecided submissions by state: waiting for their due time, due, claimed, overdue (72 hours)',
    labels: ['env', 'state'],
  });
  const oldest = metrics.gauge({
    name: 'ecf_status_oldest_poll_seconds',
    help: 'Age of the oldest undecided submission',
    labels: ['env'],
  });

  return {
    observer: {
      queried: (env, outcome) => queries.inc({ env, outcome }),
      decided: ({ env, tries }) => perDecision.observe({ env }, tries + 1),
      changed: ({ env, facts }) => changes.inc({ env, status: facts.status }),
      overdue(poll) {
        alarms.inc({ env: poll.env });
        const { env, issuerRnc, encf, trackId } = poll;
        logger.error(
          { env, issuer_rnc: issuerRnc, encf, track_id: trackId },
          'a submission is undecided for more than 72 hours',
        );
      },
      mismatchedAnswer: ({ env, trackId, issuerRnc, encf }, detail) =>
        logger.error(
          { env, issuer_rnc: issuerRnc, encf, track_id: trackId, detail },
          'an answer about another document',
        ),
      paused: (env, until) => logger.warn({ env, until: until.toISOString() }, 'queries to the authority pause'),
      failed: (what, error, key) =>
        logger.error(
          { ...(key === undefined ? {} : { env: key.env, track_id: key.trackId }), err: error },
          `${what} failed`,
        ),
    },
    backlog(backlog, now) {
      for (const { env, waiting, due, claimed, overdue, oldestSubmittedAt } of backlog) {
        polls.set({ env, state: 'waiting' }, waiting);
        polls.set({ env, state: 'due' }, due);
        polls.set({ env, state: 'claimed' }, claimed);
        polls.set({ env, state: 'overdue' }, overdue);
        oldest.set({ env }, oldestSubmittedAt === null ? 0 : (now.getTime() - oldestSubmittedAt.getTime()) / 1_000);
      }
    },
  };
}

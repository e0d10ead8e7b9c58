import { dominicanDays, ENVIRONMENTS, toCalendarDate } from '@ecf/domain';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { PublicCall } from '@ecf/public-ingress';
import type { ConfirmationReport } from './confirmation/ports.js';
import { DUE_SOON_DAYS } from './listings/approval-deadline.js';
import type { ListingStore } from './listings/ports.js';
import type { Acknowledged } from './receive/record-document.js';

/** Metrics and log lines about calls of the public ingress. */
export interface ReceptionReport {
  /** A call that sends a body begins. Returns a function to call when it ends. */
  begin(): () => void;
  answered(outcome: Acknowledged, call: PublicCall, milliseconds: number): void;
  /** A call without acknowledgement or token. */
  refused(kind: string, call: PublicCall): void;
  seed(outcome: string): void;
}

/** Every refusal writes a log line with its request id and sender. */
export function createReceptionReport(metrics: Metrics, logger: Logger): ReceptionReport {
  const answers = metrics.counter({
    name: 'ecf_reception_acknowledgements_total',
    help: 'Acknowledgements given to senders, by outcome: received, repeated, motive_1 to motive_4.',
    labels: ['env', 'ecf_type', 'outcome'],
  });
  const refusals = metrics.counter({
    name: 'ecf_reception_refusals_total',
    help: 'Calls of the public ingress that got neither acknowledgement nor token, by reason.',
    labels: ['env', 'reason'],
  });
  const unkept = metrics.counter({
    name: 'ecf_reception_unkept_documents_total',
    help: 'Refused documents whose bytes were not kept, by the limit that they exceed: size, number.',
    labels: ['env', 'reason'],
  });
  for (const env of ENVIRONMENTS) unkept.inc({ env, reason: 'number' }, 0);
  const seeds = metrics.counter({
    name: 'ecf_reception_seeds_total',
    help: 'Seeds of the sender authentication: issued, redeemed, refused.',
    labels: ['outcome'],
  });
  const seconds = metrics.histogram({
    name: 'ecf_reception_acknowledgement_seconds',
    help: 'Seconds from the request to the acknowledgement, stored and ready to leave.',
    labels: ['outcome'],
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 15, 60],
  });
  const inFlight = metrics.gauge({
    name: 'ecf_reception_in_flight_requests',
    help: 'Requests whose body is arriving or which are being answered.',
  });

  return {
    begin() {
      inFlight.inc();
      return () => inFlight.dec();
    },
    answered(outcome, call, milliseconds) {
      const { env } = call;
      const word = outcome.motive === null ? (outcome.repeated ? 'repeated' : 'received') : `motive_${outcome.motive}`;
      answers.inc({ env, ecf_type: outcome.ecfType ?? 'none', outcome: word });
      seconds.observe({ outcome: word }, milliseconds / 1000);
      if (outcome.sharedWith !== null)
        logger.info(
          { ...call, outcome: word, shared_with: outcome.sharedWith },
          'an identical document of the same sender was in flight; both calls got its acknowledgement',
        );
      if (outcome.unkept !== null) {
        unkept.inc({ env, reason: outcome.unkept });
        logger.info({ ...call, reason: outcome.unkept }, 'the bytes of a refused document were not kept');
      }
    },
    refused(reason, call) {
      refusals.inc({ env: call.env, reason });
      logger.info({ ...call, reason }, 'a call of the public ingress was refused');
    },
    seed(outcome) {
      seeds.inc({ outcome });
    },
  };
}

/** Metrics and log lines about what the authority says of received documents. */
export function createConfirmationReport(metrics: Metrics, logger: Logger): ConfirmationReport {
  const queries = metrics.counter({
    name: 'ecf_reception_confirmation_queries_total',
    help: 'Queries to the authority about received documents, by answer: confirmed, rejected, unknown, pending, none.',
    labels: ['env', 'answer'],
  });
  const disputed = metrics.counter({
    name: 'ecf_reception_disputed_documents_total',
    help: 'Documents from providers that the authority rejected, or did not know after 72 hours.',
    labels: ['env', 'status'],
  });
  // A counter that begins with its first document would hide that one from `increase`, and so from the alarm.
  for (const env of ENVIRONMENTS) for (const status of ['rejected', 'unknown']) disputed.inc({ env, status }, 0);
  const promoted = metrics.counter({
    name: 'ecf_reception_promoted_documents_total',
    help: 'Documents that took a number from another one because the authority confirmed them.',
    labels: ['env'],
  });
  const named = ({
    env,
    issuerRnc: issuer_rnc,
    encf,
    buyerRnc: buyer_rnc,
    documentId: id,
  }: Parameters<ConfirmationReport['promoted']>[0]) => ({ env, issuer_rnc, encf, buyer_rnc, id });

  return {
    queried(env, answer) {
      queries.inc({ env, answer: answer ?? 'none' });
    },
    disputed(document, status) {
      disputed.inc({ env: document.env, status });
      logger.warn(
        { ...named(document), status },
        'the authority does not confirm a document that came from a provider',
      );
    },
    promoted(document) {
      promoted.inc({ env: document.env });
      logger.warn(named(document), 'a document that the authority confirmed took the number of another one');
    },
  };
}

const DAY_MS = 86_400_000;

/** Days for which an unanswered document counts as overdue, so that an old one does not hide others. */
const OVERDUE_DAYS = 3;

/**
 * Before each reading of the metrics, counts the received documents whose deadline is near or has just passed; returns a function
 * that stops this. Any count above zero is an alarm.
 */
export function reportDeadline(
  metrics: Metrics,
  listings: Pick<ListingStore, 'unanswered'>,
  deadlineDays: number,
  clock: () => Date,
): () => void {
  const awaited = metrics.gauge({
    name: 'ecf_reception_approvals_awaited',
    help: `Received e-CF without approval or rejection, at most ${OVERDUE_DAYS} days after the deadline (overdue) or ${DUE_SOON_DAYS} days before it (due_soon).`,
    labels: ['env', 'state'],
  });
  /** Documents received before this instant have `left` days or less. */
  const receivedWith = (left: number): Date => {
    const day = toCalendarDate(new Date(clock().getTime() - (deadlineDays - left) * DAY_MS));
    return dominicanDays(day, day).until;
  };
  return metrics.onRender(async () => {
    const deadline = receivedWith(-1);
    const [overdue, soon] = await Promise.all([
      listings.unanswered(receivedWith(-1 - OVERDUE_DAYS), deadline),
      listings.unanswered(deadline, receivedWith(DUE_SOON_DAYS)),
    ]);
    awaited.reset();
    for (const { env, count } of overdue) awaited.set({ env, state: 'overdue' }, count);
    for (const { env, count } of soon) awaited.set({ env, state: 'due_soon' }, count);
  });
}

import type { Environment } from '@ecf/domain';
import type { Logger, Metrics } from '@ecf/service-kit/telemetry';
import type { Acknowledged } from '../core/documents/receive-document.js';

/** The call that is told of. */
export interface Where {
  readonly request_id: string;
  readonly trace_id: string;
  readonly sender: string | null;
  readonly env: Environment;
}

/** What is counted and logged about calls of the public door. */
export interface ReceptionReport {
  answered(outcome: Acknowledged, where: Where, milliseconds: number): void;
  /** A call without acknowledgement or token. */
  refused(kind: string, where: Where): void;
  seed(outcome: string): void;
}

/** Counts under stable names; every refusal leaves a line in the log with its request id and sender. */
export function createReceptionReport(metrics: Metrics, logger: Logger): ReceptionReport {
  const answers = metrics.counter({
    name: 'ecf_reception_acknowledgements_total',
    help: 'Acknowledgements given to senders, by outcome: received, repeated, motive_1 to motive_4.',
    labels: ['env', 'ecf_type', 'outcome'],
  });
  const refusals = metrics.counter({
    name: 'ecf_reception_refusals_total',
    help: 'Calls of the public door that got neither acknowledgement nor token, by reason.',
    labels: ['env', 'reason'],
  });
  const unkept = metrics.counter({
    name: 'ecf_reception_unkept_documents_total',
    help: 'Refused documents whose bytes were not kept, by what had no room: size, number, sender, total.',
    labels: ['env', 'reason'],
  });
  const seeds = metrics.counter({
    name: 'ecf_reception_seeds_total',
    help: 'Seeds of the sender authentication, by what became of them.',
    labels: ['outcome'],
  });
  const seconds = metrics.histogram({
    name: 'ecf_reception_acknowledgement_seconds',
    help: 'Seconds from the request to the acknowledgement, stored and ready to leave.',
    labels: ['outcome'],
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 15, 60],
  });

  return {
    answered(outcome, where, milliseconds) {
      const { env } = where;
      const word = outcome.motive === null ? (outcome.repeated ? 'repeated' : 'received') : `motive_${outcome.motive}`;
      answers.inc({ env, ecf_type: outcome.ecfType ?? 'none', outcome: word });
      seconds.observe({ outcome: word }, milliseconds / 1000);
      if (outcome.sharedWith !== null)
        logger.info(
          { ...where, outcome: word, shared_with: outcome.sharedWith },
          'an equal document of the same sender was under way; both got its acknowledgement',
        );
      if (outcome.unkept !== null) {
        unkept.inc({ env, reason: outcome.unkept });
        logger.info({ ...where, reason: outcome.unkept }, 'the bytes of a refused document were not kept');
      }
    },
    refused(reason, where) {
      refusals.inc({ env: where.env, reason });
      logger.info({ ...where, reason }, 'a call of the public door was refused');
    },
    seed(outcome) {
      seeds.inc({ outcome });
    },
  };
}

/** Shows what is held of bodies, at each look at the metrics; gives how to end that. */
export function reportHeld(metrics: Metrics, load: () => { bytes: number; requests: number }): () => void {
  const bytes = metrics.gauge({ name: 'ecf_reception_held_bytes', help: 'Bytes of bodies that are held at present.' });
  const requests = metrics.gauge({
    name: 'ecf_reception_held_requests',
    help: 'Requests whose body is arriving or being answered.',
  });
  return metrics.onRender(async () => {
    const present = load();
    bytes.set(present.bytes);
    requests.set(present.requests);
  });
}

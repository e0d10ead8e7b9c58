import { ENVIRONMENTS } from '@ecf/domain';
import type { PublicCall } from '@ecf/public-ingress';
import type { Logger, Metrics } from '@ecf/service-kit/telemetry';
import type { Acknowledged } from './record-document.js';

/** Metrics and log lines about calls of the public ingress. */
export interface ReceptionReport {
  /** A call that sends a body begins. Returns how it ends. */
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

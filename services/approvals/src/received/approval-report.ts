import { storableText } from '@ecf/domain';
import type { PublicCall } from '@ecf/public-ingress';
import type { Logger, Metrics } from '@ecf/service-kit/telemetry';
import type { ApprovalOutcome } from './receive-approval.js';

/** Metrics and log lines about approvals at the public ingress. */
export interface ApprovalReport {
  answered(outcome: ApprovalOutcome, call: PublicCall, milliseconds: number): void;
  /** A call that was neither accepted nor refused with a receipt. */
  refused(kind: string, call: PublicCall): void;
}

/** Longest reason in a log line. */
const LONGEST_REASON = 500;

/** Every refusal writes a log line with its reason and nothing else of the document. */
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

import { type Environment, storableText } from '@ecf/domain';
import type { Logger, Metrics } from '@ecf/service-kit/telemetry';
import type { ApprovalOutcome } from '../core/received/receive-approval.js';

/** The call that is told of. */
export interface Where {
  readonly request_id: string;
  readonly trace_id: string;
  readonly sender: string | null;
  readonly env: Environment;
}

/** What is counted and logged about approvals at the public door. */
export interface ApprovalReport {
  answered(outcome: ApprovalOutcome, where: Where, milliseconds: number): void;
  /** A call that got neither. */
  refused(kind: string, where: Where): void;
}

/** Of a reason in the log. */
const LONGEST_REASON = 500;

/** Counts under stable names; every refusal leaves a line in the log, with its reason and nothing else of the document. */
export function createApprovalReport(metrics: Metrics, logger: Logger): ApprovalReport {
  const answers = metrics.counter({
    name: 'ecf_approvals_received_total',
    help: 'Commercial approvals of buyers that were answered, by outcome: accepted, refused.',
    labels: ['env', 'outcome'],
  });
  const refusals = metrics.counter({
    name: 'ecf_approvals_door_refusals_total',
    help: 'Calls of the public door for approvals that were answered neither yes nor no, by reason.',
    labels: ['env', 'reason'],
  });
  const unkept = metrics.counter({
    name: 'ecf_approvals_unkept_documents_total',
    help: 'Refused approvals whose bytes were not kept, by what had no room: size, sender, total.',
    labels: ['env', 'reason'],
  });
  const seconds = metrics.histogram({
    name: 'ecf_approvals_received_seconds',
    help: 'Seconds from the request to the answer, stored and ready to leave.',
    labels: ['outcome'],
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 15, 60],
  });
  return {
    answered({ refusal, unkept: reason }, where, milliseconds) {
      const { env } = where;
      const outcome = refusal === null ? 'accepted' : 'refused';
      answers.inc({ env, outcome });
      seconds.observe({ outcome }, milliseconds / 1_000);
      if (refusal !== null)
        logger.info({ ...where, reason: storableText(refusal, LONGEST_REASON) }, 'a commercial approval was refused');
      if (reason !== null) {
        unkept.inc({ env, reason });
        logger.info({ ...where, reason }, 'the bytes of a refused document were not kept');
      }
    },
    refused(reason, where) {
      refusals.inc({ env: where.env, reason });
      logger.info({ ...where, reason }, 'a call of the public door was refused');
    },
  };
}

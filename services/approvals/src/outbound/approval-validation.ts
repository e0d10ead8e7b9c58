import { createValidationPool, type ValidationPoolOptions } from '@ecf/public-ingress';
import type { TrustedIssuers } from '@ecf/xml-signing';
import { ApprovalsError, UnreadableApproval } from '../core/errors.js';
import type { ApprovalValidation } from '../core/ports.js';
import type { WorkerSettings } from './approval-validation-worker.js';

export interface ValidationOptions extends Pick<ValidationPoolOptions, 'threads' | 'timeoutMs'> {
  readonly trustedIssuers: TrustedIssuers | null;
  readonly maxBytes: number;
}

// Workers run compiled code, also where this file is read from its source.
const WORKER = new URL(
  import.meta.url.endsWith('.ts')
    ? '../../dist/outbound/approval-validation-worker.js'
    : './approval-validation-worker.js',
  import.meta.url,
);

/** Validates approvals in worker threads. */
export function createApprovalValidation(options: ValidationOptions): ApprovalValidation & { close(): Promise<void> } {
  const { trustedIssuers, maxBytes, threads, timeoutMs } = options;
  const workerData: WorkerSettings = {
    trustedIssuers: trustedIssuers && [...trustedIssuers.values()].map(String).join('\n'),
    maxBytes,
  };
  const pool = createValidationPool({
    worker: WORKER,
    workerData,
    threads,
    timeoutMs,
    refuse: ({ message, kind }, cause) => new UnreadableApproval(kind, message, { cause }),
    unavailable: ({ message }, cause) => new ApprovalsError('service_unavailable', message, { cause }),
  });
  return { approval: (bytes, now) => pool.run({ bytes, now }), close: () => pool.close() };
}

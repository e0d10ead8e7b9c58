import type { WatchQueue } from '@ecf/kit/telemetry';
import { compiledWorker } from '@ecf/kit/worker-threads';
import { createValidationPool, isOverload, type ValidationSettings } from '@ecf/public-ingress';
import { ApprovalsError, UnreadableApproval } from '../errors.js';
import type { ApprovalValidation } from './ports.js';

/** Validates approvals in worker threads. */
export function createApprovalValidation(
  settings: ValidationSettings & { readonly watchQueue: WatchQueue },
): ApprovalValidation & { close(): Promise<void> } {
  const pool = createValidationPool({
    ...settings,
    worker: compiledWorker(import.meta, 'validation-thread.worker'),
    refuse: ({ message, kind }, cause) => new UnreadableApproval(kind, message, { cause }),
    unavailable: (reason, cause) =>
      new ApprovalsError(isOverload(reason) ? 'overloaded' : 'service_unavailable', reason.message, { cause }),
  });
  return { approval: (bytes, now) => pool.run({ bytes, now }), close: () => pool.close() };
}

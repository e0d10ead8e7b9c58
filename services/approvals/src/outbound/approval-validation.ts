import { compiledWorker, createValidationPool, type ValidationSettings } from '@ecf/public-ingress';
import { ApprovalsError, UnreadableApproval } from '../core/errors.js';
import type { ApprovalValidation } from '../core/ports.js';

/** Validates approvals in worker threads. */
export function createApprovalValidation(
  settings: ValidationSettings,
): ApprovalValidation & { close(): Promise<void> } {
  const pool = createValidationPool({
    ...settings,
    worker: compiledWorker(import.meta, 'approval-validation-worker'),
    refuse: ({ message, kind }, cause) => new UnreadableApproval(kind, message, { cause }),
    unavailable: ({ message }, cause) => new ApprovalsError('service_unavailable', message, { cause }),
  });
  return { approval: (bytes, now) => pool.run({ bytes, now }), close: () => pool.close() };
}

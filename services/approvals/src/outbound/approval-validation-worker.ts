import { workerData } from 'node:worker_threads';
import { trustCheck } from '@ecf/public-ingress/signed-document';
import { workerTask } from '@ecf/public-ingress/validation-worker';
import { readTrustedIssuers } from '@ecf/xml-signing';
import { UnreadableApproval } from '../core/errors.js';
import { validateApproval } from '../core/received/validate-approval.js';

export interface WorkerSettings {
  /** Trusted issuers as PEM, null for any issuer. */
  readonly trustedIssuers: string | null;
  readonly maxBytes: number;
}

const { trustedIssuers, maxBytes } = workerData as WorkerSettings;
const trust = trustCheck(trustedIssuers === null ? null : readTrustedIssuers(trustedIssuers));

export default workerTask(
  ({ bytes, now }) => validateApproval(bytes, { now, trust, maxBytes }),
  (error) => (error instanceof UnreadableApproval ? { message: error.message, kind: error.kind } : null),
);

import { workerSettings, workerTask } from '@ecf/public-ingress/validation-worker';
import { UnreadableApproval } from '../core/errors.js';
import { validateApproval } from '../core/received/validate-approval.js';

const { trust, maxBytes } = workerSettings();

export default workerTask(
  ({ bytes, now }) => validateApproval(bytes, { now, trust, maxBytes }),
  (error) => (error instanceof UnreadableApproval ? { message: error.message, kind: error.kind } : null),
);

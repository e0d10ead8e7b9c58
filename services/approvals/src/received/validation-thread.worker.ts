import { workerSettings, workerTask } from '@ecf/public-ingress/validation-worker';
import { UnreadableApproval } from '../errors.js';
import { validateApproval } from './validate-approval.js';

const { trust, maxBytes } = workerSettings();

export default workerTask(
  ({ bytes, now }) => validateApproval(bytes, { now, trust, maxBytes }),
  (error) => (error instanceof UnreadableApproval ? { message: error.message, kind: error.kind } : null),
);

import type { received as spanish } from '../es/received.js';

export const received: typeof spanish = {
  title: 'Received receipts',
  provider: 'Provider',
  date: 'Received',
  authority: 'At the DGII',
  approval: 'Approval',
  empty: 'No receipts were received in this period.',
  approve: 'Approve',
  reject: 'Reject',
  reason: 'Reason',
  reasons: {
    '1': 'Goods or services not received',
    '2': 'Goods or services defective',
    '3': 'Another reason',
  },
  detail: 'Explain the reason',
  send: 'Send rejection',
  cancel: 'Cancel',
  confirmed: {
    pending: 'To be confirmed',
    confirmed: 'Confirmed',
    rejected: 'Rejected',
    unknown: 'Unknown',
    not_available: 'Cannot be queried',
  },
};

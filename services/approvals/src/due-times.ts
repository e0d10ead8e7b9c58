import { LONGEST_RETRY_DELAY_MS } from '@ecf/domain';
import type { DueTimes } from '@ecf/service-kit/postgres';
import { PENDING_DOCUMENT_DUE_TIMES } from '@ecf/service-kit/xml-store';
import { LONGEST_LOOK_UP_PAUSE_MS } from './sending/retry-times.js';

/** Every due time and lease of this service. A receiver can request a pause of an hour at most. */
export const DUE_TIMES: readonly DueTimes[] = [
  { table: 'deliveries', column: 'due_at', longestMs: LONGEST_LOOK_UP_PAUSE_MS },
  { table: 'deliveries', column: 'due_at', longestMs: LONGEST_RETRY_DELAY_MS, where: "status <> 'no_receiver'" },
  { table: 'given_approvals', column: 'authority_due_at', longestMs: LONGEST_RETRY_DELAY_MS },
  { table: 'given_approvals', column: 'issuer_due_at', longestMs: LONGEST_LOOK_UP_PAUSE_MS },
  {
    table: 'given_approvals',
    column: 'issuer_due_at',
    longestMs: LONGEST_RETRY_DELAY_MS,
    where: "issuer_status <> 'no_receiver'",
  },
  PENDING_DOCUMENT_DUE_TIMES,
];

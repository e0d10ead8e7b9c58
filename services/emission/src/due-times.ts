import { LONGEST_RETRY_DELAY_MS } from '@ecf/domain';
import type { DueTimes } from '@ecf/service-kit/postgres';
import { PENDING_DOCUMENT_DUE_TIMES } from '@ecf/service-kit/xml-store';
import { OVERDUE_MS } from './attempt/transitions.js';
import { LONGEST_PROBE_MS } from './contingency/recovery.js';
import { RESERVATION_MS } from './numbers/numbers.postgres.js';

/** Every due time and lease of this service. The authority can request a pause of an hour at most. */
export const DUE_TIMES: readonly DueTimes[] = [
  // A document whose result is awaited is due when it is overdue.
  { table: 'attempt', column: 'next_action_at', longestMs: OVERDUE_MS },
  {
    table: 'attempt',
    column: 'next_action_at',
    longestMs: LONGEST_RETRY_DELAY_MS,
    where: "state NOT IN ('processing', 'not-found') AND alarm IS DISTINCT FROM 'no-query'",
  },
  { table: 'cancellation', column: 'next_action_at', longestMs: LONGEST_RETRY_DELAY_MS },
  { table: 'batch', column: 'due_at', longestMs: LONGEST_RETRY_DELAY_MS },
  // Open batches are counted every second, which wakes the work on their lines.
  { table: 'batch_line', column: 'due_at', longestMs: LONGEST_RETRY_DELAY_MS, wakes: false },
  { table: 'contingency', column: 'due_at', longestMs: LONGEST_PROBE_MS },
  { table: 'reserved_number', column: 'until', longestMs: RESERVATION_MS, wakes: false },
  PENDING_DOCUMENT_DUE_TIMES,
];

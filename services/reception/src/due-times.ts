import type { DueTimes } from '@ecf/service-kit/postgres';
import { PENDING_DOCUMENT_DUE_TIMES } from '@ecf/service-kit/xml-store';
import { LONGEST_PAUSE_MS } from './confirmation/schedule.js';

/** Every due time and lease of this service. */
export const DUE_TIMES: readonly DueTimes[] = [
  { table: 'confirmations', column: 'due_at', longestMs: LONGEST_PAUSE_MS },
  PENDING_DOCUMENT_DUE_TIMES,
];

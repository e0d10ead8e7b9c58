import { LINE_STATUSES, type LineStatus } from '@ecf/contracts';
import { type AttemptRow, fromRow } from '../attempt/emission.postgres.js';
import type { Batch, BatchLine, DueLine, LineOutcome } from './batch.js';

export interface BatchRow {
  id: number;
  validate: boolean;
  total: number;
  counts: Partial<Record<LineStatus, number>>;
  created_at: Date;
  cancelled_at: Date | null;
  finished_at: Date | null;
}

export function fromBatchRow({ id, validate, total, counts, created_at, cancelled_at, finished_at }: BatchRow): Batch {
  return {
    id,
    validate,
    total,
    counts: Object.fromEntries(LINE_STATUSES.map((status) => [status, counts[status] ?? 0])) as Batch['counts'],
    createdAt: created_at,
    cancelledAt: cancelled_at,
    finishedAt: finished_at,
  };
}

/** Keys of lines, as arrays: their batches, and their numbers there. */
export function keyColumns(lines: readonly DueLine[]): unknown[] {
  return [lines.map(({ batchId }) => batchId), lines.map(({ line }) => line)];
}

/** A row of RESULTS. The columns of the attempt are null unless the line was submitted. */
export type ResultRow = Omit<AttemptRow, 'emission_id'> & {
  emission_id: number | null;
  line: number;
  line_encf: string | null;
  line_issuer_rnc: string | null;
  line_own_reference: string | null;
  outcome: LineOutcome['outcome'] | null;
  result: LineOutcome | null;
};

export function fromResultRow(row: ResultRow): BatchLine {
  const attempt = row.emission_id === null ? null : fromRow(row as AttemptRow);
  return {
    line: row.line,
    encf: attempt?.encf ?? row.line_encf,
    issuerRnc: attempt?.issuerRnc ?? row.line_issuer_rnc,
    ownReference: attempt === null ? row.line_own_reference : (attempt.ownReference ?? null),
    outcome:
      attempt === null
        ? row.result
        : { outcome: 'submitted', emissionId: attempt.emissionId, attempt: attempt.attempt },
    attempt,
  };
}

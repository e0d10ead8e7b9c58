import type { Environment } from '@ecf/domain';
import type { BusEvent } from '@ecf/service-kit/bus';
import { appendToOutbox } from '@ecf/service-kit/outbox';
import type { Database } from '@ecf/service-kit/postgres';
import type { Caller } from '@ecf/taxpayer-replica';
import type { DueLine, FinishedBatch } from './batch.js';
import type { BatchStore } from './batch-ports.js';
import { type BatchRow, fromBatchRow, keyColumns } from './batch-rows.postgres.js';
import * as sql from './batch-sql.postgres.js';

export interface BatchScheduleOptions {
  readonly database: Database;
  /** The event that publishes the end of a batch. */
  readonly describe: (batch: FinishedBatch) => BusEvent;
}

/** The queries of the background. They do not wait for a database that cannot be reached: the next look repeats them. */
export function createBatchSchedule({
  database,
  describe,
}: BatchScheduleOptions): Pick<BatchStore, 'claimDue' | 'renew' | 'claimCounts' | 'count' | 'backlog'> {
  return {
    async claimDue({ now, until, limit, except = [], afterAccount = '' }) {
      const values = [now, until, limit, except, afterAccount];
      return (await database.query<DueRow>(sql.CLAIM_LINES, values)).rows.map(fromDueRow);
    },
    async renew(lines, until) {
      await database.query(sql.RENEW_LINES, [...keyColumns(lines), until]);
    },
    async claimCounts({ now, until, limit }) {
      const { rows } = await database.query<{ id: number }>(sql.CLAIM_COUNTS, [now, until, limit]);
      return rows.map(({ id }) => id);
    },
    count: (id, now, next) =>
      database.transaction(async (tx) => {
        const { rows } = await tx.query<CountedRow>(sql.COUNT, [id, now, next]);
        await appendToOutbox(tx, rows.filter(isFinished).map(fromFinishedRow).map(describe));
      }),
    async backlog() {
      const { rows } = await database.query<{ batches: number; lines: number; oldest: Date | null }>(sql.BACKLOG);
      const { batches = 0, lines = 0, oldest = null } = rows[0] ?? {};
      return { batches, lines, oldestCreatedAt: oldest };
    },
  };
}

interface DueRow {
  batch_id: number;
  line: number;
  document: Buffer | null;
  postponements: number;
  failures: number;
  readings: number;
  begun: boolean;
  cancelled: boolean;
  env: Environment;
  caller: Caller;
  validate: boolean;
  may_wait: boolean;
  refuse_warnings: boolean;
  has_key: boolean;
  refused_reference: string | null;
}

function fromDueRow(row: DueRow): DueLine {
  const { line, env, caller, validate, document, postponements, failures, readings, begun, cancelled } = row;
  const refusedReference = row.refused_reference;
  return {
    batchId: row.batch_id,
    line,
    env,
    caller,
    validate,
    mayWait: row.may_wait,
    refusesWarnings: row.refuse_warnings,
    hasKey: row.has_key,
    document,
    postponements,
    failures,
    readings,
    begun,
    cancelled,
    refusedReference,
  };
}

interface CountedRow extends BatchRow {
  env: Environment;
  caller: Caller;
  issuer_rnc: string | null;
}

const isFinished = ({ finished_at }: CountedRow) => finished_at !== null;

function fromFinishedRow(row: CountedRow): FinishedBatch {
  return { ...fromBatchRow(row), env: row.env, caller: row.caller, issuerRnc: row.issuer_rnc };
}

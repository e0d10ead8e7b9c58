import { storableText } from '@ecf/domain';
import type { BusEvent } from '@ecf/service-kit/bus';
import {
  createSharedCalls,
  type Database,
  deleteExpired,
  isUniqueViolation,
  type Retention,
} from '@ecf/service-kit/postgres';
import { retryWhileUnavailable } from '../retry-while-unavailable.postgres.js';
import {
  type DueLine,
  type FinishedBatch,
  keyOfLine,
  type LineOrder,
  type LineOutcome,
  type NewLine,
} from './batch.js';
import type { BatchScope, BatchStore, ReceivedBatch } from './batch-ports.js';
import { type BatchRow, fromBatchRow, fromResultRow, keyColumns, type ResultRow } from './batch-rows.postgres.js';
import { createBatchSchedule } from './batch-schedule.postgres.js';
import * as sql from './batch-sql.postgres.js';
import { CANCELLED } from './process-line.js';

export interface BatchStoreOptions {
  readonly database: Database;
  /** Milliseconds that a call waits for a database that cannot be reached. */
  readonly timeoutMs: number;
  /** The event that publishes the end of a batch. */
  readonly describe: (batch: FinishedBatch) => BusEvent;
}

/** One received batch for each account, environment and idempotency key. */
const RECEIVED_KEY = 'batch_account_id_env_idempotency_key_key';
const DAY_MS = 24 * 3_600_000;
/** A batch has up to 10,000 lines, which are deleted with it. */
const BATCHES_PER_STATEMENT = 10;

/** A body that takes longer than a day has lost its process. */
const UNFINISHED_BATCHES: Retention = {
  table: 'batch',
  column: 'created_at',
  keptMs: DAY_MS,
  where: 'NOT received',
  rowsPerStatement: BATCHES_PER_STATEMENT,
};
const FINISHED_BATCHES: Retention = {
  table: 'batch',
  column: 'finished_at',
  keptMs: 30 * DAY_MS,
  where: 'finished_at IS NOT NULL',
  rowsPerStatement: BATCHES_PER_STATEMENT,
};

/** Batches in PostgreSQL. Outcomes of lines that come together share a statement. */
export function createPostgresBatchStore({ database, timeoutMs, describe }: BatchStoreOptions): BatchStore {
  const retry = <T>(work: () => Promise<T>) => retryWhileUnavailable(timeoutMs, work);
  const outcomes = createSharedCalls<{ line: DueLine; outcome: LineOutcome }, void>({
    maxItems: 64,
    maxInFlight: 1,
    keyOf: ({ line }) => `${line.batchId}:${line.line}`,
    async work(items) {
      const rows = items.map(({ line, outcome }) => outcomeRow(line, outcome));
      await database.query(sql.RECORD, [json(rows), ...keyColumns(items.map(({ line }) => line))]);
      return items.map(() => undefined);
    },
  });

  async function findByKey({ accountId, env }: BatchScope, key: string): Promise<ReceivedBatch | null> {
    return (await retry(() => database.query<ReceivedBatch>(sql.FIND_BY_KEY, [accountId, env, key]))).rows[0] ?? null;
  }

  return {
    ...createBatchSchedule({ database, describe }),
    findByKey,
    async begin({ caller, env, idempotencyKey, validate, mayWait, refusesWarnings, createdAt }) {
      const how = [validate, mayWait, refusesWarnings];
      const values = [caller.accountId, env, idempotencyKey, ...how, JSON.stringify(caller), createdAt];
      const { rows } = await retry(() => database.query<{ id: number }>(sql.BEGIN, values));
      return rows[0]?.id as number;
    },
    async addLines(id, accountId, lines) {
      await database.query(sql.ADD_LINES, [id, accountId, ...lineColumns(lines)]);
    },
    async receive({ id, total, sha256, contentHash }, order, now) {
      try {
        await database.transaction(async (tx) => {
          if (order.length > 0) await tx.query(sql.SET_ORDER, [id, ...orderColumns(order)]);
          const { rowCount } = await tx.query(sql.RECEIVE, [id, total, sha256, now, contentHash]);
          if (rowCount === 0) throw new Error(`batch ${id} was discarded before its body had arrived`);
        });
        return null;
      } catch (error) {
        if (!isUniqueViolation(error, RECEIVED_KEY)) throw error;
      }
      const { rows } = await database.query<BatchScope & { key: string }>(sql.KEY_OF, [id]);
      const first = rows[0] === undefined ? null : await findByKey(rows[0], rows[0].key);
      if (first === null) throw new Error(`the batch that has the idempotency key of batch ${id} cannot be found`);
      return first;
    },
    async discard(id) {
      await database.query(sql.DISCARD, [id]);
    },
    async deleteExpired(now) {
      await deleteExpired(database, UNFINISHED_BATCHES, now);
      await deleteExpired(database, FINISHED_BATCHES, now);
    },
    async attemptOf(due) {
      const values = [due.batchId, due.line, keyOfLine(due)];
      const found = await retry(() =>
        database.query<{ emissionId: number; attempt: number }>(sql.ATTEMPT_OF_LINE, values),
      );
      return found.rows[0] === undefined ? null : { outcome: 'submitted', ...found.rows[0] };
    },
    record: (line, outcome) => retry(() => outcomes.run({ line, outcome })),
    async countReading({ batchId, line }, reading) {
      await retry(() => database.query(sql.COUNT_READING, [batchId, line, reading === 'ended']));
    },
    async postpone({ batchId: id, line }, { dueAt, begun, failed, limited }) {
      await retry(() => database.query(sql.POSTPONE, [id, line, dueAt, begun, json(CANCELLED), failed, limited]));
    },
    async find({ accountId, env, taxpayers }, id) {
      const { rows } = await retry(() => database.query<BatchRow>(sql.FIND, [accountId, env, id, taxpayers ?? null]));
      return rows[0] === undefined ? null : fromBatchRow(rows[0]);
    },
    async list({ accountId, env, taxpayers }, { after, limit }) {
      const { rows } = await retry(() =>
        database.query<BatchRow>(sql.LIST, [accountId, env, after, limit, taxpayers ?? null]),
      );
      return rows.map(fromBatchRow);
    },
    async results(id, { after, limit, only }) {
      const { rows } = await retry(() => database.query<ResultRow>(sql.RESULTS, [id, after, limit, only]));
      return rows.map(fromResultRow);
    },
    cancel: (id, now) =>
      retry(() =>
        database.transaction(async (tx) => {
          const { rowCount } = await tx.query(sql.CANCEL, [id, now]);
          if (rowCount > 0) await tx.query(sql.REFUSE_REST, [id, json(CANCELLED)]);
        }),
      ),
  };
}

function lineColumns(lines: readonly NewLine[]): unknown[] {
  return [
    lines.map(({ line }) => line),
    lines.map(({ document }) => document),
    lines.map(({ encf }) => encf),
    lines.map(({ issuerRnc }) => issuerRnc),
    lines.map(({ ownReference }) => ownReference),
  ];
}

function orderColumns(order: readonly LineOrder[]): unknown[] {
  return [order.map(({ line }) => line), order.map(({ sameLine }) => sameLine), order.map((one) => one.referenceLine)];
}

/** JSON for PostgreSQL, whose text holds neither NUL nor halves of surrogate pairs. */
function json(value: unknown): string {
  return JSON.stringify(value, (_, inner) => (typeof inner === 'string' ? storableText(inner) : inner));
}

/** An outcome, for `json_populate_recordset(NULL::batch_line)`. */
function outcomeRow({ batchId, line }: DueLine, outcome: LineOutcome): object {
  const isSubmitted = outcome.outcome === 'submitted';
  return {
    batch_id: batchId,
    line,
    outcome: outcome.outcome,
    emission_id: isSubmitted ? outcome.emissionId : null,
    attempt: isSubmitted ? outcome.attempt : null,
    result: isSubmitted ? null : outcome,
  };
}

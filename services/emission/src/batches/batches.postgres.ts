import { appendToOutbox, type BusEvent } from '@ecf/bus';
import { LINE_STATUSES, type LineStatus } from '@ecf/contracts';
import { EMISSION_STATES, type EmissionState, type Environment, storableText } from '@ecf/domain';
import {
  createSharedCalls,
  type Database,
  deleteExpired,
  isUniqueViolation,
  queryBuilder,
  type Retention,
  rowsOf,
} from '@ecf/postgres';
import { sql } from 'kysely';
import { ATTEMPT_COLUMNS, type AttemptRow, attemptOf } from '../attempt/emission.postgres.js';
import { retryWhileUnavailable } from '../errors.postgres.js';
import type { DB } from '../generated/tables.js';
import {
  type Batch,
  type BatchLine,
  type DueLine,
  type FinishedBatch,
  keyOfLine,
  type LineOrder,
  type LineOutcome,
  type NewLine,
} from './batch.js';
import type { BatchBacklog, BatchScope, BatchStore, ReceivedBatch } from './ports.js';
import { CANCELLED } from './process-line.js';

const ADD_LINES = {
  name: 'batch_add_lines',
  text: `INSERT INTO batch_line (batch_id, account_id, line, document, encf, issuer_rnc, own_reference, due_at)
    SELECT $1, $2, l.line, l.document, l.encf, l.issuer_rnc, l.own_reference, now()
    FROM unnest($3::int[], $4::bytea[], $5::text[], $6::text[], $7::text[]) AS l(line, document, encf, issuer_rnc, own_reference)`,
};

const SET_ORDER = {
  name: 'batch_set_order',
  text: `UPDATE batch_line l SET same_line = o.same_line, reference_line = o.reference_line
    FROM unnest($2::int[], $3::int[], $4::int[]) AS o(line, same_line, reference_line)
    WHERE l.batch_id = $1 AND l.line = o.line`,
};

/**
 * Leases due lines ($1) until $2, at most $3: of each account with due lines an equal share, in the order of its batches
 * and lines. The accounts take turns in the order of their ids, beginning after $5. Lines that another instance is claiming, and
 * accounts of $4, are passed over.
 *
 * It has no name, so PostgreSQL plans it each time: a plan made for a table without lines is slow for 10,000.
 */
const CLAIM_LINES = `WITH account AS (
      SELECT DISTINCT b.account_id, b.account_id <= $5 AS had_turn FROM batch b
      WHERE b.due_at IS NOT NULL AND b.account_id <> ALL($4::text[]) AND EXISTS (
        SELECT 1 FROM batch_line l WHERE l.account_id = b.account_id AND l.batch_id = b.id AND l.due_at <= $1)
      ORDER BY had_turn, account_id),
    share AS (SELECT ceil($3::float8 / greatest(count(*), 1))::int AS lines FROM account),
    picked AS (
      SELECT had_turn, due.* FROM account CROSS JOIN share CROSS JOIN LATERAL (
        SELECT l.batch_id, l.line
        FROM batch_line l JOIN batch b ON b.id = l.batch_id AND b.received
        WHERE l.account_id = account.account_id AND l.due_at <= $1 AND NOT EXISTS (
          SELECT 1 FROM batch_line w
          WHERE w.batch_id = l.batch_id AND w.line IN (l.same_line, l.reference_line) AND w.outcome IS NULL)
        ORDER BY l.batch_id, l.line LIMIT share.lines FOR UPDATE OF l SKIP LOCKED) due
      LIMIT $3),
    claimed AS (
      UPDATE batch_line l SET due_at = $2, leased = true, begun = l.begun OR l.leased FROM picked p
      WHERE l.batch_id = p.batch_id AND l.line = p.line RETURNING l.*, p.had_turn)
    SELECT c.batch_id, c.line, c.document, c.postponements, c.failures, c.readings, c.begun, b.env, b.caller, b.created_at, b.validate,
      b.may_wait, b.refuse_warnings AS refuses_warnings, b.idempotency_key IS NOT NULL AS has_key,
      b.cancelled_at IS NOT NULL AS cancelled, r.encf AS refused_reference
    FROM claimed c JOIN batch b ON b.id = c.batch_id
    LEFT JOIN batch_line r ON r.batch_id = c.batch_id AND r.line = c.reference_line AND r.outcome = 'refused'
      AND (r.same_line IS NULL OR NOT EXISTS (
        SELECT 1 FROM batch_line o WHERE o.batch_id = r.batch_id AND o.issuer_rnc = r.issuer_rnc AND o.encf = r.encf
          AND o.outcome <> 'refused'))
    ORDER BY c.had_turn, c.account_id, c.batch_id, c.line`;

const RENEW_LINES = {
  name: 'batch_renew_lines',
  text: `UPDATE batch_line l SET due_at = $3 FROM unnest($1::bigint[], $2::int[]) AS r(batch_id, line)
    WHERE l.batch_id = r.batch_id AND l.line = r.line AND l.leased AND l.outcome IS NULL`,
};

/**
 * The attempt that a line made: the one under its key ($3) for an automatic number, or the latest with its number that
 * bears this key. A request id does not identify a line: every caller chooses its own.
 */
const ATTEMPT_OF_LINE = {
  name: 'batch_attempt_of_line',
  text: `SELECT a.emission_id, a.attempt
    FROM batch_line l JOIN batch b ON b.id = l.batch_id
    CROSS JOIN LATERAL (
      SELECT k.emission_id, k.attempt FROM submission_key k
      WHERE k.account_id = b.account_id AND k.env = ANY (SELECT stored_environment(b.env, l.issuer_rnc, run)
          FROM generate_series(1, present_run(b.env, l.issuer_rnc)) run) AND k.idempotency_key = $3
      UNION ALL
      SELECT a.emission_id, a.attempt FROM generate_series(1, present_run(b.env, l.issuer_rnc)) run
        JOIN emission e ON e.env = stored_environment(b.env, l.issuer_rnc, run) AND e.issuer_rnc = l.issuer_rnc AND e.encf = l.encf
        JOIN attempt a ON a.emission_id = e.id
      WHERE a.batch_line = $3) a
    WHERE l.batch_id = $1 AND l.line = $2
    ORDER BY a.attempt DESC LIMIT 1`,
};

/**
 * Outcomes of lines; the document is stored elsewhere by then, or was never issued. PostgreSQL takes JSON for a hundred rows and
 * would read the whole table for them; the arrays $2 and $3 say how many there are.
 */
const RECORD = {
  name: 'batch_record',
  text: `UPDATE batch_line l SET outcome = r.outcome, emission_id = r.emission_id, attempt = r.attempt, result = r.result,
      document = NULL, due_at = NULL
    FROM json_populate_recordset(NULL::batch_line, $1::json) r
    WHERE l.batch_id = r.batch_id AND l.line = r.line AND l.outcome IS NULL
      AND l.batch_id = ANY($2::bigint[]) AND l.line = ANY($3::int[])`,
};

/**
 * The line is due again at $3; or it is refused ($5) if the batch was cancelled and the line did not begin ($4: it began
 * just now). $6: it failed. $7: the account is over its limit. A line that began earlier made no attempt: the service
 * looks for one before it postpones the line.
 */
const POSTPONE = {
  name: 'batch_postpone',
  text: `WITH b AS (SELECT cancelled_at IS NOT NULL AS is_cancelled FROM batch WHERE id = $1 FOR SHARE),
    stop AS (SELECT is_cancelled AND NOT $4::boolean AS stops FROM b)
    UPDATE batch_line l SET leased = false, begun = $4, postponements = l.postponements + (NOT $7::boolean)::int,
      failures = l.failures + $6::boolean::int,
      due_at = CASE WHEN stops THEN NULL ELSE $3::timestamptz END,
      outcome = CASE WHEN stops THEN 'refused' END,
      result = CASE WHEN stops THEN $5::json END,
      document = CASE WHEN stops THEN NULL ELSE l.document END
    FROM stop WHERE l.batch_id = $1 AND l.line = $2 AND l.outcome IS NULL`,
};

const states = (wanted: (state: (typeof EMISSION_STATES)[EmissionState]) => boolean): string =>
  Object.entries(EMISSION_STATES)
    .filter(([, state]) => wanted(state))
    .map(([name]) => `'${name}'`)
    .join(', ');

/** The status of line `l` with attempt `a`. A document that is held or waits for the authority is pending. */
const STATUS = `CASE
    WHEN l.outcome IS NULL OR a.state = 'held' OR a.queued_at IS NOT NULL THEN 'pending'
    WHEN l.outcome = 'refused' THEN 'refused'
    WHEN l.outcome = 'validated' THEN 'accepted'
    WHEN a.state IN (${states(({ status }) => status === 'Aceptado')}) THEN 'accepted'
    WHEN a.state IN (${states(({ status }) => status === 'AceptadoCondicional')}) THEN 'conditional'
    WHEN a.state IN (${states(({ decided }) => decided)}) THEN 'rejected'
    ELSE 'in_process' END`;

const LINES_OF = (
  batch: string,
) => `batch_line l LEFT JOIN attempt a ON a.emission_id = l.emission_id AND a.attempt = l.attempt
      WHERE l.batch_id = ${batch}`;

const COUNTS_OF = (batch: string) => `(SELECT json_object_agg(status, lines)
      FROM (SELECT ${STATUS} AS status, count(*) AS lines FROM ${LINES_OF(batch)} GROUP BY 1) AS counted)`;

const OPEN = ['pending', 'in_process'] as const satisfies readonly LineStatus[];

/** Leases batches whose count is due. */
const CLAIM_COUNTS = {
  name: 'batch_claim_counts',
  text: `UPDATE batch b SET due_at = $2
    FROM (SELECT id FROM batch WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED) due
    WHERE b.id = due.id RETURNING b.id`,
};

/**
 * The batch is finished ($2) if no line is open, else the next count is due ($3). While a line has no outcome, the others are
 * not counted: that reads every line.
 */
const COUNT = {
  name: 'batch_count',
  text: `WITH line AS MATERIALIZED (
      SELECT EXISTS (SELECT 1 FROM batch_line l
        WHERE l.account_id = b.account_id AND l.batch_id = b.id AND l.due_at IS NOT NULL) AS is_due
      FROM batch b WHERE b.id = $1),
    counted AS MATERIALIZED (SELECT CASE WHEN is_due THEN NULL ELSE ${COUNTS_OF('$1::bigint')} END AS counts FROM line),
    ended AS (SELECT counts, counts IS NOT NULL
        AND ${OPEN.map((status) => `counts->'${status}' IS NULL`).join(' AND ')} AS is_finished FROM counted)
    UPDATE batch SET
      finished_at = CASE WHEN is_finished THEN $2::timestamptz END,
      counts = CASE WHEN is_finished THEN ended.counts END,
      due_at = CASE WHEN is_finished THEN NULL ELSE $3::timestamptz END
    FROM ended WHERE id = $1 AND finished_at IS NULL
    RETURNING id, env, caller, validate, total, created_at, cancelled_at, finished_at, batch.counts,
      CASE WHEN is_finished THEN (SELECT CASE WHEN min(issuer_rnc) = max(issuer_rnc) THEN min(issuer_rnc) END
        FROM batch_line WHERE batch_id = $1) END AS issuer_rnc`,
};

/** Open batches, their lines without an outcome, and when the oldest batch with such a line came. */
const BACKLOG = {
  name: 'batch_backlog',
  text: `SELECT (SELECT count(*) FROM batch WHERE due_at IS NOT NULL) AS batches, coalesce(sum(w.lines), 0)::int AS lines,
      min(b.created_at) AS oldest_created_at
    FROM (SELECT batch_id, count(*) AS lines FROM batch_line WHERE due_at IS NOT NULL GROUP BY 1) w
    JOIN batch b ON b.id = w.batch_id AND b.received`,
};

const BATCH = `b.id, b.validate, b.total, b.created_at, b.cancelled_at, b.finished_at,
    coalesce(b.counts, ${COUNTS_OF('b.id')}) AS counts`;

/** Whether a key that is limited to the taxpayers of a parameter sees batch `b`; null is not limited. */
const visible = (taxpayers: string) =>
  `(${taxpayers}::text[] IS NULL OR b.caller::jsonb->'taxpayers' <@ to_jsonb(${taxpayers}::text[]))`;

const FIND = {
  name: 'batch_find',
  text: `SELECT ${BATCH} FROM batch b WHERE b.account_id = $1 AND b.env = $2 AND b.id = $3 AND b.received AND ${visible('$4')}`,
};

const LIST = {
  name: 'batch_list',
  text: `SELECT ${BATCH} FROM batch b
    WHERE b.account_id = $1 AND b.env = $2 AND ($3::bigint IS NULL OR b.id < $3) AND b.received AND ${visible('$5')} ORDER BY b.id DESC LIMIT $4`,
};

/** Lines after $2 with their attempts, of one status ($4) or all. */
const RESULTS = {
  name: 'batch_results',
  text: `SELECT l.line, l.encf AS line_encf, l.issuer_rnc AS line_issuer_rnc, l.own_reference AS line_own_reference, l.outcome, l.result, ${ATTEMPT_COLUMNS}
    FROM batch_line l LEFT JOIN emission e ON e.id = l.emission_id
    LEFT JOIN attempt a ON a.emission_id = l.emission_id AND a.attempt = l.attempt
    WHERE l.batch_id = $1 AND l.line > $2::bigint AND ($4::text IS NULL OR ${STATUS} = $4)
    ORDER BY l.line LIMIT $3`,
};

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
/** A batch has up to 10,000 lines, which are deleted together with it. */
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
  const builder = queryBuilder<DB>(database);
  const outcomes = createSharedCalls<{ line: DueLine; outcome: LineOutcome }, void>({
    maxItems: 64,
    maxInFlight: 1,
    keyOf: ({ line }) => `${line.batchId}:${line.line}`,
    async work(items) {
      const rows = items.map(({ line, outcome }) => outcomeRow(line, outcome));
      await database.query(RECORD, [json(rows), ...keyColumns(items.map(({ line }) => line))]);
      return items.map(() => undefined);
    },
  });

  async function findByKey({ accountId, env }: BatchScope, key: string): Promise<ReceivedBatch | null> {
    const query = builder
      .selectFrom('batch')
      .select(['id', 'total', 'sha256', 'contentHash', 'validate'])
      .where('accountId', '=', accountId)
      .where('env', '=', env)
      .where('idempotencyKey', '=', key)
      .where('received', '=', sql.lit(true))
      .$narrowType<{ contentHash: string }>();
    return (await retry(() => query.executeTakeFirst())) ?? null;
  }

  return {
    findByKey,
    async begin({ caller, env, idempotencyKey, validate, mayWait, refusesWarnings, createdAt }) {
      const query = builder.insertInto('batch').values({
        accountId: caller.accountId,
        env,
        idempotencyKey,
        validate,
        mayWait,
        refuseWarnings: refusesWarnings,
        caller: JSON.stringify(caller),
        createdAt,
        sha256: '',
        total: 0,
      });
      return (await retry(() => query.returning('id').executeTakeFirstOrThrow())).id;
    },
    async addLines(id, accountId, lines) {
      await database.query(ADD_LINES, [id, accountId, ...lineColumns(lines)]);
    },
    async receive({ id, total, sha256, contentHash }, order, now) {
      try {
        await database.transaction(async (tx) => {
          if (order.length > 0) await tx.query(SET_ORDER, [id, ...orderColumns(order)]);
          const { numUpdatedRows } = await queryBuilder<DB>(tx)
            .updateTable('batch')
            .set({ received: true, total, sha256, contentHash, dueAt: now })
            .where('id', '=', id)
            .executeTakeFirst();
          if (numUpdatedRows === 0n) throw new Error(`batch ${id} was discarded before its body had arrived`);
        });
        return null;
      } catch (error) {
        if (!isUniqueViolation(error, RECEIVED_KEY)) throw error;
      }
      const { accountId, env, idempotencyKey } = await builder
        .selectFrom('batch')
        .select(['accountId', 'env', 'idempotencyKey'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      const first = await findByKey({ accountId, env: env as Environment }, idempotencyKey ?? '');
      if (first === null) throw new Error(`the batch that has the idempotency key of batch ${id} cannot be found`);
      return first;
    },
    async discard(id) {
      await builder.deleteFrom('batch').where('id', '=', id).where('received', '=', sql.lit(false)).execute();
    },
    async deleteExpired(now) {
      await deleteExpired(database, UNFINISHED_BATCHES, now);
      await deleteExpired(database, FINISHED_BATCHES, now);
    },
    async attemptOf(due) {
      const values = [due.batchId, due.line, keyOfLine(due)];
      const query = () => rowsOf<{ emissionId: number; attempt: number }>(database, ATTEMPT_OF_LINE, values);
      const [found] = await retry(query);
      return found === undefined ? null : { outcome: 'submitted', ...found };
    },
    record: (line, outcome) => retry(() => outcomes.run({ line, outcome })),
    async countReading({ batchId, line }, reading) {
      const query = builder
        .updateTable('batchLine')
        .set({ readings: reading === 'ended' ? 0 : sql<number>`readings + 1` })
        .where('batchId', '=', batchId)
        .where('line', '=', line)
        .where('outcome', 'is', null);
      await retry(() => query.execute());
    },
    async postpone({ batchId: id, line }, { dueAt, begun, failed, limited }) {
      await retry(() => database.query(POSTPONE, [id, line, dueAt, begun, json(CANCELLED), failed, limited]));
    },
    async find({ accountId, env, taxpayers }, id) {
      const values = [accountId, env, id, taxpayers ?? null];
      const [row] = await retry(() => rowsOf<BatchRow>(database, FIND, values));
      return row === undefined ? null : fromBatchRow(row);
    },
    async list({ accountId, env, taxpayers }, { after, limit }) {
      const values = [accountId, env, after, limit, taxpayers ?? null];
      return (await retry(() => rowsOf<BatchRow>(database, LIST, values))).map(fromBatchRow);
    },
    async results(id, { after, limit, only }) {
      const values = [id, after, limit, only];
      return (await retry(() => rowsOf<ResultRow>(database, RESULTS, values))).map(fromResultRow);
    },
    // The statements of the background do not wait for a database that cannot be reached: the next run repeats them.
    claimDue: ({ now, until, limit, except = [], afterAccount = '' }) =>
      rowsOf<DueLine>(database, CLAIM_LINES, [now, until, limit, except, afterAccount]),
    async renew(lines, until) {
      await database.query(RENEW_LINES, [...keyColumns(lines), until]);
    },
    async claimCounts({ now, until, limit }) {
      const { rows } = await database.query<{ id: number }>(CLAIM_COUNTS, [now, until, limit]);
      return rows.map(({ id }) => id);
    },
    count: (id, now, next) =>
      database.transaction(async (tx) => {
        const rows = await rowsOf<FinishedRow>(tx, COUNT, [id, now, next]);
        const finished = rows.filter(({ finishedAt }) => finishedAt !== null);
        const events = finished.map((row) => describe({ ...row, counts: allCounts(row.counts) }));
        await appendToOutbox(tx, events);
      }),
    async backlog() {
      const [backlog] = await rowsOf<BatchBacklog>(database, BACKLOG);
      return backlog ?? { batches: 0, lines: 0, oldestCreatedAt: null };
    },
    cancel: (id, now) =>
      retry(() =>
        database.transaction(async (tx) => {
          const transaction = queryBuilder<DB>(tx);
          // A finished batch does not change. The lock makes a line that is postponed meanwhile see the cancellation.
          const { numUpdatedRows } = await transaction
            .updateTable('batch')
            .set({ cancelledAt: sql<Date>`coalesce(cancelled_at, ${now})` })
            .where('id', '=', id)
            .where('finishedAt', 'is', null)
            .executeTakeFirst();
          if (numUpdatedRows === 0n) return;
          await transaction
            .updateTable('batchLine')
            .set({ outcome: 'refused', result: json(CANCELLED), document: null, dueAt: null })
            .where('batchId', '=', id)
            .where('outcome', 'is', null)
            .where('begun', '=', false)
            .where('leased', '=', false)
            .execute();
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

/** A batch whose counts lack the statuses without lines. */
type Uncounted<T extends Batch> = Omit<T, 'counts'> & { counts: Partial<Batch['counts']> };
type BatchRow = Uncounted<Batch>;
type FinishedRow = Uncounted<FinishedBatch>;

function fromBatchRow(row: BatchRow): Batch {
  return { ...row, counts: allCounts(row.counts) };
}

function allCounts(counts: BatchRow['counts']): Batch['counts'] {
  return Object.fromEntries(LINE_STATUSES.map((status) => [status, counts[status] ?? 0])) as Batch['counts'];
}

/** Keys of lines, as arrays: their batches, and their numbers there. */
function keyColumns(lines: readonly DueLine[]): unknown[] {
  return [lines.map(({ batchId }) => batchId), lines.map(({ line }) => line)];
}

/** A row of RESULTS. The columns of the attempt are null unless the line was submitted. */
type ResultRow = (AttemptRow | { emissionId: null }) & {
  line: number;
  lineEncf: string | null;
  lineIssuerRnc: string | null;
  lineOwnReference: string | null;
  outcome: LineOutcome['outcome'] | null;
  result: LineOutcome | null;
};

function fromResultRow({
  line,
  lineEncf,
  lineIssuerRnc,
  lineOwnReference,
  outcome: _,
  result,
  ...row
}: ResultRow): BatchLine {
  const attempt = row.emissionId === null ? null : attemptOf(row as AttemptRow);
  return {
    line,
    encf: attempt?.encf ?? lineEncf,
    issuerRnc: attempt?.issuerRnc ?? lineIssuerRnc,
    ownReference: attempt === null ? lineOwnReference : (attempt.ownReference ?? null),
    outcome:
      attempt === null ? result : { outcome: 'submitted', emissionId: attempt.emissionId, attempt: attempt.attempt },
    attempt,
  };
}

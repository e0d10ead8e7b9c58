import { addPendingDocuments } from '@ecf/archive';
import { appendToOutbox, type BusEvent } from '@ecf/bus';
import { actEvents } from '@ecf/bus/events';
import { EMISSION_STATES, environmentRun, storedEnvironment } from '@ecf/domain';
import { merged, type NumberRange } from '@ecf/domain/number-set';
import { type Database, type Queries, queryBuilder, rowsOf, snakeCase, type Transaction } from '@ecf/postgres';
import { type Selectable, sql } from 'kysely';
import { retryWhileUnavailable } from '../errors.postgres.js';
import type { DB } from '../generated/tables.js';
import { ACTS } from '../published/changed-events.js';
import { presentRun } from '../runs/present-run.postgres.js';
import {
  blockedBy,
  type Cancellation,
  type CancellationAlarm,
  type NewCancellation,
  rangesOf,
} from './cancellation.js';
import type { CancellationStore, Taken } from './ports.js';

const COLUMNS = [
  'id',
  'env',
  'issuerRnc',
  'accountId',
  'createdBy',
  'contentHash',
  'version',
  'reason',
  'total',
  'generatedAt',
  'createdAt',
  'xmlPath',
  'xmlSha256',
  'lines',
  'revision',
  'state',
  'requestedAt',
  'sentAt',
  'response',
  'refused',
  'lostSends',
  'failures',
  'nextActionAt',
  'alarm',
  'settledAt',
  'settledNote',
] as const satisfies readonly (keyof DB['cancellation'])[];

type CancellationRow = Selectable<DB['cancellation']>;

/** `env` of a row has the certification run. Of the types of its other columns, the schema has only text and JSON. */
function fromRow(row: CancellationRow): Cancellation {
  const narrowed = row as CancellationRow & Pick<Cancellation, 'state' | 'alarm' | 'lines' | 'refused'>;
  return { ...narrowed, ...environmentRun(row.env) };
}

/** Ranges are three arrays in one order: types, first and last sequences. */
const RANGES = 'unnest($3::text[], $4::bigint[], $5::bigint[])';

/** Held until the commit, so that no other transaction takes a number of the issuer meanwhile. */
export const LOCK_NUMBERS = {
  name: 'cancellation_lock_numbers',
  text: "SELECT pg_advisory_xact_lock(hashtextextended('numbers:' || $1 || ':' || $2, 0))",
};

/**
 * Numbers that have an attempt, unless it ended in a state that leaves the number free ($6). The inner LIMIT makes
 * the planner use the index once for each range. Without it the planner may read all attempts.
 */
const USED = {
  name: 'cancellation_used',
  text: `SELECT used.encf, used.state FROM ${RANGES} AS r(type, "from", "to")
    CROSS JOIN LATERAL (
      SELECT e.encf, a.state FROM emission e JOIN attempt a ON a.emission_id = e.id AND a.attempt = e.attempt
      WHERE e.env = $1 AND e.issuer_rnc = $2
        AND e.encf BETWEEN 'E' || r.type || lpad(r."from"::text, 10, '0') AND 'E' || r.type || lpad(r."to"::text, 10, '0')
        AND a.state <> ALL($6::text[]) LIMIT $7) used
    LIMIT $7`,
};

/**
 * Intersection of the requested ranges and the ranges in force. A look-up for each range would be slow, so ranges are
 * compared in pieces of $6. Each piece is one range set, compared with one set of the ranges in force between its ends.
 * Ranges in force never overlap. So each number of the intersection belongs to a range that begins inside it, or to the last
 * range that begins before it.
 */
const CANCELLED = {
  name: 'cancellation_cancelled',
  text: `WITH piece AS (
      SELECT r.type, min(r."from") AS first, max(r."to") AS last, range_agg(int8range(r."from", r."to", '[]')) AS numbers,
        min(r.place) AS place
      FROM ${RANGES} WITH ORDINALITY AS r(type, "from", "to", place) GROUP BY r.type, (r.place - 1) / $6::int),
    met AS (
      SELECT piece.type, piece.numbers * in_force.numbers AS numbers FROM piece CROSS JOIN LATERAL (
        SELECT range_agg(int8range(c.first_number, c.last_number, '[]')) AS numbers FROM (
          (SELECT first_number, last_number FROM cancelled_range
            WHERE env = $1 AND issuer_rnc = $2 AND ecf_type = piece.type AND first_number < piece.first
            ORDER BY first_number DESC LIMIT 1)
          UNION ALL
          SELECT first_number, last_number FROM cancelled_range
            WHERE env = $1 AND issuer_rnc = $2 AND ecf_type = piece.type
              AND first_number BETWEEN piece.first AND piece.last) c) in_force
      ORDER BY piece.place)
    SELECT met.type, greatest(lower(both_hold), c.first_number) AS "from", least(upper(both_hold) - 1, c.last_number) AS "to",
      c.cancellation_id AS by
    FROM met CROSS JOIN LATERAL unnest(met.numbers) AS both_hold CROSS JOIN LATERAL (
      (SELECT first_number, last_number, cancellation_id FROM cancelled_range
        WHERE env = $1 AND issuer_rnc = $2 AND ecf_type = met.type AND first_number < lower(both_hold)
        ORDER BY first_number DESC LIMIT 1)
      UNION ALL
      (SELECT first_number, last_number, cancellation_id FROM cancelled_range
        WHERE env = $1 AND issuer_rnc = $2 AND ecf_type = met.type
          AND first_number BETWEEN lower(both_hold) AND upper(both_hold) - 1
        ORDER BY first_number LIMIT $7)) c
    WHERE c.last_number >= lower(both_hold)
    LIMIT $7`,
};

const BLOCK = {
  name: 'cancellation_block',
  text: `INSERT INTO cancelled_range (env, issuer_rnc, ecf_type, first_number, last_number, cancellation_id)
    SELECT $1, $2, r.type, r."from", r."to", $6 FROM ${RANGES} AS r(type, "from", "to")`,
};

/**
 * Automatic numbers go back to the first one that is free again: draws skipped it. They do not in a range that was compared after a
 * restore: the authority has numbers below its position that no table lists.
 */
const UNBLOCK = {
  name: 'cancellation_unblock',
  text: `WITH freed AS (
      DELETE FROM cancelled_range WHERE cancellation_id = $1
      RETURNING env, issuer_rnc, ecf_type, first_number AS "from", last_number AS "to"),
    skipped AS (
      SELECT p.env, p.issuer_rnc, p.ecf_type, p.first_number, min(greatest(f."from", p.first_number)) AS next_number
      FROM number_position p JOIN freed f USING (env, issuer_rnc, ecf_type)
      WHERE f."to" >= p.first_number AND f."from" < p.next_number
        AND NOT is_compared(p.env, p.issuer_rnc, p.ecf_type, p.first_number) GROUP BY 1, 2, 3, 4)
    UPDATE number_position p SET next_number = least(p.next_number, s.next_number) FROM skipped s
    WHERE p.env = s.env AND p.issuer_rnc = s.issuer_rnc AND p.ecf_type = s.ecf_type AND p.first_number = s.first_number`,
};

/** Held until the commit, so that no other transaction adds a cancellation with the same content meanwhile. */
const LOCK_CONTENT = {
  name: 'cancellation_lock_content',
  text: "SELECT pg_advisory_xact_lock(hashtextextended('cancellation:' || $1 || ':' || $2 || ':' || $3, 0))",
};

/**
 * Leases due cancellations, earliest first. If the lease of a send ended, its outcome is unknown: it counts as lost. A first
 * send may have left when it was requested.
 */
const CLAIM = {
  name: 'cancellation_claim',
  text: `WITH due AS (
      SELECT id, next_action_at FROM cancellation WHERE next_action_at <= $1 AND id <> ALL($4::bigint[])
       ORDER BY next_action_at LIMIT $3 FOR UPDATE SKIP LOCKED),
    claimed AS (UPDATE cancellation c SET next_action_at = $2, revision = c.revision + 1, state = 'sending',
      lost_sends = c.lost_sends + CASE WHEN c.state = 'sending' THEN 1 ELSE 0 END,
      sent_at = CASE WHEN c.state <> 'sending' OR c.sent_at IS NOT NULL THEN c.sent_at
        WHEN c.failures > 0 THEN $1 ELSE coalesce(c.requested_at, c.created_at) END
    FROM due WHERE c.id = due.id RETURNING c.*)
    SELECT ${COLUMNS.map(snakeCase).join(', ')} FROM claimed JOIN (SELECT id, next_action_at AS was_due FROM due) d USING (id) ORDER BY was_due`,
};

export interface CancellationStoreOptions {
  readonly database: Database;
  /** The event that publishes a cancellation's present state. */
  readonly describe: (cancellation: Cancellation) => BusEvent;
  /** Milliseconds that a call waits for a database that cannot be reached. */
  readonly timeoutMs: number;
}

/** Cancellations in PostgreSQL. */
export function createPostgresCancellationStore({
  database,
  describe,
  timeoutMs,
}: CancellationStoreOptions): CancellationStore {
  const retry = <T>(work: () => Promise<T>) => retryWhileUnavailable(timeoutMs, work);
  const builder = queryBuilder<DB>(database);

  async function find(id: number): Promise<Cancellation | null> {
    const query = builder.selectFrom('cancellation').select(COLUMNS).where('id', '=', id);
    const row = await retry(() => query.executeTakeFirst());
    return row === undefined ? null : fromRow(row);
  }

  return {
    find,
    taken: ({ env, issuerRnc, ranges }) =>
      retry(async () => findTaken(database, (await presentRun(database, env, issuerRnc)).stored, issuerRnc, ranges)),
    findLocal: (key) => retry(() => findLocal(database, key)),
    async add(cancellation, bytes, lease) {
      const { outcome, tries } = await unlessTaken(database, timeoutMs, async (tx) => {
        const present = await findSameContent(tx, describe, cancellation, lease);
        return { added: present ?? (await insert(tx, describe, cancellation, bytes, lease)) };
      });
      if ('added' in outcome || tries === 1) return outcome;
      // The answer to the commit was lost, so this very cancellation may hold the numbers.
      for (const { by } of outcome.taken.cancelled) {
        const found = await find(by);
        if (found?.xmlSha256 === cancellation.xmlSha256 && isUnsent(found, cancellation.createdAt))
          return { added: found };
      }
      return outcome;
    },
    async submit(id, lease, now) {
      const { outcome, tries } = await unlessTaken(database, timeoutMs, async (tx) => {
        const added = await submitLocal(tx, describe, id, lease, now);
        return added === null ? null : { added };
      });
      if (outcome !== null || tries === 1) return outcome;
      // The answer to the commit was lost, and this very call submitted it.
      const found = await find(id);
      return found !== null && isUnsent(found, now) ? { added: found } : null;
    },
    async *list({ env, issuerRnc, limit, offset }) {
      const query = builder
        .selectFrom('cancellation')
        .select('id')
        .where('env', '=', sql<string>`stored_environment(${env}, ${issuerRnc}, NULL)`)
        .where('issuerRnc', '=', issuerRnc)
        .orderBy('createdAt', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .offset(offset);
      for (const { id } of await retry(() => query.execute())) {
        const found = await find(id);
        if (found !== null) yield found;
      }
    },
    claimDue: ({ now, until, limit, except = [] }) =>
      database.transaction(async (tx) => {
        const claimed = (await rowsOf<CancellationRow>(tx, CLAIM, [now, until, limit, except])).map(fromRow);
        // One that was `failed` may arrive from now on, so it is published as `submitted`.
        if (claimed.length > 0) await appendToOutbox(tx, claimed.map(describe));
        return claimed;
      }),
    record(before, progress, act = null) {
      const { state, sentAt, response, refused, lostSends, failures, nextActionAt, alarm, settledAt, settledNote } =
        progress;
      const update = (tx: Transaction) =>
        queryBuilder<DB>(tx)
          .updateTable('cancellation')
          .set({ state, sentAt, response, refused: JSON.stringify(refused), lostSends, failures })
          .set({ nextActionAt, alarm, settledAt, settledNote, revision: before.revision + 1 })
          .where('id', '=', before.id)
          .where('revision', '=', before.revision)
          .returning(COLUMNS)
          .executeTakeFirst();
      return retry(() =>
        database.transaction(async (tx) => {
          const row = await update(tx);
          if (row === undefined) return null;
          const after = fromRow(row);
          if (after.state === 'rejected' || after.refused.length > 0) await freeRefusedNumbers(tx, after);
          await appendToOutbox(tx, [describe(after), ...actEvents(ACTS, act)]);
          return after;
        }),
      );
    },
    async needingPerson({ env, issuerRnc, settled, after, limit }) {
      let query = builder.selectFrom('cancellation').select(COLUMNS).where('id', '>', after);
      query = query.where(settled ? 'settledAt' : 'alarm', 'is not', null);
      if (env !== null) query = query.where(sql`environment_of(env)`, '=', env);
      if (issuerRnc !== null) query = query.where('issuerRnc', '=', issuerRnc);
      return (await retry(() => query.orderBy('id').limit(limit).execute())).map(fromRow);
    },
    async backlog() {
      const groups = await builder
        .selectFrom('cancellation')
        .select(({ fn }) => [
          'alarm',
          fn.countAll<number>().as('count'),
          fn.count<number>('nextActionAt').as('undecided'),
        ])
        .where(({ or, eb }) => or([eb('nextActionAt', 'is not', null), eb('alarm', 'is not', null)]))
        .groupBy('alarm')
        .execute();
      return {
        undecided: groups.reduce((sum, { undecided }) => sum + undecided, 0),
        alarms: groups.flatMap(({ alarm, count }) =>
          alarm === null ? [] : [{ kind: alarm as CancellationAlarm, count }],
        ),
      };
    },
  };
}

/** Whether the cancellation is as the request of that time committed it: unsent and not claimed. */
function isUnsent({ state, sentAt, requestedAt }: Cancellation, at: Date): boolean {
  return state === 'sending' && sentAt === null && requestedAt?.getTime() === at.getTime();
}

type Describe = (cancellation: Cancellation) => BusEvent;

/** Runs a transaction, again while the database is unavailable. Rolled back where a number is taken. */
async function unlessTaken<T>(
  database: Database,
  timeoutMs: number,
  work: (tx: Transaction) => Promise<T>,
): Promise<{ outcome: T | { taken: Taken }; tries: number }> {
  let tries = 0;
  try {
    const outcome = await retryWhileUnavailable(timeoutMs, () => {
      tries += 1;
      return database.transaction(work);
    });
    return { outcome, tries };
  } catch (error) {
    if (error instanceof NumbersTaken) return { outcome: { taken: error.taken }, tries };
    throw error;
  }
}

/** The latest local cancellation of the present run with that content. */
async function findLocal(
  queries: Queries,
  { env, accountId, contentHash }: Pick<Cancellation, 'env' | 'accountId' | 'contentHash'>,
): Promise<Cancellation | null> {
  const row = await queryBuilder<DB>(queries)
    .selectFrom('cancellation')
    .select(COLUMNS)
    .where('env', '=', sql<string>`stored_environment(${env}, issuer_rnc, NULL)`)
    .where('accountId', '=', accountId)
    .where('contentHash', '=', contentHash)
    .where('state', '=', sql.lit('local'))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : fromRow(row);
}

/** Submits a local cancellation of the present run and blocks its numbers; null if it is no longer local. */
async function submitLocal(
  tx: Transaction,
  describe: Describe,
  id: number,
  lease: Date,
  now: Date,
): Promise<Cancellation | null> {
  const row = await queryBuilder<DB>(tx)
    .updateTable('cancellation')
    .set({ state: 'sending', nextActionAt: lease, requestedAt: now, revision: sql`revision + 1` })
    .where('id', '=', id)
    .where('state', '=', 'local')
    .where('env', '=', sql<string>`stored_environment(environment_of(env), issuer_rnc, NULL)`)
    .returning(COLUMNS)
    .executeTakeFirst();
  if (row === undefined) return null;
  const submitted = fromRow(row);
  await appendToOutbox(tx, [describe(submitted)]);
  await blockNumbers(tx, submitted);
  return submitted;
}

/** The local cancellation of the same content, submitted if there is a lease. The lock keeps it the only one. */
async function findSameContent(
  tx: Transaction,
  describe: Describe,
  cancellation: NewCancellation,
  lease: Date | null,
): Promise<Cancellation | null> {
  const { env, issuerRnc, accountId, contentHash, createdAt, lines } = cancellation;
  await tx.query(LOCK_CONTENT, [env, accountId, contentHash]);
  const local = await findLocal(tx, cancellation);
  if (local !== null) return lease === null ? local : submitLocal(tx, describe, local.id, lease, createdAt);
  if (lease !== null) return null;
  const { stored } = await presentRun(tx, env, issuerRnc);
  const taken = await findTaken(tx, stored, issuerRnc, merged(rangesOf(lines)));
  if (taken !== null) throw new NumbersTaken(taken);
  return null;
}

/** 1 in the 30 days after a restore, because the restored database may have lost a copy that was sent; otherwise 0. */
const lostSendsAt = (now: Date) =>
  sql<number>`(SELECT count(*) FROM restored WHERE NOT of_others AND restored_at > ${now}::timestamptz - interval '30 days')`;

async function insert(
  tx: Transaction,
  describe: Describe,
  cancellation: NewCancellation,
  bytes: Uint8Array,
  lease: Date | null,
): Promise<Cancellation> {
  const { env, issuerRnc, lines, createdAt, xmlPath, xmlSha256 } = cancellation;
  const row = await queryBuilder<DB>(tx)
    .insertInto('cancellation')
    .values({
      ...cancellation,
      env: sql<string>`stored_environment(${env}, ${issuerRnc}, NULL)`,
      lines: JSON.stringify(lines),
      state: lease === null ? 'local' : 'sending',
      nextActionAt: lease,
      requestedAt: lease === null ? null : createdAt,
      lostSends: lostSendsAt(createdAt),
    })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow();
  const added = fromRow(row);
  await addPendingDocuments(tx, [{ path: xmlPath, sha256: xmlSha256, bytes }]);
  await appendToOutbox(tx, [describe(added)]);
  if (lease !== null) await blockNumbers(tx, added);
  return added;
}

/** Longest list of numbers that an answer names. */
const MAX_NAMED = 20;
/** Up to this number, each range is looked up alone. More are compared in pieces. */
const FEW_RANGES = 500;
const RANGES_PER_PIECE = 1_000;
/** States that leave their number free. */
const FREE_STATES = Object.entries(EMISSION_STATES)
  .filter(([, { decided, sequenceUsed }]) => decided && sequenceUsed === false)
  .map(([state]) => state);

/** Thrown to roll a transaction back. */
class NumbersTaken extends Error {
  constructor(readonly taken: Taken) {
    super('numbers are taken');
  }
}

/**
 * The attempts and cancellations that hold the numbers; null if there are none.
 *
 * @param stored the environment with the certification run
 */
async function findTaken(
  queries: Queries,
  stored: string,
  issuerRnc: string,
  ranges: readonly NumberRange[],
): Promise<Taken | null> {
  const params = [stored, issuerRnc, ...columns(ranges)];
  const used = await queries.query<Taken['used'][number]>(USED, [...params, FREE_STATES, MAX_NAMED]);
  const cancelled = await queries.query<Taken['cancelled'][number]>(CANCELLED, [
    ...params,
    ranges.length > FEW_RANGES ? RANGES_PER_PIECE : 1,
    MAX_NAMED,
  ]);
  if (used.rows.length === 0 && cancelled.rows.length === 0) return null;
  return { used: used.rows, cancelled: cancelled.rows };
}

/** Blocks all numbers of a cancellation. The lock on the issuer's numbers comes first, so that the check sees every commit. */
async function blockNumbers(tx: Transaction, cancellation: Cancellation): Promise<void> {
  const { issuerRnc, id, lines } = cancellation;
  const ranges = merged(rangesOf(lines));
  const stored = storedEnvironment(cancellation);
  await tx.query(LOCK_NUMBERS, [stored, issuerRnc]);
  const taken = await findTaken(tx, stored, issuerRnc, ranges);
  if (taken !== null) throw new NumbersTaken(taken);
  await tx.query(BLOCK, [stored, issuerRnc, ...columns(ranges), id]);
}

/** Frees the numbers that the authority refused. */
async function freeRefusedNumbers(tx: Transaction, cancellation: Cancellation): Promise<void> {
  const { issuerRnc, id } = cancellation;
  await tx.query(UNBLOCK, [id]);
  await tx.query(BLOCK, [storedEnvironment(cancellation), issuerRnc, ...columns(blockedBy(cancellation)), id]);
}

/**
 * Types, first and last sequences, as array literals of PostgreSQL. The driver would quote each value, which blocks the
 * process much longer for a hundred thousand ranges. Digits need no quotes.
 */
function columns(ranges: readonly NumberRange[]): [string, string, string] {
  const literal = (value: (range: NumberRange) => string | number) => `{${ranges.map(value).join(',')}}`;
  return [literal(({ type }) => type), literal(({ from }) => from), literal(({ to }) => to)];
}

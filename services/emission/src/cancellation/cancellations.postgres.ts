import { EMISSION_STATES, environmentRun, storedEnvironment } from '@ecf/domain';
import { merged, type NumberRange } from '@ecf/domain/number-set';
import type { BusEvent } from '@ecf/service-kit/bus';
import { actEvents, appendToOutbox } from '@ecf/service-kit/outbox';
import type { Database, Queries, Statement, Transaction } from '@ecf/service-kit/postgres';
import { addPendingDocuments } from '@ecf/service-kit/xml-store';
import { ACTS } from '../published/changed-events.js';
import { retryWhileUnavailable } from '../retry-while-unavailable.postgres.js';
import { type Cancellation, type CancellationAlarm, type NewCancellation, rangesOf } from './cancellation.js';
import { blockedBy } from './cancellation-body.js';
import type { CancellationStore, Numbers, Taken } from './ports.js';

/** The fields of a {@link Cancellation}; `env` has the certification run. */
const COLUMNS = `id, env, issuer_rnc AS "issuerRnc", account_id AS "accountId", created_by AS "createdBy", content_hash AS "contentHash",
  version, reason, total, generated_at AS "generatedAt", created_at AS "createdAt", xml_path AS "xmlPath", xml_sha256 AS "xmlSha256",
  lines, revision, state, requested_at AS "requestedAt", sent_at AS "sentAt", response, refused, lost_sends AS "lostSends", failures,
  next_action_at AS "nextActionAt", alarm, settled_at AS "settledAt", settled_note AS "settledNote"`;

interface CancellationRow extends Omit<Cancellation, 'run' | 'xml' | 'settled'> {
  xmlPath: string;
  xmlSha256: string;
  settledAt: Date | null;
  settledNote: string | null;
}

function fromRow({ env, xmlPath, xmlSha256, settledAt, settledNote, ...fields }: CancellationRow): Cancellation {
  return {
    ...fields,
    ...environmentRun(env),
    xml: { path: xmlPath, sha256: xmlSha256 },
    settled: settledAt === null ? null : { at: settledAt, note: settledNote ?? '' },
  };
}

/** Ranges are three arrays in one order: types, first and last sequences. */
const RANGES = 'unnest($3::text[], $4::bigint[], $5::bigint[])';

/** Held until the commit, so that no other transaction takes a number of the issuer meanwhile. */
export const LOCK_NUMBERS = {
  name: 'cancellation_lock_numbers',
  text: "SELECT pg_advisory_xact_lock(hashtextextended('numbers:' || $1 || ':' || $2, 0))",
};

/** The present certification run of an issuer, and the environment under which its numbers are stored. */
export const PRESENT = {
  name: 'cancellation_present_run',
  text: 'SELECT present_run($1, $2) AS run, stored_environment($1, $2, NULL) AS stored',
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

/** Automatic numbers go back to the first one that is free again: draws skipped it. */
const UNBLOCK = {
  name: 'cancellation_unblock',
  text: `WITH freed AS (
      DELETE FROM cancelled_range WHERE cancellation_id = $1
      RETURNING env, issuer_rnc, ecf_type, first_number AS "from", last_number AS "to"),
    skipped AS (
      SELECT p.env, p.issuer_rnc, p.ecf_type, p.first_number, min(greatest(f."from", p.first_number)) AS next_number
      FROM number_position p JOIN freed f USING (env, issuer_rnc, ecf_type)
      WHERE f."to" >= p.first_number AND f."from" < p.next_number GROUP BY 1, 2, 3, 4)
    UPDATE number_position p SET next_number = least(p.next_number, s.next_number) FROM skipped s
    WHERE p.env = s.env AND p.issuer_rnc = s.issuer_rnc AND p.ecf_type = s.ecf_type AND p.first_number = s.first_number`,
};

const ADD = {
  name: 'cancellation_add',
  text: `INSERT INTO cancellation (env, issuer_rnc, account_id, content_hash, version, reason, total, generated_at, created_at,
      xml_path, xml_sha256, lines, state, next_action_at, requested_at, created_by)
    VALUES (stored_environment($1, $2, NULL), $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) RETURNING ${COLUMNS}`,
};

/** Held until the commit, so that no other transaction adds a cancellation with the same content meanwhile. */
const LOCK_CONTENT = {
  name: 'cancellation_lock_content',
  text: "SELECT pg_advisory_xact_lock(hashtextextended('cancellation:' || $1 || ':' || $2 || ':' || $3, 0))",
};

const SUBMIT = {
  name: 'cancellation_submit',
  text: `UPDATE cancellation SET state = 'sending', next_action_at = $2, requested_at = $3, revision = revision + 1
    WHERE id = $1 AND state = 'local' AND env = stored_environment(environment_of(env), issuer_rnc, NULL) RETURNING ${COLUMNS}`,
};

const FIND_LOCAL = {
  name: 'cancellation_find_local',
  text: `SELECT ${COLUMNS} FROM cancellation WHERE env = stored_environment($1, issuer_rnc, NULL) AND account_id = $2
      AND content_hash = $3 AND state = 'local'
    ORDER BY id DESC LIMIT 1`,
};

const FIND = { name: 'cancellation_find', text: `SELECT ${COLUMNS} FROM cancellation WHERE id = $1` };

const LIST = {
  name: 'cancellation_list',
  text: 'SELECT id FROM cancellation WHERE env = stored_environment($1, $2, NULL) AND issuer_rnc = $2 ORDER BY created_at DESC, id DESC LIMIT $3 OFFSET $4',
};

/**
 * Leases due cancellations, earliest first. If the lease of a send ended, its outcome is unknown: it counts as lost. A first
 * send may have left when it was requested.
 */
export const CLAIM = {
  name: 'cancellation_claim',
  text: `WITH due AS (
      SELECT id, next_action_at FROM cancellation WHERE next_action_at <= $1 AND id <> ALL ($3::bigint[])
       ORDER BY next_action_at LIMIT $4 FOR UPDATE SKIP LOCKED),
    claimed AS (UPDATE cancellation c SET next_action_at = $2, revision = c.revision + 1, state = 'sending',
      lost_sends = c.lost_sends + CASE WHEN c.state = 'sending' THEN 1 ELSE 0 END,
      sent_at = CASE WHEN c.state <> 'sending' OR c.sent_at IS NOT NULL THEN c.sent_at
        WHEN c.failures > 0 THEN $1 ELSE coalesce(c.requested_at, c.created_at) END
    FROM due WHERE c.id = due.id RETURNING c.*)
    SELECT ${COLUMNS} FROM claimed JOIN (SELECT id, next_action_at AS was_due FROM due) d USING (id) ORDER BY was_due`,
};

const RECORD = {
  name: 'cancellation_record',
  text: `UPDATE cancellation SET revision = revision + 1, state = $3, sent_at = $4, response = $5, refused = $6, lost_sends = $7,
      failures = $8, next_action_at = $9, alarm = $10, settled_at = $11, settled_note = $12
    WHERE id = $1 AND revision = $2 RETURNING ${COLUMNS}`,
};

const NEEDING_PERSON = {
  name: 'cancellation_needing_person',
  text: `SELECT ${COLUMNS} FROM cancellation
    WHERE CASE WHEN $3 THEN settled_at IS NOT NULL ELSE alarm IS NOT NULL END AND id > $4
      AND ($1::text IS NULL OR environment_of(env) = $1) AND ($2::text IS NULL OR issuer_rnc = $2)
    ORDER BY id LIMIT $5`,
};

const BACKLOG = {
  name: 'cancellation_backlog',
  text: `SELECT alarm, count(*)::int AS count, count(next_action_at)::int AS undecided FROM cancellation
    WHERE next_action_at IS NOT NULL OR alarm IS NOT NULL GROUP BY alarm`,
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

  async function rows(statement: Statement, params: readonly unknown[]): Promise<Cancellation[]> {
    return (await retry(() => database.query<CancellationRow>(statement, params))).rows.map(fromRow);
  }

  const find = async (id: number): Promise<Cancellation | null> => (await rows(FIND, [id]))[0] ?? null;

  return {
    find,
    async add(cancellation, bytes, lease) {
      const { outcome, tries } = await unlessTaken(database, timeoutMs, async (tx) => {
        const present = await findSameContent(tx, describe, cancellation, lease);
        return { added: present ?? (await insert(tx, describe, cancellation, bytes, lease)) };
      });
      if ('added' in outcome || tries === 1) return outcome;
      // The answer to the commit was lost, so this very cancellation may hold the numbers.
      for (const { by } of outcome.taken.cancelled) {
        const found = await find(by);
        if (found?.xml.sha256 === cancellation.xml.sha256 && isUnsent(found, cancellation.createdAt))
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
    taken: (numbers) => retry(() => findTaken(database, numbers)),
    findLocal: async ({ env, accountId, contentHash }) =>
      (await rows(FIND_LOCAL, [env, accountId, contentHash]))[0] ?? null,
    async *list({ env, issuerRnc, limit, offset }) {
      const found = await retry(() => database.query<{ id: number }>(LIST, [env, issuerRnc, limit, offset]));
      for (const { id } of found.rows) yield* await rows(FIND, [id]);
    },
    claimDue: ({ now, until, limit, inFlight }) =>
      database.transaction(async (tx) => {
        const claimed = (await tx.query<CancellationRow>(CLAIM, [now, until, inFlight, limit])).rows.map(fromRow);
        // One that was `failed` may arrive from now on, so it is published as `submitted`.
        if (claimed.length > 0) await appendToOutbox(tx, claimed.map(describe));
        return claimed;
      }),
    record: (before, progress, act = null) =>
      retry(() =>
        database.transaction(async (tx) => {
          const { rows: recorded } = await tx.query<CancellationRow>(RECORD, [
            before.id,
            before.revision,
            progress.state,
            progress.sentAt,
            progress.response,
            JSON.stringify(progress.refused),
            progress.lostSends,
            progress.failures,
            progress.nextActionAt,
            progress.alarm,
            progress.settled?.at ?? null,
            progress.settled?.note ?? null,
          ]);
          if (recorded[0] === undefined) return null;
          const after = fromRow(recorded[0]);
          if (after.state === 'rejected' || after.refused.length > 0) await freeRefusedNumbers(tx, after);
          await appendToOutbox(tx, [describe(after), ...actEvents(ACTS, act)]);
          return after;
        }),
      ),
    needingPerson: ({ env, issuerRnc, settled, after, limit }) =>
      rows(NEEDING_PERSON, [env, issuerRnc, settled, after, limit]),
    async backlog() {
      const { rows: groups } = await database.query<{
        alarm: CancellationAlarm | null;
        count: number;
        undecided: number;
      }>(BACKLOG);
      return {
        undecided: groups.reduce((sum, { undecided }) => sum + undecided, 0),
        alarms: groups.flatMap(({ alarm, count }) => (alarm === null ? [] : [{ kind: alarm, count }])),
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

/** Submits a local cancellation and blocks its numbers; null if it is no longer local. */
async function submitLocal(
  tx: Transaction,
  describe: Describe,
  id: number,
  lease: Date,
  now: Date,
): Promise<Cancellation | null> {
  const { rows } = await tx.query<CancellationRow>(SUBMIT, [id, lease, now]);
  if (rows[0] === undefined) return null;
  const submitted = fromRow(rows[0]);
  await appendToOutbox(tx, [describe(submitted)]);
  await blockNumbers(tx, submitted);
  return submitted;
}

/** The local cancellation of the same content, submitted if there is a lease. The lock keeps it the only one. */
async function findSameContent(
  tx: Transaction,
  describe: Describe,
  { env, issuerRnc, accountId, contentHash, createdAt, lines }: NewCancellation,
  lease: Date | null,
): Promise<Cancellation | null> {
  await tx.query(LOCK_CONTENT, [env, accountId, contentHash]);
  const [local] = (await tx.query<CancellationRow>(FIND_LOCAL, [env, accountId, contentHash])).rows;
  if (local !== undefined)
    return lease === null ? fromRow(local) : submitLocal(tx, describe, local.id, lease, createdAt);
  const taken = lease === null ? await findTaken(tx, { env, issuerRnc, ranges: merged(rangesOf(lines)) }) : null;
  if (taken !== null) throw new NumbersTaken(taken);
  return null;
}

async function insert(
  tx: Transaction,
  describe: Describe,
  cancellation: NewCancellation,
  bytes: Uint8Array,
  lease: Date | null,
): Promise<Cancellation> {
  const { rows } = await tx.query<CancellationRow>(ADD, [
    cancellation.env,
    cancellation.issuerRnc,
    cancellation.accountId,
    cancellation.contentHash,
    cancellation.version,
    cancellation.reason,
    cancellation.total,
    cancellation.generatedAt,
    cancellation.createdAt,
    cancellation.xml.path,
    cancellation.xml.sha256,
    JSON.stringify(cancellation.lines),
    lease === null ? 'local' : 'sending',
    lease,
    lease === null ? null : cancellation.createdAt,
    cancellation.createdBy ?? null,
  ]);
  const added = fromRow(rows[0] as CancellationRow);
  await addPendingDocuments(tx, [{ ...cancellation.xml, bytes }]);
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

/** The attempts and cancellations that hold the numbers; null if there are none. */
async function findTaken(
  queries: Queries,
  { issuerRnc, ranges, ...numbers }: Numbers & { readonly run?: number },
): Promise<Taken | null> {
  const env = await storedIn(queries, { issuerRnc, ...numbers });
  const params = [env, issuerRnc, ...columns(ranges)];
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
async function blockNumbers(tx: Transaction, { env, run, issuerRnc, id, lines }: Cancellation): Promise<void> {
  const ranges = merged(rangesOf(lines));
  const stored = storedEnvironment({ env, run });
  await tx.query(LOCK_NUMBERS, [stored, issuerRnc]);
  const taken = await findTaken(tx, { env, run, issuerRnc, ranges });
  if (taken !== null) throw new NumbersTaken(taken);
  await tx.query(BLOCK, [stored, issuerRnc, ...columns(ranges), id]);
}

/** Frees the numbers that the authority refused. */
async function freeRefusedNumbers(tx: Transaction, cancellation: Cancellation): Promise<void> {
  const { issuerRnc, id } = cancellation;
  await tx.query(UNBLOCK, [id]);
  await tx.query(BLOCK, [storedEnvironment(cancellation), issuerRnc, ...columns(blockedBy(cancellation)), id]);
}

/** The stored environment of a run; without `run`, of the present one. */
async function storedIn(
  queries: Queries,
  { env, issuerRnc, run }: Pick<Numbers, 'env' | 'issuerRnc'> & { readonly run?: number },
): Promise<string> {
  if (run !== undefined) return storedEnvironment({ env, run });
  const { rows } = await queries.query<{ stored: string }>(PRESENT, [env, issuerRnc]);
  return rows[0]?.stored ?? env;
}

/**
 * Types, first and last sequences, as array literals of PostgreSQL. The driver would quote each value, which blocks the
 * process much longer for a hundred thousand ranges. Digits need no quotes.
 */
function columns(ranges: readonly NumberRange[]): [string, string, string] {
  const literal = (value: (range: NumberRange) => string | number) => `{${ranges.map(value).join(',')}}`;
  return [literal(({ type }) => type), literal(({ from }) => from), literal(({ to }) => to)];
}

import { camelCaseRows, type Database } from '@ecf/postgres';
import type { DocumentKey } from '../attempt/attempt.js';
import type { Contingency, ContingencyBacklog, ContingencyStore, WaitingDocument, WaitingDocuments } from './ports.js';

/** The queue: attempts with `queued_at`. The table has a row for each destination with an outage. */
const DESTINATION = 'environment_of(e.env) = $1 AND a.route = $2 AND a.queued_at IS NOT NULL';

const IS_AWAY = 'SELECT FROM contingency WHERE env = $1 AND route = $2 AND returned_at IS NULL AND failures > 0';

/**
 * An outage after the return from another one is a new outage. $6 is 0 if the authority answered the login of
 * one taxpayer. This is not an outage for others, so it does not slow their recovery, and belongs to it while documents wait.
 */
const BEGIN = `INSERT INTO contingency AS c (env, route, since, rate, due_at, failures) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (env, route) DO UPDATE SET
    returned_at = CASE WHEN c.returned_at IS NULL OR $6 > 0 THEN NULL ELSE $3 END,
    failures = CASE WHEN c.returned_at IS NULL THEN greatest(c.failures, $6) ELSE $6 END,
    rate = CASE WHEN c.returned_at IS NULL OR $6 = 0 THEN c.rate ELSE $4 END,
    since = CASE WHEN c.returned_at IS NULL OR $6 = 0 AND EXISTS (SELECT FROM attempt a JOIN emission e ON e.id = a.emission_id
      WHERE ${DESTINATION}) THEN c.since ELSE $3 END,
    due_at = CASE WHEN c.returned_at IS NULL OR $6 = 0 THEN c.due_at ELSE $5 END RETURNING since`;

/** When the authority returned, if the row already says so and has no failures: then no update is needed. */
const RETURNED = `SELECT returned_at FROM contingency
  WHERE env = $1 AND route = $2 AND returned_at IS NOT NULL AND failures = 0`;

const REACHED = `UPDATE contingency SET failures = 0, returned_at = coalesce(returned_at, $3),
    due_at = CASE WHEN returned_at IS NULL THEN $3 ELSE due_at END
  WHERE env = $1 AND route = $2 RETURNING returned_at`;

const SET_DEADLINES = `UPDATE attempt a SET deadline = $3 FROM emission e
  WHERE e.id = a.emission_id AND environment_of(e.env) = $1 AND a.route = $2 AND a.contingency_since IS NOT NULL AND a.deadline IS NULL`;

const ANSWERED = 'UPDATE contingency SET failures = 0, due_at = $3 WHERE env = $1 AND route = $2 AND failures > 0';

/** While the authority answers, the queue is due again within a second, so this changes no row. */
const PROBE_NOW = `UPDATE contingency SET due_at = $3
  WHERE env = $1 AND route = $2 AND due_at > $3::timestamptz + INTERVAL '1 second'`;

const UNREACHED = 'UPDATE contingency SET failures = least(failures + 1, 30) WHERE env = $1 AND route = $2';

const CLAIM = {
  name: 'contingency_claim',
  text: `UPDATE contingency c SET due_at = $2 FROM (
      SELECT env, route FROM contingency WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED) due
    WHERE c.env = due.env AND c.route = due.route
    RETURNING c.env, c.route, c.returned_at, c.failures, c.rate`,
};

/** First the documents that failed least often, then the oldest, so that one that always fails does not delay the others. */
const RELEASE = `WITH chosen AS (
    SELECT a.emission_id, a.attempt FROM attempt a JOIN emission e ON e.id = a.emission_id
     WHERE ${DESTINATION} AND a.next_action_at IS NULL ORDER BY a.failures, a.queued_at, a.emission_id LIMIT $3 FOR UPDATE OF a SKIP LOCKED),
  released AS (
    UPDATE attempt a SET next_action_at = $4 FROM chosen c
     WHERE a.emission_id = c.emission_id AND a.attempt = c.attempt RETURNING 1)
  SELECT count(*)::int AS released FROM released`;

/** $3 now. A document that failed because of its own content keeps its own retry time and is not used as a health probe. */
const WAITING = `SELECT count(*)::int AS total, count(*) FILTER (WHERE is_released)::int AS released,
    count(*) FILTER (WHERE is_released AND failures = 0)::int AS probing
  FROM (SELECT a.failures, a.owner IS NOT NULL OR coalesce(a.next_action_at <= $3, false) AS is_released
    FROM attempt a JOIN emission e ON e.id = a.emission_id WHERE ${DESTINATION}) waiting`;

const SAVE = 'UPDATE contingency SET rate = $3, due_at = $4 WHERE env = $1 AND route = $2';

const REST = 'UPDATE contingency SET failures = 0, due_at = $3 WHERE env = $1 AND route = $2';

const LATE = `SELECT environment_of(e.env) AS env, e.issuer_rnc, e.encf FROM attempt a JOIN emission e ON e.id = a.emission_id
  WHERE ${DESTINATION} AND a.deadline < $3 AND a.next_action_at IS NULL AND a.alarm IS DISTINCT FROM 'contingency-late' LIMIT $4`;

const BACKLOG = `SELECT environment_of(e.env) AS env, count(*)::int AS count, min(a.deadline) AS deadline
  FROM attempt a JOIN emission e ON e.id = a.emission_id WHERE a.queued_at IS NOT NULL GROUP BY environment_of(e.env)`;

/**
 * The documents of the queue, and notes of contingency that were never sent: they wait for the document that they modify, and
 * join no queue. $1 account, $2 environment, $3 its taxpayers or null, $4 the last id that the caller has, 0 = none, $5 the most.
 */
const LIST = `WITH mine AS (
    SELECT a.emission_id AS id, e.issuer_rnc, e.encf, a.signed_at, a.deadline
      FROM attempt a JOIN emission e ON e.id = a.emission_id
     WHERE (a.queued_at IS NOT NULL
        OR a.next_action_at IS NOT NULL AND a.contingency_since IS NOT NULL AND a.state IN ('held', 'committed'))
       AND e.account_id = $1 AND environment_of(e.env) = $2 AND ($3::text[] IS NULL OR e.issuer_rnc = ANY ($3)))
  SELECT t.total, m.id, m.issuer_rnc, m.encf, m.signed_at, m.deadline FROM (SELECT count(*)::int AS total FROM mine) t
    LEFT JOIN (SELECT * FROM mine WHERE $4::bigint = 0 OR (signed_at, id) > (SELECT a.signed_at, a.emission_id FROM attempt a
        WHERE a.emission_id = $4::bigint ORDER BY a.attempt DESC LIMIT 1) ORDER BY signed_at, id LIMIT $5) m ON true ORDER BY m.signed_at, m.id`;

/** The contingency queue in PostgreSQL. */
export function createPostgresContingencyStore(database: Database): ContingencyStore {
  return {
    async isUnreachable({ env, route }) {
      return (await database.query(IS_AWAY, [env, route])).rows.length > 0;
    },
    async begin({ env, route }, { now, rate, dueAt, isForAll }) {
      const values = [env, route, now, rate, dueAt, isForAll ? 1 : 0];
      const { rows } = await database.query<{ since: Date }>(BEGIN, values);
      return rows[0]?.since ?? now;
    },
    async reached({ env, route }, now) {
      const noted = await database.query<ReturnRow>(RETURNED, [env, route]);
      const { rows } = noted.rows.length > 0 ? noted : await database.query<ReturnRow>(REACHED, [env, route, now]);
      return rows[0]?.returned_at ?? now;
    },
    async setDeadlines({ env, route }, deadline) {
      await database.query(SET_DEADLINES, [env, route, deadline]);
    },
    async unreached({ env, route }) {
      await database.query(UNREACHED, [env, route]);
    },
    async answered({ env, route }, now) {
      await database.query(ANSWERED, [env, route, now]);
    },
    async probeNow({ env, route }, now) {
      await database.query(PROBE_NOW, [env, route, now]);
    },
    async claimDue({ now, until, limit }) {
      return camelCaseRows<Contingency>((await database.query(CLAIM, [now, until, limit])).rows);
    },
    async release({ env, route }, limit, now) {
      return (await database.query<{ released: number }>(RELEASE, [env, route, limit, now])).rows[0]?.released ?? 0;
    },
    async waiting({ env, route }, now) {
      const { rows } = await database.query<WaitingDocuments>(WAITING, [env, route, now]);
      return rows[0] ?? { total: 0, released: 0, probing: 0 };
    },
    async save({ env, route, rate }, dueAt) {
      await database.query(SAVE, [env, route, rate, dueAt]);
    },
    async rest({ env, route }, dueAt) {
      await database.query(REST, [env, route, dueAt]);
    },
    async late({ env, route }, now, limit) {
      return camelCaseRows<DocumentKey>((await database.query(LATE, [env, route, now, limit])).rows);
    },
    async backlog() {
      return (await database.query<ContingencyBacklog>(BACKLOG)).rows;
    },
    async list({ accountId, taxpayers, env, after, limit }) {
      const values = [accountId, env, taxpayers, after, limit];
      const rows = camelCaseRows<WaitingDocument & { total: number }>((await database.query(LIST, values)).rows);
      // A row of the total alone has no document.
      const documents = rows.filter(({ id }) => id !== null).map(({ total: _, ...document }) => document);
      return { total: rows[0]?.total ?? 0, documents };
    },
  };
}

interface ReturnRow {
  returned_at: Date;
}

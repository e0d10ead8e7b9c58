import { storedEnvironment } from '@ecf/domain';
import { camelCaseRows, createSharedCalls, type Database, deleteExpired, isUniqueViolation } from '@ecf/postgres';
import { ATTEMPT_COLUMNS, type AttemptRow, attemptOf } from '../attempt/emission.postgres.js';
import { retryWhileUnavailable } from '../errors.postgres.js';
import type { Draw, NumberStore } from './ports.js';

/**
 * Milliseconds between the draw of a number and the commit of its document, much more than both need. A number that is not
 * committed by then is given to another document.
 */
export const RESERVATION_MS = 10_000;
/** One reservation for each account, environment and idempotency key. */
const RESERVED_KEY = 'reserved_number_account_id_env_idempotency_key_key';
/** Idempotency keys are kept for 30 days. */
const KEPT_KEYS_MS = 30 * 24 * 3_600_000;

/** Reserves the next number. */
const DRAW = {
  name: 'number_draw',
  text: `SELECT d.outcome, d.encf, present_run($2, $3) AS run
    FROM draw_number($1, stored_environment($2, $3, NULL), $3, $4, $5, $6, $7, $8) d`,
};

/** The numbers left in the ranges of several issuers. */
const NUMBERS_LEFT = {
  name: 'number_left',
  text: `SELECT l.next_encf AS next, l.remaining
    FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[]) WITH ORDINALITY
      AS r(issuer, env, type, first, last, position)
    CROSS JOIN LATERAL numbers_left(stored_environment(r.env, r.issuer, NULL), r.issuer, r.type, r.first, r.last) l
    ORDER BY r.position`,
};

const GIVE_BACK = {
  name: 'number_give_back',
  text: `UPDATE reserved_number SET until = '-infinity', idempotency_key = NULL WHERE token = $1`,
};

/** Binds an idempotency key to an attempt that was found, not made. */
const BIND = {
  name: 'number_bind',
  text: `INSERT INTO submission_key (account_id, env, idempotency_key, content_hash, emission_id, attempt)
    VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING RETURNING emission_id`,
};

/** The attempt of the submission under a key. */
const SUBMITTED = {
  name: 'number_submitted',
  text: `SELECT k.content_hash AS key_content, ${ATTEMPT_COLUMNS}
    FROM submission_key k JOIN emission e ON e.id = k.emission_id
    JOIN attempt a ON a.emission_id = k.emission_id AND a.attempt = k.attempt
    WHERE k.account_id = $1 AND k.env = stored_environment($2, $4, NULL) AND k.idempotency_key = $3`,
};

/**
 * Automatic numbers in PostgreSQL. The unique number of an emission, of a reservation and of an idempotency key decide; no
 * process keeps a number.
 *
 * @param timeoutMs milliseconds that a call waits for a database that cannot be reached
 */
export function createPostgresNumberStore(database: Database, timeoutMs: number): NumberStore {
  const retry = <T>(work: () => Promise<T>) => retryWhileUnavailable(timeoutMs, work);

  // One GET /account reads what a hundred issuers have left. Two connections for that leave the others to documents.
  const lefts = createSharedCalls<LeftRequest, NumbersLeft>({
    maxItems: 64,
    maxInFlight: 2,
    keyOf: (item) => item,
    async work(items) {
      const ranges = items.flatMap((item) => item.ranges.map((range) => ({ ...range, issuerRnc: item.issuerRnc })));
      const { rows } = await database.query<NumbersLeft[number]>(NUMBERS_LEFT, [
        ranges.map(({ issuerRnc }) => issuerRnc),
        ranges.map(({ env }) => env),
        ranges.map(({ ecf_type }) => ecf_type),
        ranges.map(({ from }) => sequenceOf(from)),
        ranges.map(({ to }) => sequenceOf(to)),
      ]);
      return items.map((item) => rows.splice(0, item.ranges.length));
    },
  });

  return {
    async submitted({ accountId, env, issuerRnc, idempotencyKey }) {
      const { rows } = await retry(() => database.query(SUBMITTED, [accountId, env, idempotencyKey, issuerRnc]));
      const [found] = camelCaseRows<AttemptRow & { keyContent: string }>(rows);
      if (found === undefined) return null;
      const { keyContent, ...row } = found;
      return { contentHash: keyContent, attempt: attemptOf(row) };
    },
    async draw({ accountId, env, issuerRnc, ecfType, idempotencyKey, token, ranges }) {
      const bounds = ranges.map(({ from, to }) => ({ first_number: sequenceOf(from), last_number: sequenceOf(to) }));
      const values = [
        accountId,
        env,
        issuerRnc,
        ecfType,
        idempotencyKey,
        token,
        RESERVATION_MS,
        JSON.stringify(bounds),
      ];
      try {
        return (await retry(() => database.query<Draw>(DRAW, values))).rows[0] as Draw;
      } catch (error) {
        // Another call with the key drew at the same moment.
        if (isUniqueViolation(error, RESERVED_KEY)) return { outcome: 'busy' };
        throw error;
      }
    },
    async bind(accountId, { idempotencyKey, contentHash }, attempt) {
      const { emissionId } = attempt;
      const values = [accountId, storedEnvironment(attempt), idempotencyKey, contentHash, emissionId, attempt.attempt];
      return (await retry(() => database.query(BIND, values))).rows.length > 0;
    },
    async giveBack(token) {
      await retry(() => database.query(GIVE_BACK, [token]));
    },
    left: (issuerRnc, ranges) => retry(() => lefts.run({ issuerRnc, ranges })),
    async forgetKeys(now) {
      await deleteExpired(database, { table: 'submission_key', column: 'created_at', keptMs: KEPT_KEYS_MS }, now);
    },
  };
}

type NumbersLeft = Awaited<ReturnType<NumberStore['left']>>;

interface LeftRequest {
  readonly issuerRnc: string;
  readonly ranges: Parameters<NumberStore['left']>[1];
}

function sequenceOf(encf: string): number {
  return Number(encf.slice(3));
}

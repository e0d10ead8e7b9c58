import { storedEnvironment } from '@ecf/domain';
import { createSharedCalls, type Database, deleteExpired, isUniqueViolation } from '@ecf/service-kit/postgres';
import { type AttemptRow, fromRow } from '../attempt/emission-rows.postgres.js';
import * as sql from '../attempt/emission-sql.postgres.js';
import type { Draw, DrawRequest, NumberStore } from '../ports.js';
import { retryWhileUnavailable } from '../retry-while-unavailable.postgres.js';

/**
 * Milliseconds between the draw of a number and the commit of its document, much more than both need. A number that is not
 * committed by then is given to another document.
 */
export const RESERVATION_MS = 10_000;
/** One reservation for each account, environment and idempotency key. */
const RESERVED_KEY = 'reserved_number_account_id_env_idempotency_key_key';
/** Idempotency keys are kept for 30 days. */
const KEPT_KEYS_MS = 30 * 24 * 3_600_000;
const SHARED = { maxItems: 64, maxInFlight: 2 };

/**
 * Automatic numbers in PostgreSQL. The unique number of an emission, of a reservation and of an idempotency key decide; no
 * process keeps a number.
 *
 * @param timeoutMs milliseconds that a call waits for a database that cannot be reached
 */
export function createPostgresNumberStore(database: Database, timeoutMs: number): NumberStore {
  const retry = <T>(work: () => Promise<T>) => retryWhileUnavailable(timeoutMs, work);

  const draws = createSharedCalls<DrawRequest, Draw>({
    ...SHARED,
    keyOf: ({ env, accountId, idempotencyKey }) => `${env}:${accountId}:${idempotencyKey}`,
    async work(items) {
      const { rows } = await database.query<DrawRow>(sql.DRAW, [JSON.stringify(items.map(drawRow))]);
      const drawn = new Map(rows.map(({ position, ...draw }) => [position, draw as Draw]));
      return items.map((_, position) => drawn.get(position) as Draw);
    },
  });

  // One GET /account reads what a hundred issuers have left. Few connections for that leave the others to documents.
  const lefts = createSharedCalls<LeftRequest, NumbersLeft>({
    ...SHARED,
    keyOf: (item) => item,
    async work(items) {
      const ranges = items.flatMap((item) => item.ranges.map((range) => ({ ...range, issuerRnc: item.issuerRnc })));
      const { rows } = await database.query<NumbersLeft[number]>(sql.NUMBERS_LEFT, [
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
      const { rows } = await retry(() =>
        database.query<AttemptRow & { key_content: string }>(sql.SUBMITTED, [
          accountId,
          env,
          idempotencyKey,
          issuerRnc,
        ]),
      );
      const row = rows[0];
      return row === undefined ? null : { contentHash: row.key_content, attempt: fromRow(row) };
    },
    draw: (request) =>
      retry(() => draws.run(request)).catch((error) => {
        // Another call with the key drew at the same moment.
        if (isUniqueViolation(error, RESERVED_KEY)) return { outcome: 'busy' };
        throw error;
      }),
    async bind(accountId, { idempotencyKey, contentHash }, attempt) {
      const { emissionId } = attempt;
      const values = [accountId, storedEnvironment(attempt), idempotencyKey, contentHash, emissionId, attempt.attempt];
      return (await retry(() => database.query(sql.BIND, values))).rows.length > 0;
    },
    async giveBack(token) {
      await retry(() => database.query(sql.GIVE_BACK, [token]));
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

interface DrawRow {
  position: number;
  outcome: Draw['outcome'];
  encf: string | null;
  run: number;
}

function drawRow({ accountId, env, issuerRnc, ecfType, idempotencyKey, token, ranges }: DrawRequest, position: number) {
  return {
    position,
    account: accountId,
    env,
    issuer: issuerRnc,
    type: ecfType,
    key: idempotencyKey,
    token,
    lease: RESERVATION_MS,
    ranges: ranges.map(({ from, to }) => ({ first_number: sequenceOf(from), last_number: sequenceOf(to) })),
  };
}

function sequenceOf(encf: string): number {
  return Number(encf.slice(3));
}

import { EMISSION_STATES, storedEnvironment } from '@ecf/domain';
import { merged, type NumberRange } from '@ecf/domain/number-set';
import type { Queries, Transaction } from '@ecf/service-kit/postgres';
import { type Cancellation, rangesOf } from './cancellation.js';
import { blockedBy } from './cancellation-body.js';
import type { Numbers, Taken } from './cancellation-ports.js';
import { BLOCK, CANCELLED, LOCK_NUMBERS, PRESENT, UNBLOCK, USED } from './cancellation-sql.postgres.js';

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
export class NumbersTaken extends Error {
  constructor(readonly taken: Taken) {
    super('numbers are taken');
  }
}

/** The attempts and cancellations that hold the numbers; null if there are none. */
export async function findTaken(
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
export async function blockNumbers(tx: Transaction, { env, run, issuerRnc, id, lines }: Cancellation): Promise<void> {
  const ranges = merged(rangesOf(lines));
  const stored = storedEnvironment({ env, run });
  await tx.query(LOCK_NUMBERS, [stored, issuerRnc]);
  const taken = await findTaken(tx, { env, run, issuerRnc, ranges });
  if (taken !== null) throw new NumbersTaken(taken);
  await tx.query(BLOCK, [stored, issuerRnc, ...columns(ranges), id]);
}

/** Frees the numbers that the authority refused. */
export async function freeRefusedNumbers(tx: Transaction, cancellation: Cancellation): Promise<void> {
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

import { type Database, firstIdOf } from '@ecf/postgres';
import { copies, documents, lastDays, type Month, months, type Spread } from './ten-years.js';

/** The invoice of the sandbox's first start, of which the rows are copies. */
const FIRST_INVOICE = "emission_id = (SELECT id FROM emission WHERE encf = 'E310000000001')";

/**
 * Fills the tables of the emission service that grow with each document. Every row is a copy of the first invoice's, with its own
 * number, hashes and trackId. Idempotency keys are those of the last 31 days.
 *
 * @param every of how many documents one has its rows in `attempt` and `exchange`; `emission` has all
 * @param partitions months that have a partition, from the first one on
 */
export async function fillEmission(
  database: Database,
  spread: Spread,
  every: number,
  partitions?: number,
): Promise<void> {
  await makePartitions(database, months(spread, partitions));
  const inTurn = async (statement: (series: string) => Promise<string> | string) => {
    for (const { first, last } of months(spread))
      await database.query(await statement(`generate_series(${first}::bigint, ${last})`));
  };
  const whole = (series: string) => documents(spread, `(SELECT k FROM ${series} AS g(k) WHERE k / 2 % ${every} = 0)`);
  const numbers = (series: string) =>
    `INSERT INTO emission SELECT id, 'TesteCF', issuer, encf, account, type, 1, created FROM ${documents(spread, series)}`;
  const answers = { emission_id: 'd.id', at: 'd.created' };
  await Promise.all([
    inTurn(numbers),
    inTurn((series) => copies(database, 'attempt', FIRST_INVOICE, whole(series), ATTEMPT)),
    inTurn((series) => copies(database, 'exchange', FIRST_INVOICE, whole(series), answers)),
  ]);
  const kept = lastDays(spread, 31);
  await database.query(
    `INSERT INTO submission_key SELECT account, 'TesteCF', 'key-' || k, sha256, id, 1, created FROM ${documents(spread, kept)}`,
  );
}

const ATTEMPT = {
  emission_id: 'd.id',
  route: 'd.route',
  content_hash: 'd.sha256',
  xml_path: 'd.path',
  xml_sha256: 'd.sha256',
  signed_at: 'd.created',
  committed_at: 'd.created',
  submitted_at: 'd.created',
  own_reference: 'd.reference',
  track_id: 'd.track_id',
};

/** The bounds of a partition for the days from $1 until before $2. */
export const BOUNDS = `SELECT format('FROM (%s) TO (%s)', ${firstIdOf('$1::text')}, ${firstIdOf('$2::text')}) AS bounds`;

async function makePartitions(database: Database, all: readonly Month[]): Promise<void> {
  for (const table of ['attempt', 'exchange'])
    for (const { name, from, until } of all) {
      const { rows } = await database.query<{ bounds: string }>(BOUNDS, [from, until]);
      await database.query(
        `CREATE TABLE IF NOT EXISTS ${table}_${name} PARTITION OF ${table} FOR VALUES ${rows[0]?.bounds}`,
      );
    }
}

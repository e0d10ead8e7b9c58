import { SERVICE_NAMES } from '@ecf/contracts';
import { connectWhenReady, serviceDatabaseUrl, sqlState } from '@ecf/postgres';
import { clockFinding } from './clocks.js';
import { type Finding, fault, ok, reasonOf } from './finding.js';

interface Found {
  readonly version: string;
  readonly secondsAhead: number;
  readonly unfinished: readonly string[];
}

const NO_SUCH_DATABASE = '3D000';
const STATE = `SELECT current_setting('server_version') AS version, clock_timestamp() AS now,
  to_regclass('_prisma_migrations') IS NOT NULL AS migrated`;
const UNFINISHED = `SELECT migration_name AS name FROM _prisma_migrations
  WHERE finished_at IS NULL AND rolled_back_at IS NULL`;

/** The databases of the services at a server. The address may also be the one of a service's database. */
export async function checkDatabases(server: string): Promise<Finding[]> {
  const { host } = new URL(server);
  const urls = [server, ...SERVICE_NAMES.map((service) => serviceDatabaseUrl(server, service))];
  const answers = await Promise.allSettled(urls.map(read));
  const failed = answers.find(
    (answer) => answer.status === 'rejected' && sqlState(answer.reason) !== NO_SUCH_DATABASE,
  ) as PromiseRejectedResult | undefined;
  if (failed !== undefined)
    return [
      fault(
        'connections',
        'PostgreSQL',
        `${host}: ${reasonOf(failed.reason)}`,
        'Start the database server, or correct DATABASE_URL (address, user and password).',
      ),
    ];
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' && answer.value ? [answer.value] : []));
  const [first] = found;
  if (first === undefined)
    return [
      fault(
        'connections',
        'PostgreSQL',
        `${host} has no database of a service`,
        'Start the services once: they create their databases.',
      ),
    ];
  return [
    ok('connections', 'PostgreSQL', `${host}, ${found.length} ${found.length === 1 ? 'database' : 'databases'}`),
    clockFinding('this machine', 'database', first.secondsAhead),
    ok('versions', 'PostgreSQL', first.version),
    migrations(found.flatMap(({ unfinished }) => unfinished)),
  ];
}

function migrations(unfinished: readonly string[]): Finding {
  if (unfinished.length === 0) return ok('versions', 'migrations', 'all are finished');
  return fault(
    'versions',
    'migrations',
    `not finished: ${unfinished.join(', ')}`,
    'Resolve it with "prisma migrate resolve"; until then the service does not start.',
  );
}

/** Null for a database without tables of a service. */
async function read(url: string): Promise<Found | null> {
  const client = await connectWhenReady(url, 0);
  try {
    const sent = Date.now();
    const { rows } = await client.query<{ version: string; now: Date; migrated: boolean }>(STATE);
    const [{ version, now, migrated }] = rows as [(typeof rows)[number]];
    const secondsAhead = ((sent + Date.now()) / 2 - now.getTime()) / 1_000;
    if (!migrated) return null;
    const unfinished = await client.query<{ name: string }>(UNFINISHED);
    return { version, secondsAhead, unfinished: unfinished.rows.map(({ name }) => name) };
  } finally {
    await client.end();
  }
}

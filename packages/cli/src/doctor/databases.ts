import { SERVICE_NAMES } from '@ecf/contracts';
import { connectWhenReady, serviceDatabaseUrl, sqlState } from '@ecf/postgres';
import { clockFinding } from './clocks.js';
import { type Finding, fault, ok, reasonOf } from './finding.js';

interface Found {
  readonly version: string;
  readonly secondsAhead: number;
}

const NO_SUCH_DATABASE = '3D000';
const STATE = `SELECT current_setting('server_version') AS version, clock_timestamp() AS now,
  to_regclass('_prisma_migrations') IS NOT NULL AS migrated`;

/** The databases of the services at a server. If the address is the one of a service's database, only this one. */
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
  const [own, ...ofServices] = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : null));
  const first = own ?? ofServices.find((found) => found !== null);
  const missing = SERVICE_NAMES.filter((_, index) => !ofServices[index]);
  if (!first || (!own && missing.length > 0))
    return [
      fault(
        'connections',
        'PostgreSQL',
        `${host} has no database of ${missing.join(', ')}`,
        'Start these services once: they create their databases. If they had stored something, restore a backup.',
      ),
    ];
  return [
    ok('connections', 'PostgreSQL', own ? `${host}, the database of a service` : `${host}, all databases`),
    clockFinding('this machine', 'database', first.secondsAhead),
    ok('versions', 'PostgreSQL', first.version),
  ];
}

/** Null for a database without tables of a service. */
async function read(url: string): Promise<Found | null> {
  const client = await connectWhenReady(url, 0);
  try {
    const sent = Date.now();
    const { rows } = await client.query<{ version: string; now: Date; migrated: boolean }>(STATE);
    const [{ version, now, migrated }] = rows as [(typeof rows)[number]];
    const secondsAhead = ((sent + Date.now()) / 2 - now.getTime()) / 1_000;
    return migrated ? { version, secondsAhead } : null;
  } finally {
    await client.end();
  }
}

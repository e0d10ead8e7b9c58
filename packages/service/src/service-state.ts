import { createRequire } from 'node:module';
import { deadLetterOperations } from '@ecf/bus';
import type { StateOperations } from '@ecf/contracts';
import type { Metrics } from '@ecf/kit/telemetry';
import type { Database } from '@ecf/postgres';

/** All packages of the product have one version. */
const { version } = createRequire(import.meta.url)('../package.json') as { version: string };

const DATABASE_SOFTWARE = `SELECT current_setting('server_version') AS postgres,
  (SELECT max(migration_name) FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL) AS migration`;
const UNKNOWN = { postgres: null, migration: null };

/** What a service says about its part of the deployment: its gauges, its versions and its dead letters. */
export function createServiceState(
  database: Pick<Database, 'query'>,
  metrics: Pick<Metrics, 'gauges'>,
): StateOperations {
  return {
    gauges: async () => ({ gauges: await metrics.gauges() }),
    async software() {
      const found = await database
        .query<{ postgres: string; migration: string | null }>(DATABASE_SOFTWARE)
        .catch(() => ({ rows: [] }));
      return { version, node: process.versions.node, ...(found.rows[0] ?? UNKNOWN) };
    },
    ...deadLetterOperations(database),
  };
}

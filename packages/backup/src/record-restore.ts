import { SERVICE_NAMES } from '@ecf/contracts';
import type pg from 'pg';
import { BackupError } from './backup-error.js';
import { connect, migrationsOf } from './dump-database.js';
import { type Environment, presentDatabases } from './places.js';

const RECORD = `
  INSERT INTO restored (restored_at, backup_at, of_others) VALUES (now(), $1, $2)
  ON CONFLICT (of_others) DO UPDATE SET restored_at = excluded.restored_at, backup_at = excluded.backup_at, settled_at = NULL`;
/** Connections of services; each names itself. */
const CONNECTED = `
  SELECT DISTINCT application_name AS name FROM pg_stat_activity
   WHERE datname = current_database() AND application_name LIKE 'ecf %' ORDER BY 1`;

/** Records a restore in a database; its service acts on it at its next start. */
export async function recordRestore(
  client: Pick<pg.Client, 'query'>,
  { backupAt, ofOthers }: { readonly backupAt: Date; readonly ofOthers: boolean },
): Promise<void> {
  await client.query(RECORD, [backupAt, ofOthers]);
}

/**
 * Records that databases were restored with other means than `restoreBackup`: of `services` in their own databases, and in the other
 * databases that those of others were. It can be repeated. Resolves with the services.
 *
 * @param services default all
 * @param backupAt the time whose state they have
 * @throws BackupError if a service is connected: one that runs acts on no restore
 */
export async function recordRestores({
  env,
  services = SERVICE_NAMES,
  backupAt,
}: {
  /** Settings of the deployment. */
  readonly env: Environment;
  readonly services?: readonly string[] | undefined;
  readonly backupAt: Date;
}): Promise<readonly string[]> {
  const unknown = services.filter((name) => !(SERVICE_NAMES as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new BackupError(`${unknown.join(', ')} names no service; they are ${SERVICE_NAMES.join(', ')}.`);
  if (backupAt > new Date()) throw new BackupError(`${backupAt.toISOString()} is in the future.`);
  const urls = presentDatabases(env);
  const clients: pg.Client[] = [];
  try {
    for (const service of SERVICE_NAMES) {
      const client = await connect(service, urls[service]);
      clients.push(client);
      await migrationsOf(service, client);
      const { rows } = await client.query<{ name: string }>(CONNECTED);
      if (rows.length > 0)
        throw new BackupError(
          `the database of ${service} has connections (${rows.map(({ name }) => name).join(', ')}). Stop all services first.`,
        );
    }
    for (const [at, service] of SERVICE_NAMES.entries())
      await recordRestore(clients[at] as pg.Client, { backupAt, ofOthers: !services.includes(service) });
    return services;
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

import path from 'node:path';
import { SERVICE_NAMES, type ServiceName, variablePrefix } from '@ecf/contracts';
import { runningPostgresUrl } from '@ecf/deployment/postgres';
import { databaseName, serviceDatabaseUrl } from '@ecf/postgres';
import { BackupError } from './backup-error.js';

export type Environment = Record<string, string | undefined>;

/** The address of each service's database. */
export type DatabaseUrls = Record<ServiceName, string>;

/**
 * The databases that the settings name: of each service by `EMISSION_DATABASE_URL` and so on, of the others on the server of
 * `DATABASE_URL`. Null if no setting names any.
 */
export function configuredDatabases(env: Environment): DatabaseUrls | null {
  const ownSetting = (service: ServiceName) => `${variablePrefix(service)}_DATABASE_URL`;
  const urlOf = (service: ServiceName) =>
    env[ownSetting(service)] || (env.DATABASE_URL ? serviceDatabaseUrl(env.DATABASE_URL, service) : null);
  const urls = SERVICE_NAMES.map((service) => [service, urlOf(service)] as const);
  const missing = urls.filter(([, url]) => url === null).map(([service]) => ownSetting(service));
  if (missing.length === SERVICE_NAMES.length) return null;
  if (missing.length > 0) throw new BackupError(`set ${missing.join(', ')} too, or DATABASE_URL for all databases.`);
  return Object.fromEntries(urls) as DatabaseUrls;
}

/** The databases of a deployment that runs: those of the settings, or those of the server in its data folder. */
export function presentDatabases(env: Environment): DatabaseUrls {
  const configured = configuredDatabases(env);
  if (configured !== null) return configured;
  const folder = path.resolve(dataFolder(env));
  return Object.fromEntries(
    SERVICE_NAMES.map((service) => {
      const url = runningPostgresUrl(path.join(folder, 'postgres'), databaseName(service));
      if (url === null)
        throw new BackupError(
          `no PostgreSQL runs in the data folder ${folder}. Start the deployment, name its folder with --data-dir, or set DATABASE_URL.`,
        );
      return [service, url];
    }),
  ) as DatabaseUrls;
}

export function dataFolder(env: Environment): string {
  return env.DATA_DIR || '.data';
}

import { EMBEDDED_SETTINGS, type EmbeddedPostgres, startEmbeddedPostgres } from '@ecf/deployment/postgres';
import { databaseName, serviceDatabaseUrl } from '@ecf/postgres';
import type { DataFolder } from './data-folder.js';
import type { DeploymentConfig } from './settings.js';

/** The database server of the deployment: the embedded one, or the one that is configured. */
export interface DatabaseServer {
  url(service: string): string;
  /** Process id of the embedded server; null for a configured one. */
  pid(): number | null;
  stop(): Promise<void>;
}

const RESTART_MS = 500;
/**
 * Starts the embedded PostgreSQL, or points to the configured one. A server that dies is started again on the same port
 * and data, so that the services find it where it was.
 */
export async function openDatabaseServer(
  config: Pick<DeploymentConfig, 'DATABASE_URL'>,
  folder: DataFolder,
  say: (text: string) => void,
  settings: Record<string, string> = EMBEDDED_SETTINGS,
): Promise<DatabaseServer> {
  if (config.DATABASE_URL !== undefined) {
    const configured = config.DATABASE_URL;
    return { url: (service) => serviceDatabaseUrl(configured, service), pid: () => null, stop: async () => undefined };
  }
  const launch = (port: number): Promise<EmbeddedPostgres> =>
    startEmbeddedPostgres({ dataDir: folder.file('postgres'), port, settings, say });
  let server = await launch(0);
  const { port } = server;
  let stopping = false;
  const watch = async (): Promise<void> => {
    while (!stopping) {
      say(`PostgreSQL ${await server.died}; starting it again`);
      for (let up = false; !up && !stopping; ) {
        await new Promise((resolve) => setTimeout(resolve, RESTART_MS));
        up = await launch(port).then(
          (fresh) => {
            server = fresh;
            return true;
          },
          (error: Error) => {
            say(`PostgreSQL does not start: ${error.message}`);
            return false;
          },
        );
      }
    }
  };
  void watch();
  return {
    url: (service) => server.localUrl(databaseName(service)),
    pid: () => server.pid,
    stop: () => {
      stopping = true;
      return server.stop();
    },
  };
}

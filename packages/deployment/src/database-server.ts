import { type EmbeddedPostgres, startEmbeddedPostgres } from '@ecf/deployment/postgres';
import { serviceDatabaseUrl } from '@ecf/postgres';
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
/** Settings of the embedded server. */
export const EMBEDDED_SETTINGS = {
  max_connections: '120',
  shared_buffers: '128MB',
  max_wal_size: '2GB',
  // A table that fills fast gets its statistics soon; without them its statements run with the plans of an empty table. Each look
  // starts a process for each database, so more often would cost an idle deployment half a percent of a core.
  autovacuum_naptime: '20s',
  // And anew when half of it has changed. After each tenth, a batch of 10,000 documents costs a fifth more in PostgreSQL.
  autovacuum_analyze_scale_factor: '0.5',
  // The socket dies with the process; a session must not outlive it by hours.
  tcp_keepalives_idle: '30',
};

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
    url: (service) => server.localUrl(`ecf_${service.replaceAll('-', '_')}`),
    pid: () => server.pid,
    stop: () => {
      stopping = true;
      return server.stop();
    },
  };
}

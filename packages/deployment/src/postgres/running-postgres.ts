import { clusterPassword, USER } from './postgres-cluster.js';
import { isAlive, readPostmasterFile } from './postmaster.js';

/**
 * The address of a database in the server that a deployment runs in its data folder; null if no server runs there.
 *
 * @param dataDir folder of the cluster
 */
export function runningPostgresUrl(dataDir: string, database: string): string | null {
  const server = readPostmasterFile(dataDir);
  if (server === null || !isAlive(server.pid)) return null;
  return `postgresql://${USER}:${clusterPassword(dataDir)}@127.0.0.1:${server.port}/${database}`;
}

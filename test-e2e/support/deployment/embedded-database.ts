import { type Database, openDatabase } from '@ecf/postgres';
import { embeddedDatabaseUrl } from '@ecf/test-servers/deployment';

/** Connects a test directly to the database of a service, in the server that the deployment runs in its data folder. */
export function embeddedDatabase(dataDir: string, service: string): Database {
  return openDatabase(embeddedDatabaseUrl(dataDir, service), { max: 1 });
}

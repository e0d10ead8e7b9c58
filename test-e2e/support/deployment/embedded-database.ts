import { embeddedDatabaseUrl } from '@ecf/deployment/process';
import { type Database, openDatabase } from '@ecf/service-kit/postgres';

/** Straight to the database of a service in the server that a deployment runs in its data folder, as nobody but a test does. */
export function embeddedDatabase(dataDir: string, service: string): Database {
  return openDatabase(embeddedDatabaseUrl(dataDir, service), { max: 1 });
}

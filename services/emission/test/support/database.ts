import { type Database, openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';

/** The address of a new, empty database of emission. */
export async function emissionDatabaseUrl(): Promise<string> {
  return (await startTestPostgres()).createDatabase('emission');
}

/** A new, empty database of emission. */
export async function openEmissionDatabase(): Promise<Database> {
  return openDatabase(await emissionDatabaseUrl(), { max: 8 });
}

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Database, migrate, openDatabase } from '@ecf/service-kit/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';

const MIGRATIONS = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../prisma/migrations');

/** The address of a new, empty database of emission. */
export async function emissionDatabaseUrl(): Promise<string> {
  const url = await (await startTestPostgres()).createDatabase();
  await migrate(url, MIGRATIONS);
  return url;
}

/** A new, empty database of emission. */
export async function openEmissionDatabase(): Promise<Database> {
  return openDatabase(await emissionDatabaseUrl(), { max: 8 });
}

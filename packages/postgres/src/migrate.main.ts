/**
 * Creates and migrates the database of a service before its instances start: run it in the folder of the service with the
 * setting DATABASE_URL. A service does the same at its start, so this is for deployments that separate the two.
 */
import path from 'node:path';
import { redactText } from '@ecf/kit';
import { createDatabaseIfMissing, migrate } from './migrate.js';

try {
  const url = process.env.DATABASE_URL ?? '';
  if (url === '') throw new Error('DATABASE_URL is required');
  await createDatabaseIfMissing(url);
  const applied = await migrate(url, path.resolve('prisma/migrations'), { asOwner: true });
  console.log(applied.length === 0 ? 'The database is up to date.' : `Migrated: ${applied.join(', ')}`);
} catch (error) {
  process.stderr.write(`The database was not migrated. ${redactText((error as Error).message)}\n`);
  process.exitCode = 1;
}

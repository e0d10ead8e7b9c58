import fs from 'node:fs';
import path from 'node:path';
import { type Database, openDatabase } from '@ecf/service-kit';

/** Straight to the database of a service in the server that a deployment runs in its data folder, as nobody but a test does. */
export function embeddedDatabase(dataDir: string, service: string): Database {
  const password = fs.readFileSync(path.join(dataDir, 'postgres.password'), 'utf8').trim();
  const port = fs.readFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[3];
  return openDatabase(`postgresql://ecf:${password}@127.0.0.1:${port}/ecf_${service}`, { max: 1 });
}

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The address of the embedded database server of a data folder; null while it does not run. */
export function embeddedServer(folder: string): string | null {
  const file = path.join(folder, 'postgres', 'postmaster.pid');
  if (!existsSync(file)) return null;
  const port = readFileSync(file, 'utf8').split('\n')[3];
  const password = readFileSync(path.join(folder, 'postgres.password'), 'utf8').trim();
  return `postgresql://ecf:${password}@127.0.0.1:${port}/ecf`;
}

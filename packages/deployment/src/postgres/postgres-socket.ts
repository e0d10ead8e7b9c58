import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';

const NAME = '.s.PGSQL.';
/** Bytes of a socket's path that every system takes (macOS 103, Linux 107). */
const LONGEST_PATH = 103;

/**
 * The place of the server's Unix socket: its data folder, which no other user may enter. Null if the system has none, the
 * path is too long for one, or PostgreSQL would read it as several.
 */
export function socketFolder(dataDir: string, platform: NodeJS.Platform = process.platform): string | null {
  if (platform === 'win32' || /[,"]|^\s|\s$/.test(dataDir)) return null;
  return Buffer.byteLength(path.join(dataDir, `${NAME}65535`)) <= LONGEST_PATH ? dataDir : null;
}

/**
 * Sockets and their locks of a server that was killed; none is running. A lock may name a number that another process
 * has now.
 */
export function removeOldSockets(dataDir: string): void {
  for (const name of readdirSync(dataDir)) if (name.startsWith(NAME)) rmSync(path.join(dataDir, name), { force: true });
}

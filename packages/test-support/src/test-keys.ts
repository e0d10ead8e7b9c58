import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/**
 * A key of 2048 bits for tests, the same for a number on each call. Generating a key takes longer than most tests, so the
 * key is kept beside the servers for tests: in `$XDG_CACHE_HOME/ecf-test-servers` or below `~/.cache`. Only the owner can
 * read it.
 */
export function testKey(number: number): KeyObject {
  const folder = path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'ecf-test-servers', 'keys');
  const file = path.join(folder, `${number}.pem`);
  if (!existsSync(file)) generateKey(folder, file);
  return createPrivateKey(readFileSync(file));
}

/** Several processes may generate the same key at the same time: the link makes one of them win, with a complete file. */
function generateKey(folder: string, file: string): void {
  const own = `${file}.${process.pid}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(own, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
  try {
    linkSync(own, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

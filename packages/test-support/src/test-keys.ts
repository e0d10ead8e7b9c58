import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/**
 * A key of 2048 bits for tests, the same for a number on each call: making one takes longer than most tests, so it is kept
 * beside the servers for tests, in `$XDG_CACHE_HOME/ecf-test-servers` or below `~/.cache`, readable by its owner alone.
 */
export function testKey(number: number): KeyObject {
  const folder = path.join(process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'), 'ecf-test-servers', 'keys');
  const file = path.join(folder, `${number}.pem`);
  if (!existsSync(file)) keep(folder, file);
  return createPrivateKey(readFileSync(file));
}

/** Of several processes that make it at once, one leaves its key: complete, or not at all. */
function keep(folder: string, file: string): void {
  const made = `${file}.${process.pid}`;
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(made, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
  try {
    linkSync(made, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(made, { force: true });
  }
}

/// <reference path="./fs-native-extensions.d.ts" />
import fs from 'node:fs';
import os from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

const ENDING_MS = 8_000;

/** The folder in a data folder in which a restore works. It exists until the restore has ended. */
export const RESTORE_FOLDER = 'restoring';

/**
 * Takes a data folder for this process, by a file in it; a holder that is just ending is waited for. The system releases the lock
 * when the process ends, however it ends, and holds it for every process, container and host. Resolves with what releases the
 * lock, or with the process that holds it.
 */
export async function lockFolder(folder: string): Promise<(() => void) | string> {
  // Native code, which is loaded where a folder is taken.
  const { tryLock } = await import('fs-native-extensions');
  const file = `${folder}/deployment.lock`;
  const handle = fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_CREAT, 0o600);
  for (let waited = 0; !tryLock(handle); waited += 100) {
    if (waited >= ENDING_MS) {
      fs.closeSync(handle);
      return fs.readFileSync(file, 'utf8').trim() || 'another process';
    }
    await delay(100);
  }
  fs.ftruncateSync(handle);
  fs.writeSync(handle, `process ${process.pid} on ${os.hostname()}\n`, 0);
  return () => fs.closeSync(handle);
}

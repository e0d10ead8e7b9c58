/// <reference path="./fs-native-extensions.d.ts" />
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const TIMEOUT_MS = 2000;

/**
 * Keeps a second simulator from writing to the folder. Waits until a simulator that is about to end has left it. The system
 * releases the lock when the process ends.
 *
 * @returns releases the lock
 * @throws Error when the other simulator stays
 */
export async function lockFolder(folder: string): Promise<() => void> {
  // A native module, so only a simulator with a folder needs it.
  const { tryLock } = await import('fs-native-extensions');
  const handle = openSync(path.join(folder, 'simulator.lock'), 'w', 0o600);
  for (let waited = 0; !tryLock(handle); waited += 50) {
    if (waited >= TIMEOUT_MS) {
      closeSync(handle);
      throw new Error(`Another simulator uses ${folder}; stop it first.`);
    }
    await delay(50);
  }
  return () => closeSync(handle);
}

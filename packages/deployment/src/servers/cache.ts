import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Folder of fetched servers: `$XDG_CACHE_HOME/ecf-test-servers`, by default below `~/.cache`. */
export function cacheFolder(): string {
  const base = process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache');
  return path.join(base, 'ecf-test-servers');
}

/**
 * The path `target`, made by `make` when it is not there: by one process at a time, and complete or not at all. `make`
 * writes to the path it is given.
 */
export async function once(target: string, make: (unfinished: string) => Promise<void>): Promise<string> {
  if (existsSync(target)) return target;
  mkdirSync(path.dirname(target), { recursive: true });
  const release = await lock(`${target}.lock`);
  try {
    if (existsSync(target)) return target;
    const unfinished = `${target}.part`;
    rmSync(unfinished, { recursive: true, force: true });
    await make(unfinished);
    renameSync(unfinished, target);
    return target;
  } finally {
    release();
  }
}

/** Waits for the folder's lock; one whose holder has died is taken over. */
async function lock(folder: string): Promise<() => void> {
  const owner = path.join(folder, 'pid');
  while (true) {
    try {
      mkdirSync(folder);
      writeFileSync(owner, String(process.pid));
      return () => rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (holderIsGone(owner)) rmSync(folder, { recursive: true, force: true });
    else await delay(200);
  }
}

function holderIsGone(owner: string): boolean {
  try {
    process.kill(Number(readFileSync(owner, 'utf8')), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

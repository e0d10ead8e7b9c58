import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export interface PostmasterFile {
  pid: number;
  port: number;
  /** `starting`, `ready`, `stopping`, ... as the server writes it in line 8. */
  status: string;
}

/** The content of `postmaster.pid` of a cluster; null if no server runs or crashed. */
export function readPostmasterFile(dataDir: string): PostmasterFile | null {
  let lines: string[];
  try {
    lines = readFileSync(path.join(dataDir, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return null;
  }
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return { pid, port: Number(lines[3]), status: (lines[7] ?? '').trim() };
}

/** Whether a process of this number runs; one that ended and was not collected by its parent (in containers) does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Whether that process is a PostgreSQL server; after a reboot any process may have its number. */
export function isPostgres(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('postgres');
  } catch {
    try {
      return execFileSync('ps', ['-p', String(pid), '-o', 'comm='], { encoding: 'utf8' }).includes('postgres');
    } catch {
      return false;
    }
  }
}

/** Fast shutdown (SIGINT); after 20 s immediate (SIGQUIT), after 5 more SIGKILL. Resolves when the process has ended. */
export async function stopPostmaster(pid: number): Promise<void> {
  const steps: readonly (readonly [NodeJS.Signals, number])[] = [
    ['SIGINT', 20_000],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ];
  for (const [signal, timeout] of steps) {
    if (!isAlive(pid)) return;
    process.kill(pid, signal);
    for (let waited = 0; waited < timeout; waited += 10) {
      if (!isAlive(pid)) return;
      await delay(10);
    }
  }
}

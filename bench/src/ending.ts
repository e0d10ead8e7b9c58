// A bench that does not get to its end leaves nothing behind either: its deployments, database servers and folders go with it
// when a signal or a fault ends it, or when nobody reads its output any more.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { descendantsOf, isRunning, type Stat } from './processes.js';

/** A deployment stops its services, its simulator and its database one after the other. */
const PATIENCE_MS = 20_000;
/** Codes as a shell tells signals. */
const CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143, SIGPIPE: 141 } as const;

const folders: string[] = [];
let ending = false;

/** An empty folder for the data of a bench, in which every user may look; it goes when the process ends. */
export function benchFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-bench-'));
  // The database server of a root user runs as another one, who has to get there.
  fs.chmodSync(folder, 0o755);
  folders.push(folder);
  return folder;
}

/** From now on whatever ends this process ends its children before it. Only Linux tells who they are. */
export function endWithChildren(): void {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end(CODES[signal]));
  process.stdout.on('error', () => void end(CODES.SIGPIPE));
  process.on('uncaughtException', (error) => {
    if (!ending) process.stderr.write(`${error.stack ?? error}\n`);
    void end(1);
  });
  process.on('exit', () => {
    for (const folder of folders) fs.rmSync(folder, { recursive: true, force: true });
  });
}

/** A bench that waits for what never comes ends after so many seconds, with what it has started, and says so. */
export function endAfter(seconds: number): void {
  const late = (): void => {
    if (!ending) process.stderr.write(`not done after ${seconds} s: figures above are all there are\n`);
    void end(1);
  };
  setTimeout(late, seconds * 1_000).unref();
}

async function end(code: number): Promise<void> {
  if (ending) return;
  ending = true;
  // The shells watch over servers of the tests: they end by themselves, once they have cleaned up behind this process.
  const all = descendantsOf(process.pid).filter(({ command }) => command !== 'sh');
  const own = all.filter(({ parent }) => parent === process.pid);
  // To a database server SIGTERM would mean to wait for its clients.
  await tell(own, 'SIGINT', all);
  await tell(all, 'SIGKILL', all);
  process.exit(code);
}

/** Sends a signal and waits until others are gone, as long as the patience lasts. */
async function tell(those: readonly Stat[], signal: NodeJS.Signals, others: readonly Stat[]): Promise<void> {
  for (const one of those.filter(isRunning)) process.kill(one.pid, signal);
  for (let waited = 0; waited < PATIENCE_MS && others.some(isRunning); waited += 50) await delay(50);
}

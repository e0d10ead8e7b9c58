// An interrupted bench leaves nothing behind: a signal, an uncaught error or a closed output ends its deployments, database
// servers and folders as well.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { descendantsOf, isRunning, type Stat } from './processes.js';

/** A deployment stops its services, its simulator and its database one after the other. */
const STOP_TIMEOUT_MS = 20_000;
/** Exit codes that a shell reports for these signals. */
const CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143, SIGPIPE: 141 } as const;

const folders: string[] = [];
let ending = false;

/** Creates an empty folder for the data of a bench, readable for every user. It is removed when the process ends. */
export function benchFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-bench-'));
  // A database server started by root runs as another user, who must be able to reach its files.
  fs.chmodSync(folder, 0o755);
  folders.push(folder);
  return folder;
}

/** Ends all child processes before this process ends, for whatever reason. Works on Linux only. */
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

/** Ends the bench, its children and its folders after `seconds`, with a message. */
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
  // The shells watch the servers of the tests: they clean up after this process and then end by themselves.
  const all = descendantsOf(process.pid).filter(({ command }) => command !== 'sh');
  const own = all.filter(({ parent }) => parent === process.pid);
  // On SIGTERM a database server would wait for its clients.
  await stop(own, 'SIGINT', all);
  await stop(all, 'SIGKILL', all);
  process.exit(code);
}

/** Sends a signal to `those`, and waits until `others` have ended or the timeout has passed. */
async function stop(those: readonly Stat[], signal: NodeJS.Signals, others: readonly Stat[]): Promise<void> {
  for (const one of those.filter(isRunning)) process.kill(one.pid, signal);
  for (let waited = 0; waited < STOP_TIMEOUT_MS && others.some(isRunning); waited += 50) await delay(50);
}

import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Demo } from './data-folder.js';

export type { Demo } from './data-folder.js';
export { EMBEDDED_SETTINGS } from './database.js';

const FOLDER = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const MAIN = path.join(FOLDER, 'dist/main.js');

/** A standalone deployment as its users run it: a process of its own, with its own data folder. */
export interface StandaloneProcess {
  /** What `demo.json` says. */
  demo: Demo;
  output(): string;
  /** Sends a signal and waits for the end; resolves with the exit code, or null after a signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  child: ChildProcess;
}

/**
 * Starts the built standalone deployment on free ports and waits until it says `ready`. For tests and benchmarks.
 *
 * @param env settings beside `DATA_DIR`
 * @param nodeOptions options of the program itself, before its main module
 * @throws Error with the output when it ends before that
 */
export async function startStandaloneProcess(
  dataDir: string,
  env: Record<string, string> = {},
  nodeOptions: readonly string[] = [],
): Promise<StandaloneProcess> {
  const child = spawn(process.execPath, ['--enable-source-maps', ...nodeOptions, MAIN], {
    cwd: path.resolve(FOLDER, '../..'),
    env: { ...cleanEnvironment(), PORT: '0', METRICS_PORT: '0', DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk;
      if (/^ready\s/m.test(output)) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then((code) => reject(new Error(`standalone ended with ${code} before it was ready:\n${output}`)));
  });
  return {
    demo: JSON.parse(fs.readFileSync(path.join(dataDir, 'demo.json'), 'utf8')) as Demo,
    output: () => output,
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
    child,
  };
}

/** The environment without what a surrounding test run or shell may have set for itself. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, DATABASE_URL: _database, AUTHORITY_URL: _authority, ...rest } = process.env;
  return rest;
}

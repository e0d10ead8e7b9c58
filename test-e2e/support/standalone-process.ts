import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const MAIN = path.join(ROOT, 'deploy/standalone/dist/main.js');

/** What `demo.json` says. */
export interface DemoFile {
  base_url: string;
  api_key: string;
  admin_token: string;
  issuer_rnc: string;
  buyer_rnc: string;
  authority_url: string;
  metrics_url: string;
  started_at: string;
}

/** A standalone deployment as its users run it: a process of its own, with its own data folder. */
export interface Standalone {
  demo: DemoFile;
  output(): string;
  /** Sends a signal and waits for the end; resolves with the exit code, or null after a signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  child: ChildProcess;
}

/** Starts the built standalone deployment on free ports and waits until it says `ready`. */
export async function startStandalone(dataDir: string, env: Record<string, string> = {}): Promise<Standalone> {
  const child = spawn(process.execPath, ['--enable-source-maps', MAIN], {
    cwd: ROOT,
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
    demo: JSON.parse(fs.readFileSync(path.join(dataDir, 'demo.json'), 'utf8')) as DemoFile,
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

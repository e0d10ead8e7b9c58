import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Demo, DemoProcess } from '@ecf/deployment';
import { runningPostgresUrl } from '@ecf/deployment/postgres';
import { databaseName } from '@ecf/postgres';

export type { Demo, DemoProcess } from '@ecf/deployment';

const TELEMETRY = new URL('../../service/dist/telemetry.js', import.meta.url).href;
const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');

/** As the scripts of `package.json` start them: all services in one process allocate too fast for the default young heap. */
const AS_BY_NPM = {
  standalone: ['--enable-source-maps', '--max-semi-space-size=32'],
  distributed: ['--enable-source-maps'],
};

/** Longer than six services take to start on a machine that does other work too. */
const READY_MS = 240_000;

/** The deployments that there are, by the folder of each. */
export type DeploymentName = 'standalone' | 'distributed';

/** A deployment as its users run it: a process with its own data folder. */
export interface DeploymentProcess {
  /** The content of `demo.json` at the start. */
  demo: Demo;
  /** The processes that `demo.json` names at present; none if all services share one. */
  processes(): DemoProcess[];
  output(): string;
  /** Sends a signal and waits for the end; resolves with the exit code, or null after a signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  child: ChildProcess;
}

/**
 * Starts a built deployment on free ports and waits until it says `ready`.
 *
 * @param env settings in addition to `DATA_DIR`
 * @param nodeOptions options of the program itself, before its main module
 * @throws Error with the output if it ends before that or is not ready after four minutes
 */
export async function startDeploymentProcess(
  name: DeploymentName,
  dataDir: string,
  env: Record<string, string> = {},
  nodeOptions: readonly string[] = [],
): Promise<DeploymentProcess> {
  const child = spawn(
    process.execPath,
    [...AS_BY_NPM[name], '--import', TELEMETRY, ...nodeOptions, path.join(ROOT, 'deploy', name, 'dist/main.js')],
    {
      cwd: ROOT,
      env: { ...cleanEnvironment(), PORT: '0', METRICS_PORT: '0', DATA_DIR: dataDir, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let output = '';
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => {
      child.kill('SIGTERM');
      reject(new Error(`${name} was not ready after ${READY_MS / 1_000} s:\n${output}`));
    }, READY_MS);
    const read = (chunk: Buffer): void => {
      output += chunk;
      if (!/^ready\s/m.test(output)) return;
      clearTimeout(late);
      resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    void ended.then((code) => {
      clearTimeout(late);
      reject(new Error(`${name} ended with ${code} before it was ready:\n${output}`));
    });
  });
  const readDemo = () => JSON.parse(fs.readFileSync(path.join(dataDir, 'demo.json'), 'utf8')) as Demo;
  return {
    demo: readDemo(),
    processes: () => readDemo().processes ?? [],
    output: () => output,
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
    child,
  };
}

/** The address of a service's database in the server that a running deployment keeps in its data folder. */
export function embeddedDatabaseUrl(dataDir: string, service: string): string {
  const url = runningPostgresUrl(path.join(dataDir, 'postgres'), databaseName(service));
  if (url === null) throw new Error(`no PostgreSQL runs in ${dataDir}`);
  return url;
}

/** The environment without the variables of a surrounding test run or shell. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _options, DATABASE_URL: _database, AUTHORITY_URL: _authority, ...rest } = process.env;
  return rest;
}

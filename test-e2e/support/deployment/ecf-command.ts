import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Deployment } from './deployment.js';

const BIN = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../../packages/cli/bin/ecf.mjs');

/** The result of a command; `rows` are its lines of JSON. */
export interface Ran {
  readonly code: number | null;
  // biome-ignore lint/suspicious/noExplicitAny: rows are whatever the command prints; tests look into them
  readonly rows: any[];
  readonly stderr: string;
}

/** Runs `ecf` as an operator does. */
export function ecf(deployment: Deployment, ...args: string[]): Promise<Ran> {
  return ran(deployment, [...args, '--json']);
}

/** Runs `ecf submit`; with `killAfter` it is killed once it wrote that number of results. */
export function ecfSubmit(deployment: Deployment, args: string[], killAfter = Number.POSITIVE_INFINITY): Promise<Ran> {
  return ran(deployment, ['submit', ...args], killAfter);
}

function ran({ dataDir }: Deployment, args: string[], killAfter?: number): Promise<Ran> {
  return ranWith({ DATA_DIR: dataDir }, args, killAfter);
}

/** Runs `ecf` with settings of a deployment. */
export function ranWith(
  settings: Record<string, string>,
  args: string[],
  killAfter = Number.POSITIVE_INFINITY,
): Promise<Ran> {
  const { S3_ENDPOINT: _files, DATABASE_URL: _server, ...env } = process.env;
  const child = spawn(process.execPath, [BIN, ...args], { env: { ...env, ...settings } });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    if (stdout.split('\n').length > killAfter) child.kill('SIGKILL');
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      const rows = stdout.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []));
      resolve({ code, rows, stderr });
    });
  });
}

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Console } from '../src/command.js';
import { run } from '../src/run.js';

const bin = fileURLToPath(new URL('../bin/ecf.mjs', import.meta.url));

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the command in this process, which saves half a second for each. Only one at a time: Jest cannot load two commands at
 * once that share a module.
 */
export function ecf(args: string[], input: string | Uint8Array = ''): Promise<Ran> {
  const ran = last.then(() => inThisProcess(args, input));
  last = ran.catch(() => undefined);
  return ran;
}

async function inThisProcess(args: string[], input: string | Uint8Array): Promise<Ran> {
  const written = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  const into = (chunks: Buffer[]) =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        chunks.push(chunk);
        done();
      },
    });
  const stdin = Readable.from(input.length === 0 ? [] : [Buffer.from(input)]);
  const streams = { stdin, stdout: into(written.stdout), stderr: into(written.stderr) };
  const code = await run(args, streams as unknown as Console);
  return {
    code,
    stdout: Buffer.concat(written.stdout).toString(),
    stderr: Buffer.concat(written.stderr).toString(),
  };
}

/** Runs the built command in its own process. */
export function program(args: string[], input: string | Uint8Array = ''): Promise<Ran> {
  if (!existsSync(fileURLToPath(new URL('../dist/main.js', import.meta.url)))) {
    throw new Error('The command is not built: run `npm run build` first.');
  }
  return finished(spawn(process.execPath, [bin, ...args], { stdio: 'pipe' }), input);
}

/** The command as a shell calls it. */
export const command = `"${process.execPath}" "${bin}"`;

/** Runs a shell command line. */
export function shell(line: string): Promise<Ran> {
  return finished(spawn('sh', ['-c', line], { stdio: 'pipe' }), '');
}

function finished(child: ChildProcessWithoutNullStreams, input: string | Uint8Array): Promise<Ran> {
  return new Promise((resolve, reject) => {
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

/** The rows of `--json`. */
export function rows(stdout: string): Record<string, unknown>[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

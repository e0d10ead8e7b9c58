import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startTestPostgres } from '@ecf/service-kit/testing';
import { afterAll, expect, it } from '@jest/globals';
import { MASTER_KEY } from './support/taxpayers.js';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const built = existsSync(MAIN);
if (!built) console.log('skipped: the service is not compiled');
const whenBuilt = built ? it : it.skip;

const folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-program-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(env: Record<string, string>) {
  const child = spawn(process.execPath, [MAIN], { env: { PATH: process.env.PATH, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child: child as ChildProcess, ended, output: () => output };
}

whenBuilt('starts, answers, and ends in order', async () => {
  const program = run({
    DATABASE_URL: await (await startTestPostgres()).createDatabase(),
    MASTER_KEY: MASTER_KEY.toString('base64'),
    DATA_DIR: folder,
    PORT: '0',
    METRICS_PORT: '0',
  });
  const url = await new Promise<string>((resolve, reject) => {
    program.child.stdout?.on('data', () => {
      const found = /"url":"(http:[^"]+)"/.exec(program.output());
      if (found?.[1] !== undefined) resolve(found[1]);
    });
    void program.ended.then((code) => reject(new Error(`ended with ${code}: ${program.output()}`)));
  });
  expect((await fetch(`${url}/health/ready`)).status).toBe(200);
  expect((await fetch(`${url}/fe/autenticacion/api/semilla`)).status).toBe(401);
  program.child.kill('SIGTERM');
  expect(await program.ended).toBe(0);
});

whenBuilt('says what is wrong with its configuration', async () => {
  const program = run({ MASTER_KEY: 'short' });
  expect(await program.ended).toBe(1);
  expect(program.output()).toMatch(/reception did not start\..*DATABASE_URL.*MASTER_KEY/s);
});

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { TEST_SERVICE_KEYS } from '@ecf/test-support/services';
import { describe, expect, it } from '@jest/globals';
import { MASTER_KEY } from './gateway-under-test.js';

const MAIN = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'main.js');

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Runs the built program; calls `when` with all output so far. */
function run(
  env: Record<string, string>,
  when: (out: string, kill: (signal: NodeJS.Signals) => void) => void = () => {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const { NODE_OPTIONS: _, ...inherited } = process.env;
    const child = spawn(process.execPath, [MAIN], { env: { ...inherited, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => {
      out += chunk;
      when(out, (signal) => child.kill(signal));
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    child.on('exit', (code) => resolve({ code, out, err }));
  });
}

const built = existsSync(MAIN) ? describe : describe.skip;

built('the program', () => {
  it('does not start with a wrong configuration; names the variables and their allowed values', async () => {
    const { code, err } = await run({ PORT: 'eighty', DATABASE_URL: '', MASTER_KEY: 'hunter2-is-not-a-key' });
    expect(code).toBe(1);
    expect(err).toContain('PORT: is not allowed; allowed: a whole number from 0 to 65535');
    expect(err).toContain('DATABASE_URL: is required');
    expect(err).toContain('MASTER_KEY: is not allowed; allowed: 32 bytes in base64');
    expect(err).not.toContain('hunter2');
    expect(err).not.toContain('    at ');
  });

  it('migrates, listens, stops when its terminal is closed and ends with 0', async () => {
    const DATABASE_URL = (await (await startTestPostgres()).createDatabase()).replace(
      /test_\w+$/,
      (name) => `new_${name}`,
    );
    const env = {
      SANDBOX: 'true',
      PORT: '0',
      METRICS_PORT: '0',
      DATABASE_URL,
      MASTER_KEY: MASTER_KEY.toString('base64'),
      ...TEST_SERVICE_KEYS.gateway,
    };
    let queried = false;
    const ended = await run(env, (out, kill) => {
      if (queried || !out.includes('gateway listening')) return;
      queried = true;
      const { url } = JSON.parse(out.trim().split('\n').at(-1) ?? '{}') as { url: string };
      void fetch(`${url}/health/live`).then((answer) => kill(answer.ok ? 'SIGHUP' : 'SIGKILL'));
    });
    expect(ended).toMatchObject({ code: 0, err: '' });
    expect(ended.out).toContain('database migrated');
    expect(ended.out).not.toContain(new URL(DATABASE_URL).password);
  });
});

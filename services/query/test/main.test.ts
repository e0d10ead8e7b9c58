import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { TEST_SERVICE_KEYS } from '@ecf/test-support/services';
import { describe, expect, it } from '@jest/globals';

const MAIN = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', 'dist', 'main.js');
const built = existsSync(MAIN) ? describe : describe.skip;

/** Runs the built program; calls `when` with all output so far. */
function run(env: Record<string, string>, when: (out: string, end: () => void) => void = () => undefined) {
  return new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    const { NODE_OPTIONS: _options, ...inherited } = process.env;
    const child = spawn(process.execPath, [MAIN], { env: { ...inherited, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk) => {
      out += chunk;
      when(out, () => child.kill('SIGTERM'));
    });
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    child.on('exit', (code) => resolve({ code, out, err }));
  });
}

built('the program', () => {
  it('names wrong settings and does not start', async () => {
    const { code, err } = await run({ DATABASE_URL: '', PORT: 'x', SERVICE_PRIVATE_KEY: 'none' });
    expect(code).toBe(1);
    for (const name of ['DATABASE_URL', 'PORT', 'SERVICE_PRIVATE_KEY']) expect(err).toContain(name);
    expect(err).not.toContain('    at ');
  });

  it('creates its database, listens, and ends with 0 at a signal although its owners are down', async () => {
    const url = (await (await startTestPostgres()).createDatabase()).replace(/test_\w+$/, (name) => `new_${name}`);
    const env = {
      DATABASE_URL: url,
      PORT: '0',
      METRICS_PORT: '0',
      MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      ...TEST_SERVICE_KEYS.query,
      EMISSION_URL: 'http://127.0.0.1:1',
      RECEPTION_URL: 'http://127.0.0.1:1',
    };
    let queried = false;
    const { code, err } = await run(env, (out, end) => {
      const line = out.split('\n').find((one) => one.includes('query listening'));
      if (queried || line === undefined) return;
      queried = true;
      const address = (JSON.parse(line) as { url: string }).url;
      void fetch(`${address}/health/ready`).then(async (answer) => {
        if (answer.status === 200 && (await fetch(`${address}/invoices`)).status === 401) end();
      });
    });
    expect({ code, err, queried }).toEqual({ code: 0, err: '', queried: true });
  });
});

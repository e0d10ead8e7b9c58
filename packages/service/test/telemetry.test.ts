import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const DIST = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', 'dist');
const HOOK = pathToFileURL(path.join(DIST, 'telemetry.js')).href;
const STOP = JSON.stringify(pathToFileURL(path.join(DIST, 'telemetry-stop.js')).href);
const PROGRAM = `
  import http from 'node:http';
  import { serve, createHttpApp } from '@ecf/http';
  import { createLogger } from '@ecf/kit/telemetry';
  import { stopTelemetry } from ${STOP};
  const app = createHttpApp({ logger: createLogger({ service: 'test', level: 'silent' }), maxBodyBytes: 10, routes: (a) => {
    a.get('/things/:id', (req, res) => { res.json({ traceparent: req.headers.traceparent ?? null }); });
    a.get('/health/live', (req, res) => { res.json({}); });
  } });
  const server = await serve(app, { host: '127.0.0.1', port: 0 });
  const get = (path) => new Promise((resolve) => http.get(server.url + path, { headers: { 'x-api-key': process.env.KEY_OF_TEST ?? '' } },
    (res) => res.resume().on('end', resolve)));
  await get('/things/7');
  await get('/health/live');
  await server.stop();
  await stopTelemetry();`;

async function run(env: Record<string, string>): Promise<string> {
  const { NODE_OPTIONS: _, ...inherited } = process.env;
  const args = ['--import', HOOK, '--input-type=module', '--eval', PROGRAM];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
    cwd: DIST,
    env: { ...inherited, ...env },
  });
  return stdout + stderr;
}

const built = existsSync(path.join(DIST, 'telemetry.js')) ? describe : describe.skip;

built('telemetry', () => {
  it('exports nothing if no exporter is configured', async () => {
    expect(await run({})).toBe('');
    expect(await run({ OTEL_TRACES_EXPORTER: 'none' })).toBe('');
    expect(await run({ OTEL_TRACES_EXPORTER: 'console', OTEL_SDK_DISABLED: 'true' })).toBe('');
  });

  it('traces server, route and client, without health checks and without a header', async () => {
    const out = await run({ OTEL_TRACES_EXPORTER: 'console', KEY_OF_TEST: 'ecf_test_secret' });
    const names = [...out.matchAll(/^ {2}name: '(.*)',$/gm)].map((match) => match[1]);
    expect(names).toContain('GET /things/:id');
    expect(names.filter((name) => name === 'GET')).toHaveLength(2);
    expect(out).not.toContain('GET /health/live');
    expect(out).not.toContain('ecf_test_secret');
  });

  it('keeps the configured share of traces', async () => {
    const sampler = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' };
    expect(await run({ OTEL_TRACES_EXPORTER: 'console', ...sampler })).toBe('');
  });
});

/** The images that deploy/images/build.sh made: starts that must be refused, and the whole cycle with every service in its image. */
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@ecf/deployment/servers';
import { createBucket, s3 } from '@ecf/test-servers';
import { afterAll, describe, expect, it } from '@jest/globals';
import { until } from '../support/until.js';

const FOLDER = fileURLToPath(new URL('../../deploy/images', import.meta.url));
const RUNNER = path.join(FOLDER, 'run.sh');
const IMAGES = [...fs.readFileSync(path.join(FOLDER, 'Dockerfile'), 'utf8').matchAll(/^FROM runtime AS (\S+)$/gm)].map(
  ([, name = '']) => name,
);
const DATABASE_URL = 'postgresql://ecf:ecf@127.0.0.1:1/ecf';

const lacks = whatIsMissing();
if (lacks !== null) process.stderr.write(`${lacks} Tests of the images are skipped.\n`);
const describeImages = lacks === null ? describe : describe.skip;

/** The reason why the images cannot run here, with the remedy; null if they can. */
function whatIsMissing(): string | null {
  const script = `. ${FOLDER}/engine.sh; [ -z "$ENGINE" ] || echo "$ENGINE"`;
  const engine = execFileSync('bash', ['-c', script], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  if (engine === '') return 'No container engine works here: install docker, podman or buildah.';
  const revision = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: FOLDER, encoding: 'utf8' }).trim();
  const filter = `label=org.opencontainers.image.revision=${revision}`;
  const known = execFileSync(engine, ['images', '--filter', filter], { encoding: 'utf8' });
  const missing = IMAGES.filter((image) => !known.includes(`ecf/${image} `));
  return missing.length === 0
    ? null
    : `Images of this commit are missing: run deploy/images/build.sh ${missing.join(' ')}.`;
}

/** Runs an image until it ends by itself: its exit code and its output. */
function runToEnd(image: string, env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const child = spawn(RUNNER, [image], { env: { PATH: process.env.PATH, ...engineOf(process.env), ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}

function engineOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = Object.keys(env).filter((name) =>
    /^(HOME|ENGINE|PREFIX|STORAGE_DRIVER|DOCKER_.*|BUILDAH_.*)$/.test(name),
  );
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}

describeImages('an image', () => {
  it.each([
    ['gateway', {}, 'DATABASE_URL'],
    ['emission', {}, 'SERVICE_PRIVATE_KEY'],
    ['status-poller', { DATABASE_URL: 'localhost' }, 'DATABASE_URL'],
    ['reception', {}, 'TRUSTED_ISSUERS_FILE'],
    ['approvals', { PORT: 'http' }, 'PORT'],
    ['query', { MASTER_KEY: 'short' }, 'MASTER_KEY'],
    ['gateway', { DATABASE_URL, DEFAULT_ENV: 'eCF', AUTHORITY_URL: 'http://127.0.0.1:1' }, 'DEFAULT_ENV'],
    ['standalone', { SANDBOX: 'false' }, 'MASTER_KEY'],
    ['authority-simulator', { SIMULATOR_PORT: 'http' }, 'SIMULATOR_PORT'],
  ])('of %s with missing, wrong or contradictory settings (%j) ends and names %s', async (image, env, setting) => {
    const { code, output } = await runToEnd(image, env as Record<string, string>);
    expect([image, code, output]).toEqual([image, 1, expect.stringMatching(new RegExp(`\\b${setting}\\b.{10}`))]);
    expect(output).not.toContain('    at ');
  });

  it('of standalone issues its first invoice with a read-only root, and ends in order', async () => {
    const port = String(await freePort());
    const env = { PATH: process.env.PATH, ...engineOf(process.env), PORT: port, HOST: '127.0.0.1', METRICS_PORT: '0' };
    const child = spawn(RUNNER, ['standalone'], { env });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    await until(
      async () => output,
      (text) => /^ready\s/m.test(text) || child.exitCode !== null,
    );
    expect(output).toMatch(/first invoice\s+E310000000001\s+Aceptado/);
    expect((await fetch(`http://127.0.0.1:${port}/health/ready`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });
});

if (lacks === null) {
  const storage = await s3();
  if (storage !== null) {
    await createBucket(storage, 'images');
    Object.assign(process.env, {
      ECF_DEPLOYMENT: 'distributed',
      SERVICE_RUNNER: RUNNER,
      S3_ENDPOINT: storage.endpoint,
      S3_ACCESS_KEY: storage.accessKey,
      S3_SECRET_KEY: storage.secretKey,
      S3_REGION: storage.region,
      S3_BUCKET: 'images',
    });
    afterAll(() => storage.stop());
    // The scenario reads these variables when it is loaded.
    await import('./whole-cycle.test.js');
  }
}

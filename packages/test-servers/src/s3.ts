import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, dockerAnswers, freePort, once, reachable, waitFor } from '@ecf/deployment/servers';
import { missing } from './missing.js';

const run = promisify(execFile);

/** A real S3-compatible storage for tests. */
export interface S3Server {
  readonly endpoint: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
  stop(): Promise<void>;
}

/** Makes an empty bucket. */
export async function createBucket({ endpoint, region, accessKey, secretKey }: S3Server, name: string): Promise<void> {
  // The client of the archive.
  const ofServices = createRequire(new URL('../../archive/package.json', import.meta.url));
  const { CreateBucketCommand, S3Client } = ofServices('@aws-sdk/client-s3');
  const credentials = { accessKeyId: accessKey, secretAccessKey: secretKey };
  const client = new S3Client({ endpoint, region, forcePathStyle: true, credentials });
  try {
    await client.send(new CreateBucketCommand({ Bucket: name }));
  } finally {
    client.destroy();
  }
}

const VERSION = 'v1.8.0';
const IMAGE = `versity/versitygw:${VERSION}`;
const REGION = 'us-east-1';
const KEYS = { accessKey: 'test-access', secretKey: 'test-secret-of-nobody' };
/** The first build takes a minute or two. */
const BUILD_MS = 600_000;

/**
 * S3_ENDPOINT with S3_ACCESS_KEY and S3_SECRET_KEY, else a container, else a gateway built once with Go. Without any, null
 * with a message that names the remedy; with CI=true a failure.
 */
export async function s3(): Promise<S3Server | null> {
  const { S3_ENDPOINT: endpoint, S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey, S3_REGION } = process.env;
  if (endpoint && accessKey && secretKey)
    return { endpoint, accessKey, secretKey, region: S3_REGION || REGION, stop: async () => {} };
  if (await dockerAnswers()) return inDocker();
  const program = await s3Program();
  if (program === null)
    return missing('S3', 'Set S3_ENDPOINT, S3_ACCESS_KEY and S3_SECRET_KEY, start Docker, or install Go.');
  return asProgram(program);
}

/** The S3 server as a program; null without Go to build it. */
export async function s3Program(): Promise<string | null> {
  const file = path.join(cacheFolder(), `versitygw-${VERSION}`, 'versitygw');
  if (existsSync(file)) return file;
  try {
    await run('go', ['version']);
  } catch {
    return null;
  }
  await once(path.dirname(file), async (folder) => {
    mkdirSync(folder, { recursive: true });
    await run('go', ['install', `github.com/versity/versitygw/cmd/versitygw@${VERSION}`], {
      env: { ...process.env, GOBIN: folder, GOFLAGS: '-trimpath' },
      timeout: BUILD_MS,
    });
  });
  return file;
}

async function asProgram(file: string): Promise<S3Server> {
  const port = await freePort();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-test-s3-'));
  const child = spawn(file, ['--port', `127.0.0.1:${port}`, '--region', REGION, 'posix', folder], {
    env: { ...process.env, ROOT_ACCESS_KEY: KEYS.accessKey, ROOT_SECRET_KEY: KEYS.secretKey },
    stdio: 'ignore',
  });
  process.once('exit', () => child.kill('SIGKILL'));
  await waitFor(() => reachable(port), 60_000, 'the storage');
  return {
    endpoint: `http://127.0.0.1:${port}`,
    region: REGION,
    ...KEYS,
    async stop() {
      child.kill('SIGKILL');
      await waitFor(async () => !(await reachable(port)), 60_000, 'the end of the storage');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function inDocker(): Promise<S3Server> {
  const { GenericContainer } = await import('testcontainers');
  const port = await freePort();
  const container = await new GenericContainer(IMAGE)
    .withExposedPorts({ container: 7070, host: port })
    .withEnvironment({ ROOT_ACCESS_KEY: KEYS.accessKey, ROOT_SECRET_KEY: KEYS.secretKey })
    .withCommand(['--port', ':7070', '--region', REGION, 'posix', '/tmp'])
    .start();
  await waitFor(() => reachable(port), 60_000, 'the storage');
  return {
    endpoint: `http://127.0.0.1:${port}`,
    region: REGION,
    ...KEYS,
    async stop() {
      await container.stop();
    },
  };
}

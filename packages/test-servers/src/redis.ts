import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, once } from './cache.js';
import { dockerAnswers } from './docker.js';
import { missing } from './missing.js';
import { freePort, reachable, waitFor } from './ports.js';

const run = promisify(execFile);

/** A real Redis for tests. */
export interface RedisServer {
  /** For REDIS_URL. */
  readonly url: string;
  /** Ends the server at once and starts it again, empty, at the same address; null if the tests did not start it. */
  readonly control: { kill(): Promise<void>; restart(): Promise<void> } | null;
  stop(): Promise<void>;
}

/** Packages that are fetched with the system's package manager and unpacked without installation. */
const PACKAGES = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'libatomic1'];

/**
 * REDIS_URL, else a container, else the program of this machine (on Debian fetched once). Without any, null with a message
 * that names the remedy; with CI=true a failure.
 */
export async function redis(): Promise<RedisServer | null> {
  const url = process.env.REDIS_URL;
  if (url !== undefined && url !== '') return { url, control: null, stop: async () => {} };
  if (await dockerAnswers()) return inDocker();
  const program = await redisProgram();
  if (program === null) return missing('Redis', 'Set REDIS_URL, start Docker, or install redis-server.');
  return asProgram(program);
}

/** The command of redis-server; null if it can be neither found nor fetched. */
export async function redisProgram(): Promise<{ file: string; libraries: string | null } | null> {
  const found = await run('sh', ['-c', 'command -v redis-server']).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
  if (found !== null) return { file: found, libraries: null };
  try {
    const folder = await once(path.join(cacheFolder(), 'redis-debian'), fetchPackages);
    const libraries = path.join(folder, 'usr/lib');
    const places = readdirSync(libraries).map((name) => path.join(libraries, name));
    return { file: path.join(folder, 'usr/bin/redis-server'), libraries: [...places, libraries].join(':') };
  } catch {
    return null;
  }
}

async function fetchPackages(folder: string): Promise<void> {
  const download = path.join(folder, 'packages');
  mkdirSync(download, { recursive: true });
  // The user that the package manager drops to has no way into this folder; as root it need not.
  await run('apt-get', ['-o', 'APT::Sandbox::User=root', 'download', ...PACKAGES], { cwd: download });
  for (const name of readdirSync(download)) await run('dpkg', ['-x', path.join(download, name), folder]);
  if (!existsSync(path.join(folder, 'usr/bin/redis-server'))) throw new Error('the package holds no redis-server');
}

async function asProgram({ file, libraries }: { file: string; libraries: string | null }): Promise<RedisServer> {
  const port = await freePort();
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const env = libraries === null ? process.env : { ...process.env, LD_LIBRARY_PATH: libraries };
  let child = start();

  function start() {
    const started = spawn(file, settings, { env, stdio: 'ignore' });
    process.once('exit', () => started.kill('SIGKILL'));
    return started;
  }

  async function kill(): Promise<void> {
    child.kill('SIGKILL');
    await waitFor(async () => !(await reachable(port)), 60_000, 'the end of Redis');
  }

  await waitFor(() => reachable(port), 60_000, 'Redis');
  return {
    url: `redis://127.0.0.1:${port}`,
    control: {
      kill,
      async restart() {
        child = start();
        await waitFor(() => reachable(port), 60_000, 'Redis');
      },
    },
    stop: kill,
  };
}

async function inDocker(): Promise<RedisServer> {
  const { GenericContainer } = await import('testcontainers');
  const port = await freePort();
  const container = await new GenericContainer('redis:7-alpine')
    .withExposedPorts({ container: 6379, host: port })
    .withCommand(['redis-server', '--save', '', '--appendonly', 'no'])
    .start();
  return {
    url: `redis://127.0.0.1:${port}`,
    control: {
      async kill() {
        await container.stop({ remove: false, timeout: 0 });
      },
      async restart() {
        await container.restart();
        await waitFor(() => reachable(port), 60_000, 'Redis');
      },
    },
    async stop() {
      await container.stop();
    },
  };
}

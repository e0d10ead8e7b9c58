import { spawn } from 'node:child_process';
import { dockerAnswers, freePort, reachable, redisProgram, waitFor } from '@ecf/deployment/servers';
import { missing } from './missing.js';

/** A real Redis for tests. */
export interface RedisServer {
  /** For REDIS_URL. */
  readonly url: string;
  /** Ends the server immediately and starts it again, empty, at the same address; null if the tests did not start it. */
  readonly control: { kill(): Promise<void>; restart(): Promise<void> } | null;
  stop(): Promise<void>;
}

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

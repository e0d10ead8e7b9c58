import { setTimeout as delay } from 'node:timers/promises';
import { foreignProgram, keepRunning } from '@ecf/deployment';
import { dockerAnswers, reachable, redisProgram } from '@ecf/deployment/servers';
import type { Server, ServerOptions } from './kafka.js';

/** Nothing in it needs to survive a restart. */
const SETTINGS = ['--save', '', '--appendonly', 'no'];

/**
 * A Redis: that of REDIS_URL, else a container, else the program of this machine. Without one, each service uses its own cache, and
 * a message says so.
 */
export async function findRedis(url: string | undefined, { port, say }: ServerOptions): Promise<Server | null> {
  if (url !== undefined) {
    say('using the configured Redis');
    return { address: url, process: null };
  }
  const command = (await dockerAnswers()) ? dockerCommand(port) : await programCommand(port);
  if (command === null) {
    say(
      'Redis is missing, so each service keeps tokens for itself: set REDIS_URL, start Docker or install redis-server',
    );
    return null;
  }
  const { program, args, env } = command;
  say(`starting Redis (${program === 'docker' ? 'Docker' : 'program of this machine'})`);
  const process = await keepRunning({
    name: 'redis',
    begin: () => foreignProgram(program, args, env),
    async ready() {
      while (!(await reachable(port))) await delay(20);
    },
    onChange: say,
  });
  return { address: `redis://127.0.0.1:${port}`, process };
}

interface Command {
  program: string;
  args: string[];
  env: NodeJS.ProcessEnv;
}

function dockerCommand(port: number): Command {
  const args = ['run', '--rm', '-p', `127.0.0.1:${port}:6379`, 'redis:7-alpine', 'redis-server', ...SETTINGS];
  return { program: 'docker', args, env: process.env };
}

async function programCommand(port: number): Promise<Command | null> {
  const found = await redisProgram();
  if (found === null) return null;
  const { file, libraries } = found;
  const env = libraries === null ? process.env : { ...process.env, LD_LIBRARY_PATH: libraries };
  return { program: file, args: ['--port', String(port), '--bind', '127.0.0.1', ...SETTINGS], env };
}

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type DataFolder, foreignProgram, type KeptProcess, keepRunning } from '@ecf/deployment';
import {
  brokerEnvironment,
  dockerAnswers,
  javaBrokerCommand,
  javaLacks,
  KAFKA_IMAGE,
  prepareJavaBroker,
  reachable,
} from '@ecf/deployment/servers';
import { ConfigError } from '@ecf/kit';
import { openLogWriter } from '@ecf/kit/telemetry';

const LOG_LIMITS = { maxBytes: 10_000_000, kept: 3 };

/** A server of the deployment; `process` is null if the deployment did not start it. */
export interface Server {
  address: string;
  process: KeptProcess | null;
}

/** A broker; `passwords` by user if the deployment started it, `admin` included. */
export interface Kafka extends Server {
  passwords: Record<string, string> | null;
}

export interface ServerOptions {
  folder: DataFolder;
  port: number;
  say(text: string): void;
}

/**
 * A broker: that of KAFKA_BROKERS, else a container, else Kafka in Java. Its data are in the deployment's folder or in a volume
 * named after it. Each service logs in to a started broker as its own user, which may use its topics alone.
 * @throws ConfigError if the machine can run none
 */
export async function findKafka(brokers: readonly string[] | undefined, options: ServerOptions): Promise<Kafka> {
  const { say } = options;
  if (brokers !== undefined) {
    say('using the configured Kafka');
    return { address: brokers.join(','), process: null, passwords: null };
  }
  const address = `127.0.0.1:${options.port}`;
  const passwords = options.folder.brokerPasswords();
  if (await dockerAnswers()) {
    say('starting Kafka (Docker)');
    return { address, passwords, process: await keepKafka(options, dockerCommand(options, passwords)) };
  }
  const lacks = await javaLacks();
  if (lacks !== null)
    throw new ConfigError([
      {
        variable: 'KAFKA_BROKERS',
        message: `is required here: no Docker answers, and to run a broker itself this machine lacks ${lacks}`,
      },
    ]);
  say('starting Kafka (Java)');
  const folder = options.folder.file('kafka');
  await endOrphan(folder, say);
  await prepareJavaBroker(folder, options.port, { passwords });
  return { address, passwords, process: await keepKafka(options, javaBrokerCommand(folder)) };
}

function keepKafka({ folder, port, say }: ServerOptions, [program, args]: [string, string[]]): Promise<KeptProcess> {
  const pidFile = folder.file('kafka', 'pid');
  fs.mkdirSync(folder.file('kafka'), { recursive: true, mode: 0o700 });
  const log = openLogWriter({
    file: folder.file('kafka', 'broker.log'),
    limits: LOG_LIMITS,
    failed: (error) => say(`the log of Kafka cannot be written: ${error}`),
  });
  return keepRunning({
    name: 'kafka',
    begin() {
      const child = foreignProgram(program, args);
      fs.writeFileSync(pidFile, String(child.pid ?? ''));
      return child;
    },
    async ready() {
      while (!(await reachable(port))) await delay(50);
    },
    // The broker writes lines for each client that disconnects; the file helps to find causes.
    output: (chunk) => log.write(String(chunk)),
    onChange: say,
  });
}

/** A broker left behind by a killed run holds the folder's lock. */
async function endOrphan(folder: string, say: (text: string) => void): Promise<void> {
  const read = (file: string) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '');
  const pid = Number(read(`${folder}/pid`));
  const isOurs = () => pid > 0 && read(`/proc/${pid}/cmdline`).includes(folder);
  if (!isOurs()) return;
  say(`stopping the broker that an earlier run left behind (process ${pid})`);
  process.kill(pid, 'SIGTERM');
  for (let waited = 0; isOurs(); waited += 100) {
    if (waited === 10_000) process.kill(pid, 'SIGKILL');
    await delay(100);
  }
}

function dockerCommand({ folder, port }: ServerOptions, passwords: Record<string, string>): [string, string[]] {
  const volume = `ecf-kafka-${createHash('sha256').update(folder.path).digest('hex').slice(0, 12)}`;
  const settings = { ...brokerEnvironment(port, passwords), KAFKA_LOG_DIRS: '/var/lib/kafka/data' };
  const variables = Object.entries(settings).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const mounts = ['-p', `127.0.0.1:${port}:9092`, '-v', `${volume}:/var/lib/kafka/data`];
  return ['docker', ['run', '--rm', ...mounts, ...variables, KAFKA_IMAGE]];
}

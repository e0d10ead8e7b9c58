import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  brokerEnvironment,
  dockerAnswers,
  freePort,
  javaLacks,
  KAFKA_IMAGE,
  prepareJavaBroker,
  reachable,
  type SecureListener,
  waitFor,
} from '@ecf/deployment/servers';
import { runJavaBroker, secureListener, startJavaBroker } from './kafka-java.js';
import { missing } from './missing.js';

/** A real broker for tests. All tests of a run share it, so topics and groups carry names that differ. */
export interface KafkaServer {
  /** For KAFKA_BROKERS. */
  readonly brokers: string;
  readonly source: 'environment' | 'docker' | 'java';
  /** Control of a broker that the tests started; null if the broker comes from the environment. */
  readonly control: BrokerControl | null;
  /** Only for an own broker in Java: a listener with TLS and login. */
  readonly secure?: SecureListener;
  /** Ends a broker that is the caller's own; a shared one ends with the run. */
  stop(): Promise<void>;
}

export interface BrokerControl {
  /** Ends the broker immediately, as a power cut would. */
  kill(): Promise<void>;
  /** Starts it again on its data, at the same address; resolves when it answers. */
  restart(): Promise<void>;
  /** Starts it at the same address without its data, as after the loss of its disk. */
  restartEmpty(): Promise<void>;
}

/**
 * The broker of this test run: KAFKA_BROKERS, else a container, else the real broker in Java. Without any, null with a
 * message that names the remedy; with CI=true a failure. It stops when the run ends, for whatever reason. Tests that disturb
 * the broker request their `own`.
 */
export async function kafka({ own = false }: { own?: boolean } = {}): Promise<KafkaServer | null> {
  const brokers = process.env.KAFKA_BROKERS;
  if (brokers !== undefined && brokers !== '' && !own)
    return { brokers, source: 'environment', control: null, stop: async () => {} };
  if (await dockerAnswers()) return inDocker(own);
  const lacks = await javaLacks();
  if (lacks === null) return inJava(own);
  return missing('Kafka', `${own ? 'Start' : 'Set KAFKA_BROKERS, start'} Docker, or install ${lacks}.`);
}

/** The process with which the run ends: that of all workers where the script of the tests names it, else this one. */
const RUN = Number(process.env.ECF_TEST_RUN ?? process.pid);

/** The broker that the tests of a run share. A file holds it, since each test file runs in its own process. */
interface Shared {
  readonly port: number;
  /** Only for a broker in Java. */
  readonly folder?: string;
  readonly container?: string;
}

/** Ends the broker and removes its folders when the run has ended. */
const WATCH =
  'while kill -0 "$1" 2>/dev/null; do sleep 1; done; kill -KILL "$(cat "$2/pid")" 2>/dev/null; rm -rf "$2" "$3"';

async function shared(own: boolean, start: (home: string) => Promise<Shared>): Promise<Shared & { home: string }> {
  const home = path.join(os.tmpdir(), `ecf-test-kafka-${own ? randomUUID() : RUN}`);
  const file = path.join(home, 'broker.json');
  try {
    mkdirSync(home);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const present = await readShared(file);
    if (present !== null) return { ...present, home };
    rmSync(home, { recursive: true, force: true });
    mkdirSync(home);
  }
  const broker = await start(home);
  writeFileSync(file, JSON.stringify(broker));
  return { ...broker, home };
}

/** null when the folder is of a process that had the same number before. */
async function readShared(file: string): Promise<Shared | null> {
  for (let waited = 0; waited < 120_000; waited += 50) {
    try {
      const present = JSON.parse(readFileSync(file, 'utf8')) as Shared;
      return (await reachable(present.port)) ? present : null;
    } catch {
      await delay(50);
    }
  }
  return null;
}

async function inJava(own: boolean): Promise<KafkaServer> {
  const secure = own ? await secureListener() : null;
  const { home, port, folder } = await shared(own, async (watched) => {
    const broker = await startJavaBroker({ secure });
    writeFileSync(path.join(watched, 'pid'), String(broker.pid));
    const names = ['sh', String(own ? process.pid : RUN), watched, broker.folder];
    spawn('sh', ['-c', WATCH, ...names], { detached: true, stdio: 'ignore' }).unref();
    return { port: broker.port, folder: broker.folder };
  });
  const pid = path.join(home, 'pid');
  const kill = async () => {
    process.kill(Number(readFileSync(pid, 'utf8')), 'SIGKILL');
    await waitFor(async () => !(await reachable(port)), 60_000, 'the end of the broker');
  };
  const restart = async () => {
    writeFileSync(pid, String((await runJavaBroker(folder as string, port)).pid));
  };
  return {
    brokers: `127.0.0.1:${port}`,
    source: 'java',
    ...(secure === null ? {} : { secure }),
    async stop() {
      if (!own) return;
      await kill();
      rmSync(pid);
    },
    control: {
      kill,
      restart,
      async restartEmpty() {
        rmSync(path.join(folder as string, 'data'), { recursive: true });
        await prepareJavaBroker(folder as string, port, { secure });
        await restart();
      },
    },
  };
}

async function inDocker(own: boolean): Promise<KafkaServer> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  const { port, container } = await shared(own, async () => startContainer(await freePort()));
  const { dockerode } = (await getContainerRuntimeClient()).container;
  let handle = dockerode.getContainer(container as string);
  return {
    brokers: `127.0.0.1:${port}`,
    source: 'docker',
    async stop() {
      if (own) await handle.remove({ force: true });
    },
    control: {
      async kill() {
        await handle.kill({ signal: 'SIGKILL' });
      },
      async restart() {
        await handle.start();
        await waitFor(() => reachable(port), 120_000, 'the broker');
      },
      async restartEmpty() {
        await handle.remove({ force: true });
        handle = dockerode.getContainer((await startContainer(port)).container as string);
      },
    },
  };
}

/** testcontainers removes it when the process that started it is gone. */
async function startContainer(port: number): Promise<Shared> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const container = await new GenericContainer(KAFKA_IMAGE)
    // The broker tells clients its address, so the port has to be known before it starts.
    .withExposedPorts({ container: 9092, host: port })
    .withEnvironment(brokerEnvironment(port))
    .withWaitStrategy(Wait.forListeningPorts())
    .start();
  return { port, container: container.getId() };
}

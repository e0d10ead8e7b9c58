import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder, once } from './cache.js';
import { type BrokerAccess, properties } from './kafka-java-settings.js';
import { freePort, reachable, waitFor } from './ports.js';

const run = promisify(execFile);

/** Version of the broker that is taken from Maven. */
export const KAFKA_VERSION = '4.1.0';
const CLUSTER = '5L6g3nShT-eMCtK--X86sw';
const START_MS = 120_000;

/** The missing requirement of a broker in Java; null if there is none. */
export async function javaLacks(): Promise<string | null> {
  const version = await run('java', ['-version']).then(
    ({ stderr }) => Number(/version "(\d+)/.exec(stderr)?.[1] ?? 0),
    () => 0,
  );
  if (version < 17) return 'Java 17 or newer';
  if (existsSync(libraries())) return null;
  const maven = await run('mvn', ['-v']).then(
    () => true,
    () => false,
  );
  return maven ? null : 'Maven, which fetches the broker once';
}

/** Prepares the folder for a broker on a port of 127.0.0.1; the data of an earlier broker stays. */
export async function prepareJavaBroker(folder: string, port: number, access: BrokerAccess = {}): Promise<void> {
  const libs = await once(libraries(), fetchLibraries);
  const formatted = await once(path.join(cacheFolder(), `kafka-${KAFKA_VERSION}-formatted`), (target) =>
    format(libs, target),
  );
  await once(archiveOf(libs), (target) => archiveClasses(formatted, target));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!existsSync(path.join(folder, 'data', 'meta.properties')))
    cpSync(formatted, path.join(folder, 'data'), { recursive: true });
  const controllerPort = await freePort(port, ...(access.secure ? [access.secure.port] : []));
  writeFileSync(path.join(folder, 'server.properties'), properties(folder, port, controllerPort, access));
}

/** The program and arguments that run the broker of a prepared folder. */
export function javaBrokerCommand(folder: string): [program: string, args: string[]] {
  // Another Java version ignores the archive and starts without it.
  return brokerCommand(folder, ['-Xshare:auto', `-XX:SharedArchiveFile=${archiveOf(libraries())}`, '-Xlog:cds=off']);
}

function brokerCommand(folder: string, options: readonly string[]): [program: string, args: string[]] {
  const heap = ['-Xmx512m', '-Xms128m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];
  const logging = '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn';
  const settings = path.join(folder, 'server.properties');
  return ['java', [...options, ...heap, logging, '-cp', `${libraries()}/*`, 'kafka.Kafka', settings]];
}

/** Resolves when the broker of a prepared folder answers on its port; rejects if the broker ends, or does not answer in time. */
export async function brokerReady(broker: ChildProcess, folder: string, port: number): Promise<void> {
  await waitFor(() => failIfEnded(broker, folder) ?? reachable(port), START_MS, `the broker in ${folder}`);
}

function failIfEnded(broker: ChildProcess, folder: string): undefined {
  if (broker.exitCode !== null) throw new Error(`the broker ended immediately; see ${path.join(folder, 'broker.log')}`);
  return undefined;
}

function libraries(): string {
  return path.join(cacheFolder(), `kafka-${KAFKA_VERSION}`);
}

async function fetchLibraries(target: string): Promise<void> {
  const project = mkdtempSync(path.join(os.tmpdir(), 'ecf-kafka-pom-'));
  try {
    writeFileSync(path.join(project, 'pom.xml'), POM);
    await run('mvn', [
      '-q',
      '-B',
      '-f',
      path.join(project, 'pom.xml'),
      'dependency:copy-dependencies',
      `-DoutputDirectory=${target}`,
    ]);
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
}

/** Formatting needs a separate start of Java; a formatted folder serves every broker. */
async function format(libs: string, target: string): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-kafka-format-'));
  try {
    const file = path.join(folder, 'server.properties');
    const port = await freePort();
    writeFileSync(file, properties(folder, port, await freePort(port)));
    await run('java', ['-cp', `${libs}/*`, 'kafka.tools.StorageTool', 'format', '-t', CLUSTER, '-c', file]);
    mkdirSync(path.dirname(target), { recursive: true });
    cpSync(path.join(folder, 'data'), `${target}.copy`, { recursive: true });
    renameSync(`${target}.copy`, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function archiveOf(libs: string): string {
  return `${libs}.jsa`;
}

/** Reading its classes is half of the work of a broker's start: the first one leaves them as Java keeps them in memory. */
async function archiveClasses(formatted: string, target: string): Promise<void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-kafka-classes-'));
  try {
    const port = await freePort();
    cpSync(formatted, path.join(folder, 'data'), { recursive: true });
    writeFileSync(path.join(folder, 'server.properties'), properties(folder, port, await freePort(port)));
    const [program, args] = brokerCommand(folder, [`-XX:ArchiveClassesAtExit=${target}`, '-Xlog:cds=off']);
    const broker = spawn(program, args, { stdio: 'ignore' });
    const ended = new Promise((resolve) => broker.once('exit', resolve));
    await brokerReady(broker, folder, port);
    broker.kill();
    await ended;
    // A Java that writes none does without.
    if (!existsSync(target)) writeFileSync(target, '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>local</groupId><artifactId>broker</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>
<dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${KAFKA_VERSION}</version></dependency>
<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
</dependencies></project>
`;

import { busSettings, usesKafka } from '@ecf/bus';
import { brokerUser, prepareTopics } from '@ecf/bus/kafka';
import { SERVICE_NAMES, type ServiceName } from '@ecf/contracts';
import {
  type DatabaseServer,
  DataFolder,
  DEMO_BUYER,
  type Demo,
  type DemoProcess,
  EMBEDDED_SETTINGS,
  type Environment,
  type KeptProcess,
  listenAddresses,
  makeSecrets,
  openDatabaseServer,
  openSandbox,
  type SimulatorProcess,
  serviceEnvironment,
  stablePorts,
  startSimulator,
  takeFolder,
} from '@ecf/deployment';
import { requireFreePorts } from '@ecf/http';
import { ConfigProblems, makeSealingKeys, readConfig, readMasterKeys } from '@ecf/kit';
import { createLogger } from '@ecf/kit/telemetry';
import { readServices } from '@ecf/standalone/read-services';
import { z } from 'zod';
import { type DistributedConfig, distributedSettings } from './config.js';
import { findKafka, type Kafka } from './kafka.js';
import { serveMergedMetrics } from './merged-metrics.js';
import { Parts, together } from './parts.js';
import { findRedis } from './redis.js';
import { allReady, type Place, placesOf, startService } from './services.js';

/** A distributed deployment on one machine. */
export interface Distributed {
  /** Resolves with the address once every part answers. */
  start(): Promise<string>;
  /** Stops the started parts: first the gateways, last the databases. */
  stop(): Promise<void>;
  /** The same without waiting for requests in flight. */
  hasten(): Promise<void>;
}

/** Prints progress and results; the caller decides where they appear. */
export type Say = (text: string) => void;

const CONNECTIONS_PER_INSTANCE = 150;
const DRAIN_MS = 40_000;
const POLL_MS = 200;

/**
 * Runs each service as its own process over Kafka, PostgreSQL and Redis; in the sandbox also the authority simulator and a demo
 * account. A process that ends is restarted under its name and address.
 */
export function createDistributed(env: Environment, say: Say): Distributed {
  const parts = new Parts();
  return {
    start: () => start(env, say, parts),
    stop: () => parts.stop(),
    hasten: () => parts.hasten(),
  };
}

async function start(env: Environment, say: Say, parts: Parts): Promise<string> {
  const problems = new ConfigProblems();
  const config = problems.readOn(env, distributedSettings);
  const folder = new DataFolder(config.DATA_DIR);
  // Each service reads its settings again. Here one refusal names every error before anything is made.
  problems.read(() => readConfig(z.object(busSettings), { ...env, KAFKA_BROKERS: '127.0.0.1:9092' }));
  const present = config.SANDBOX ? (folder.presentSecrets() ?? makeSecrets()) : null;
  const { ADMIN_PORT, ADMIN_HOST } = readServices(problems, env, config, present).gateway;
  const addresses = listenAddresses({ ...config, ADMIN_PORT, ADMIN_HOST });
  const release = await takeFolder(folder, () => requireFreePorts(addresses));
  parts.add(async () => release());
  const secrets = config.SANDBOX ? folder.secrets() : null;
  const [kafkaPort, redisPort, ...ports] = (await stablePorts(2 + 2 * SERVICE_NAMES.length * config.INSTANCES)) as [
    number,
    number,
    ...number[],
  ];

  const [database, kafka, redis, simulator] = await together(parts, [
    openDatabase(config, folder, say),
    findKafka(config.KAFKA_BROKERS, { folder, port: kafkaPort, say }),
    findRedis(config.REDIS_URL, { folder, port: redisPort, say }),
    secrets !== null && config.AUTHORITY_URL === undefined
      ? openSimulator(folder, secrets.statusKey, env, say)
      : Promise.resolve(null),
  ]);
  const authorityUrl = simulator?.url ?? config.AUTHORITY_URL;
  await makeTopics(env, kafka, config.LOG_LEVEL);

  say(
    `starting the services (${SERVICE_NAMES.join(', ')}${config.INSTANCES > 1 ? `; ${config.INSTANCES} of ${config.INSTANCES_OF.join(', ') || 'each'}` : ''})`,
  );
  const shared = { databaseUrl: database.url, authorityUrl, signerRnc: DEMO_BUYER.rnc };
  const keys = folder.serviceKeys();
  const counts = { instances: config.INSTANCES, several: config.INSTANCES_OF };
  const places = placesOf(counts, ports, { host: config.HOST, port: config.PORT }, (service) => ({
    ...withOwnKeys(service, serviceEnvironment(service, env, { ...config, DATA_DIR: folder.path }, secrets, shared)),
    ...keys[service],
    KAFKA_BROKERS: kafka.address,
    ...loginOf(kafka, brokerUser(service)),
    KAFKA_CLIENT_ID: env.KAFKA_CLIENT_ID || `ecf-${service}`,
    REDIS_URL: redis?.address,
  }));
  const services = await startAll(places, config.SERVICE_RUNNER, say, parts);
  const gateway = places[0] as Place;
  await allReady(gateway.url, parts.stopping.signal, say);

  const processes = (): DemoProcess[] => [
    ...places.map((place) => ({
      name: place.name,
      pid: services.get(place.name)?.pid() ?? null,
      url: place.url,
      metrics_url: place.metricsUrl,
    })),
    ...(simulator === null ? [] : [{ ...processRow('authority-simulator', simulator), url: simulator.url }]),
    ...(kafka.process === null ? [] : [processRow('kafka', kafka.process)]),
    ...(redis?.process == null ? [] : [processRow('redis', redis.process)]),
    ...(database.pid() === null ? [] : [{ name: 'postgresql', pid: database.pid(), url: null, metrics_url: null }]),
  ];
  const logger = createLogger({ service: 'distributed', level: config.LOG_LEVEL });
  const metrics = await serveMergedMetrics(places, { host: config.HOST, port: config.METRICS_PORT, logger });
  parts.add(() => metrics.stop());
  if (secrets !== null) {
    const demo = await openSandbox({
      baseUrl: gateway.url,
      adminUrl: adminUrlOf(gateway),
      adminToken: env.ADMIN_TOKEN || secrets.adminToken,
      authorityUrl: authorityUrl as string,
      metricsUrl: `${metrics.url}/metrics`,
      folder,
      now: new Date(),
      processes: processes(),
      say,
    });
    keepCurrent(demo, processes, folder, parts);
  }
  say(`ready           ${gateway.url}`);
  return gateway.url;
}

/** The settings of a service with the keys for what it seals, in place of the master key that all of them follow from. */
function withOwnKeys(service: ServiceName, env: Environment): Environment {
  const masterKeys = readMasterKeys(env);
  if (masterKeys === null) return env;
  const sealingKeys: Partial<Record<ServiceName, string>> = makeSealingKeys(masterKeys);
  return { ...env, MASTER_KEY: undefined, SEALING_KEYS: sealingKeys[service] };
}

/** The address of `/admin`, by the settings of the first gateway. */
function adminUrlOf({ url, env }: Place): string {
  if (!env.ADMIN_PORT) return url;
  const address = new URL(url);
  address.hostname = env.ADMIN_HOST || address.hostname;
  address.port = env.ADMIN_PORT;
  return address.origin;
}

function processRow(name: string, process: KeptProcess): DemoProcess {
  return { name, pid: process.pid() ?? null, url: null, metrics_url: null };
}

/** Rewrites `demo.json` whenever a process id changes. */
function keepCurrent(demo: Demo, processes: () => DemoProcess[], folder: DataFolder, parts: Parts): void {
  let written = JSON.stringify(demo.processes);
  const timer = setInterval(() => {
    const present = processes();
    const text = JSON.stringify(present);
    if (text === written) return;
    written = text;
    folder.writePrivate('demo.json', { ...demo, processes: present });
  }, POLL_MS);
  parts.add(async () => clearInterval(timer));
}

async function openDatabase(config: DistributedConfig, folder: DataFolder, say: Say): Promise<DatabaseServer> {
  say(config.DATABASE_URL === undefined ? 'starting PostgreSQL' : 'using the configured PostgreSQL');
  const connections = String(CONNECTIONS_PER_INSTANCE * config.INSTANCES);
  return openDatabaseServer(config, folder, say, { ...EMBEDDED_SETTINGS, max_connections: connections });
}

async function makeTopics(env: Environment, kafka: Kafka, level: string): Promise<void> {
  const login = loginOf(kafka, 'admin');
  const settings = readConfig(z.object(busSettings), {
    ...env,
    KAFKA_BROKERS: kafka.address,
    ...login,
    KAFKA_CREATE_TOPICS: env.KAFKA_CREATE_TOPICS,
  });
  // If topics are created by hand, the services report the missing ones.
  if (!settings.KAFKA_CREATE_TOPICS || !usesKafka(settings)) return;
  await prepareTopics(settings, createLogger({ service: 'distributed', level }), { grant: kafka.passwords !== null });
}

/** The settings of the login of a user at a broker that this deployment started. Only `admin` may create topics there. */
function loginOf({ passwords }: Kafka, user: string): Environment {
  if (passwords === null) return {};
  return {
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: user,
    KAFKA_SASL_PASSWORD: passwords[user],
    KAFKA_CREATE_TOPICS: 'false',
  };
}

function openSimulator(folder: DataFolder, statusKey: string, env: Environment, say: Say): Promise<SimulatorProcess> {
  say('starting the authority simulator');
  return startSimulator({
    dataDir: folder.file('authority'),
    statusKey,
    env: env as NodeJS.ProcessEnv,
    onChange: say,
  });
}

/** Starts all services together; each waits for its dependencies. */
async function startAll(
  places: readonly Place[],
  runner: string | undefined,
  say: Say,
  parts: Parts,
): Promise<Map<string, KeptProcess>> {
  const services = new Map<string, KeptProcess>();
  const stopThose = (isGateway: boolean) => async () => {
    const chosen = places.filter(({ service }) => (service === 'gateway') === isGateway);
    await Promise.all(chosen.map(({ name }) => services.get(name)?.stop(DRAIN_MS)));
  };
  parts.add(stopThose(false));
  parts.add(stopThose(true));
  parts.onHaste(() => {
    for (const service of services.values()) service.kill();
  });
  const results = await Promise.allSettled(
    places.map(async (place) => {
      services.set(place.name, await startService(place, runner, say));
    }),
  );
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
  return services;
}

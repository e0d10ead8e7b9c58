import { openFileXmlStore } from '@ecf/archive';
import { createInProcessBus } from '@ecf/bus';
import {
  claimDatabase,
  DataFolder,
  type Environment,
  listenAddresses,
  makeSecrets,
  openDatabaseServer,
  openSandbox,
  type Secrets,
  startSimulator,
  takeFolder,
} from '@ecf/deployment';
import { createBodiesInFlight, requireFreePorts, serveMetrics } from '@ecf/http';
import { ConfigProblems } from '@ecf/kit';
import { createLogger, createMetrics } from '@ecf/kit/telemetry';
import { type StandaloneConfig, standaloneSettings } from './config.js';
import { holdBack } from './held-bus.js';
import { readServices } from './read-services.js';
import { createServices, type Placed } from './services.js';

/** A standalone deployment. */
export interface Standalone {
  /** Resolves with the address once every part answers. */
  start(): Promise<string>;
  /** Stops the started parts in reverse order; also during the start, or after it failed. */
  stop(): Promise<void>;
  /** Ends the child processes immediately, without waiting for the services. */
  hasten(): Promise<void>;
}

/** Prints progress and results; the caller decides where they appear. */
export type Say = (text: string) => void;

/**
 * Runs all services in this process with an embedded PostgreSQL, files and the in-process bus. The sandbox adds the
 * authority simulator and a demo account.
 */
export function createStandalone(env: Environment, say: Say): Standalone {
  const started: Stop[] = [];
  const children: Stop[] = [];
  return {
    start: () => start(env, say, started, children),
    hasten: async () => void (await Promise.all(children.map((stop) => stop()))),
    async stop() {
      const ended = [];
      for (const part of started.splice(0).reverse()) ended.push(...(await Promise.allSettled([part()])));
      const failed = ended.find(({ status }) => status === 'rejected');
      if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
    },
  };
}

/** The caller may call it twice. */
type Stop = () => Promise<void> | void;

async function start(env: Environment, say: Say, started: Stop[], children: Stop[]): Promise<string> {
  const problems = new ConfigProblems();
  const config = problems.readOn(env, standaloneSettings);
  const folder = new DataFolder(config.DATA_DIR);
  // All settings are read before anything is made, so that one refusal names every error.
  const read = (present: Secrets | null) =>
    readServices(problems, env, config, config.SANDBOX ? (present ?? makeSecrets()) : null);
  const { PORT, ADMIN_PORT, ADMIN_HOST } = read(folder.presentSecrets()).gateway;
  const addresses = listenAddresses({ ...config, PORT, ADMIN_PORT, ADMIN_HOST });
  started.push(await takeFolder(folder, () => requireFreePorts(addresses)));
  const secrets = config.SANDBOX ? folder.secrets() : null;
  const settings = read(secrets);

  say(config.DATABASE_URL === undefined ? 'starting PostgreSQL' : 'using the configured PostgreSQL');
  const database = await openDatabaseServer(config, folder, say);
  started.push(database.stop);
  children.push(database.stop);
  if (config.DATABASE_URL !== undefined) started.push(await claimDatabase(database.url('gateway'), say));
  let authorityUrl = config.AUTHORITY_URL;
  if (secrets !== null && authorityUrl === undefined) {
    say('starting the authority simulator');
    const simulator = await startSimulator({
      dataDir: folder.file('authority'),
      statusKey: secrets.statusKey,
      env: env as NodeJS.ProcessEnv,
      onChange: say,
    });
    started.push(() => simulator.stop());
    children.push(() => simulator.stop());
    authorityUrl = simulator.url;
  }

  say('starting the services');
  const placed: Placed = (service, read) => ({
    ...read,
    DATABASE_URL: database.url(service),
    AUTHORITY_URL: authorityUrl,
  });
  const { gateway, metricsUrl } = await startServices({ config, folder, settings, placed }, started);
  if (config.SANDBOX) {
    await openSandbox({
      baseUrl: gateway.url,
      adminUrl: gateway.adminUrl ?? gateway.url,
      adminToken: settings.gateway.ADMIN_TOKEN as string,
      authorityUrl: authorityUrl as string,
      metricsUrl,
      folder,
      now: new Date(),
      say,
    });
  }
  say(`ready           ${gateway.url}`);
  return gateway.url;
}

interface ServiceParts {
  readonly config: StandaloneConfig;
  readonly folder: DataFolder;
  readonly settings: ReturnType<typeof readServices>;
  readonly placed: Placed;
}

/** Starts all services, the gateway last. Events are held back until every service can take them. */
async function startServices({ config, folder, settings, placed }: ServiceParts, started: Stop[]) {
  const logger = createLogger({ service: 'standalone', level: config.LOG_LEVEL });
  const metrics = createMetrics({ processMetrics: true });
  const bus = holdBack(createInProcessBus({ logger, metrics }));
  const archive = await openFileXmlStore(folder.file('xml'));
  const bodies = createBodiesInFlight(settings.gateway);
  const services = createServices(placed, settings, {
    bus,
    archive,
    logger,
    metrics,
    bodies,
    ...(config.DATABASE_URL === undefined ? { databaseFolder: config.DATA_DIR } : {}),
  });
  started.push(() => bus.close());
  // A service that fails while it starts is stopped too: nothing may run after the database ends.
  let gateway: Awaited<ReturnType<typeof services.gateway.start>>;
  try {
    for (const service of services.behindGateway) {
      started.push(() => service.stop());
      await service.start();
    }
    started.push(() => services.gateway.stop());
    gateway = await services.gateway.start();
    bus.open();
  } catch (error) {
    bus.refuse(error);
    throw error;
  }
  const metricsServer = await serveMetrics(metrics, { host: config.HOST, port: config.METRICS_PORT, logger });
  started.push(() => metricsServer.stop());
  return { gateway, metricsUrl: `${metricsServer.url}/metrics` };
}

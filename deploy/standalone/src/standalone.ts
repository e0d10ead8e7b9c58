import { createApprovals, readApprovalsConfig } from '@ecf/approvals';
import {
  checkSimulatorSettings,
  DataFolder,
  DEMO_BUYER,
  type Environment,
  openDatabaseServer,
  openSandbox,
  serviceEnvironment,
  startSimulator,
} from '@ecf/deployment';
import { createEmission, emissionConfig } from '@ecf/emission';
import { createGateway, createInProcessUpstream, readGatewayConfig } from '@ecf/gateway';
import { createQuery, readQueryConfig } from '@ecf/query';
import { createReception, readReceptionConfig } from '@ecf/reception';
import { createInProcessBus } from '@ecf/service-kit/bus';
import { ConfigProblems } from '@ecf/service-kit/config';
import { openFileDeadLetters } from '@ecf/service-kit/dead-letters';
import { createLogger, createMetrics, serveMetrics } from '@ecf/service-kit/telemetry';
import { openFileXmlStore } from '@ecf/service-kit/xml-store';
import { createStatusPoller, readStatusPollerConfig } from '@ecf/status-poller';
import { readStandaloneConfig } from './config.js';
import { holdBack } from './held-bus.js';

/** A standalone deployment. */
export interface Standalone {
  /** Resolves with the address once everything answers. */
  start(): Promise<string>;
  /** Stops what was started, in reverse; also while the start is still under way, or after it failed. */
  stop(): Promise<void>;
  /** Ends what would outlive this process, without waiting for the rest. */
  hasten(): Promise<void>;
}

/** Prints progress; results go through it too, so that a caller decides where they appear. */
export type Say = (text: string) => void;

/**
 * Runs all services in this process with an embedded PostgreSQL, files and the in-process bus; in the sandbox also the
 * authority simulator and a demo account.
 */
export function createStandalone(env: Environment, say: Say, now = () => new Date()): Standalone {
  const started: Stop[] = [];
  const children: Stop[] = [];
  return {
    start: () => start(env, say, now, started, children),
    hasten: async () => void (await Promise.all(children.map((stop) => stop()))),
    async stop() {
      const ended = [];
      for (const part of started.splice(0).reverse()) ended.push(...(await Promise.allSettled([part()])));
      const failed = ended.find(({ status }) => status === 'rejected');
      if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
    },
  };
}

/** May be called twice. */
type Stop = () => Promise<void> | void;

async function start(env: Environment, say: Say, now: () => Date, started: Stop[], children: Stop[]): Promise<string> {
  const problems = new ConfigProblems();
  const config = problems.readOn(env, readStandaloneConfig);
  const folder = new DataFolder(config.DATA_DIR);
  started.push(await folder.lock());
  const secrets = config.SANDBOX ? folder.secrets() : null;
  // Everything is read before anything is started, so that one look tells all that is wrong.
  const settings = readServices(problems, env, config, secrets);

  say(config.DATABASE_URL === undefined ? 'starting PostgreSQL' : 'using the configured PostgreSQL');
  const database = await openDatabaseServer(config, folder, say);
  started.push(database.stop);
  children.push(database.stop);
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
  const placed = <C>(service: string, read: C): C => ({
    ...read,
    DATABASE_URL: database.url(service),
    AUTHORITY_URL: authorityUrl,
  });
  const logger = createLogger({ service: 'standalone', level: config.LOG_LEVEL });
  const metrics = createMetrics({ processMetrics: true });
  const bus = holdBack(
    createInProcessBus({
      logger,
      clock: now,
      metrics,
      deadLetters: await openFileDeadLetters(folder.file('dead-letters')),
    }),
  );
  const archive = await openFileXmlStore(folder.file('xml'));
  const shared = { bus, archive, logger, metrics, clock: now };

  const gatewayConfig = placed('gateway', settings.gateway);
  const emission = createEmission(placed('emission', settings.emission), {
    ...shared,
    accounts: { fetch: (accountId) => gateway.taxpayerSource.account(accountId) },
  });
  const reception = createReception(placed('reception', settings.reception), {
    ...shared,
    source: {
      account: (accountId) => gateway.taxpayerSource.account(accountId),
      taxpayer: (rnc) => gateway.taxpayerSource.taxpayer(rnc),
    },
  });
  const statusPoller = createStatusPoller(placed('status-poller', settings.statusPoller), {
    ...shared,
    emission: emission.followUps,
  });
  const query = createQuery(placed('query', settings.query), {
    ...shared,
    emission: emission.internal,
    reception: reception.internal,
    aftermath: {
      pageOfDeliveries: (page) => approvals.aftermath.pageOfDeliveries(page),
      pageOfDecisions: (page) => approvals.aftermath.pageOfDecisions(page),
    },
    taxpayers: {
      account: (accountId) => gateway.taxpayerSource.account(accountId),
      taxpayer: (rnc) => gateway.taxpayerSource.taxpayer(rnc),
    },
  });
  const approvals = createApprovals(placed('approvals', settings.approvals), {
    ...shared,
    emission: emission.internal,
    signing: emission.signing,
    reception: reception.internal,
    source: {
      account: (accountId) => gateway.taxpayerSource.account(accountId),
      taxpayer: (rnc) => gateway.taxpayerSource.taxpayer(rnc),
    },
  });
  const gateway = createGateway(gatewayConfig, {
    ...shared,
    onlyInstance: true,
    deliveries: approvals.internal,
    owners: {
      resolution: emission.resolution,
      readModels: query.internal,
      archive: { emission: emission.stored, reception: reception.stored, approvals: approvals.stored },
    },
    upstreams: {
      emission: createInProcessUpstream(emission),
      'status-poller': createInProcessUpstream(statusPoller),
      reception: createInProcessUpstream(reception),
      approvals: createInProcessUpstream(approvals),
      query: createInProcessUpstream(query),
    },
  });
  started.push(() => bus.close());
  // What fails half-way is stopped too: nothing may go on once the database ends.
  try {
    for (const service of [emission, statusPoller, reception, approvals, query]) {
      started.push(() => service.stop());
      await service.start();
    }
    bus.open();
  } catch (error) {
    bus.refuse(error);
    throw error;
  }
  started.push(() => gateway.stop());
  const { url } = await gateway.start();
  const metricsServer = await serveMetrics(metrics, { host: config.HOST, port: config.METRICS_PORT, logger });
  started.push(() => metricsServer.stop());
  if (config.SANDBOX) {
    await openSandbox({
      baseUrl: url,
      adminToken: gatewayConfig.ADMIN_TOKEN as string,
      authorityUrl: authorityUrl as string,
      metricsUrl: `${metricsServer.url}/metrics`,
      folder,
      now: now(),
      say,
    });
  }
  say(`ready           ${url}`);
  return url;
}

/**
 * Every service's settings, but for where database and authority will be.
 * Throws ConfigError with what is wrong in any of them, in the simulator's, and with what was found before.
 */
function readServices(
  problems: ConfigProblems,
  env: Environment,
  config: ReturnType<typeof readStandaloneConfig>,
  secrets: ReturnType<DataFolder['secrets']> | null,
) {
  const places = {
    databaseUrl: () => 'postgresql://127.0.0.1/ecf',
    authorityUrl: config.AUTHORITY_URL ?? 'http://127.0.0.1',
    signerRnc: DEMO_BUYER.rnc,
  };
  const settingsOf = (service: string) => serviceEnvironment(service, env, config, secrets, places);
  return problems.readAll({
    gateway: () => readGatewayConfig(settingsOf('gateway')),
    emission: () => emissionConfig(settingsOf('emission')),
    reception: () => readReceptionConfig(settingsOf('reception')),
    statusPoller: () => readStatusPollerConfig(settingsOf('status-poller')),
    query: () => readQueryConfig(settingsOf('query')),
    approvals: () => readApprovalsConfig(settingsOf('approvals')),
    simulator: () => {
      if (secrets !== null && config.AUTHORITY_URL === undefined) checkSimulatorSettings(env as NodeJS.ProcessEnv);
    },
  });
}

import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { BlockList } from 'node:net';
import { fileURLToPath } from 'node:url';
import {
  ARCHIVE_OPERATIONS,
  ARCHIVING_SERVICES,
  type ArchiveOperations,
  type ArchivingService,
  DELIVERY_OPERATIONS,
  type DeliveryOperations,
  type InternalHandlers,
  type InternalOperation,
  QUERY_OPERATIONS,
  RESOLUTION_OPERATIONS,
  type ServiceName,
} from '@ecf/contracts';
import type { Bus } from '@ecf/service-kit/bus';
import { identityKeyOf } from '@ecf/service-kit/config';
import { createMemoryDeadLetters } from '@ecf/service-kit/dead-letters';
import { type RunningServer, senderSite, serve } from '@ecf/service-kit/http';
import { createInternalClient, type TaxpayerSource } from '@ecf/service-kit/internal';
import { createOutboxRelay } from '@ecf/service-kit/outbox';
import { createDatabaseIfMissing, migrate, openDatabase } from '@ecf/service-kit/postgres';
import { checkReadiness, openBus, type Readiness, rememberReadiness, serveMetrics } from '@ecf/service-kit/service';
import { createLogger, createMetrics, type Logger, type Metrics } from '@ecf/service-kit/telemetry';
import { PrismaPg } from '@prisma/adapter-pg';
import type { GatewayConfig } from './config.js';
import { createAccess } from './core/access.js';
import { createSenderFailureLimit } from './core/failure-limit.js';
import {
  both,
  countedBy,
  createRateLimit,
  createSenderRateLimit,
  createSharedRateLimit,
  tellingRefusals,
} from './core/rate-limit.js';
import { createRouter } from './core/routing.js';
import { isTrustedProxy, readTrustedProxies } from './core/sender-address.js';
import type { Upstream } from './core/upstream.js';
import { PrismaClient } from './generated/prisma/client.js';
import type { OperationOwners } from './inbound/admin-operation.js';
import { createGatewayApp } from './inbound/http.js';
import { createInProcessAccessRevision } from './outbound/access-revision.in-process.js';
import { createPostgresAccessRevision } from './outbound/access-revision.postgres.js';
import { createPrismaAccountStore } from './outbound/accounts.prisma.js';
import { createPostgresKeyStore } from './outbound/keys.postgres.js';
import { requireMasterKey } from './outbound/master-key.js';
import { createPrismaTaxpayerStates } from './outbound/taxpayer-states.prisma.js';
import { configuredUpstreams } from './upstreams.js';

export interface GatewayOverrides {
  /** Services that are reached otherwise than by their address. */
  upstreams?: Partial<Record<ServiceName, Upstream>>;
  /** The approvals service of the same process; by default that of APPROVALS_URL. */
  deliveries?: DeliveryOperations;
  /** Owners of documents in the same process; by default those of their addresses. */
  owners?: OperationOwners;
  /** The bus that events are published on; by default one of this process. */
  bus?: Bus;
  /** Shared metrics of the process; the gateway then serves none itself. */
  metrics?: Metrics;
  logger?: Logger;
  clock?: () => Date;
  /** True where no other gateway works on the same database: keys are then known without a question to it. */
  onlyInstance?: boolean;
}

export interface Gateway {
  app: RequestListener;
  /** Prepares the database, begins to publish and listens. */
  start(): Promise<{ url: string; port: number; metricsUrl: string | null }>;
  /** Stops listening, lets requests end, then lets everything go. */
  stop(): Promise<void>;
  ready(): Promise<Readiness>;
  /** What services of the same process ask instead of the internal routes. */
  taxpayerSource: TaxpayerSource;
  /** Tells the present state of all taxpayers again; resolves with their number. */
  republishTaxpayers(): Promise<number>;
}

const MIGRATIONS = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
/** Milliseconds that an owner may take to answer those who operate the deployment. */
const QUESTION_MS = 20_000;
/** Milliseconds that an answer is kept of which its sender takes nothing, or next to nothing. */
const UNREAD_ANSWER_MS = 30_000;
/** Milliseconds that what is known of services is told again: anybody may ask for it. */
const READINESS_MS = 1_000;
/** Keys a second that are none, and wrong tokens of the administration, of one sender; none that means well sends any for long. */
const FAILURES = 20;
const VERSION = (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string })
  .version;

/** Puts the gateway together; nothing is connected before `start`. */
export function createGateway(config: GatewayConfig, overrides: GatewayOverrides = {}): Gateway {
  const clock = overrides.clock ?? (() => new Date());
  const logger = overrides.logger ?? createLogger({ service: 'gateway', level: config.LOG_LEVEL });
  const metrics = overrides.metrics ?? createMetrics({ processMetrics: true });
  const bus = overrides.bus ?? openBus(config, { logger, clock, metrics, deadLetters: createMemoryDeadLetters() });
  const identityKey = identityKeyOf(config);

  const database = openDatabase(config.DATABASE_URL, {
    max: config.DATABASE_CONNECTIONS,
    applicationName: 'ecf gateway',
    onIdleError: (error) => logger.warn({ err: error }, 'an idle database connection broke'),
  });
  const adapter = new PrismaPg(database.pool as unknown as ConstructorParameters<typeof PrismaPg>[0]);
  const prisma = new PrismaClient({ adapter, errorFormat: 'minimal' });
  const noted = overrides.onlyInstance === true ? createInProcessAccessRevision() : null;
  const changes = {
    prisma,
    database,
    clock,
    onCommit: (revision: number) => noted?.note(revision),
    onDoubt: () => noted?.forget(),
  };
  const store = createPrismaAccountStore(changes);
  const states = createPrismaTaxpayerStates(changes);
  const relay = createOutboxRelay({ database, bus, service: 'gateway', logger, metrics, clock });
  const upstreams = { ...configuredUpstreams(config), ...overrides.upstreams };
  const trustedProxies = readTrustedProxies(config.TRUSTED_PROXIES) ?? new BlockList();
  const refusedConnections = metrics.counter({
    name: 'ecf_gateway_refused_connections_total',
    help: 'Connections closed: their sender had too many open (sender), all senders together had (all), they made room (gave_way), or what was answered was not read (unread).',
    labels: ['reason'],
  });
  const unreadableRequests = metrics.counter({
    name: 'ecf_gateway_unreadable_requests_total',
    help: 'Requests that never became one: not HTTP (400), CONNECT (405), not complete in time (408), over the rate of their sender (429), too large headers (431).',
    labels: ['status'],
  });
  const droppedRequests = metrics.counter({
    name: 'ecf_gateway_dropped_requests_total',
    help: 'Requests that were read and not begun: more than 64 waited on one connection (too_many), they stood behind an answer that closed it (closing), or it was lost (lost).',
    labels: ['reason'],
  });

  const limitedRequests = metrics.counter({
    name: 'ecf_gateway_limited_requests_total',
    help: 'Requests over a rate: of their API key (key), of their sender (sender), of all senders together (all), of keys that are none (unknown_keys), of wrong tokens of the administration (admin_tokens).',
    labels: ['limit'],
  });
  const overRate = (limit: string) => () => limitedRequests.inc({ limit });
  const elapsed = () => performance.now();
  const failures = config.SANDBOX ? 0 : FAILURES;
  const perSender = tellingRefusals(createSenderRateLimit(config.RATE_LIMIT_PER_SENDER, elapsed), overRate('sender'));
  const allSenders = tellingRefusals(
    countedBy(senderSite, createSharedRateLimit(config.RATE_LIMIT_ALL_SENDERS, elapsed)),
    overRate('all'),
  );

  async function ready(): Promise<Readiness> {
    const services = Object.entries(upstreams).map(([name, upstream]) => [name, () => upstream.ready()] as const);
    const checks = { database: () => database.query('SELECT 1'), ...Object.fromEntries(services) };
    // What the gateway is there for is to issue invoices: another service that is away does not take that away too.
    const optional = Object.keys(upstreams).filter((name) => name !== 'emission');
    return checkReadiness(checks, 2_000, optional);
  }

  const asked = <T extends Readonly<Record<string, InternalOperation>>>(
    operations: T,
    owner: string,
    url: string | undefined,
  ): InternalHandlers<T> | null =>
    url === undefined
      ? null
      : createInternalClient(operations, {
          url,
          owner,
          service: 'gateway',
          identityKey,
          clock,
          timeoutMs: QUESTION_MS,
        });
  const deliveries = overrides.deliveries ?? asked(DELIVERY_OPERATIONS, 'approvals', config.APPROVALS_URL);
  const addresses = { emission: config.EMISSION_URL, reception: config.RECEPTION_URL, approvals: config.APPROVALS_URL };
  const archive: Partial<Record<ArchivingService, ArchiveOperations>> = {};
  for (const name of ARCHIVING_SERVICES) {
    const owner = asked(ARCHIVE_OPERATIONS, name, addresses[name]);
    if (owner !== null) archive[name] = owner;
  }
  const owners = overrides.owners ?? {
    resolution: asked(RESOLUTION_OPERATIONS, 'emission', config.EMISSION_URL),
    readModels: asked(QUERY_OPERATIONS, 'query', config.QUERY_URL),
    archive,
  };

  const app = createGatewayApp({
    edge: {
      router: createRouter(),
      access: createAccess(
        createPostgresKeyStore(database),
        noted ?? createPostgresAccessRevision(database),
        createSenderFailureLimit(failures, elapsed, overRate('unknown_keys')),
      ),
      upstreams,
      perKey: tellingRefusals(createRateLimit(config.RATE_LIMIT_PER_KEY, elapsed), overRate('key')),
      perSender,
      publicCalls: both(perSender, allSenders),
      trustedProxies,
      defaultEnv: config.DEFAULT_ENV,
      identityKey,
      maxBodyBytes: config.MAX_BODY_BYTES,
      clock,
    },
    admin:
      config.ADMIN_TOKEN === undefined
        ? null
        : {
            store,
            token: config.ADMIN_TOKEN,
            wrongTokens: tellingRefusals(
              createSenderRateLimit(failures, elapsed, 'tokens that are none'),
              overRate('admin_tokens'),
            ),
            masterKey: config.MASTER_KEY,
            deliveries,
            owners,
          },
    states,
    ready: rememberReadiness(ready, READINESS_MS, elapsed),
    version: VERSION,
    logger,
    metrics,
    clock,
  });

  let server: RunningServer | null = null;
  let metricsServer: RunningServer | null = null;
  return {
    app,
    ready,
    taxpayerSource: {
      account: async (id) => (await states.account(id)) ?? { account_id: id, revision: 0, taxpayers: [] },
      taxpayer: (rnc) => states.taxpayer(rnc),
    },
    republishTaxpayers: () => states.republish(),
    async start() {
      await createDatabaseIfMissing(config.DATABASE_URL);
      const applied = await migrate(config.DATABASE_URL, MIGRATIONS);
      if (applied.length > 0) logger.info({ applied }, 'database migrated');
      await requireMasterKey(prisma, config.MASTER_KEY);
      const { revision } = await prisma.accessRevision.findUniqueOrThrow({ where: { id: 1 } });
      noted?.note(Number(revision));
      relay.start();
      if (config.METRICS_PORT !== undefined && overrides.metrics === undefined)
        metricsServer = await serveMetrics(metrics, { host: config.HOST, port: config.METRICS_PORT, logger });
      server = await serve(app, {
        host: config.HOST,
        port: config.PORT,
        timeouts: {
          headers: config.HEADERS_TIMEOUT_MS,
          request: config.REQUEST_TIMEOUT_MS,
          drain: config.DRAIN_TIMEOUT_MS,
          unreadAnswer: UNREAD_ANSWER_MS,
        },
        maxConnections: config.MAX_CONNECTIONS,
        perSender: {
          max: config.MAX_CONNECTIONS_PER_SENDER,
          isProxy: (address) => isTrustedProxy(address, trustedProxies),
        },
        onRefusedConnection: (reason, sender) => {
          refusedConnections.inc({ reason });
          logger.info({ reason, sender }, 'connection closed');
        },
        onDroppedRequests: (reason, requests, sender) => {
          droppedRequests.inc({ reason }, requests);
          logger.info({ reason, requests, sender }, 'requests of a connection were dropped');
        },
        limitUnreadable: (address) => perSender.pass(address),
        onUnreadableRequest: (unreadable) => {
          unreadableRequests.inc({ status: String(unreadable.status) });
          logger.info(unreadable, 'answered what was no request');
        },
      });
      logger.info({ url: server.url }, 'gateway listening');
      return {
        url: server.url,
        port: server.port,
        metricsUrl: metricsServer === null ? null : `${metricsServer.url}/metrics`,
      };
    },
    async stop() {
      await server?.stop();
      await metricsServer?.stop();
      await relay.stop();
      await prisma.$disconnect();
      await database.close();
      if (overrides.bus === undefined) await bus.close();
    },
  };
}

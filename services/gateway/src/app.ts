import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { BlockList } from 'node:net';
import { type DeliveryOperations, OPERATIONS, type Operation, type ServiceName } from '@ecf/contracts';
import { type Bus, createDeadLetters, withDeadLetters } from '@ecf/service-kit/bus';
import { type BodiesInFlight, createBodiesInFlight } from '@ecf/service-kit/http';
import type { TaxpayerSource } from '@ecf/service-kit/internal';
import { createMasterKeyOperations } from '@ecf/service-kit/master-keys';
import { createOutboxRelay } from '@ecf/service-kit/outbox';
import { createDatabaseClock, type Database, type DatabaseClock, openDatabase } from '@ecf/service-kit/postgres';
import { createIdentities, createSealingKeys, createServiceKeys, type Identities } from '@ecf/service-kit/security';
import { checkReadiness, openBus, type Readiness, rememberReadiness } from '@ecf/service-kit/service';
import {
  createLogger,
  createMetrics,
  createQueueWatch,
  type LogFile,
  type Logger,
  type Metrics,
  openLogFile,
  reportClockSkew,
} from '@ecf/service-kit/telemetry';
import { createCertificateFiles } from '@ecf/taxpayer-replica/certificate-files';
import { type GatewayConfig, servesProduction } from './config.js';
import { createAccess } from './core/access.js';
import { createActProofs } from './core/act-proofs.js';
import { createSignIn } from './core/administrators.js';
import { createRouter } from './core/routing.js';
import type { OperationOwners } from './inbound/admin/operation.js';
import { subscribeToActs } from './inbound/audit-events.js';
import { createAdminApp, createGatewayApp, type GatewayAppOptions } from './inbound/http.js';
import { readTrustedProxies } from './inbound/sender-address.js';
import { createLifecycle, type Started } from './lifecycle.js';
import { createPostgresKeyStore, createStoredAccessRevision } from './outbound/access.postgres.js';
import { createInProcessAccessRevision } from './outbound/access-revision.in-process.js';
import type { AccountChangesOptions } from './outbound/account-changes.postgres.js';
import { createPostgresAccountStore } from './outbound/accounts.postgres.js';
import { createPostgresAdministratorStore } from './outbound/administrators.postgres.js';
import { createAuditLog } from './outbound/audit/audit-log.postgres.js';
import { createKeyUses } from './outbound/audit/key-uses.postgres.js';
import { createSignInFailures } from './outbound/audit/sign-in-failures.js';
import { openRateLimits } from './outbound/rate-limits.js';
import { createSealedCertificates } from './outbound/sealed-certificates.postgres.js';
import { createPostgresTaxpayerStates } from './outbound/taxpayer-states.postgres.js';
import { configuredOwners, configuredUpstreams } from './owners.js';
import type { Upstream } from './upstream.js';

export interface GatewayOverrides {
  /** Services that are not called by address. */
  upstreams?: Partial<Record<ServiceName, Upstream>>;
  /** The approvals service of the same process; by default the client of APPROVALS_URL. */
  deliveries?: DeliveryOperations;
  /** Owners of documents in the same process; by default the clients of their addresses. */
  owners?: OperationOwners;
  /** The bus for events; by default one of this process. */
  bus?: Bus;
  /** Metrics of the process; then the gateway does not serve them itself. */
  metrics?: Metrics;
  logger?: Logger;
  clock?: () => Date;
  /** The bodies in flight of the process. */
  bodies?: BodiesInFlight;
  /** True if no other gateway uses the same database: then it sees every change without a query. */
  onlyInstance?: boolean;
}

export interface Gateway {
  app: RequestListener;
  /** Prepares the database, starts the relay and listens. */
  start(): Promise<Started>;
  /** Stops listening, waits for requests in flight, then closes everything. */
  stop(): Promise<void>;
  ready(): Promise<Readiness>;
  /** For services of the same process, in place of the internal routes. */
  taxpayerSource: TaxpayerSource;
}

/** Milliseconds for which a readiness answer is repeated, because anybody may request it. */
const READINESS_MS = 1_000;
const VERSION = (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string })
  .version;

/** Wires the gateway; no connection is opened before `start`. */
export function createGateway(config: GatewayConfig, overrides: GatewayOverrides = {}): Gateway {
  const logger = overrides.logger ?? createLogger({ service: 'gateway', level: config.LOG_LEVEL });
  const metrics = overrides.metrics ?? createMetrics({ processMetrics: true });
  const stores = openStores(config, logger, metrics);
  const { database, databaseClock } = stores;
  const clock = overrides.clock ?? databaseClock.now;
  const keys = createServiceKeys('gateway', config);
  const deadLetters = createDeadLetters(database, { logger, metrics });
  const bus = overrides.bus ?? openBus(config, { logger, metrics });
  const identities = createIdentities({ keys, clock });
  const noted = overrides.onlyInstance === true ? createInProcessAccessRevision() : null;
  const revision = noted ?? createStoredAccessRevision(database);
  const noteRevision = (revision: number) => noted?.note(revision);
  const changes = { database, clock, onCommit: noteRevision, onDoubt: () => noted?.forget() };
  const states = createPostgresTaxpayerStates(database);
  const administrators = createPostgresAdministratorStore(database, clock);
  const audit = createAuditLog(database);
  const proofs = createActProofs(keys);
  const keyUses = createKeyUses({ database, logger });
  const failures = createSignInFailures({ audit, logger, clock });
  const flush = () => keyUses.flush().then(failures.flush);
  const limits = openRateLimits(config, { logger, metrics });
  const upstreams = { ...configuredUpstreams(config, identities), ...overrides.upstreams };
  const ready = readinessOf(database, upstreams);

  const signInWith = (adminToken: string) =>
    createSignIn({ administrators, adminToken, wrongTokens: limits.wrongAdminTokens, clock, failures });
  const called = ownersOf(config, identities, overrides);
  const { closeFiles, owners, ...certificates } = openCertificates(config, metrics, changes, called.owners);
  const accessFile = openAccessLog(config, logger);
  const appOptions: GatewayAppOptions = {
    edge: {
      routes: createRouter<Operation>(OPERATIONS),
      access: createAccess(createPostgresKeyStore(database), revision, limits.unknownKeys, clock, failures),
      keyUses,
      perKey: limits.perKey,
      perSender: limits.perSender,
      maxBodyBytes: config.MAX_BODY_BYTES,
      trustedProxies: readTrustedProxies(config.TRUSTED_PROXIES) ?? new BlockList(),
      defaultEnv: config.DEFAULT_ENV,
      servesProduction: servesProduction(config),
      upstreams,
      clock,
    },
    settings: { store: createPostgresAccountStore(changes), activity: { flush }, audit, proofs, ...certificates },
    owners,
    admin:
      config.ADMIN_TOKEN === undefined
        ? null
        : { administrators, deliveries: called.deliveries, signIn: signInWith(config.ADMIN_TOKEN) },
    states,
    identities,
    bodies: overrides.bodies ?? createBodiesInFlight(config),
    ready: rememberReadiness(ready, READINESS_MS, () => performance.now()),
    version: VERSION,
    logger,
    accesses: accessFile?.logger ?? logger,
    metrics,
    clock,
  };
  const ownListener = config.ADMIN_PORT !== undefined;
  const app = createGatewayApp(ownListener ? { ...appOptions, admin: null } : appOptions);
  const adminApp = ownListener && appOptions.admin !== null ? createAdminApp(appOptions) : null;

  const closeOwn = async () => {
    limits.close();
    deadLetters.close();
    await accessFile?.close();
    await closeFiles();
    if (overrides.bus === undefined) await bus.close();
  };
  return {
    app,
    ready,
    taxpayerSource: {
      account: async (id) => (await states.account(id)) ?? { account_id: id, revision: 0, taxpayers: [] },
      taxpayer: (rnc) => states.taxpayer(rnc),
    },
    ...createLifecycle({
      config,
      app,
      adminApp,
      ...stores,
      sealingKeys: certificates.sealingKeys,
      values: certificates.values,
      relay: createOutboxRelay({ database, bus, service: 'gateway', logger, metrics, clock }),
      noteRevision,
      flush,
      subscribe: () => subscribeToActs(withDeadLetters(bus, deadLetters), audit, proofs),
      closeOwn,
      metrics,
      servesMetrics: overrides.metrics === undefined,
      clock,
      logger,
    }),
  };
}

/** The owners of documents: those of this process, else the clients of their addresses. */
function ownersOf(config: GatewayConfig, identities: Identities, { deliveries, owners }: GatewayOverrides) {
  const configured = configuredOwners(config, identities);
  return { deliveries: deliveries ?? configured.deliveries, owners: owners ?? configured.owners };
}

/** The file of the access log, where one is configured. */
function openAccessLog(config: GatewayConfig, problems: Logger): LogFile | null {
  const { ACCESS_LOG_FILE: file, ACCESS_LOG_BYTES: maxBytes, ACCESS_LOG_FILES: kept } = config;
  return file === undefined ? null : openLogFile({ service: 'gateway', file, problems, limits: { maxBytes, kept } });
}

/** The keys, the files that are uploaded, and the sealed values: the gateway keeps some itself, beside the services. */
function openCertificates(
  config: GatewayConfig,
  metrics: Metrics,
  changes: AccountChangesOptions,
  owners: OperationOwners,
) {
  const sealingKeys = createSealingKeys('gateway', config);
  const values = [createSealedCertificates(changes, sealingKeys)];
  const gateway = createMasterKeyOperations({ database: changes.database, sealingKeys, values });
  const files = createCertificateFiles(createQueueWatch(metrics, 'gateway'));
  return {
    sealingKeys,
    values,
    openCertificate: files.open,
    closeFiles: files.close,
    owners: { ...owners, masterKeys: { ...owners.masterKeys, gateway } },
  };
}

function openStores(
  config: GatewayConfig,
  logger: Logger,
  metrics: Metrics,
): { database: Database; databaseClock: DatabaseClock } {
  const database = openDatabase(config.DATABASE_URL, {
    max: config.DATABASE_CONNECTIONS,
    applicationName: 'ecf gateway',
    onIdleError: (error) => logger.warn({ err: error }, 'an idle database connection broke'),
  });
  const depth = () => database.pool.waitingCount;
  createQueueWatch(metrics, 'gateway')({ queue: 'database', limit: null, depth });
  return {
    database,
    databaseClock: createDatabaseClock({
      database,
      skew: reportClockSkew(metrics, logger),
      onError: (error) => logger.warn({ err: error }, 'the clock of the database could not be read'),
    }),
  };
}

/** The gateway is ready while it can issue invoices: a missing service other than emission does not change that. */
function readinessOf(database: Database, upstreams: Record<string, Upstream>): () => Promise<Readiness> {
  const services = Object.entries(upstreams).map(([name, upstream]) => [name, () => upstream.ready()] as const);
  const checks = { database: () => database.query('SELECT 1'), ...Object.fromEntries(services) };
  const optional = Object.keys(upstreams).filter((name) => name !== 'emission');
  return () => checkReadiness(checks, 2_000, optional);
}

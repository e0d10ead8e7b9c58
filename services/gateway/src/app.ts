import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { BlockList } from 'node:net';
import { type Bus, createDeadLetters, createOutboxRelay, withDeadLetters } from '@ecf/bus';
import { type ActedBy, OPERATIONS, type Operation, type ServiceName } from '@ecf/contracts';
import {
  type BodiesInFlight,
  checkReadiness,
  createBodiesInFlight,
  type LogoSource,
  type Readiness,
  rememberReadiness,
  type TaxpayerSource,
} from '@ecf/http';
import { createIdentities, createServiceKeys } from '@ecf/http/identity';
import { createSealingKeys } from '@ecf/kit';
import {
  createLogger,
  createMetrics,
  createQueueWatch,
  type LogFile,
  type Logger,
  type Metrics,
  openLogFile,
  reportClockSkew,
} from '@ecf/kit/telemetry';
import {
  createDatabaseClock,
  createMasterKeyOperations,
  type Database,
  type DatabaseClock,
  openDatabase,
} from '@ecf/postgres';
import { createServiceState, openBus } from '@ecf/service';
import { createCertificateFiles } from '@ecf/taxpayer-replica/certificate-files';
import { createAccess } from './access/access.js';
import { createInProcessAccessRevision } from './access/access-revision.js';
import { createKeyUses } from './access/key-uses.postgres.js';
import { createPostgresKeyStore, createStoredAccessRevision } from './access/keys.postgres.js';
import { requireValidActor } from './access/valid-actor.postgres.js';
import { createPostgresAccounts } from './accounts/accounts.postgres.js';
import { createPostgresApiKeys } from './accounts/api-keys.postgres.js';
import { createAccountChanges } from './accounts/changes.postgres.js';
import { createLogoChecks } from './accounts/logo-upload.http.js';
import { type AccountSettingOptions, accountRoutes } from './accounts/routes.js';
import { createSealedCertificates } from './accounts/sealed-certificates.postgres.js';
import { taxpayerStateRoutes } from './accounts/taxpayer-states.http.js';
import { createPostgresTaxpayerStates } from './accounts/taxpayer-states.postgres.js';
import { createPostgresTaxpayers } from './accounts/taxpayers.postgres.js';
import { createPostgresAdministratorStore } from './administrators/administrators.postgres.js';
import { createSignIn } from './administrators/sign-in.js';
import { createActProofs } from './audit/act-proofs.js';
import { createActing, createRecorded } from './audit/acting.http.js';
import { subscribeToActs } from './audit/acts.kafka.js';
import { createAuditLog } from './audit/audit-log.postgres.js';
import { createSignInFailures } from './audit/sign-in-failures.http.js';
import { createBackground } from './background.js';
import { type GatewayConfig, servesProduction } from './config.js';
import { consolePages } from './console/pages.http.js';
import { sessionRoutes } from './console/session.http.js';
import { createConsoleSessions } from './console/sessions.js';
import { createPostgresConsoleSessions } from './console/sessions.postgres.js';
import { createAdminApp, createGatewayApp, type GatewayAppOptions } from './edge/app.http.js';
import { createListeners, type Started } from './edge/listeners.http.js';
import { openRateLimits } from './edge/rate-limits.redis.js';
import { createRouter } from './edge/routing.js';
import { readTrustedProxies } from './edge/sender-address.http.js';
import { createInProcessUpstream, type Upstream } from './edge/upstream.http.js';
import type { ServiceOperations } from './operations/ports.js';
import { adminRoutes } from './operations/routes.js';
import { configuredOperations, configuredUpstreams } from './operations/services.http.js';

export interface GatewayOverrides {
  /** Services that are not called by address. */
  upstreams?: Partial<Record<ServiceName, Upstream>>;
  /** What services of the same process do for the administration; by default the clients of their addresses. */
  operations?: ServiceOperations;
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
  taxpayerSource: TaxpayerSource & LogoSource;
}

/** Milliseconds for which a readiness answer is repeated, because anybody may request it. */
const READINESS_MS = 1_000;
const VERSION = (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string })
  .version;

/** Wires the gateway; no connection is opened before `start`. */
export function createGateway(config: GatewayConfig, overrides: GatewayOverrides = {}): Gateway {
  const logger = overrides.logger ?? createLogger({ service: 'gateway', level: config.LOG_LEVEL });
  const metrics = overrides.metrics ?? createMetrics({ processMetrics: true });
  const { database, databaseClock } = openStores(config, logger, metrics);
  const clock = overrides.clock ?? databaseClock.now;
  const keys = createServiceKeys('gateway', config);
  const deadLetters = createDeadLetters(database, { logger, metrics });
  const bus = overrides.bus ?? openBus(config, { logger, metrics });
  const identities = createIdentities({ keys, clock });
  const noted = overrides.onlyInstance === true ? createInProcessAccessRevision() : null;
  const revision = noted ?? createStoredAccessRevision(database);
  const noteRevision = (revision: number) => noted?.note(revision);
  const change = createAccountChanges({ database, clock, onCommit: noteRevision, onDoubt: () => noted?.forget() });
  const sealingKeys = createSealingKeys('gateway', config);
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
  const values = [createSealedCertificates(database, change, sealingKeys)];
  const files = createCertificateFiles(createQueueWatch(metrics, 'gateway'));
  const logos = createLogoChecks(createQueueWatch(metrics, 'gateway'));
  const others = overrides.operations ?? configuredOperations(config, identities);
  const masterKeys = createMasterKeyOperations({ database, sealingKeys, values });
  const operations = {
    ...others,
    masterKeys: { ...others.masterKeys, gateway: masterKeys },
    state: { ...others.state, gateway: createServiceState(database, metrics) },
  };
  const validActor = (by: ActedBy) => requireValidActor(database, by, clock());

  const settings: AccountSettingOptions = {
    accounts: createPostgresAccounts(database, change),
    taxpayers: createPostgresTaxpayers(database, change, clock),
    states,
    apiKeys: createPostgresApiKeys(database, change),
    activity: { flush },
    acting: createActing(validActor, audit, proofs),
    recorded: createRecorded(validActor, audit, clock),
    sealingKeys,
    openCertificate: files.open,
    checkLogo: logos.check,
    operations,
    clock,
  };
  const access = createAccess(createPostgresKeyStore(database), revision, limits.unknownKeys, clock, failures);
  const adminToken = config.ADMIN_TOKEN;
  const wrongTokens = limits.wrongAdminTokens;
  const administration =
    adminToken === undefined
      ? null
      : { adminToken, signIn: createSignIn({ administrators, adminToken, wrongTokens, clock, failures }) };
  const sessionStore = createPostgresConsoleSessions(database);
  const sessionParts = { store: sessionStore, access, unknownSessions: limits.unknownKeys, clock };
  const adminSessions = createConsoleSessions({ ...sessionParts, administration });
  // With ADMIN_PORT, administrators sign in on that listener only.
  const ownListener = config.ADMIN_PORT !== undefined;
  const sessions = ownListener ? createConsoleSessions({ ...sessionParts, administration: null }) : adminSessions;
  const account = createInProcessUpstream({
    app: accountRoutes(settings),
    ready: async () => ({ ready: true, checks: {} }),
  });
  const accessFile = openAccessLog(config, logger);
  const appOptions: GatewayAppOptions = {
    edge: {
      routes: createRouter<Operation>(OPERATIONS),
      access,
      sessions,
      keyUses,
      perKey: limits.perKey,
      perSender: limits.perSender,
      maxBodyBytes: config.MAX_BODY_BYTES,
      trustedProxies: readTrustedProxies(config.TRUSTED_PROXIES) ?? new BlockList(),
      defaultEnv: config.DEFAULT_ENV,
      servesProduction: servesProduction(config),
      upstreams: { ...upstreams, gateway: account },
      clock,
    },
    internal: taxpayerStateRoutes(states, identities),
    console: [
      sessionRoutes(sessions, settings.apiKeys),
      consolePages({ accounts: true, administration: administration !== null && !ownListener }),
    ],
    admin:
      administration &&
      adminRoutes({
        ...settings,
        administrators,
        audit,
        sessions: adminSessions,
        operations,
        signIn: administration.signIn,
      }),
    bodies: overrides.bodies ?? createBodiesInFlight(config),
    ready: rememberReadiness(ready, READINESS_MS, () => performance.now()),
    version: VERSION,
    simulated: config.AUTHORITY_URL !== undefined,
    logger,
    accesses: accessFile?.logger ?? logger,
    metrics,
    clock,
  };
  const app = createGatewayApp(ownListener ? { ...appOptions, admin: null } : appOptions);
  const adminConsole = [
    sessionRoutes(adminSessions, settings.apiKeys),
    consolePages({ accounts: false, administration: true }),
  ];
  const adminApp =
    ownListener && appOptions.admin !== null ? createAdminApp({ ...appOptions, console: adminConsole }) : null;

  const background = createBackground({
    database,
    databaseClock,
    sealingKeys,
    sessions: sessionStore,
    relay: createOutboxRelay({ database, bus, service: 'gateway', logger, metrics, clock }),
    noteRevision,
    subscribe: () => subscribeToActs(withDeadLetters(bus, deadLetters), audit, proofs),
    clock,
    logger,
  });
  const servesMetrics = overrides.metrics === undefined;
  const listeners = createListeners({ config, app, adminApp, metrics, servesMetrics, logger });
  return {
    app,
    ready,
    taxpayerSource: {
      account: async (id) => (await states.account(id)) ?? { account_id: id, revision: 0, taxpayers: [] },
      taxpayer: (rnc) => states.taxpayer(rnc),
      async logo(rnc) {
        const logo = await states.logo(rnc);
        return (
          logo && { type: logo.contentType === 'image/png' ? 'png' : 'jpg', bytes: logo.bytes, sha256: logo.sha256 }
        );
      },
    },
    async start() {
      await background.start();
      return listeners.start();
    },
    async stop() {
      await listeners.stop();
      await flush();
      await background.stop();
      await database.close();
      limits.close();
      deadLetters.close();
      await accessFile?.close();
      await files.close();
      await logos.close();
      if (overrides.bus === undefined) await bus.close();
    },
  };
}

/** The file of the access log, where one is configured. */
function openAccessLog(config: GatewayConfig, problems: Logger): LogFile | null {
  const { ACCESS_LOG_FILE: file, ACCESS_LOG_BYTES: maxBytes, ACCESS_LOG_FILES: kept } = config;
  return file === undefined ? null : openLogFile({ service: 'gateway', file, problems, limits: { maxBytes, kept } });
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

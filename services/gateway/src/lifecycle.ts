import type { RequestListener } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Subscription } from '@ecf/service-kit/bus';
import { ConfigError } from '@ecf/service-kit/config';
import { type RunningServer, serve } from '@ecf/service-kit/http';
import { createInstanceReport, requireNoEarlierLayout, type SealedValues } from '@ecf/service-kit/master-keys';
import { cleanInbox } from '@ecf/service-kit/outbox';
import { createDatabaseIfMissing, type Database, type DatabaseClock, migrate } from '@ecf/service-kit/postgres';
import { SEAL_HEAD, type SealingKeys } from '@ecf/service-kit/security';
import { createCleaning, serveMetrics } from '@ecf/service-kit/service';
import type { Logger, Metrics } from '@ecf/service-kit/telemetry';
import type { GatewayConfig } from './config.js';
import { createStoredAccessRevision } from './outbound/access.postgres.js';

const MIGRATIONS = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
/** Milliseconds beyond the longest wait for a service after which a connection without a byte is closed. */
const INACTIVITY_MARGIN_MS = 60_000;

export interface GatewayParts {
  config: GatewayConfig;
  app: RequestListener;
  /** Null if `/admin` has no separate listener. */
  adminApp: RequestListener | null;
  database: Database;
  sealingKeys: SealingKeys;
  values: readonly SealedValues[];
  relay: { start(): void; stop(): Promise<void> };
  /** Receives the access revision at the start. */
  noteRevision: (revision: number) => void;
  /** Subscribes to the events of other services. */
  subscribe: () => Promise<Subscription>;
  /** Stores what is only in memory, before the database is closed. */
  flush: () => Promise<void>;
  /** Closes the parts that only this gateway uses, at the end. */
  closeOwn: () => Promise<void>;
  metrics: Metrics;
  /** Whether this gateway serves the metrics of the process. */
  servesMetrics: boolean;
  clock: () => Date;
  databaseClock: DatabaseClock;
  logger: Logger;
}

export interface Started {
  url: string;
  /** Null if `/admin` has no separate listener. */
  adminUrl: string | null;
}

/** Starts and stops the parts of a gateway in their order. */
export function createLifecycle(parts: GatewayParts): { start(): Promise<Started>; stop(): Promise<void> } {
  const { config, database, relay, metrics, logger } = parts;
  const instance = createInstanceReport(parts);
  const cleaning = createCleaning({
    clean: (now) => cleanInbox(database, now),
    clock: parts.clock,
    failed: (error) => logger.warn({ err: error }, 'cleaning failed'),
  });
  let server: RunningServer | null = null;
  let metricsServer: RunningServer | null = null;
  let adminServer: RunningServer | null = null;
  let subscription: Subscription | null = null;
  return {
    async start() {
      await createDatabaseIfMissing(config.DATABASE_URL);
      const applied = await migrate(config.DATABASE_URL, MIGRATIONS);
      if (applied.length > 0) logger.info({ applied }, 'database migrated');
      await parts.databaseClock.start();
      await requireNoEarlierLayout(parts.sealingKeys, parts.values);
      await requireMasterKey(database, parts.sealingKeys);
      await instance.start();
      parts.noteRevision(await createStoredAccessRevision(database).current());
      relay.start();
      cleaning.start();
      subscription = await parts.subscribe();
      if (config.METRICS_PORT !== undefined && parts.servesMetrics)
        metricsServer = await serveMetrics(metrics, { host: config.HOST, port: config.METRICS_PORT, logger });
      if (parts.adminApp !== null && config.ADMIN_PORT !== undefined)
        adminServer = await listen(parts, parts.adminApp, config.ADMIN_HOST ?? config.HOST, config.ADMIN_PORT);
      server = await listen(parts, parts.app, config.HOST, config.PORT);
      logger.info({ url: server.url, admin_url: adminServer?.url }, 'gateway listening');
      return { url: server.url, adminUrl: adminServer?.url ?? null };
    },
    async stop() {
      await server?.stop();
      await adminServer?.stop();
      await metricsServer?.stop();
      await cleaning.stop();
      await subscription?.stop();
      await parts.flush();
      await relay.stop();
      await instance.stop();
      parts.databaseClock.stop();
      await database.close();
      await parts.closeOwn();
    },
  };
}

function listen(
  { config, metrics, logger }: GatewayParts,
  app: RequestListener,
  host: string,
  port: number,
): Promise<RunningServer> {
  const refused = metrics.counter({
    name: 'ecf_gateway_refused_connections_total',
    help: 'Connections closed immediately because MAX_CONNECTIONS were open.',
  });
  const unreadable = metrics.counter({
    name: 'ecf_gateway_unreadable_requests_total',
    help: 'Answers to input that is not a request: not HTTP (400), CONNECT (405), not complete in time (408), too large headers (431).',
    labels: ['status'],
  });
  return serve(app, {
    host,
    port,
    timeouts: {
      headers: config.HEADERS_TIMEOUT_MS,
      request: config.REQUEST_TIMEOUT_MS,
      inactivity: config.UPSTREAM_TIMEOUT_MS + INACTIVITY_MARGIN_MS,
      drain: config.DRAIN_TIMEOUT_MS,
    },
    maxConnections: config.MAX_CONNECTIONS,
    onRefusedConnection: () => refused.inc(),
    onClientError: (answer, sender) => {
      unreadable.inc({ status: String(answer.status) });
      logger.info({ ...answer, sender }, 'answered bytes that were not a request');
    },
  });
}

/** Refuses to start with keys that cannot open the stored certificates: otherwise the first invoice would fail. */
async function requireMasterKey(database: Database, sealingKeys: SealingKeys): Promise<void> {
  const { rows } = await database.query<{ head: Buffer }>(
    `SELECT DISTINCT substring(sealed from 1 for ${SEAL_HEAD}) AS head FROM certificates`,
  );
  if (rows.every(({ head }) => sealingKeys.hasKeyOf(head))) return;
  const message = 'does not hold a key that stored certificates were sealed with; add that key behind the newest';
  throw new ConfigError([{ variable: sealingKeys.setting, message }]);
}

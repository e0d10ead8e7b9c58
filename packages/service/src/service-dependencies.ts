import { type Bus, createDeadLetters, withDeadLetters } from '@ecf/bus';
import type { ServiceName, StateOperations } from '@ecf/contracts';
import { type BodiesInFlight, createBodiesInFlight } from '@ecf/http';
import { createIdentities, createServiceKeys, type Identities } from '@ecf/http/identity';
import {
  createLogger,
  createMetrics,
  createQueueWatch,
  type Logger,
  type Metrics,
  type ReportClockSkew,
  reportClockSkew,
  type WatchQueue,
} from '@ecf/kit/telemetry';
import { createDatabaseClock, type Database, openDatabase } from '@ecf/postgres';
import { openBus } from './open-bus.js';
import { createServiceState } from './service-state.js';
import { createStorageReady } from './storage-ready.js';

/** Parts that a deployment shares between its services, and parts that tests replace. */
export interface SharedDependencies {
  /** By default one of this process. */
  bus?: Bus;
  logger?: Logger;
  metrics?: Metrics;
  /** By default the clock of the service's database. */
  clock?: () => Date;
  /** The folder of the database, if this deployment runs it. */
  databaseFolder?: string;
  /** The bodies in flight of the process. */
  bodies?: BodiesInFlight;
}

type DependenciesConfig = Parameters<typeof openBus>[0] &
  Parameters<typeof createServiceKeys>[1] & {
    readonly LOG_LEVEL: string;
    readonly MAX_BODY_BYTES?: number;
    readonly MAX_BODY_BYTES_IN_FLIGHT?: number;
    readonly DATABASE_URL: string;
    readonly DATABASE_CONNECTIONS: number;
  };

/** The dependencies of a service with its own database. */
export interface ServiceDependencies extends Required<Omit<SharedDependencies, 'databaseFolder'>> {
  readonly identities: Identities;
  readonly database: Database;
  readonly watchQueue: WatchQueue;
  readonly clockSkew: ReportClockSkew;
  /** The internal operations of every service. */
  readonly state: StateOperations;
  /** The readiness check `storage`. */
  readonly storageReady: () => Promise<void>;
  /** Follows the clock of the database, which must exist. Rejects if the database does not answer. */
  startClock(): Promise<void>;
  /** Closes the database and the service's own bus. */
  close(): Promise<void>;
}

/**
 * Opens the dependencies. They connect when they are used.
 *
 * @param settings of the sessions of the database
 */
export function openServiceDependencies(
  service: ServiceName,
  config: DependenciesConfig,
  shared: SharedDependencies,
  settings?: Readonly<Record<string, string>>,
): ServiceDependencies {
  const logger = shared.logger ?? createLogger({ service, level: config.LOG_LEVEL });
  const metrics = shared.metrics ?? createMetrics();
  const database = openDatabase(config.DATABASE_URL, {
    max: config.DATABASE_CONNECTIONS,
    applicationName: `ecf ${service}`,
    ...(settings === undefined ? {} : { settings }),
    onIdleError: (error) => logger.warn({ err: error }, 'a database connection was lost'),
  });
  const clockSkew = reportClockSkew(metrics, logger);
  const databaseClock = createDatabaseClock({
    database,
    skew: clockSkew,
    onError: (error) => logger.warn({ err: error }, 'the clock of the database could not be read'),
  });
  const clock = shared.clock ?? databaseClock.now;
  const deadLetters = createDeadLetters(database, { logger, metrics });
  const keys = createServiceKeys(service, config);
  const bus = shared.bus ?? openBus(config, { logger, metrics });
  const identities = createIdentities({ keys, clock });
  const watchQueue = createQueueWatch(metrics, service);
  const bodies = shared.bodies ?? createBodiesInFlight(config);
  watchQueue({ queue: 'body_bytes', limit: bodies.maxBytes, depth: bodies.bytes });
  watchQueue({ queue: 'database', limit: null, depth: () => database.pool.waitingCount });
  return {
    clock,
    bodies,
    logger,
    metrics,
    bus: withDeadLetters(bus, deadLetters),
    identities,
    database,
    watchQueue,
    clockSkew,
    state: createServiceState(database, metrics),
    storageReady: createStorageReady(database, shared.databaseFolder),
    startClock: databaseClock.start,
    async close() {
      databaseClock.stop();
      deadLetters.close();
      if (shared.bus === undefined) await bus.close();
      await database.close();
    },
  };
}

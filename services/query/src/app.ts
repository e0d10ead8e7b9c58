import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { authorityEndpoints, createAuthorityClient } from '@ecf/authority-client';
import {
  ARCHIVE_OPERATIONS,
  type ArchiveOperations,
  EMISSION_OPERATIONS,
  type MasterKeyOperations,
  OUTCOME_OPERATIONS,
  type QueryOperations,
  RECEPTION_OPERATIONS,
  type WebhookOperations,
} from '@ecf/contracts';
import { openDocumentJson } from '@ecf/public-ingress/document-json';
import type { Subscription } from '@ecf/service-kit/bus';
import { clientOf, gatewayTaxpayerSource, type TaxpayerSource } from '@ecf/service-kit/internal';
import { createDatabaseIfMissing, migrate } from '@ecf/service-kit/postgres';
import {
  checkReadiness,
  createCleaning,
  openServiceDependencies,
  type Readiness,
  type SharedDependencies,
} from '@ecf/service-kit/service';
import { measureAuthorityCalls } from '@ecf/service-kit/telemetry';
import { documentsOf, openXmlStore, reportIntegrityErrors, type XmlStore } from '@ecf/service-kit/xml-store';
import { createTaxpayerReplica } from '@ecf/taxpayer-replica/postgres';
import type { Express } from 'express';
import type { QueryConfig } from './config.js';
import { createDirectory } from './core/authority/directory.js';
import { createMonitoring } from './core/authority/monitoring.js';
import { createReadFeed } from './core/feed/read-feed.js';
import { createConsumptionInvoice } from './core/invoices/consumption-invoice.js';
import { createDocumentXml } from './core/invoices/document-xml.js';
import { createInvoiceDocument } from './core/invoices/invoice-document.js';
import { createOwners } from './core/invoices/owners.js';
import { createQueryInvoices } from './core/invoices/query-invoices.js';
import type { Authority, InvoiceSource, OutcomeSource, Ports, ReceivedSource, TokenSource } from './core/ports.js';
import { subscribeToEvents } from './inbound/events.js';
import { createQueryApp } from './inbound/http.js';
import { createLongPolls } from './inbound/long-polls.http.js';
import { createQueryMetrics } from './observer.js';
import { createPostgresFeed } from './outbound/feed.postgres.js';
import { createPostgresInvoices, createPostgresReceived } from './outbound/invoices.postgres.js';
import { createPostgresOutcomes, createPostgresProjection } from './outbound/projection.postgres.js';
import { createPostgresRuns } from './outbound/runs.postgres.js';
import { queryOperations } from './rebuild/operations.http.js';
import { createRebuild } from './rebuild/rebuild.js';
import { createPostgresRebuild } from './rebuild/rebuild.postgres.js';
import { createWebhooks } from './webhooks.js';

const MIGRATIONS = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
const GATEWAY_TIMEOUT_MS = 3_000;
/** For logins at the authority and pages of a rebuild. */
const LONG_TIMEOUT_MS = 60_000;

/** Parts that a deployment shares between its services, and what tests replace. */
export interface QueryOverrides extends SharedDependencies {
  archive?: XmlStore;
  /** Owners in the same process; by default the clients of EMISSION_URL and RECEPTION_URL. */
  emission?: TokenSource & InvoiceSource;
  reception?: ReceivedSource;
  outcomes?: OutcomeSource;
  /** Owners of documents that may still wait for the archive. */
  stored?: Readonly<Record<'emission' | 'reception', Pick<ArchiveOperations, 'pendingDocument'>>>;
  /** Source of taxpayers; null = none. By default the gateway of GATEWAY_URL. */
  taxpayers?: TaxpayerSource | null;
  authority?: Authority;
}

export interface Query {
  readonly app: Express;
  /** Prepares the database and subscribes to events. */
  start(): Promise<void>;
  /** Waits for work in flight. The caller stops the HTTP server before. */
  stop(): Promise<void>;
  ready(): Promise<Readiness>;
  /** The internal operations for services of the same process. */
  readonly internal: QueryOperations;
  readonly webhooks: WebhookOperations;
  readonly masterKeys: MasterKeyOperations;
}

/** Wires the query service. Nothing is connected before `start`. */
export function createQuery(config: QueryConfig, overrides: QueryOverrides = {}): Query {
  const parts = openServiceDependencies('query', config, overrides);
  const { clock, clockSkew, logger, metrics, bus, identities, database } = parts;
  const { observer, projected, lagMs } = createQueryMetrics(metrics, logger);
  const authorityClient = createAuthorityClient({
    endpoints: authorityEndpoints(config.AUTHORITY_URL),
    userAgent: 'ecf-gateway',
    timeouts: { responseMs: config.AUTHORITY_TIMEOUT_MS, totalMs: config.AUTHORITY_TIMEOUT_MS + 5_000 },
    onCall: measureAuthorityCalls(metrics, { skew: clockSkew }),
    clock,
  });
  const quick = { identities, timeoutMs: config.OWNER_TIMEOUT_MS };
  const { emission, reception, outcomes } = sourcesOf(config, overrides, quick);
  const archive = overrides.archive ?? openXmlStore(config);
  const stored = overrides.stored ?? archivesOf(config, quick);
  const ending = new AbortController();
  const ports: Ports = {
    invoices: createPostgresInvoices(database),
    received: createPostgresReceived(database),
    runs: createPostgresRuns(database),
    projection: createPostgresProjection(database),
    taxpayers: createTaxpayerReplica(database, { keepCertificates: false }),
    source:
      overrides.taxpayers === undefined
        ? gatewayTaxpayerSource(config.GATEWAY_URL, { identities, timeoutMs: GATEWAY_TIMEOUT_MS })
        : overrides.taxpayers,
    invoiceSource: emission,
    receivedSource: reception,
    outcomes: createPostgresOutcomes(database),
    feed: createPostgresFeed(database),
    outcomeSource: outcomes,
    tokens: emission,
    authority: overrides.authority ?? authorityClient,
    issuedXml: reportIntegrityErrors(documentsOf(stored.emission, archive), { metrics, logger }),
    receivedXml: reportIntegrityErrors(documentsOf(stored.reception, archive), { metrics, logger }),
    observer,
    clock,
    sleep: (ms) => delay(ms, undefined, { signal: ending.signal }).catch(() => undefined),
  };
  const webhooks = createWebhooks(config, { ...parts, feed: ports.feed });
  const owners = createOwners(ports);
  const cleaning = createCleaning({
    clean: (now) => ports.feed.deleteExpired(now),
    clock,
    failed: (error) => observer.failed('deleting old events', error),
  });
  const documentXml = createDocumentXml(ports, owners);
  const documents = openDocumentJson(parts.watchQueue);
  const rebuild = createRebuild({
    store: createPostgresRebuild(database),
    ...pick(ports, ['projection', 'outcomes', 'outcomeSource']),
    emission,
    reception,
    failed: observer.failed,
  });
  const internal = queryOperations(rebuild);
  const ready = () =>
    checkReadiness(
      { database: () => database.query('SELECT 1'), archive: () => archive.ready() },
      // Without the archive only the route of the XML fails.
      2_000,
      ['archive'],
    );
  const app = createQueryApp(
    {
      lagMs,
      invoices: createQueryInvoices(ports, owners, rebuild.state),
      documentXml,
      invoiceDocument: createInvoiceDocument(ports, documentXml, documents.toJson),
      consumption: createConsumptionInvoice(ports, owners),
      readFeed: createReadFeed(ports),
      longPolls: createLongPolls(config.MAX_LONG_POLLS_PER_ACCOUNT),
      directory: createDirectory(ports),
      monitoring: createMonitoring(ports, config.STATUS_KEY ?? null),
    },
    { logger, identities, bodies: parts.bodies, ready, internal, ...webhooks.served },
  );
  let subscription: Subscription | null = null;
  let filling = Promise.resolve();

  return {
    app,
    ready,
    internal,
    ...webhooks.served,
    async start() {
      await createDatabaseIfMissing(config.DATABASE_URL);
      await migrate(config.DATABASE_URL, MIGRATIONS);
      await parts.startClock();
      subscription = await subscribeToEvents(bus, {
        ...pick(ports, ['projection', 'outcomes', 'runs', 'taxpayers', 'feed', 'clock']),
        projected: (event) => projected(event, clock()),
        deliveriesAdded: webhooks.wake,
      });
      await webhooks.start();
      cleaning.start();
      filling = rebuild.resume();
    },
    async stop() {
      ending.abort();
      await Promise.all([rebuild.stop(), filling]);
      await subscription?.stop();
      await webhooks.stop();
      await cleaning.stop();
      authorityClient.close();
      await documents.close();
      await parts.close();
    },
  };
}

/** The owners of documents and their outcomes: those of this process, else the clients of their addresses. */
function sourcesOf(config: QueryConfig, overrides: QueryOverrides, quick: Parameters<typeof clientOf>[3]) {
  const slow = { ...quick, timeoutMs: LONG_TIMEOUT_MS };
  const emission = overrides.emission ?? {
    ...clientOf(EMISSION_OPERATIONS, 'emission', config.EMISSION_URL, slow),
    ...pick(clientOf(EMISSION_OPERATIONS, 'emission', config.EMISSION_URL, quick), ['findInvoices']),
  };
  const reception = overrides.reception ?? {
    ...clientOf(RECEPTION_OPERATIONS, 'reception', config.RECEPTION_URL, slow),
    ...pick(clientOf(RECEPTION_OPERATIONS, 'reception', config.RECEPTION_URL, quick), ['findReceived']),
  };
  const outcomesOverHttp =
    config.APPROVALS_URL === undefined ? null : clientOf(OUTCOME_OPERATIONS, 'approvals', config.APPROVALS_URL, slow);
  return { emission, reception, outcomes: overrides.outcomes ?? outcomesOverHttp };
}

function archivesOf(
  config: QueryConfig,
  options: Parameters<typeof clientOf>[3],
): NonNullable<QueryOverrides['stored']> {
  return {
    emission: clientOf(ARCHIVE_OPERATIONS, 'emission', config.EMISSION_URL, options),
    reception: clientOf(ARCHIVE_OPERATIONS, 'reception', config.RECEPTION_URL, options),
  };
}

function pick<T, N extends keyof T>(all: T, names: readonly N[]): Pick<T, N> {
  return Object.fromEntries(names.map((name) => [name, all[name]])) as Pick<T, N>;
}

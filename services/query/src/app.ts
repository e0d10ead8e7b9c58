import { setTimeout as delay } from 'node:timers/promises';
import { createIntegrityErrors, documentsOf, openXmlStore, type XmlStore } from '@ecf/archive';
import { authorityEndpoints, createAuthorityClient } from '@ecf/authority-client';
import {
  ARCHIVE_OPERATIONS,
  type ArchiveOperations,
  EMISSION_OPERATIONS,
  type MasterKeyOperations,
  OUTCOME_OPERATIONS,
  type QueryOperations,
  RECEPTION_OPERATIONS,
  type StateOperations,
  type WebhookOperations,
} from '@ecf/contracts';
import { toCalendarDate } from '@ecf/domain';
import {
  checkReadiness,
  clientOf,
  gatewayTaxpayerSource,
  type LogoSource,
  type Readiness,
  type TaxpayerSource,
} from '@ecf/http';
import { measureAuthorityCalls } from '@ecf/kit/telemetry';
import { openDocumentJson } from '@ecf/public-ingress/document-json';
import { openPrinting } from '@ecf/public-ingress/printing';
import { openServiceDependencies, type SharedDependencies } from '@ecf/service';
import { createTaxpayerReplica } from '@ecf/taxpayer-replica/postgres';
import type { Express } from 'express';
import { createDirectory } from './authority/directory.js';
import { createMonitoring } from './authority/monitoring.js';
import type { Authority, TokenSource } from './authority/ports.js';
import { createBackground } from './background.js';
import type { QueryConfig } from './config.js';
import { subscribeToEvents } from './events.kafka.js';
import { createPostgresFeed } from './feed/feed.postgres.js';
import { createLongPolls } from './feed/long-polls.http.js';
import { createReadFeed } from './feed/read-feed.js';
import { createConsumptionInvoice } from './invoices/consumption-invoice.js';
import { createDocumentXml } from './invoices/document-xml.js';
import { countDocuments } from './invoices/documents-today.postgres.js';
import { createInvoiceDocument, createInvoicePdf } from './invoices/invoice-document.js';
import { createPostgresInvoices, createPostgresReceived } from './invoices/invoices.postgres.js';
import { createLogos } from './invoices/logos.js';
import { createOwners } from './invoices/owners.js';
import type { InvoiceSource, OutcomeSource, ReceivedSource } from './invoices/ports.js';
import { createPostgresOutcomes, createPostgresProjection } from './invoices/projection.postgres.js';
import { createQueryInvoices } from './invoices/query-invoices.js';
import { createPostgresRuns } from './invoices/runs.postgres.js';
import { createQueryMetrics, showDocumentsToday } from './metrics.js';
import { queryOperations } from './rebuild/operations.http.js';
import { createRebuild } from './rebuild/rebuild.js';
import { createPostgresRebuild } from './rebuild/rebuild.postgres.js';
import { createQueryApp } from './routes.http.js';
import { createWebhooks } from './webhooks/index.js';

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
  taxpayers?: (TaxpayerSource & LogoSource) | null;
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
  readonly state: StateOperations;
}

/** Wires the query service. It opens no connection before `start`. */
export function createQuery(config: QueryConfig, overrides: QueryOverrides = {}): Query {
  const parts = openServiceDependencies('query', config, overrides);
  const { clock, clockSkew, logger, metrics, bus, identities, database } = parts;
  const { failed, projected, lagMs } = createQueryMetrics(metrics, logger);
  showDocumentsToday(metrics, () => countDocuments(database, toCalendarDate(clock())));
  const authorityClient = createAuthorityClient({
    endpoints: authorityEndpoints(config.AUTHORITY_URL),
    userAgent: 'ecf-gateway',
    timeouts: { responseMs: config.AUTHORITY_TIMEOUT_MS, totalMs: config.AUTHORITY_TIMEOUT_MS + 5_000 },
    onCall: measureAuthorityCalls(metrics, { skew: clockSkew }),
    clock,
  });
  const quick = { identities, timeoutMs: config.OWNER_TIMEOUT_MS };
  const { emission, reception, outcomeSource } = sourcesOf(config, overrides, quick);
  const archive = overrides.archive ?? openXmlStore(config);
  const stored = overrides.stored ?? archivesOf(config, quick);
  const ending = new AbortController();
  const invoices = createPostgresInvoices(database);
  const received = createPostgresReceived(database);
  const runs = createPostgresRuns(database);
  const projection = createPostgresProjection(database);
  const outcomes = createPostgresOutcomes(database);
  const feed = createPostgresFeed(database);
  const source =
    overrides.taxpayers === undefined
      ? gatewayTaxpayerSource(config.GATEWAY_URL, { identities, timeoutMs: GATEWAY_TIMEOUT_MS })
      : overrides.taxpayers;
  const taxpayers = createTaxpayerReplica(database, { keepCertificates: false });
  const account = { taxpayers, source, observer: { failed } };
  const authority = overrides.authority ?? authorityClient;
  const integrity = createIntegrityErrors({ service: 'query', database, archive, metrics, logger });
  const issuedXml = integrity.reported(documentsOf(stored.emission, archive));
  const receivedXml = integrity.reported(documentsOf(stored.reception, archive));
  const sleep = (ms: number) => delay(ms, undefined, { signal: ending.signal }).catch(() => undefined);
  const webhooks = createWebhooks(config, { ...parts, feed });
  const owners = createOwners({ emission, reception, projection, runs, failed });
  const documentXml = createDocumentXml({ ...account, invoices, runs, received, issuedXml, receivedXml }, owners);
  const documents = openDocumentJson(parts.watchQueue);
  const printing = openPrinting();
  const store = createPostgresRebuild(database);
  const rebuild = createRebuild({ store, projection, outcomes, emission, reception, outcomeSource, failed });
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
      invoices: createQueryInvoices({ ...account, invoices, runs, emission }, owners, rebuild.state),
      documentXml,
      invoiceDocument: createInvoiceDocument(account, documentXml, documents.toJson),
      invoicePdf: createInvoicePdf(account, documentXml, createLogos(source), printing.print),
      consumption: createConsumptionInvoice({ ...account, authority, tokens: emission, invoices, runs }, owners),
      readFeed: createReadFeed(account, feed, sleep),
      longPolls: createLongPolls(config.MAX_LONG_POLLS_PER_ACCOUNT),
      directory: createDirectory(authority, emission),
      monitoring: createMonitoring(authority, config.STATUS_KEY ?? null, clock),
    },
    { logger, identities, bodies: parts.bodies, ready, state: parts.state, internal, ...webhooks.served },
  );
  const background = createBackground({
    database,
    startClock: parts.startClock,
    subscribe: () =>
      subscribeToEvents(bus, {
        projection,
        outcomes,
        runs,
        taxpayers: account.taxpayers,
        feed,
        clock,
        projected: (event) => projected(event, clock()),
        deliveriesAdded: webhooks.wake,
      }),
    webhooks,
    async clean(now, signal) {
      await feed.deleteExpired(now);
      await integrity.readAgain(signal);
    },
    rebuild,
    clock,
    failed,
  });

  return {
    app,
    ready,
    internal,
    ...webhooks.served,
    state: parts.state,
    start: background.start,
    async stop() {
      ending.abort();
      integrity.close();
      await background.stop();
      authorityClient.close();
      await documents.close();
      printing.close();
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
  return { emission, reception, outcomeSource: overrides.outcomes ?? outcomesOverHttp };
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

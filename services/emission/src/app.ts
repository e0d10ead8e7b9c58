import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  authorityEndpoints,
  createAuthorityClient,
  createTokenProvider,
  inMemoryTokenCache,
  type TokenCache,
} from '@ecf/authority-client';
import {
  type ArchiveOperations,
  type EmissionOperations,
  type FollowUpOperations,
  type ResolutionOperations,
  type SigningOperations,
  TOPICS,
} from '@ecf/contracts';
import { makeEvent, type Subscription } from '@ecf/service-kit/bus';
import { openSharedCache } from '@ecf/service-kit/cache';
import { openFileDeadLetters } from '@ecf/service-kit/dead-letters';
import { createHttpTaxpayerSource } from '@ecf/service-kit/internal';
import { createOutboxRelay } from '@ecf/service-kit/outbox';
import { createDatabaseIfMissing, migrate } from '@ecf/service-kit/postgres';
import { seal, unseal } from '@ecf/service-kit/security';
import { checkReadiness, openServiceParts, type Readiness, type SharedParts } from '@ecf/service-kit/service';
import { measureAuthorityCalls } from '@ecf/service-kit/telemetry';
import {
  createArchiver,
  createStoredFiles,
  openXmlStore,
  ownDocuments,
  reportIntegrityErrors,
  type XmlStore,
} from '@ecf/service-kit/xml-store';
import type { Express } from 'express';
import type { EmissionConfig } from './config.js';
import { type Attempt, documentKey } from './core/attempt/attempt.js';
import { createCancelNumbers } from './core/cancellation/cancel-numbers.js';
import type { Cancellation } from './core/cancellation/cancellation.js';
import { createCancellationBackground } from './core/cancellation/cancellation-background.js';
import { cancellationChanged } from './core/cancellation/cancellation-body.js';
import type { CancellationPorts } from './core/cancellation/cancellation-ports.js';
import { createQueryCancellations } from './core/cancellation/query-cancellations.js';
import { createSendCancellation } from './core/cancellation/send-cancellation.js';
import { createSettleCancellation } from './core/cancellation/settle-cancellation.js';
import { createCertificates } from './core/credentials/certificates.js';
import {
  createDocumentCertificates,
  createDocumentToken,
  createDocumentTokens,
  createSignSeed,
} from './core/credentials/document-credentials.js';
import { createObtainToken } from './core/credentials/obtain-token.js';
import { applyStatus } from './core/follow-up/apply-status.js';
import { createBackground } from './core/follow-up/background.js';
import { createFollowUp } from './core/follow-up/follow-up.js';
import { createProveSubmission } from './core/follow-up/prove-submission.js';
import { createResolveByOperator } from './core/follow-up/resolve-by-operator.js';
import type { AccountSource, Ports } from './core/ports.js';
import { invoiceChanged } from './core/published/invoice-event.js';
import { createKeyedQueue } from './core/submit/keyed-queue.js';
import { createSubmitJson } from './core/submit/submit-json.js';
import { createSubmitSigned } from './core/submit/submit-signed.js';
import { createTaxpayers } from './core/taxpayers.js';
import { subscribeDeliveries, subscribeInvoiceStatus, subscribeTaxpayers } from './inbound/events.js';
import { createEmissionApp } from './inbound/http.js';
import { followUpOperations, internalOperations, signingOperations } from './inbound/internal-operations.js';
import { resolutionOperations } from './inbound/resolution-operations.js';
import { createCancellationMetrics, createEmissionMetrics } from './observer.js';
import { createCancellationDocuments } from './outbound/cancellation-documents.threads.js';
import { createPostgresCancellationStore } from './outbound/cancellation-store.postgres.js';
import { createPostgresEmissionStore } from './outbound/emission-store.postgres.js';
import { createPostgresPublishedDocuments } from './outbound/published-documents.postgres.js';
import { STORED_FILES } from './outbound/stored-files.js';
import { createRetryingTaxpayerReplica } from './outbound/taxpayer-replica.postgres.js';

const MIGRATIONS = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', 'prisma', 'migrations');
const BACKLOG_EVERY_MS = 15_000;
const HEARTBEAT_MS = 3_000;
/** The consumer group of this service. */
export const EMISSION_GROUP = 'emission';
const PENDING_MS = 10_000;

/** What a deployment shares between services, and what tests replace. */
export interface EmissionOverrides extends SharedParts {
  readonly accounts?: AccountSource;
  readonly archive?: XmlStore;
  readonly tokenCache?: TokenCache;
  readonly authority?: Ports['authority'];
  readonly cancellationAuthority?: CancellationPorts['cancellationAuthority'];
  readonly random?: () => number;
  readonly checkpoint?: Ports['checkpoint'];
  readonly heartbeatMs?: number;
}

export interface Emission {
  readonly app: Express;
  /** Makes and migrates the database, then takes up what is due and publishes events. */
  start(): Promise<void>;
  /** Ends gracefully: what is under way is finished and recorded. */
  stop(): Promise<void>;
  ready(): Promise<Readiness>;
  /** What services of the same process ask instead of the internal routes. */
  readonly internal: EmissionOperations;
  /** The same for those who follow documents up. */
  readonly followUps: FollowUpOperations;
  /** The same for those who deliver documents. */
  readonly signing: SigningOperations;
  /** The same for those who operate the deployment. */
  readonly resolution: ResolutionOperations;
  readonly stored: ArchiveOperations;
}

/** Wires the emission service. Nothing is connected before `start`. */
export function createEmission(config: EmissionConfig, overrides: EmissionOverrides = {}): Emission {
  const parts = openServiceParts('emission', config, overrides, {
    deadLetters: openFileDeadLetters(path.join(config.DATA_DIR, 'dead-letters')),
  });
  const { clock, logger, metrics, bus, identityKey, database } = parts;
  const { observer, backlog } = createEmissionMetrics(metrics, logger);
  const cancellationMetrics = createCancellationMetrics(metrics, logger);
  const archive = overrides.archive ?? openXmlStore(config);
  const archiver = createArchiver({ database, archive, service: 'emission', logger, metrics });
  const client = createAuthorityClient({
    endpoints: authorityEndpoints(config.AUTHORITY_URL),
    userAgent: 'ecf-gateway',
    timeouts: { responseMs: config.AUTHORITY_TIMEOUT_MS, totalMs: config.AUTHORITY_TIMEOUT_MS + 5_000 },
    onCall: measureAuthorityCalls(metrics),
    clock,
  });
  const sharedCache = openSharedCache(config, { masterKey: config.MASTER_KEY, logger, metrics });
  const tokens = createTokenProvider({
    client,
    cache: overrides.tokenCache ?? sharedCache ?? inMemoryTokenCache(clock),
    clock,
  });
  const taxpayerReplica = createRetryingTaxpayerReplica(database, config.DATABASE_PATIENCE_MS);
  const ports: Ports = {
    emissions: createPostgresEmissionStore({
      database,
      patienceMs: config.DATABASE_PATIENCE_MS,
      describe: (attempt) => invoiceEvent(attempt, clock()),
    }),
    taxpayers: taxpayerReplica,
    accounts: overrides.accounts ?? gatewayAccounts(config, identityKey, clock),
    archive: reportIntegrityErrors(ownDocuments(database, archive), { metrics, logger }),
    authority: overrides.authority ?? client,
    tokens,
    sealer: {
      seal: (plaintext, context) => seal(config.MASTER_KEY, plaintext, context),
      unseal: (sealed, context) => unseal(config.MASTER_KEY, sealed, context),
    },
    observer,
    clock,
    random: overrides.random ?? Math.random,
    sleep: (ms) => delay(ms),
    owner: randomUUID(),
    inOrder: createKeyedQueue(),
    pending: new Set(),
    checkpoint: overrides.checkpoint ?? (() => undefined),
    settings: {
      statusWaitMs: config.STATUS_WAIT_MS,
      resendAfterMs: config.RESEND_AFTER_MS,
      firstRetryMs: config.FIRST_RETRY_MS,
      tryAgainLimit: 5,
      sendTimeoutMs: config.AUTHORITY_TIMEOUT_MS + 5_000,
      leaseMs: 2 * (config.AUTHORITY_TIMEOUT_MS + 5_000) + 30_000,
      maxBodyBytes: config.MAX_BODY_BYTES,
    },
  };
  const taxpayers = createTaxpayers(ports);
  const certificates = createCertificates(ports);
  const documentCertificates = createDocumentCertificates(ports, taxpayers, certificates);
  const documentTokens = createDocumentTokens(ports, documentCertificates);
  const followUp = createFollowUp(ports, documentTokens);
  const cancellationDocuments = createCancellationDocuments();
  const cancellationPorts: CancellationPorts = {
    ...ports,
    cancellations: createPostgresCancellationStore({
      database,
      patienceMs: config.DATABASE_PATIENCE_MS,
      describe: (cancellation) => cancellationEvent(cancellation, clock()),
    }),
    cancellationDocuments,
    cancellationAuthority: overrides.cancellationAuthority ?? client,
    cancellationObserver: cancellationMetrics.observer,
  };
  const sendCancellation = createSendCancellation(cancellationPorts);
  const cancellationBackground = createCancellationBackground(
    cancellationPorts,
    taxpayers,
    certificates,
    sendCancellation,
    { idleMs: config.BACKGROUND_IDLE_MS },
  );
  const background = createBackground(ports, followUp, {
    concurrency: config.BACKGROUND_CONCURRENCY,
    idleMs: config.BACKGROUND_IDLE_MS,
    heartbeatMs: overrides.heartbeatMs ?? HEARTBEAT_MS,
  });
  // Under load a look at the outbox finds several documents; nobody notices that an event is 25 ms older.
  const relay = createOutboxRelay({ database, bus, service: 'emission', logger, metrics, clock });
  const ready = () =>
    // Documents are submitted while the archive is away; the archiver stores them later.
    checkReadiness({ database: () => database.query('SELECT 1'), archive: () => archive.ready() }, 2_000, ['archive']);
  const obtainToken = createObtainToken(ports, taxpayers, certificates);
  const told = createPostgresPublishedDocuments(database);
  const internal = internalOperations({ told, obtainToken });
  const followUps = followUpOperations({ told, documentToken: createDocumentToken(ports, documentTokens) });
  const signing = signingOperations(createSignSeed(ports, documentCertificates));
  const resolution = resolutionOperations({
    told,
    resolve: createResolveByOperator(ports, createProveSubmission(ports, documentTokens)),
    cancellations: cancellationPorts.cancellations,
    settle: createSettleCancellation(cancellationPorts),
  });
  const stored = createStoredFiles(database, STORED_FILES);
  const app = createEmissionApp({
    submitJson: createSubmitJson(ports, taxpayers, certificates, followUp),
    submitSigned: createSubmitSigned(ports, taxpayers, followUp),
    obtainToken,
    cancellations: {
      cancel: createCancelNumbers(cancellationPorts, taxpayers, certificates, sendCancellation),
      query: createQueryCancellations(cancellationPorts, taxpayers),
      documents: cancellationDocuments,
    },
    resolution,
    stored,
    internal,
    followUps,
    signing,
    ready,
    identityKey,
    maxBodyBytes: config.MAX_BODY_BYTES,
    logger,
    clock,
  });

  let subscriptions: Subscription[] = [];
  let counting: NodeJS.Timeout | undefined;

  function count(): void {
    ports.emissions.backlog().then(
      (present) => backlog(present, clock()),
      (error) => logger.warn({ err: error }, 'the backlog could not be counted'),
    );
    cancellationPorts.cancellations
      .backlog()
      .then(cancellationMetrics.backlog, (error) =>
        logger.warn({ err: error }, 'the cancellations could not be counted'),
      );
    told.forget().catch((error) => logger.warn({ err: error }, 'old changes could not be forgotten'));
  }

  return {
    app,
    ready,
    internal,
    followUps,
    signing,
    resolution,
    stored,
    async start() {
      await createDatabaseIfMissing(config.DATABASE_URL);
      await migrate(config.DATABASE_URL, MIGRATIONS);
      subscriptions = [
        await subscribeTaxpayers(bus, EMISSION_GROUP, ports),
        await subscribeInvoiceStatus(bus, EMISSION_GROUP, (told) => applyStatus(ports, told)),
        await subscribeDeliveries(bus, EMISSION_GROUP, ports.emissions),
      ];
      relay.start();
      archiver.start();
      await background.start();
      cancellationBackground.start();
      count();
      counting = setInterval(count, BACKLOG_EVERY_MS);
    },
    async stop() {
      clearInterval(counting);
      await Promise.all([background.stop(), cancellationBackground.stop()]);
      // What cannot be recorded now, the database being away, is looked up after the next start.
      await Promise.race([Promise.allSettled(ports.pending), delay(PENDING_MS, undefined, { ref: false })]);
      await ports.emissions.leave(ports.owner, clock()).catch(() => undefined);
      await relay.stop();
      await archiver.stop();
      for (const subscription of subscriptions) await subscription.stop();
      client.close();
      await sharedCache?.close();
      await parts.close();
    },
  };
}

function invoiceEvent(attempt: Attempt, now: Date) {
  return makeEvent(
    {
      topic: TOPICS.invoices.name,
      type: 'invoice.changed',
      source: 'emission',
      subject: `${attempt.issuerRnc}:${attempt.encf}`,
      key: documentKey(attempt),
      data: invoiceChanged(attempt),
    },
    { id: randomUUID(), time: now },
  );
}

function cancellationEvent(cancellation: Cancellation, now: Date) {
  const data = cancellationChanged(cancellation);
  return makeEvent(
    {
      topic: TOPICS.cancellations.name,
      type: 'cancellation.changed',
      source: 'emission',
      subject: `${data.issuer_rnc}:${data.id}`,
      key: `${data.env}:${data.issuer_rnc}:${data.id}`,
      data,
    },
    { id: randomUUID(), time: now },
  );
}

function gatewayAccounts(config: EmissionConfig, key: Uint8Array, clock: () => Date): AccountSource {
  const gatewayUrl = config.GATEWAY_URL;
  if (gatewayUrl === undefined) {
    return {
      fetch: () => Promise.reject(new Error('GATEWAY_URL is not set, so accounts that changed cannot be asked for')),
    };
  }
  const source = createHttpTaxpayerSource({ gatewayUrl, identityKey: key, service: 'emission', clock });
  return { fetch: (accountId) => source.account(accountId) };
}

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type AuthorityClient,
  authorityEndpoints,
  createAuthorityClient,
  createTokenProvider,
  inMemoryTokenCache,
  type TokenCache,
} from '@ecf/authority-client';
import type {
  ArchiveOperations,
  EmissionOperations,
  FollowUpOperations,
  MasterKeyOperations,
  ResolutionOperations,
} from '@ecf/contracts';
import { validationSettings } from '@ecf/public-ingress';
import { openSharedCache } from '@ecf/service-kit/cache';
import { createInstanceReport, createMasterKeyOperations } from '@ecf/service-kit/master-keys';
import { createOutboxRelay } from '@ecf/service-kit/outbox';
import { createSealingKeys, type SealingKeys } from '@ecf/service-kit/security';
import {
  openServiceDependencies,
  type Readiness,
  type ServiceDependencies,
  type SharedDependencies,
  writerReadiness,
} from '@ecf/service-kit/service';
import { measureAuthorityCalls } from '@ecf/service-kit/telemetry';
import {
  createArchiver,
  createStoredFiles,
  openXmlStore,
  ownDocuments,
  reportIntegrityErrors,
  type StoredFileTable,
  type XmlStore,
} from '@ecf/service-kit/xml-store';
import { createCertificateFiles } from '@ecf/taxpayer-replica/certificate-files';
import { replicatedCertificates } from '@ecf/taxpayer-replica/postgres';
import type { Express } from 'express';
import { createPostgresEmissionStore } from './attempt/emission.postgres.js';
import type { Observer, ReachCheckpoint } from './attempt/ports.js';
import { createRecorder } from './attempt/recorder.js';
import { createLifeCycle } from './background.js';
import { openAccountRate } from './batches/account-rate.redis.js';
import { createCountBackground, createLineBackground } from './batches/batch-background.js';
import type { Batches } from './batches/batches.http.js';
import { createPostgresBatchStore } from './batches/batches.postgres.js';
import type { ReadLines } from './batches/line-numbers.js';
import { createProcessLine } from './batches/process-line.js';
import { createQueryBatches } from './batches/query-batches.js';
import { createReceiveBatch } from './batches/receive-batch.js';
import { createCancelNumbers } from './cancellation/cancel-numbers.js';
import { createCancellationDocuments } from './cancellation/cancellation-documents.worker.js';
import { createPostgresCancellationStore } from './cancellation/cancellations.postgres.js';
import { createCancellationBackground, createSendCancellation } from './cancellation/send-cancellation.js';
import { createSettleCancellation } from './cancellation/settle-cancellation.js';
import type { EmissionConfig } from './config.js';
import { createPostgresContingencyStore } from './contingency/contingency.postgres.js';
import { createMaintenanceWatch } from './contingency/maintenance.js';
import { createRecovery } from './contingency/recovery.js';
import { createTokenBeforeSigning } from './contingency/token-or-wait.js';
import { createCertificates } from './credentials/certificates.js';
import { createDocumentToken, createDocumentTokens } from './credentials/document-credentials.js';
import { createObtainToken } from './credentials/obtain-token.js';
import type { AccountSource } from './credentials/ports.js';
import { sealedRequestCertificates } from './credentials/sealed-certificates.postgres.js';
import { createTaxpayers } from './credentials/taxpayers.js';
import {
  createRetryingCertificateUses,
  createRetryingTaxpayerReplica,
  gatewayAccounts,
} from './credentials/taxpayers.postgres.js';
import { publicError } from './errors.http.js';
import { followUpOperations, internalOperations } from './internal.http.js';
import { createAdmission } from './issue/admission.http.js';
import { createWaits } from './issue/await-verdict.js';
import { createCompareWithAttempt } from './issue/compare-documents.js';
import { createInvoices } from './issue/invoices.worker.js';
import { createIssue } from './issue/issue.js';
import { createIssueJson, type IssueJson } from './issue/issue-json.js';
import { createResumeSigned } from './issue/resume-signed.js';
import { createSignJson } from './issue/sign-json.js';
import { createSignedDocuments } from './issue/signed-documents.worker.js';
import { createSubmitJson } from './issue/submit-json.js';
import { createSubmitSigned } from './issue/submit-signed.js';
import { createKeyedQueue } from './keyed-queue.js';
import { createBatchMetrics, createCancellationMetrics, createEmissionMetrics } from './metrics.js';
import { createPostgresNumberStore } from './numbers/numbers.postgres.js';
import { batchEvent, cancellationEvent, invoiceEvent, runEvent } from './published/changed-events.js';
import { createPostgresPublishedDocuments } from './published/published-documents.postgres.js';
import { createEmissionApp } from './routes.http.js';
import { createPostgresRunStore } from './runs/runs.postgres.js';
import { createStartRun } from './runs/start-run.js';
import { createBackground } from './sending/background.js';
import { createFollowUp } from './sending/follow-up.js';
import type { Authority, SendingPorts } from './sending/ports.js';
import { createProveSubmission } from './sending/prove-submission.js';
import { resolutionOperations } from './sending/resolution.http.js';
import { createResolveByOperator } from './sending/resolve-by-operator.js';
import { createSendAttempt } from './sending/send-attempt.js';

/** Columns that hold paths and checksums of archived XML. */
const STORED_FILES: readonly StoredFileTable[] = [
  {
    table: 'attempt',
    key: ['emission_id', 'attempt'],
    files: [
      ['xml_path', 'xml_sha256'],
      ['rfce_path', 'rfce_sha256'],
    ],
  },
  { table: 'cancellation', key: ['id'], files: [['xml_path', 'xml_sha256']] },
];

/** Infrastructure that a deployment shares between services, or that tests replace. */
export interface EmissionOverrides extends SharedDependencies {
  readonly accounts?: AccountSource;
  readonly archive?: XmlStore;
  readonly tokenCache?: TokenCache;
  readonly authority?: Authority;
  readonly cancellationAuthority?: Pick<AuthorityClient, 'submitCancellation'>;
  readonly random?: () => number;
  readonly checkpoint?: ReachCheckpoint;
}

export interface Emission {
  readonly app: Express;
  /** Creates and migrates the database, then starts the background work and publishes events. */
  start(): Promise<void>;
  /** Ends gracefully: finishes and records the work in flight. */
  stop(): Promise<void>;
  ready(): Promise<Readiness>;
  /** Operations for services of the same process, instead of the internal routes. */
  readonly internal: EmissionOperations;
  /** Operations for the status poller. */
  readonly followUps: FollowUpOperations;
  /** Operations for the administration. */
  readonly resolution: ResolutionOperations;
  readonly stored: ArchiveOperations;
  readonly masterKeys: MasterKeyOperations;
}

/** Wires the emission service. It opens no connection before `start`. */
export function createEmission(config: EmissionConfig, overrides: EmissionOverrides = {}): Emission {
  const parts = openServiceDependencies('emission', config, overrides);
  const { clock, logger, metrics, bus, database } = parts;
  const { observer, backlog } = createEmissionMetrics(metrics, logger);
  const cancellationMetrics = createCancellationMetrics(metrics, logger);
  const archive = overrides.archive ?? openXmlStore(config);
  const archiver = createArchiver({ database, archive, service: 'emission', logger, metrics });
  const sealingKeys = createSealingKeys('emission', config);
  const { client, tokens, recordUse, watches, closeClients } = openAuthority(config, overrides, parts, sealingKeys);
  const workers = openWorkers(config, parts);
  const { signedDocuments, cancellationDocuments, invoices, readLine } = workers;
  const stores = openStores(config, parts);
  const { emissions, numbers, contingency, runs } = stores;
  const files = reportIntegrityErrors(ownDocuments(database, archive), { metrics, logger });
  const authority = overrides.authority ?? client;
  const checkpoint = overrides.checkpoint ?? (() => undefined);
  const random = overrides.random ?? Math.random;
  const sleep = (ms: number) => delay(ms);
  const pending = new Set<Promise<unknown>>();
  const inOrder = createKeyedQueue();
  const owner = randomUUID();
  const sendTimeoutMs = config.AUTHORITY_TIMEOUT_MS + 5_000;
  const settings = {
    statusWaitMs: config.STATUS_WAIT_MS,
    resendAfterMs: config.RESEND_AFTER_MS,
    firstRetryMs: config.FIRST_RETRY_MS,
    tryAgainLimit: 5,
    sendTimeoutMs,
    // Longer than a send and its repeat with a new token.
    leaseMs: 2 * sendTimeoutMs + 10_000,
  };
  const recorder = createRecorder({ emissions, observer, clock, random, sleep, pending, owner, settings });

  const taxpayers = createTaxpayers(stores.taxpayers, overrides.accounts ?? gatewayAccounts(config, parts.identities));
  const certificates = createCertificates(sealingKeys, clock, workers.certificateFiles.open);
  const documentTokens = createDocumentTokens({ emissions, observer, clock, tokens, taxpayers, certificates });
  const obtainToken = createObtainToken(tokens, taxpayers, certificates);

  const sending: SendingPorts = {
    emissions,
    recorder,
    authority,
    contingency,
    runs,
    archive: files,
    observer,
    clock,
    checkpoint,
  };
  const send = createSendAttempt(sending);
  const followUp = createFollowUp(sending, send, documentTokens);
  const compare = createCompareWithAttempt(files, invoices.compare);
  const issue = createIssue({ emissions, numbers, recorder, compare, send, inOrder, clock, checkpoint });
  const tokenBeforeSigning = createTokenBeforeSigning(authority, contingency, clock, config.RECOVERY_RATE);
  const issueJson = createIssueJson({
    readInvoice: invoices.read,
    taxpayers,
    certificates,
    signer: createSignJson({
      certificates,
      tokens,
      tokenBeforeSigning,
      recordUse,
      sealer: sealingKeys,
      observer,
      clock,
    }),
    issue,
    compare,
    emissions,
    numbers,
    observer,
    clock,
    sleep,
    checkpoint,
  });
  const waits = createWaits({ emissions, recorder, authority, followUp, observer, clock, sleep, settings });
  const resumeSigned = createResumeSigned(waits, recorder, followUp, clock);
  const idle = { idleMs: config.BACKGROUND_IDLE_MS };
  const cancellations = openCancellations(config, parts);
  const cancellation = {
    cancellations,
    taxpayers,
    certificates,
    tokens,
    observer: cancellationMetrics.observer,
    clock,
    // Two logins of two calls each, and two sends.
    leaseMs: 6 * sendTimeoutMs + 15_000,
    checkpoint,
  };
  const sendCancellation = createSendCancellation({
    ...cancellation,
    authority: overrides.cancellationAuthority ?? client,
    archive: files,
    random,
    sleep,
    firstRetryMs: config.FIRST_RETRY_MS,
    pending,
  });
  const cancellationBackground = createCancellationBackground({ ...cancellation, ...idle, send: sendCancellation });
  const background = createBackground(sending, followUp, {
    ...idle,
    owner,
    leaseMs: settings.leaseMs,
    concurrency: config.BACKGROUND_CONCURRENCY,
  });
  const recovery = createRecovery(sending, { ...idle, recoveryRate: config.RECOVERY_RATE });
  const others = [recovery, ...watches];
  const batches = createBatches(config, parts, { clock, random, observer, settings, readLine }, issueJson);
  const relay = createOutboxRelay({ database, bus, service: 'emission', logger, metrics, clock });
  const ready = () => writerReadiness(parts, archive);
  const published = createPostgresPublishedDocuments(database);
  const internal = internalOperations({ published, obtainToken, emissions });
  const followUps = followUpOperations({ published, documentToken: createDocumentToken(emissions, documentTokens) });
  const resolution = resolutionOperations({
    published,
    resolve: createResolveByOperator(emissions, recorder, createProveSubmission(authority, documentTokens)),
    numbers,
    cancellations,
    clock,
    settle: createSettleCancellation(cancellations, cancellationMetrics.observer, clock),
    startRun: createStartRun({ runs, clock }),
  });
  const stored = createStoredFiles(database, STORED_FILES);
  const sealed = openSealed(parts, sealingKeys);
  const app = createEmissionApp({
    submitJson: createSubmitJson(issueJson, waits, files, clock),
    submitSigned: createSubmitSigned({
      taxpayers,
      readSigned: signedDocuments.read,
      issue,
      waits,
      resumeSigned,
      clock,
    }),
    obtainToken,
    ...batches.http,
    cancellations: {
      cancel: createCancelNumbers({
        ...cancellation,
        documents: cancellationDocuments,
        recordUse,
        send: sendCancellation,
        inOrder,
      }),
      documents: cancellationDocuments,
      cancellations,
      taxpayers,
      archive: files,
    },
    waiting: contingency,
    resolution,
    stored,
    masterKeys: sealed.operations,
    internal,
    followUps,
    ready,
    ...parts,
    maxBodyBytes: config.MAX_BODY_BYTES,
  });

  const lifeCycle = createLifeCycle(config, {
    ...parts,
    ...stores,
    recorder,
    pending,
    cancellations,
    published,
    countBacklog: { documents: backlog, cancellations: cancellationMetrics.backlog, batches: batches.count },
    relay,
    archiver,
    instance: sealed.instance,
    backgrounds: [background, ...others, cancellationBackground, ...batches.backgrounds],
    batches: batches.store,
    closeClients: () => Promise.all([closeClients(), workers.close(), batches.rate.close()]),
  });
  return { app, ready, internal, followUps, resolution, stored, masterKeys: sealed.operations, ...lifeCycle };
}

function openStores(config: EmissionConfig, { database, clock }: ServiceDependencies) {
  const timeoutMs = config.DATABASE_WAIT_MS;
  return {
    emissions: createPostgresEmissionStore({
      database,
      timeoutMs,
      describe: (attempt) => invoiceEvent(attempt, clock()),
    }),
    numbers: createPostgresNumberStore(database, timeoutMs),
    runs: createPostgresRunStore(database, (run) => runEvent(run, clock()), timeoutMs),
    contingency: createPostgresContingencyStore(database),
    taxpayers: createRetryingTaxpayerReplica(database, timeoutMs),
  };
}

/** The authority's client, its tokens from the cache that instances share, and the record of what certificates sign. */
function openAuthority(
  config: EmissionConfig,
  overrides: EmissionOverrides,
  parts: ServiceDependencies,
  sealingKeys: SealingKeys,
) {
  const { clock, clockSkew, logger, metrics } = parts;
  const client = createAuthorityClient({
    endpoints: authorityEndpoints(config.AUTHORITY_URL),
    userAgent: 'ecf-gateway',
    timeouts: { responseMs: config.AUTHORITY_TIMEOUT_MS, totalMs: config.AUTHORITY_TIMEOUT_MS + 5_000 },
    onCall: measureAuthorityCalls(metrics, { skew: clockSkew }),
    clock,
  });
  const sharedCache = openSharedCache(config, { sealingKeys, logger, metrics });
  const recordUse = createRetryingCertificateUses(parts, config.DATABASE_WAIT_MS);
  const tokens = createTokenProvider({
    client,
    cache: overrides.tokenCache ?? sharedCache ?? inMemoryTokenCache(clock),
    beforeLogin: (login) => recordUse({ ...login, use: 'login' }),
    clock,
  });
  const failed = (error: unknown) => logger.warn({ err: error }, 'announcements of maintenance could not be read');
  const { STATUS_KEY: statusKey, MAINTENANCE_EVERY_MS: everyMs } = config;
  const watches = statusKey ? [createMaintenanceWatch(client, { statusKey, everyMs, clock, failed })] : [];
  return {
    client,
    tokens,
    recordUse,
    watches,
    async closeClients() {
      client.close();
      await sharedCache?.close();
    },
  };
}

/** Batches: their routes, and the work on their lines. */
function createBatches(
  config: EmissionConfig,
  parts: ServiceDependencies,
  ports: {
    readonly clock: () => Date;
    readonly random: () => number;
    readonly observer: Observer;
    readonly settings: { readonly leaseMs: number };
    readonly readLine: ReadLines;
  },
  issueJson: IssueJson,
) {
  const admission = createAdmission(config.MAX_SUBMISSIONS);
  parts.watchQueue({ queue: 'submissions', limit: config.MAX_SUBMISSIONS, depth: admission.inFlight });
  const rate = openAccountRate(config, parts);
  const store = createPostgresBatchStore({
    database: parts.database,
    timeoutMs: config.DATABASE_WAIT_MS,
    describe: (batch) => batchEvent(batch, ports.clock()),
  });
  const batchPorts = { ...ports, batches: store, lineRate: rate.lines };
  const options = {
    idleMs: config.BACKGROUND_IDLE_MS,
    concurrency: config.BATCH_CONCURRENCY,
    hasSubmissions: () => admission.inFlight() > 0,
  };
  const lines = createLineBackground(batchPorts, createProcessLine(batchPorts, issueJson, publicError), options);
  const counts = createCountBackground(batchPorts, options);
  const routes: Batches = {
    receive: createReceiveBatch(batchPorts, lines.wake),
    query: createQueryBatches(batchPorts),
    maxDocumentBytes: config.MAX_BODY_BYTES,
  };
  const http = { batches: routes, admission, countDocument: rate.countCall };
  return { store, http, rate, backgrounds: [lines, counts], count: createBatchMetrics(parts.metrics) };
}

/** The threads that read documents and certificate files, and sign cancellations. */
function openWorkers(config: EmissionConfig, { watchQueue }: ServiceDependencies) {
  const certificateFiles = createCertificateFiles(watchQueue);
  const readSettings = { ...validationSettings(config), maxBytes: config.MAX_BODY_BYTES };
  const signedDocuments = createSignedDocuments({ ...readSettings, watchQueue });
  const { LARGE_VALIDATION_THREADS: threads, VALIDATION_TIMEOUT_MS: timeoutMs } = config;
  const invoices = createInvoices({ threads, timeoutMs, watchQueue });
  const cancellationDocuments = createCancellationDocuments(watchQueue);
  const pools = [certificateFiles, signedDocuments, invoices, cancellationDocuments];
  return {
    certificateFiles,
    signedDocuments,
    cancellationDocuments,
    invoices,
    readLine: invoices.line,
    close: () => Promise.all(pools.map((pool) => pool.close())),
  };
}

/** The sealed values of this service, and the report of this instance's master keys. */
function openSealed({ database, logger }: ServiceDependencies, sealingKeys: SealingKeys) {
  const values = [replicatedCertificates(database), sealedRequestCertificates(database, sealingKeys)];
  return {
    operations: createMasterKeyOperations({ database, sealingKeys, values }),
    instance: createInstanceReport({ database, sealingKeys, values, logger }),
  };
}

function openCancellations(config: EmissionConfig, { database, clock }: ServiceDependencies) {
  return createPostgresCancellationStore({
    database,
    timeoutMs: config.DATABASE_WAIT_MS,
    describe: (cancellation) => cancellationEvent(cancellation, clock()),
  });
}

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  createArchiveCheck,
  createArchiver,
  createIntegrityErrors,
  createStoredFiles,
  openXmlStore,
  ownDocuments,
  STORED_FILES,
  type XmlStore,
} from '@ecf/archive';
import {
  type AuthorityClient,
  authorityEndpoints,
  createAuthorityClient,
  type TokenCache,
} from '@ecf/authority-client';
import { createOutboxRelay } from '@ecf/bus';
import {
  ARCHIVE_OPERATIONS,
  type ArchiveOperations,
  EMISSION_OPERATIONS,
  type EmissionOperations,
  FOLLOW_UP_OPERATIONS,
  type FollowUpOperations,
  MASTER_KEY_OPERATIONS,
  MAX_BATCH_BYTES,
  type MasterKeyOperations,
  RESOLUTION_OPERATIONS,
  type ResolutionOperations,
  type StateOperations,
} from '@ecf/contracts';
import { createServiceApp, internalOperationRoutes, type Readiness, writerReadiness } from '@ecf/http';
import { createSealingKeys } from '@ecf/kit';
import { measureAuthorityCalls } from '@ecf/kit/telemetry';
import {
  createInstanceReport,
  createMasterKeyOperations,
  type Restore,
  restoreOf,
  revisionAfter,
  settleRestores,
} from '@ecf/postgres';
import { openServiceDependencies, type SharedDependencies } from '@ecf/service';
import { replicatedCertificates } from '@ecf/taxpayer-replica/postgres';
import type { Express } from 'express';
import type { Attempt } from './attempt/attempt.js';
import { createPostgresEmissionStore } from './attempt/emission.postgres.js';
import type { ReachCheckpoint } from './attempt/ports.js';
import { createRecorder } from './attempt/recorder.js';
import { createBackgroundWork } from './background.js';
import { openAccountRate } from './batches/account-rate.redis.js';
import { createBatches } from './batches/index.js';
import { createCancellations } from './cancellation/index.js';
import type { EmissionConfig } from './config.js';
import { contingencyRoute } from './contingency/contingency.http.js';
import { createContingency } from './contingency/index.js';
import { sealedRequestCertificates } from './credentials/credentials.postgres.js';
import { createDocumentToken } from './credentials/document-credentials.js';
import { createCredentials } from './credentials/index.js';
import { obtainTokenRoute } from './credentials/obtain-token.http.js';
import type { AccountSource } from './credentials/ports.js';
import { mapErrors } from './errors.http.js';
import { subscribeToEvents } from './events.kafka.js';
import { createIssuing } from './issue/index.js';
import { createContingencyMetrics, createEmissionMetrics, showAuthority } from './metrics.js';
import { createPostgresNumberStore } from './numbers/numbers.postgres.js';
import { invoiceEvent, runEvent } from './published/changed-events.js';
import { followUpOperations, internalOperations } from './published/operations.http.js';
import { createPostgresPublishedDocuments } from './published/published-documents.postgres.js';
import { createKnownDocuments } from './restored/known-documents.js';
import { createLostNumbers } from './restored/lost-numbers.js';
import { createPostgresLostNumberStore } from './restored/lost-numbers.postgres.js';
import { settleRestore } from './restored/settle.postgres.js';
import { createPostgresRunStore } from './runs/runs.postgres.js';
import { createStartRun } from './runs/start-run.js';
import { applyStatus } from './sending/apply-status.js';
import { createSending } from './sending/index.js';
import type { Authority } from './sending/ports.js';
import { resolutionOperations } from './sending/resolution.http.js';

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
  readonly state: StateOperations;
}

/**
 * A statement is planned once for each session. PostgreSQL would plan statements about `attempt` anew for each call, and with the
 * partitions of ten years that takes ten times as long as to run them.
 */
const PLANS = { plan_cache_mode: 'force_generic_plan' };

/** Wires the emission service. It opens no connection before `start`. */
export function createEmission(config: EmissionConfig, overrides: EmissionOverrides = {}): Emission {
  const parts = openServiceDependencies('emission', config, overrides, PLANS);
  const { bus, clock, database, identities, logger, metrics } = parts;
  const { checkpoint = () => undefined, random = Math.random } = overrides;
  const { observer, backlog: showBacklog } = createEmissionMetrics(metrics, logger);
  const store = overrides.archive ?? openXmlStore(config);
  const service = { service: 'emission', database, metrics, logger };
  const integrity = createIntegrityErrors({ ...service, archive: store });
  const archive = integrity.reported(ownDocuments(database, store));
  const sealingKeys = createSealingKeys('emission', config);
  const client = createAuthorityClient({
    endpoints: authorityEndpoints(config.AUTHORITY_URL),
    userAgent: 'ecf-gateway',
    timeouts: { responseMs: config.AUTHORITY_TIMEOUT_MS, totalMs: config.AUTHORITY_TIMEOUT_MS + 5_000 },
    onCall: measureAuthorityCalls(metrics, { skew: parts.clockSkew }),
    clock,
  });
  const authority = overrides.authority ?? client;
  showAuthority(metrics, authority);

  const timeoutMs = config.DATABASE_WAIT_MS;
  const describe = (attempt: Attempt) => invoiceEvent(attempt, clock());
  const emissions = createPostgresEmissionStore({ database, timeoutMs, describe });
  const numbers = createPostgresNumberStore(database, timeoutMs);
  const runs = createPostgresRunStore(database, (run) => runEvent(run, clock()), timeoutMs);
  const published = createPostgresPublishedDocuments(database);

  const sleep = (ms: number) => delay(ms);
  const pending = new Set<Promise<unknown>>();
  const sendTimeoutMs = config.AUTHORITY_TIMEOUT_MS + 5_000;
  // Longer than a send and its repeat with a new token.
  const leaseMs = 2 * sendTimeoutMs + 10_000;
  const { FIRST_RETRY_MS: firstRetryMs, RESEND_AFTER_MS: resendAfterMs } = config;
  const settings = { firstRetryMs, resendAfterMs, tryAgainLimit: 5, sendTimeoutMs, leaseMs };
  const owner = randomUUID();
  // Read at the start: `ecf restore record` refuses while a service runs.
  let restore: Restore | null = null;
  const revisionAfterRestore = () => (restore === null ? 0 : revisionAfter(restore));
  const recorder = createRecorder({
    emissions,
    observer,
    clock,
    random,
    sleep,
    pending,
    owner,
    revisionAfterRestore,
    settings,
  });

  const { accounts, tokenCache } = overrides;
  const credentials = createCredentials(config, parts, {
    client,
    sealingKeys,
    emissions,
    observer,
    accounts,
    tokenCache,
  });
  const { documentTokens, obtainToken } = credentials;
  const contingency = createContingency(config, parts, { client, authority, emissions, recorder, observer });
  const sending = createSending(
    config,
    { emissions, recorder, authority, contingency: contingency.store, runs, archive, observer, clock, checkpoint },
    documentTokens,
    { owner, leaseMs },
  );
  const lost = createLostNumbers({
    store: createPostgresLostNumberStore(database),
    authority,
    archive: store,
    restore: () => restore,
    pending,
    clock,
    log: logger,
  });
  const rate = openAccountRate(config, parts);
  const issuing = createIssuing(config, parts, {
    emissions,
    numbers,
    lost,
    known: createKnownDocuments(authority, () => restore),
    recorder,
    archive,
    authority,
    credentials,
    tokenBeforeSigning: contingency.tokenBeforeSigning,
    sending,
    sealer: sealingKeys,
    observer,
    sleep,
    checkpoint,
    countDocument: rate.countCall,
    sendTimeoutMs,
  });
  const { issueJson, readLine, submissionsInFlight } = issuing;
  const lineRate = rate.lines;
  const batches = createBatches(config, parts, {
    issueJson,
    readLine,
    lineRate,
    random,
    observer,
    leaseMs,
    submissionsInFlight,
  });
  const cancellations = createCancellations(config, parts, credentials, {
    authority: overrides.cancellationAuthority ?? client,
    archive,
    sendTimeoutMs,
    pending,
    random,
    sleep,
    checkpoint,
  });

  const internal = internalOperations({ published, obtainToken, emissions });
  const followUps = followUpOperations({ published, documentToken: createDocumentToken(emissions, documentTokens) });
  const resolution = resolutionOperations({
    published,
    resolve: sending.resolve,
    numbers,
    cancellations: cancellations.store,
    clock,
    settle: cancellations.settle,
    startRun: createStartRun({ runs, clock }),
  });
  const stored = createStoredFiles(database, STORED_FILES.emission);
  const sealed = [replicatedCertificates(database), sealedRequestCertificates(database, sealingKeys)];
  const masterKeys = createMasterKeyOperations({ database, sealingKeys, values: sealed });
  const ready = () => writerReadiness(parts, store);
  const app = createServiceApp(
    // The largest body is that of a batch; the other routes have their own limit.
    { ...parts, ready, maxBodyBytes: Math.max(config.MAX_BODY_BYTES, MAX_BATCH_BYTES) },
    {
      routes: [
        ...issuing.routes,
        obtainTokenRoute(obtainToken),
        contingencyRoute(contingency.store),
        ...batches.routes,
        ...cancellations.routes,
      ],
      internal: [
        internalOperationRoutes(EMISSION_OPERATIONS, internal, identities),
        internalOperationRoutes(FOLLOW_UP_OPERATIONS, followUps, identities),
        internalOperationRoutes(RESOLUTION_OPERATIONS, resolution, identities),
        internalOperationRoutes(ARCHIVE_OPERATIONS, stored, identities),
        internalOperationRoutes(MASTER_KEY_OPERATIONS, masterKeys, identities),
      ],
      mapErrors,
    },
  );

  const showContingency = createContingencyMetrics(metrics);
  const checkArchive = createArchiveCheck({ ...service, tables: STORED_FILES.emission, reader: archive, integrity });
  const background = createBackgroundWork(config, parts, {
    async settle() {
      await settleRestores(database, (tx, one) => settleRestore(tx, one, describe));
      restore = await restoreOf(database);
    },
    subscribe: (publishNotices) =>
      subscribeToEvents(bus, {
        replica: credentials.replica,
        emissions,
        publishNotices,
        applyStatus: (result) => applyStatus({ emissions, recorder, published }, result),
      }),
    instance: createInstanceReport({ database, sealingKeys, logger }),
    relay: createOutboxRelay({ database, bus, service: 'emission', logger, metrics, clock }),
    archiver: createArchiver({ database, archive: store, service: 'emission', logger, metrics }),
    backgrounds: [sending.background, ...contingency.backgrounds, cancellations.background, ...batches.backgrounds],
    counts: [
      async () => showBacklog(await emissions.backlog(), clock()),
      cancellations.countBacklog,
      async () => showContingency(await contingency.store.backlog(), clock()),
      batches.countBacklog,
    ],
    async clean(now, signal) {
      await numbers.forgetKeys(now);
      await batches.deleteExpired(now);
      await checkArchive(now, signal);
    },
    pending,
    async close() {
      integrity.close();
      client.close();
      await Promise.all([credentials.close(), issuing.close(), cancellations.close(), rate.close()]);
    },
  });
  return { app, ready, internal, followUps, resolution, stored, masterKeys, state: parts.state, ...background };
}

import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type AddressLookup,
  authorityEndpoints,
  createAuthorityClient,
  createCircuitBreakers,
  createReceiverClient,
  createTokenProvider,
  inMemoryTokenCache,
  type TokenCache,
} from '@ecf/authority-client';
import {
  type AftermathOperations,
  ARCHIVE_OPERATIONS,
  type ArchiveOperations,
  type DeliveryOperations,
  EMISSION_OPERATIONS,
  type EmissionOperations,
  RECEPTION_OPERATIONS,
  type ReceptionOperations,
  SIGNING_OPERATIONS,
  type SigningOperations,
} from '@ecf/contracts';
import {
  bodyLimits,
  createFreeSpaceGuard,
  createQuotaStore,
  freeSpaceSettings,
  refusedBytesLimits,
  validationSettings,
} from '@ecf/public-ingress';
import { openSharedCache } from '@ecf/service-kit/cache';
import { askOwner, gatewayTaxpayerSource, type TaxpayerSource } from '@ecf/service-kit/internal';
import { createOutboxRelay } from '@ecf/service-kit/outbox';
import { checkReadiness, openServiceParts, type Readiness, type SharedParts } from '@ecf/service-kit/service';
import { measureAuthorityCalls } from '@ecf/service-kit/telemetry';
import {
  createArchiver,
  createStoredFiles,
  documentsOf,
  openXmlStore,
  ownDocuments,
  reportIntegrityErrors,
  type XmlStore,
} from '@ecf/service-kit/xml-store';
import { createCertificates, createTaxpayerReplica } from '@ecf/taxpayer-replica';
import type { Express } from 'express';
import { createBackground } from './background.js';
import type { ApprovalsConfig } from './config.js';
import { ApprovalsError } from './core/errors.js';
import { createApprovalBackground } from './core/given/approval-background.js';
import { GiveApproval } from './core/given/give-approval.js';
import { operatedApprovals } from './core/given/operated-approvals.js';
import { SendApproval } from './core/given/send-approval.js';
import type { Ports } from './core/ports.js';
import { QueryApprovals } from './core/received/query-approvals.js';
import { createReceiveApproval } from './core/received/receive-approval.js';
import { createReceivers } from './core/receivers/receivers.js';
import {
  createDeliveries,
  type DeliveriesParts,
  hostCircuitOptions,
  IN_FLIGHT_PER_SLOT,
  SLOW_MS,
} from './deliveries.js';
import { createApprovalReport } from './inbound/approval-report.js';
import { createApprovalsApp } from './inbound/http.js';
import { createObserver, observeBacklog } from './observer.js';
import { createAftermath } from './outbound/aftermath.postgres.js';
import { createApprovalValidation } from './outbound/approval-validation.js';
import { createApprovalStore } from './outbound/approvals.postgres.js';
import { createReceivedApprovalStore } from './outbound/received-approvals.postgres.js';
import { STORED_FILES } from './outbound/stored-files.js';

const QUESTION_MS = 3_000;
const HOUR = 3_600_000;

/** Parts that a deployment shares between its services, and what tests replace. */
export interface ApprovalsOverrides extends SharedParts {
  archive?: XmlStore;
  /** Where to ask about taxpayers; null = nowhere. By default the gateway of GATEWAY_URL. */
  source?: TaxpayerSource | null;
  /** Owners of the same process; by default those of EMISSION_URL and RECEPTION_URL. */
  emission?: Pick<EmissionOperations, 'findInvoices'>;
  issued?: Pick<ArchiveOperations, 'pendingDocument'>;
  signing?: SigningOperations;
  reception?: Pick<ReceptionOperations, 'findReceived' | 'verifyProviderToken'>;
  tokenCache?: TokenCache;
  /** Resolves the names of receivers; by default the hosts file and the system's name servers. */
  receiverNames?: AddressLookup;
  random?: () => number;
  /** Called between the steps of a delivery. */
  checkpoint?: NonNullable<DeliveriesParts['checkpoint']>;
}

export interface Approvals {
  readonly app: Express;
  /** Prepares the database, listens to events, publishes its own and takes up what is due. */
  start(): Promise<void>;
  /** Finishes what is under way. The HTTP server is stopped by who started it, before. */
  stop(): Promise<void>;
  ready(): Promise<Readiness>;
  /** What services of the same process ask instead of the internal routes. */
  readonly internal: DeliveryOperations;
  /** The same for those who show what became of issued documents. */
  readonly aftermath: AftermathOperations;
  readonly stored: ArchiveOperations;
}

/** The approvals service, wired. Nothing is connected before `start`. */
export function createApprovals(config: ApprovalsConfig, overrides: ApprovalsOverrides = {}): Approvals {
  const parts = openServiceParts('approvals', config, overrides);
  const { clock, logger, metrics, bus, identityKey, database } = parts;
  const elapsed = () => performance.now();
  const authority = createAuthorityClient({
    endpoints: authorityEndpoints(config.AUTHORITY_URL),
    userAgent: 'ecf-gateway',
    timeouts: { responseMs: config.AUTHORITY_TIMEOUT_MS, totalMs: config.AUTHORITY_TIMEOUT_MS + 5_000 },
    onCall: measureAuthorityCalls(metrics),
    clock,
  });
  const hostCircuits = createCircuitBreakers({ options: hostCircuitOptions(config.DELIVERY_CONCURRENCY), elapsed });
  const issuers = createReceiverClient({
    circuits: hostCircuits,
    userAgent: 'ecf-gateway',
    timeouts: { responseMs: config.RECEIVER_TIMEOUT_MS, totalMs: config.RECEIVER_TIMEOUT_MS + 5_000 },
    allowPlainHttp: config.ALLOW_PRIVATE_ADDRESSES,
    ...(config.ALLOW_PRIVATE_ADDRESSES ? { addressGuard: () => true } : {}),
    ...(overrides.receiverNames === undefined ? {} : { lookup: overrides.receiverNames }),
    clock,
  });
  const validation = createApprovalValidation({
    trustedIssuers: config.trustedIssuers,
    maxBytes: config.MAX_BODY_BYTES,
    ...validationSettings(config),
  });
  const sharedCache = openSharedCache(config, { masterKey: config.MASTER_KEY, logger, metrics });
  const tokens = createTokenProvider({
    client: authority,
    cache: overrides.tokenCache ?? sharedCache ?? inMemoryTokenCache(clock),
    clock,
  });
  const asks = { service: 'approvals', identityKey, clock };
  const archive = overrides.archive ?? openXmlStore(config);
  const issued = overrides.issued ?? askOwner(ARCHIVE_OPERATIONS, 'emission', config.EMISSION_URL, asks);
  const ending = new AbortController();
  // Every request that waits for an issuer listens to the end.
  setMaxListeners(0, ending.signal);
  const ports: Ports = {
    approvals: createApprovalStore(database),
    received: createReceivedApprovalStore(database),
    taxpayers: createTaxpayerReplica(database),
    source:
      overrides.source === undefined
        ? gatewayTaxpayerSource(config.GATEWAY_URL, { ...asks, timeoutMs: QUESTION_MS })
        : overrides.source,
    certificates: createCertificates(
      config.MASTER_KEY,
      (problem, message, cause) => new ApprovalsError(problem, message, { cause }),
    ),
    archive: reportIntegrityErrors(ownDocuments(database, archive), { metrics, logger }),
    issuedXml: reportIntegrityErrors(documentsOf(issued, archive), { metrics, logger }),
    quotas: createQuotaStore(database),
    authority,
    issuers,
    receivers: createReceivers({
      authority,
      receivers: issuers,
      tokens,
      clock,
      elapsed,
      entryLifeMs: config.DIRECTORY_ENTRY_SECONDS * 1_000,
    }),
    tokens,
    emission: overrides.emission ?? askOwner(EMISSION_OPERATIONS, 'emission', config.EMISSION_URL, asks),
    signing: overrides.signing ?? askOwner(SIGNING_OPERATIONS, 'emission', config.EMISSION_URL, asks),
    reception: overrides.reception ?? askOwner(RECEPTION_OPERATIONS, 'reception', config.RECEPTION_URL, asks),
    validation,
    observer: createObserver(metrics, logger),
    settings: {
      firstRetryMs: config.APPROVAL_FIRST_RETRY_MS,
      issuerDeadlineMs: config.APPROVAL_ISSUER_HOURS * HOUR,
      issuerWaitMs: config.APPROVAL_ISSUER_WAIT_MS,
      leaseMs: config.APPROVAL_CLAIM_MS,
      ...refusedBytesLimits(config),
      maxReceivedBytesPerSender: config.MAX_RECEIVED_BYTES_PER_SENDER,
    },
    clock,
    elapsed,
    random: overrides.random ?? Math.random,
    sleep: (ms) => delay(ms, undefined, { signal: ending.signal }).catch(() => undefined),
  };
  const sending = new SendApproval(ports);
  const resending = createApprovalBackground(ports, sending, {
    concurrency: config.APPROVAL_CONCURRENCY,
    maxInFlight: config.APPROVAL_CONCURRENCY * IN_FLIGHT_PER_SLOT,
    slowMs: SLOW_MS,
    idleMs: config.APPROVAL_IDLE_MS,
  });
  const deliveries = createDeliveries(config, {
    ports,
    buyers: issuers,
    hostCircuits,
    database,
    bus,
    logger,
    metrics,
    ...(overrides.checkpoint === undefined ? {} : { checkpoint: overrides.checkpoint }),
  });
  const operations = { ...deliveries.operations, ...operatedApprovals(ports) };
  const relay = createOutboxRelay({ database, bus, service: 'approvals', logger, metrics, clock });
  const ready = () =>
    // Approvals are given and received while the archive is away; the archiver stores them later.
    checkReadiness({ database: () => database.query('SELECT 1'), archive: () => archive.ready() }, 2_000, ['archive']);
  const stored = createStoredFiles(database, STORED_FILES);
  const aftermath = createAftermath(database);
  const freeSpace = createFreeSpaceGuard({
    ...freeSpaceSettings(config),
    service: 'approvals',
    database,
    metrics,
    logger,
  });
  const app = createApprovalsApp(
    {
      give: new GiveApproval(ports, sending),
      query: new QueryApprovals(ports),
      acknowledgements: deliveries.acknowledgements,
      internal: operations,
      aftermath,
      stored,
      ingress: {
        receive: createReceiveApproval(ports),
        bodyLimits: bodyLimits(config),
        freeSpace,
        reception: ports.reception,
        requireTokens: config.PROVIDER_AUTH === 'required',
        report: createApprovalReport(metrics, logger),
        clock,
      },
    },
    { logger, identityKey, clock, maxBodyBytes: config.MAX_BODY_BYTES, ready },
  );
  const background = createBackground({
    database,
    bus,
    ports,
    relay,
    workers: [
      resending,
      deliveries.worker,
      createArchiver({ database, archive, service: 'approvals', logger, metrics }),
    ],
    subscribe: deliveries.subscribe,
    onTaxpayer: deliveries.taxpayerChanged,
  });
  const endBacklog = observeBacklog(metrics, ports.approvals, clock);
  return {
    app,
    ready,
    internal: operations,
    aftermath,
    stored,
    async start() {
      await freeSpace.start();
      await background.start();
    },
    async stop() {
      freeSpace.stop();
      endBacklog();
      // First they know that it ends, then their pauses end.
      const resent = resending.stop();
      ending.abort();
      await resent;
      await validation.close();
      await background.stop();
      authority.close();
      issuers.close();
      await sharedCache?.close();
      await parts.close();
    },
  };
}

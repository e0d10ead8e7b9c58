import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type AddressLookup,
  type AuthorityClient,
  authorityEndpoints,
  type CircuitBreakers,
  createAuthorityClient,
  createCircuitBreakers,
  createReceiverClient,
  createTokenProvider,
  inMemoryTokenCache,
  type ReceiverClient,
  type TokenCache,
  type TokenProvider,
} from '@ecf/authority-client';
import {
  ARCHIVE_OPERATIONS,
  type ArchiveOperations,
  type DeliveryOperations,
  EMISSION_OPERATIONS,
  type EmissionOperations,
  type MasterKeyOperations,
  type OutcomeOperations,
  RECEPTION_OPERATIONS,
  type ReceptionOperations,
} from '@ecf/contracts';
import {
  bodyLimits,
  createFreeSpaceGuard,
  createQuotaStore,
  freeSpaceSettings,
  reportRevocations,
  storedBytesLimits,
  validationSettings,
} from '@ecf/public-ingress';
import { openSharedCache } from '@ecf/service-kit/cache';
import { clientOf, gatewayTaxpayerSource, type TaxpayerSource } from '@ecf/service-kit/internal';
import { createInstanceReport, createMasterKeyOperations } from '@ecf/service-kit/master-keys';
import { createOutboxRelay } from '@ecf/service-kit/outbox';
import { createSealingKeys, requestCertificate, type SealingKeys } from '@ecf/service-kit/security';
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
  documentsOf,
  openXmlStore,
  ownDocuments,
  reportIntegrityErrors,
  type XmlStore,
} from '@ecf/service-kit/xml-store';
import { createCertificates, type RecordCertificateUse } from '@ecf/taxpayer-replica';
import { createCertificateUses } from '@ecf/taxpayer-replica/certificate-uses';
import { createTaxpayerReplica, replicatedCertificates } from '@ecf/taxpayer-replica/postgres';
import { deserialiseCertificate } from '@ecf/xml-signing';
import type { Express } from 'express';
import { createLifeCycle } from './background.js';
import type { ApprovalsConfig } from './config.js';
import {
  createDeliveries,
  type DeliveriesParts,
  hostCircuitOptions,
  IN_FLIGHT_PER_SLOT,
  SLOW_MS,
} from './deliveries.js';
import { ApprovalsError } from './errors.js';
import { createApprovalBackground } from './given/approval-background.js';
import { ACTS } from './given/approval-rows.postgres.js';
import { type ApprovalSending, createApprovalSending } from './given/approval-sending.js';
import { createApprovalStore } from './given/approvals.postgres.js';
import { createGiveApproval } from './given/give-approval.js';
import { operatedApprovals } from './given/operated-approvals.js';
import { createObserver, observeBacklog } from './observer.js';
import { createOutcomes } from './outcomes.postgres.js';
import type { ApprovalValidation, Ports } from './ports.js';
import { createApprovalReport } from './received/approval-report.js';
import { createKnownSigners } from './received/known-signers.postgres.js';
import { operatedAnswers } from './received/operated-answers.js';
import { createQueryApprovals } from './received/query-approvals.js';
import { createReceiveApproval } from './received/receive-approval.js';
import { createReceivedApprovalStore } from './received/received-approvals.postgres.js';
import { createApprovalValidation } from './received/validation.worker.js';
import { createApprovalsApp } from './routes.http.js';
import { createRunStore } from './runs.postgres.js';
import { createReceivers } from './sending/endpoints.js';
import { STORED_FILES } from './stored-files.js';

const GATEWAY_QUERY_MS = 3_000;
const HOUR = 3_600_000;

/** Dependencies that a deployment shares between its services, and those that tests replace. */
export interface ApprovalsOverrides extends SharedDependencies {
  archive?: XmlStore;
  /** Source of unknown taxpayers, null for none. Default: the gateway of GATEWAY_URL. */
  source?: TaxpayerSource | null;
  /** Services of the same process. Default: those of EMISSION_URL and RECEPTION_URL. */
  emission?: Pick<EmissionOperations, 'findInvoices' | 'sealedCertificate'>;
  issued?: Pick<ArchiveOperations, 'pendingDocument'>;
  reception?: Pick<ReceptionOperations, 'findReceived' | 'verifyProviderToken'>;
  tokenCache?: TokenCache;
  /** Resolves the names of receivers. Default: the hosts file and the system's name servers. */
  receiverNames?: AddressLookup;
  random?: () => number;
  /** Called between the steps of a delivery. */
  checkpoint?: NonNullable<DeliveriesParts['checkpoint']>;
}

export interface Approvals {
  readonly app: Express;
  /** Prepares the database, consumes and publishes events, and runs due work. */
  start(): Promise<void>;
  /** Finishes the work in flight. The HTTP server has to be stopped before. */
  stop(): Promise<void>;
  ready(): Promise<Readiness>;
  /** The internal routes, for services of the same process. */
  readonly internal: DeliveryOperations;
  readonly outcomes: OutcomeOperations;
  readonly stored: ArchiveOperations;
  readonly masterKeys: MasterKeyOperations;
}

/** The approvals service, wired. Nothing is connected before `start`. */
export function createApprovals(config: ApprovalsConfig, overrides: ApprovalsOverrides = {}): Approvals {
  const parts = openServiceDependencies('approvals', config, overrides);
  const { clock, logger, metrics, bus, identities, database } = parts;
  const sealingKeys = createSealingKeys('approvals', config);
  const clients = createClients(config, parts, overrides, sealingKeys);
  const archive = overrides.archive ?? openXmlStore(config);
  const validation = createApprovalValidation({
    trust: config.trust,
    maxBytes: config.MAX_BODY_BYTES,
    ...validationSettings(config),
    watchQueue: parts.watchQueue,
  });
  const stopping = new AbortController();
  // Every request that waits for an issuer listens to the signal.
  setMaxListeners(0, stopping.signal);
  const ports = createPorts(config, { parts, sealingKeys, clients, archive, validation, stopping, overrides });
  const sending = createApprovalSending(ports);
  const deliveries = createDeliveries(config, {
    ports,
    buyers: clients.receivers,
    hostCircuits: clients.hostCircuits,
    database,
    bus,
    logger,
    metrics,
    ...(overrides.checkpoint === undefined ? {} : { checkpoint: overrides.checkpoint }),
  });
  const internal = { ...deliveries.operations, ...operatedApprovals(ports), ...operatedAnswers(ports) };
  const ready = () => writerReadiness(parts, archive);
  const stored = createStoredFiles(database, STORED_FILES);
  const outcomes = createOutcomes(database);
  const values = [replicatedCertificates(database)];
  const sealed = createMasterKeyOperations({ database, sealingKeys, values });
  const freeSpace = createFreeSpaceGuard({
    ...freeSpaceSettings(config, database),
    service: 'approvals',
    metrics,
    logger,
  });
  const app = createApprovalsApp(
    {
      give: createGiveApproval(ports, sending),
      query: createQueryApprovals(ports),
      acknowledgements: deliveries.acknowledgements,
      internal,
      outcomes,
      stored,
      masterKeys: sealed,
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
    { logger, identities, maxBodyBytes: config.MAX_BODY_BYTES, bodies: parts.bodies, ready },
  );
  const lifeCycle = createLifeCycle({
    ...parts,
    ports,
    freeSpace,
    deliveries,
    resending: createResending(config, ports, sending),
    relay: createOutboxRelay({ database, bus, service: 'approvals', logger, metrics, clock }),
    archiver: createArchiver({ database, archive, service: 'approvals', logger, metrics }),
    instance: createInstanceReport({ database, sealingKeys, values, logger }),
    validation,
    stopping,
    endReports: [
      observeBacklog(metrics, ports.approvals, clock),
      reportRevocations(config.trust.revocations, { service: 'approvals', metrics, logger }),
    ],
    closeClients: clients.close,
  });
  return { app, ready, internal, outcomes, stored, masterKeys: sealed, ...lifeCycle };
}

interface Clients {
  readonly authority: AuthorityClient;
  readonly receivers: ReceiverClient;
  /** Those of the receiver client. */
  readonly hostCircuits: CircuitBreakers;
  readonly tokens: TokenProvider;
  readonly recordUse: RecordCertificateUse;
  close(): Promise<void>;
}

function createClients(
  config: ApprovalsConfig,
  parts: ServiceDependencies,
  overrides: ApprovalsOverrides,
  sealingKeys: SealingKeys,
): Clients {
  const { clock, clockSkew, logger, metrics, database } = parts;
  const recordUse = createCertificateUses({ database, acts: ACTS, clock });
  const authority = createAuthorityClient({
    endpoints: authorityEndpoints(config.AUTHORITY_URL),
    userAgent: 'ecf-gateway',
    timeouts: { responseMs: config.AUTHORITY_TIMEOUT_MS, totalMs: config.AUTHORITY_TIMEOUT_MS + 5_000 },
    onCall: measureAuthorityCalls(metrics, { skew: clockSkew }),
    clock,
  });
  const hostCircuits = createCircuitBreakers({ options: hostCircuitOptions(config.DELIVERY_CONCURRENCY), elapsed });
  const receivers = createReceiverClient({
    circuits: hostCircuits,
    userAgent: 'ecf-gateway',
    timeouts: { responseMs: config.RECEIVER_TIMEOUT_MS, totalMs: config.RECEIVER_TIMEOUT_MS + 5_000 },
    allowPlainHttp: config.ALLOW_PRIVATE_ADDRESSES,
    ...(config.ALLOW_PRIVATE_ADDRESSES ? { addressGuard: () => true } : {}),
    ...(overrides.receiverNames === undefined ? {} : { lookup: overrides.receiverNames }),
    clock,
  });
  const sharedCache = openSharedCache(config, { sealingKeys, logger, metrics });
  const tokens = createTokenProvider({
    client: authority,
    cache: overrides.tokenCache ?? sharedCache ?? inMemoryTokenCache(clock),
    beforeLogin: (login) => recordUse({ ...login, use: 'login' }),
    clock,
  });
  return {
    authority,
    receivers,
    hostCircuits,
    tokens,
    recordUse,
    async close() {
      authority.close();
      receivers.close();
      await sharedCache?.close();
    },
  };
}

interface PortsParts {
  readonly parts: ServiceDependencies;
  readonly sealingKeys: SealingKeys;
  readonly clients: Clients;
  readonly archive: XmlStore;
  readonly validation: ApprovalValidation;
  readonly stopping: AbortController;
  readonly overrides: ApprovalsOverrides;
}

function createPorts(
  config: ApprovalsConfig,
  { parts, sealingKeys, clients, archive, validation, stopping, overrides }: PortsParts,
): Ports {
  const { clock, logger, metrics, identities, database } = parts;
  const { authority, receivers, tokens, recordUse } = clients;
  const issued = overrides.issued ?? clientOf(ARCHIVE_OPERATIONS, 'emission', config.EMISSION_URL, { identities });
  return {
    approvals: createApprovalStore(database),
    runs: createRunStore(database),
    received: createReceivedApprovalStore(database),
    taxpayers: createTaxpayerReplica(database),
    source:
      overrides.source === undefined
        ? gatewayTaxpayerSource(config.GATEWAY_URL, { identities, timeoutMs: GATEWAY_QUERY_MS })
        : overrides.source,
    certificates: createCertificates(
      sealingKeys,
      (problem, message, cause) => new ApprovalsError(problem, message, { cause }),
    ),
    archive: reportIntegrityErrors(ownDocuments(database, archive), { metrics, logger }),
    issuedXml: reportIntegrityErrors(documentsOf(issued, archive), { metrics, logger }),
    quotas: createQuotaStore(database),
    signers: createKnownSigners(database),
    authority,
    issuers: receivers,
    receivers: createReceivers({
      authority,
      receivers,
      tokens,
      recordUse,
      logsIn: config.RECEIVER_LOGINS,
      clock,
      elapsed,
      entryLifeMs: config.DIRECTORY_ENTRY_SECONDS * 1_000,
    }),
    tokens,
    recordUse,
    emission: overrides.emission ?? clientOf(EMISSION_OPERATIONS, 'emission', config.EMISSION_URL, { identities }),
    openRequestCertificate: (sealed, { account, rnc }) =>
      deserialiseCertificate(sealingKeys.unseal(sealed, requestCertificate(account, rnc))),
    reception: overrides.reception ?? clientOf(RECEPTION_OPERATIONS, 'reception', config.RECEPTION_URL, { identities }),
    validation,
    observer: createObserver(metrics, logger),
    settings: {
      firstRetryMs: config.APPROVAL_FIRST_RETRY_MS,
      issuerDeadlineMs: config.APPROVAL_ISSUER_HOURS * HOUR,
      issuerWaitMs: config.APPROVAL_ISSUER_WAIT_MS,
      leaseMs: config.APPROVAL_CLAIM_MS,
      ...storedBytesLimits(config),
      maxRefusedBytes: config.MAX_REFUSED_BYTES,
    },
    clock,
    elapsed,
    random: overrides.random ?? Math.random,
    sleep: (ms) => delay(ms, undefined, { signal: stopping.signal }).catch(() => undefined),
  };
}

function createResending(config: ApprovalsConfig, ports: Ports, sending: ApprovalSending) {
  return createApprovalBackground(ports, sending, {
    concurrency: config.APPROVAL_CONCURRENCY,
    maxInFlight: config.APPROVAL_CONCURRENCY * IN_FLIGHT_PER_SLOT,
    slowMs: SLOW_MS,
    idleMs: config.APPROVAL_IDLE_MS,
  });
}

function elapsed(): number {
  return performance.now();
}

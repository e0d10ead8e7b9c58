import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type AddressLookup,
  authorityEndpoints,
  type CircuitBreakerOptions,
  createAuthorityClient,
  createCircuitBreakers,
  createReceiverClient,
  createTokenProvider,
  inMemoryTokenCache,
  type TokenCache,
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
  trustCheck,
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
  type StoredFileTable,
  type XmlStore,
} from '@ecf/service-kit/xml-store';
import { createCertificates } from '@ecf/taxpayer-replica';
import { createCertificateUses } from '@ecf/taxpayer-replica/certificate-uses';
import { createTaxpayerReplica, replicatedCertificates } from '@ecf/taxpayer-replica/postgres';
import { deserialiseCertificate } from '@ecf/xml-signing';
import type { Express } from 'express';
import { createBackground } from './background.js';
import { createAcknowledgementStore } from './buyers/acknowledgements.postgres.js';
import { createDeliver } from './buyers/deliver.js';
import { createDeliveryStore, pageOfDeliveries, publishDeliveries } from './buyers/deliveries.postgres.js';
import { createDeliveryCaller } from './buyers/delivery-caller.js';
import { operatedDeliveries } from './buyers/operated-deliveries.js';
import { createQueryAcknowledgements } from './buyers/query-acknowledgements.js';
import type { ApprovalsConfig } from './config.js';
import { ApprovalsError } from './errors.js';
import { APPROVALS_GROUP, subscribeToEvents } from './events.kafka.js';
import { ACTS } from './events.postgres.js';
import { createApprovalStore } from './given/approvals.postgres.js';
import { createGiveApproval } from './given/give-approval.js';
import { operatedApprovals } from './given/operated-approvals.js';
import { createSendToAuthority, createSendToIssuer } from './given/send.js';
import { createApprovalReport, createSendReport, observeBacklog } from './metrics.js';
import { operatedAnswers } from './received/operated-answers.js';
import { createQueryApprovals } from './received/query-approvals.js';
import { createReceiveApproval } from './received/receive-approval.js';
import {
  createKnownSigners,
  createReceivedApprovalStore,
  pageOfDecisions,
} from './received/received-approvals.postgres.js';
import { createApprovalValidation } from './received/validation.worker.js';
import { createApprovalsApp } from './routes.http.js';
import { createRunStore } from './sending/certification-runs.postgres.js';
import { createEndpoints } from './sending/endpoints.js';
import { createOutgoingStore } from './sending/outgoing.postgres.js';
import { createSending } from './sending/sending.js';

const GATEWAY_QUERY_MS = 3_000;
const HOUR = 3_600_000;
/** A send that takes longer frees its slot for another. */
const SLOW_MS = 500;
/** Sends in flight for each slot, slow ones included. */
const IN_FLIGHT_PER_SLOT = 32;
const LONGEST_PAUSE_MS = 5 * 60_000;
const PAUSES = { openMs: 2_000, maxOpenMs: LONGEST_PAUSE_MS, maxPauseMs: LONGEST_PAUSE_MS };
const BUYER_CIRCUITS: Partial<CircuitBreakerOptions> = { ...PAUSES, failures: 3 };

const XML = [['xml_path', 'xml_sha256']] as const;
/** The columns that name XML of this service. Emission keeps the documents that are delivered. */
const STORED_FILES: readonly StoredFileTable[] = [
  { table: 'given_approvals', key: ['id'], files: XML },
  { table: 'received_approvals', key: ['id'], files: XML },
  { table: 'refused_approvals', key: ['id'], files: [['xml_path', 'sha256']] },
  { table: 'received_acknowledgements', key: ['id'], files: XML },
];

/** Dependencies that a deployment shares between its services, and dependencies that tests replace. */
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
  checkpoint?: (step: 'claimed' | 'answered' | 'recorded') => Promise<void> | void;
}

export interface Approvals {
  readonly app: Express;
  /** Prepares the database, consumes and publishes events, and runs due work. */
  start(): Promise<void>;
  /** Finishes the work in flight. The caller must have stopped the HTTP server. */
  stop(): Promise<void>;
  ready(): Promise<Readiness>;
  /** The internal routes, for services of the same process. */
  readonly internal: DeliveryOperations;
  readonly outcomes: OutcomeOperations;
  readonly stored: ArchiveOperations;
  readonly masterKeys: MasterKeyOperations;
}

/** The approvals service, wired. It opens no connection before `start`. */
export function createApprovals(config: ApprovalsConfig, overrides: ApprovalsOverrides = {}): Approvals {
  const parts = openServiceDependencies('approvals', config, overrides);
  const { clock, logger, metrics, bus, identities, database } = parts;
  const random = overrides.random ?? Math.random;
  const sealingKeys = createSealingKeys('approvals', config);
  const clients = createClients(config, parts, overrides, sealingKeys);
  const { authority, receivers, hostCircuits, tokens, endpoints, recordUse } = clients;
  const archive = overrides.archive ?? openXmlStore(config);
  const ownXml = reportIntegrityErrors(ownDocuments(database, archive), { metrics, logger });
  const issued = overrides.issued ?? clientOf(ARCHIVE_OPERATIONS, 'emission', config.EMISSION_URL, { identities });
  const emission = overrides.emission ?? clientOf(EMISSION_OPERATIONS, 'emission', config.EMISSION_URL, { identities });
  const reception =
    overrides.reception ?? clientOf(RECEPTION_OPERATIONS, 'reception', config.RECEPTION_URL, { identities });
  const validation = createApprovalValidation({
    trust: config.trust,
    maxBytes: config.MAX_BODY_BYTES,
    ...validationSettings(config),
    watchQueue: parts.watchQueue,
  });
  const stopping = new AbortController();
  // Every request that waits for an issuer listens to the signal.
  setMaxListeners(0, stopping.signal);
  const report = createSendReport(metrics, logger, clock);
  const taxpayers = createTaxpayerReplica(database);
  const source =
    overrides.source === undefined
      ? gatewayTaxpayerSource(config.GATEWAY_URL, { identities, timeoutMs: GATEWAY_QUERY_MS })
      : overrides.source;
  const certificates = createCertificates(
    sealingKeys,
    (problem, message, cause) => new ApprovalsError(problem, message, { cause }),
  );
  const account = { taxpayers, source, observer: report };
  const deliverySettings = { deadlineMs: config.DELIVERY_HOURS * HOUR, deliver45: config.DELIVER_TYPE_45 };
  const approvalRules = { firstRetryMs: config.APPROVAL_FIRST_RETRY_MS, clock, random };
  const deliveryRules = { firstRetryMs: config.DELIVERY_FIRST_RETRY_MS, clock, random };
  const quotas = createQuotaStore(database);
  const runs = createRunStore(database);
  const signers = createKnownSigners(database);
  const approvals = createApprovalStore(database, config.APPROVAL_ISSUER_HOURS * HOUR);
  const received = createReceivedApprovalStore(database);
  const deliveries = createDeliveryStore(database, APPROVALS_GROUP, clock);
  const outgoing = createOutgoingStore(database, publishDeliveries);
  const stop = stopping.signal;
  const checkpoint = overrides.checkpoint ?? (() => undefined);
  const approving = { store: approvals, taxpayers, certificates, archive: ownXml, rules: approvalRules, report };
  const sending = createSending(
    {
      store: outgoing,
      send: {
        delivery: createDeliver({
          store: deliveries,
          defer: outgoing.defer,
          presentRun: runs.present,
          callerOf: createDeliveryCaller({
            taxpayers,
            source,
            certificates,
            emission,
            openRequestCertificate: (sealed, { account: accountId, rnc }) =>
              deserialiseCertificate(sealingKeys.unseal(sealed, requestCertificate(accountId, rnc))),
            clock,
          }),
          endpoints,
          hostCircuits,
          issuedXml: reportIntegrityErrors(documentsOf(issued, archive), { metrics, logger }),
          client: receivers,
          trust: trustCheck(config.trust),
          rules: deliveryRules,
          report,
          stopping: stop,
          checkpoint,
        }),
        authority: createSendToAuthority({ ...approving, client: authority, tokens, stopping: stop }),
        issuer: createSendToIssuer({ ...approving, client: receivers, endpoints, stopping: stop }),
      },
      recipientCircuits: createCircuitBreakers({ options: BUYER_CIRCUITS, elapsed, onPause: report.paused }),
      hostCircuits,
      report: { failed: report.failed, gaveUp: (delivery) => report.changed(delivery, delivery.status) },
      clock,
      claimed: () => checkpoint('claimed'),
    },
    {
      leaseMs: config.APPROVAL_CLAIM_MS,
      idleMs: config.SENDING_IDLE_MS,
      concurrency: config.DELIVERY_CONCURRENCY,
      maxInFlight: config.DELIVERY_CONCURRENCY * IN_FLIGHT_PER_SLOT,
      slowMs: SLOW_MS,
      toAuthority: config.APPROVAL_CONCURRENCY,
      perBuyer: config.DELIVERY_PER_RECEIVER,
      perHost: slotsPerHost(config),
    },
  );
  const { wake } = sending;
  const internal = {
    ...operatedDeliveries({ deliveries, settings: deliverySettings, wake, clock }),
    ...operatedApprovals(approvals, { clock, wake }),
    ...operatedAnswers(received, clock),
  };
  const ready = () => writerReadiness(parts, archive);
  const stored = createStoredFiles(database, STORED_FILES);
  const outcomes = { pageOfDeliveries: pageOfDeliveries(database), pageOfDecisions: pageOfDecisions(database) };
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
      give: createGiveApproval({
        ...account,
        approvals,
        certificates,
        tokens,
        recordUse,
        reception,
        send: sending.now,
        leaseMs: config.APPROVAL_CLAIM_MS,
        issuerWaitMs: config.APPROVAL_ISSUER_WAIT_MS,
        clock,
        sleep: (ms) => delay(ms, undefined, { signal: stop }).catch(() => undefined),
      }),
      query: createQueryApprovals({ ...account, approvals, received, archive: ownXml, emission }),
      acknowledgements: createQueryAcknowledgements({
        ...account,
        acknowledgements: createAcknowledgementStore(database),
        signers,
        archive: ownXml,
      }),
      internal,
      outcomes,
      stored,
      masterKeys: sealed,
      ingress: {
        receive: createReceiveApproval({
          received,
          validation,
          quotas,
          signers,
          emission,
          settings: { ...storedBytesLimits(config), maxRefusedBytes: config.MAX_REFUSED_BYTES },
          clock,
        }),
        bodyLimits: bodyLimits(config),
        freeSpace,
        reception,
        requireTokens: config.PROVIDER_AUTH === 'required',
        report: createApprovalReport(metrics, logger),
        clock,
      },
    },
    { logger, identities, maxBodyBytes: config.MAX_BODY_BYTES, bodies: parts.bodies, ready },
  );
  const background = createBackground({
    ...parts,
    quotas,
    freeSpace,
    subscribe: () =>
      subscribeToEvents(
        bus,
        APPROVALS_GROUP,
        { taxpayers, approvals, deliveries, signers, runs },
        { settings: deliverySettings, endpoints, clock, random },
        wake,
      ),
    sending,
    relay: createOutboxRelay({ database, bus, service: 'approvals', logger, metrics, clock }),
    archiver: createArchiver({ database, archive, service: 'approvals', logger, metrics }),
    instance: createInstanceReport({ database, sealingKeys, values, logger }),
    validation,
    report,
    stopping,
    endReports: [
      observeBacklog(metrics, { approvals, deliveries, paused: sending.paused, clock }),
      reportRevocations(config.trust.revocations, { service: 'approvals', metrics, logger }),
    ],
    closeClients: clients.close,
  });
  return { app, ready, internal, outcomes, stored, masterKeys: sealed, ...background };
}

/** The clients of the authority and of receivers, and what they share. */
function createClients(
  config: ApprovalsConfig,
  parts: ServiceDependencies,
  overrides: ApprovalsOverrides,
  sealingKeys: SealingKeys,
) {
  const { clock, clockSkew, logger, metrics, database } = parts;
  const recordUse = createCertificateUses({ database, acts: ACTS, clock });
  const authority = createAuthorityClient({
    endpoints: authorityEndpoints(config.AUTHORITY_URL),
    userAgent: 'ecf-gateway',
    timeouts: { responseMs: config.AUTHORITY_TIMEOUT_MS, totalMs: config.AUTHORITY_TIMEOUT_MS + 5_000 },
    onCall: measureAuthorityCalls(metrics, { skew: clockSkew }),
    clock,
  });
  // A buyer that never answers opens its own circuit breaker long before that of a host that answers others. It cannot use
  // more than half of the slots.
  const hostOptions = { ...PAUSES, failures: 10, maxInFlight: slotsPerHost(config) };
  const hostCircuits = createCircuitBreakers({ options: hostOptions, elapsed });
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
  const endpoints = createEndpoints({
    authority,
    receivers,
    tokens,
    recordUse,
    logsIn: config.RECEIVER_LOGINS,
    clock,
    elapsed,
    entryLifeMs: config.DIRECTORY_ENTRY_SECONDS * 1_000,
  });
  return {
    authority,
    receivers,
    hostCircuits,
    tokens,
    endpoints,
    recordUse,
    async close() {
      authority.close();
      receivers.close();
      await sharedCache?.close();
    },
  };
}

function slotsPerHost(config: ApprovalsConfig): number {
  return Math.max(Math.floor(config.DELIVERY_CONCURRENCY / 2), 1);
}

function elapsed(): number {
  return performance.now();
}

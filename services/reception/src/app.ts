import {
  authorityEndpoints,
  createAuthorityClient,
  createTokenProvider,
  inMemoryTokenCache,
} from '@ecf/authority-client';
import { type ArchiveOperations, type MasterKeyOperations, type ReceptionOperations, TOPICS } from '@ecf/contracts';
import {
  bodyLimits,
  createFreeSpaceGuard,
  createQuotaStore,
  createSignerLookUp,
  createStoredBytesQuota,
  type FreeSpaceGuard,
  freeSpaceSettings,
  reportRevocations,
  storedBytesLimits,
  trustCheck,
  validationSettings,
} from '@ecf/public-ingress';
import { openDocumentJson } from '@ecf/public-ingress/document-json';
import { openSharedCache } from '@ecf/service-kit/cache';
import { createDueWork } from '@ecf/service-kit/due-work';
import { gatewayTaxpayerSource, type TaxpayerSource } from '@ecf/service-kit/internal';
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
import { createCertificates } from '@ecf/taxpayer-replica';
import { createCertificateUses } from '@ecf/taxpayer-replica/certificate-uses';
import { createTaxpayerReplica, replicatedCertificates } from '@ecf/taxpayer-replica/postgres';
import type { Express } from 'express';
import { createBackground } from './background.js';
import type { ReceptionConfig } from './config.js';
import { createQueryState } from './confirmation/authority-state.js';
import { createConfirmDocument } from './confirmation/confirm-document.js';
import { createConfirmationStore } from './confirmation/confirmations.postgres.js';
import { createPromoteDocument } from './confirmation/promote-document.js';
import { ReceptionError } from './errors.js';
import { receptionOperations } from './internal.http.js';
import { createQueryReceived } from './listings/query-received.js';
import { createConfirmationReport, createReceptionReport, reportDeadline } from './metrics.js';
import { createAnsweredDocuments } from './receive/answered-documents.js';
import { type Buyers, createBuyers, MAX_QUERIES } from './receive/buyers.js';
import { createDocumentStore } from './receive/documents.postgres.js';
import { createReceiveDocument } from './receive/receive-document.js';
import { createRecordDocument } from './receive/record-document.js';
import { createRefusedDocumentQuota } from './receive/refused-bytes.js';
import { createValidation } from './receive/validation.worker.js';
import { createReceptionApp } from './routes.http.js';
import { createRunStore } from './runs.postgres.js';
import { MAX_WAITING_TOKENS } from './tokens/provider-keys.js';
import { createProviderTokens } from './tokens/provider-tokens.js';
import { createSeeds } from './tokens/seeds.js';
import { createSpentSeeds } from './tokens/spent-seeds.postgres.js';
import { createTokenKeys, sealedTokenKeys } from './tokens/token-keys.postgres.js';

const HOUR = 3_600_000;
const QUESTION_MS = 3_000;
/** Longer than login, query and their repetition take. */
const CONFIRMATION_LEASE_MS = 180_000;
const CONFIRMATIONS_AT_ONCE = 8;

/** The columns of reception that name files of the archive. */
const STORED_FILES: readonly StoredFileTable[] = [
  {
    table: 'received_documents',
    key: ['id'],
    files: [
      ['xml_path', 'xml_sha256'],
      ['arecf_path', 'arecf_sha256'],
    ],
  },
  {
    table: 'refused_documents',
    key: ['id'],
    files: [
      ['xml_path', 'sha256'],
      ['arecf_path', 'arecf_sha256'],
    ],
  },
];

/** Dependencies that a deployment shares between its services, and dependencies that tests replace. */
export interface ReceptionOverrides extends SharedDependencies {
  archive?: XmlStore;
  /** The owner of the taxpayers; null = none. By default the gateway of GATEWAY_URL. */
  source?: TaxpayerSource | null;
}

export interface Reception {
  readonly app: Express;
  /** Prepares the database, consumes events and publishes those of reception. */
  start(): Promise<void>;
  /** Finishes the work in flight. The caller must have stopped its HTTP server. */
  stop(): Promise<void>;
  ready(): Promise<Readiness>;
  /** The internal operations, for services of the same process. */
  readonly internal: ReceptionOperations;
  readonly stored: ArchiveOperations;
  readonly masterKeys: MasterKeyOperations;
}

/** The reception service, wired. It opens no connection before `start`. */
export function createReception(config: ReceptionConfig, overrides: ReceptionOverrides = {}): Reception {
  const shared = openServiceDependencies('reception', config, overrides);
  const { clock, logger, metrics, bus, identities, database, close } = shared;
  const archive = overrides.archive ?? openXmlStore(config);
  const sealingKeys = createSealingKeys('reception', config);
  const validation = createValidation({
    trust: config.trust,
    maxBytes: config.MAX_BODY_BYTES,
    ...validationSettings(config),
    watchQueue: shared.watchQueue,
  });
  const ports = createPorts(config, overrides, { shared, archive, sealingKeys, validation });
  const spent = createSpentSeeds(database);
  const keys = createTokenKeys(database, sealingKeys);
  const freeSpace = createFreeSpaceGuard({
    ...freeSpaceSettings(config, database),
    service: 'reception',
    metrics,
    logger,
  });
  const parts = createParts(config, ports, { spent, keys, sealingKeys, freeSpace, watchQueue: shared.watchQueue });
  const report = createReceptionReport(metrics, logger);
  const confirmation = createConfirmation(config, { ...shared, sealingKeys }, ports, parts.buyers);
  const deadlineDays = config.APPROVAL_DEADLINE_DAYS;
  const endDeadline = deadlineDays === undefined ? null : reportDeadline(metrics, ports.documents, deadlineDays, clock);
  const endRevocations = reportRevocations(config.trust.revocations, { service: 'reception', metrics, logger });
  const relay = createOutboxRelay({ database, bus, service: 'reception', logger, metrics, clock });
  const archiver = createArchiver({ database, archive, service: 'reception', logger, metrics });
  const ready = () => writerReadiness(shared, archive);
  const internal = receptionOperations(ports.documents, parts.tokens);
  const stored = createStoredFiles(database, STORED_FILES);
  const values = [replicatedCertificates(database), sealedTokenKeys(database, sealingKeys)];
  const sealed = createMasterKeyOperations({ database, sealingKeys, values });
  const app = createReceptionApp(
    { ...parts, report, clock, internal, stored, masterKeys: sealed },
    { logger, identities, maxBodyBytes: config.MAX_BODY_BYTES, bodies: shared.bodies, ready },
  );
  const background = createBackground({
    database,
    bus,
    ports,
    relay,
    archiver,
    instance: createInstanceReport({ database, sealingKeys, values, logger }),
    confirmation: confirmation.work,
    cleanSeeds: spent.clean,
    startClock: shared.startClock,
  });
  return {
    app,
    ready,
    internal,
    stored,
    masterKeys: sealed,
    async start() {
      await freeSpace.start();
      await background.start();
    },
    async stop() {
      freeSpace.stop();
      endDeadline?.();
      endRevocations();
      await parts.answered.settled();
      await validation.close();
      await parts.documents.close();
      await background.stop();
      await confirmation.close();
      await close();
    },
  };
}

/** What the subjects of the service use. */
function createPorts(
  config: ReceptionConfig,
  overrides: ReceptionOverrides,
  parts: {
    shared: ServiceDependencies;
    archive: XmlStore;
    sealingKeys: SealingKeys;
    validation: ReturnType<typeof createValidation>;
  },
) {
  const { archive, sealingKeys, validation } = parts;
  const { clock, logger, metrics, identities, database } = parts.shared;
  return {
    documents: createDocumentStore(database),
    runs: createRunStore(database),
    taxpayers: createTaxpayerReplica(database),
    source:
      overrides.source === undefined
        ? gatewayTaxpayerSource(config.GATEWAY_URL, { identities, timeoutMs: QUESTION_MS })
        : overrides.source,
    certificates: createCertificates(
      sealingKeys,
      (problem, message, cause) => new ReceptionError(problem, message, problem, { cause }),
    ),
    recordUse: createCertificateUses({
      database,
      acts: { topic: TOPICS.audit.name, source: 'reception' },
      clock,
    }),
    validation,
    archive: reportIntegrityErrors(ownDocuments(database, archive), { metrics, logger }),
    quotas: createQuotaStore(database),
    isKnown: createSignerLookUp(database),
    observer: { failed: (what: string, error: unknown) => logger.warn({ err: error }, `${what} failed`) },
    clock,
  };
}

type Ports = ReturnType<typeof createPorts>;

function createParts(
  config: ReceptionConfig,
  ports: Ports,
  stores: {
    spent: ReturnType<typeof createSpentSeeds>;
    keys: ReturnType<typeof createTokenKeys>;
    sealingKeys: SealingKeys;
    freeSpace: FreeSpaceGuard;
    watchQueue: ServiceDependencies['watchQueue'];
  },
) {
  const { clock } = ports;
  const trust = trustCheck(config.trust);
  const settings = {
    maxRefusedBytes: config.MAX_REFUSED_BYTES,
    maxCompetingBytes: config.MAX_COMPETING_BYTES,
    requireTrustedIssuer: config.trust.issuers !== null,
  };
  const answered = createAnsweredDocuments(ports);
  const stored = createStoredBytesQuota(ports.quotas, storedBytesLimits(config));
  const refusedQuota = createRefusedDocumentQuota(stored, settings);
  const record = createRecordDocument({ ...ports, stored, refusedQuota });
  const buyers = createBuyers(ports, config.RECEPTION_SIGNER_RNC ?? null);
  const tokens = createProviderTokens(
    { keys: stores.keys, clock },
    { lifeSeconds: config.PROVIDER_TOKEN_SECONDS, rotationMs: config.PROVIDER_KEY_ROTATION_HOURS * HOUR },
  );
  const documents = openDocumentJson(stores.watchQueue);
  stores.watchQueue({ queue: 'tokens', limit: MAX_WAITING_TOKENS, depth: tokens.waiting });
  stores.watchQueue({ queue: 'buyers', limit: MAX_QUERIES, depth: buyers.queries });
  return {
    answered,
    buyers,
    receive: createReceiveDocument({ ...ports, buyers, answered, record }),
    documents,
    query: createQueryReceived({ ...ports, toJson: documents.toJson }, config.APPROVAL_DEADLINE_DAYS ?? null),
    seeds: createSeeds(
      { spent: stores.spent, validation: ports.validation, clock },
      stores.sealingKeys.keysFor('reception seed'),
      trust,
    ),
    tokens,
    requireTokens: config.PROVIDER_AUTH === 'required',
    bodyLimits: bodyLimits(config),
    freeSpace: stores.freeSpace,
  };
}

/** Queries the authority about received documents, in the background. */
function createConfirmation(
  config: ReceptionConfig,
  {
    clock,
    clockSkew,
    logger,
    metrics,
    database,
    sealingKeys,
  }: ServiceDependencies & { readonly sealingKeys: SealingKeys },
  ports: Ports,
  buyers: Pick<Buyers, 'find'>,
) {
  const authority = createAuthorityClient({
    endpoints: authorityEndpoints(config.AUTHORITY_URL),
    userAgent: 'ecf-gateway',
    timeouts: { responseMs: config.AUTHORITY_TIMEOUT_MS, totalMs: config.AUTHORITY_TIMEOUT_MS + 5_000 },
    onCall: measureAuthorityCalls(metrics, { skew: clockSkew }),
    clock,
  });
  const sharedCache = openSharedCache(config, { sealingKeys, logger, metrics });
  const tokens = createTokenProvider({
    client: authority,
    cache: sharedCache ?? inMemoryTokenCache(clock),
    beforeLogin: (login) => ports.recordUse({ ...login, use: 'login' }),
    clock,
  });
  const confirmations = createConfirmationStore(database);
  const confirm = createConfirmDocument({
    confirmations,
    queryState: createQueryState(ports, authority, tokens),
    promote: createPromoteDocument({ ...ports, confirmations, buyers }),
    report: createConfirmationReport(metrics, logger),
    clock,
  });
  const work = createDueWork({
    store: confirmations,
    handle: confirm,
    onError: (error, document) =>
      ports.observer.failed(document ? 'confirming a received document' : 'looking for documents to confirm', error),
    clock,
    leaseMs: CONFIRMATION_LEASE_MS,
    concurrency: CONFIRMATIONS_AT_ONCE,
  });
  return {
    work,
    async close() {
      authority.close();
      await sharedCache?.close();
    },
  };
}

import {
  createArchiver,
  createStoredFiles,
  openXmlStore,
  ownDocuments,
  reportIntegrityErrors,
  type StoredFileTable,
  type XmlStore,
} from '@ecf/archive';
import {
  authorityEndpoints,
  createAuthorityClient,
  createTokenProvider,
  inMemoryTokenCache,
} from '@ecf/authority-client';
import { createOutboxRelay } from '@ecf/bus';
import { type ArchiveOperations, type MasterKeyOperations, type ReceptionOperations, TOPICS } from '@ecf/contracts';
import { gatewayTaxpayerSource, type Readiness, type TaxpayerSource, writerReadiness } from '@ecf/http';
import { createSealingKeys, type SealingKeys } from '@ecf/kit';
import { openSharedCache } from '@ecf/kit/cache';
import { measureAuthorityCalls } from '@ecf/kit/telemetry';
import { createInstanceReport, createMasterKeyOperations } from '@ecf/postgres';
import { createDueWork } from '@ecf/postgres/due-work';
import {
  bodyLimits,
  createFreeSpaceGuard,
  createQuotaStore,
  createSignerLookUp,
  createStoredBytesQuota,
  freeSpaceSettings,
  reportRevocations,
  storedBytesLimits,
  trustCheck,
  validationSettings,
} from '@ecf/public-ingress';
import { openDocumentJson } from '@ecf/public-ingress/document-json';
import { openServiceDependencies, type ServiceDependencies, type SharedDependencies } from '@ecf/service';
import { createCertificates, type RecordCertificateUse } from '@ecf/taxpayer-replica';
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
import { createListings } from './listings/listings.postgres.js';
import { createQueryReceived } from './listings/query-received.js';
import { createConfirmationReport, createReceptionReport, reportDeadline } from './metrics.js';
import { createAnsweredDocuments } from './receive/answered-documents.js';
import { createArrivals } from './receive/arrivals.postgres.js';
import { createBuyers, MAX_QUERIES } from './receive/buyers.js';
import { createDecisions } from './receive/decisions.postgres.js';
import { createReceiveDocument } from './receive/receive-document.js';
import { createRecordDocument } from './receive/record-document.js';
import { createRefusals } from './receive/refusals.postgres.js';
import { createRefusedDocumentQuota } from './receive/refused-bytes.js';
import { createValidation } from './receive/validation.worker.js';
import { createReceptionApp, receptionOperations } from './routes.http.js';
import { MAX_WAITING_TOKENS } from './tokens/provider-keys.js';
import { createProviderTokens } from './tokens/provider-tokens.js';
import { createSeeds } from './tokens/seeds.js';
import { createSpentSeeds } from './tokens/spent-seeds.postgres.js';
import { createTokenKeys, sealedTokenKeys } from './tokens/token-keys.postgres.js';

const HOUR = 3_600_000;
const GATEWAY_TIMEOUT_MS = 3_000;
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
  const { clock, logger, metrics, bus, identities, database, watchQueue } = shared;
  const observer = { failed: (what: string, error: unknown) => logger.warn({ err: error }, `${what} failed`) };
  const sealingKeys = createSealingKeys('reception', config);

  const store = overrides.archive ?? openXmlStore(config);
  const archive = reportIntegrityErrors(ownDocuments(database, store), { metrics, logger });
  const documents = { ...createArrivals(database), ...createRefusals(database) };
  const decisions = createDecisions(database);
  const listings = createListings(database);
  const quotas = createQuotaStore(database);

  const taxpayers = createTaxpayerReplica(database);
  const source =
    overrides.source === undefined
      ? gatewayTaxpayerSource(config.GATEWAY_URL, { identities, timeoutMs: GATEWAY_TIMEOUT_MS })
      : overrides.source;
  const certificates = createCertificates(
    sealingKeys,
    (problem, message, cause) => new ReceptionError(problem, message, problem, { cause }),
  );
  const recordUse = createCertificateUses({
    database,
    acts: { topic: TOPICS.audit.name, source: 'reception' },
    clock,
  });

  // Documents from senders.
  const validation = createValidation({
    trust: config.trust,
    maxBytes: config.MAX_BODY_BYTES,
    ...validationSettings(config),
    watchQueue,
  });
  const buyers = createBuyers(
    { taxpayers, source, certificates, observer, clock },
    config.RECEPTION_SIGNER_RNC ?? null,
  );
  watchQueue({ queue: 'buyers', limit: MAX_QUERIES, depth: buyers.queries });
  const stored = createStoredBytesQuota(quotas, storedBytesLimits(config));
  const refusedQuota = createRefusedDocumentQuota(stored, {
    maxRefusedBytes: config.MAX_REFUSED_BYTES,
    maxCompetingBytes: config.MAX_COMPETING_BYTES,
    requireTrustedIssuer: config.trust.issuers !== null,
  });
  const isKnown = createSignerLookUp(database);
  const record = createRecordDocument({ documents, archive, isKnown, recordUse, quotas, stored, refusedQuota, clock });
  const answered = createAnsweredDocuments({ documents, observer });
  const receive = createReceiveDocument({ documents, validation, buyers, answered, record, clock });

  // Tokens of senders.
  const spent = createSpentSeeds(database);
  const seedKeys = sealingKeys.keysFor('reception seed');
  const seeds = createSeeds({ spent, validation, clock }, seedKeys, trustCheck(config.trust));
  const tokens = createProviderTokens(
    { keys: createTokenKeys(database, sealingKeys), clock },
    { lifeSeconds: config.PROVIDER_TOKEN_SECONDS, rotationMs: config.PROVIDER_KEY_ROTATION_HOURS * HOUR },
  );
  watchQueue({ queue: 'tokens', limit: MAX_WAITING_TOKENS, depth: tokens.waiting });

  // Customers' queries, and what the authority says about received documents.
  const deadlineDays = config.APPROVAL_DEADLINE_DAYS ?? null;
  const documentJson = openDocumentJson(watchQueue);
  const query = createQueryReceived(
    { taxpayers, source, observer, listings, archive, toJson: documentJson.toJson, clock },
    deadlineDays,
  );
  const authority = openAuthority(config, shared, sealingKeys, recordUse);
  const confirmations = createConfirmationStore(database);
  const confirm = createConfirmDocument({
    confirmations,
    queryState: createQueryState({ taxpayers, certificates, observer, clock }, authority.client, authority.tokens),
    promote: createPromoteDocument({ validation, archive, recordUse, confirmations, buyers, clock }),
    report: createConfirmationReport(metrics, logger),
    clock,
  });
  const confirmation = createDueWork({
    store: confirmations,
    handle: confirm,
    onError: (error, document) =>
      observer.failed(document ? 'confirming a received document' : 'looking for documents to confirm', error),
    clock,
    leaseMs: CONFIRMATION_LEASE_MS,
    concurrency: CONFIRMATIONS_AT_ONCE,
  });

  const freeSpace = createFreeSpaceGuard({
    ...freeSpaceSettings(config, database),
    service: 'reception',
    metrics,
    logger,
  });
  const endDeadline = deadlineDays === null ? null : reportDeadline(metrics, listings, deadlineDays, clock);
  const endRevocations = reportRevocations(config.trust.revocations, { service: 'reception', metrics, logger });
  const archiver = createArchiver({ database, archive: store, service: 'reception', logger, metrics });
  const values = [replicatedCertificates(database), sealedTokenKeys(database, sealingKeys)];
  const masterKeys = createMasterKeyOperations({ database, sealingKeys, values });
  const storedFiles = createStoredFiles(database, STORED_FILES);
  const internal = receptionOperations(listings, tokens);
  const ready = () => writerReadiness(shared, store);
  const app = createReceptionApp(
    {
      receive,
      answered,
      seeds,
      tokens,
      requireTokens: config.PROVIDER_AUTH === 'required',
      bodyLimits: bodyLimits(config),
      freeSpace,
      query,
      report: createReceptionReport(metrics, logger),
      clock,
      internal,
      stored: storedFiles,
      masterKeys,
    },
    { logger, identities, maxBodyBytes: config.MAX_BODY_BYTES, bodies: shared.bodies, ready },
  );
  const background = createBackground({
    database,
    bus,
    taxpayers,
    decisions,
    quotas,
    relay: createOutboxRelay({ database, bus, service: 'reception', logger, metrics, clock }),
    archiver,
    instance: createInstanceReport({ database, sealingKeys, values, logger }),
    confirmation,
    cleanSeeds: spent.clean,
    startClock: shared.startClock,
    observer,
    clock,
  });
  return {
    app,
    ready,
    internal,
    stored: storedFiles,
    masterKeys,
    async start() {
      await freeSpace.start();
      await background.start();
    },
    async stop() {
      freeSpace.stop();
      endDeadline?.();
      endRevocations();
      await answered.settled();
      await validation.close();
      await documentJson.close();
      await background.stop();
      await authority.close();
      await shared.close();
    },
  };
}

/** The client of the authority, and the tokens with which it is called. */
function openAuthority(
  config: ReceptionConfig,
  { clock, clockSkew, logger, metrics }: ServiceDependencies,
  sealingKeys: SealingKeys,
  recordUse: RecordCertificateUse,
) {
  const client = createAuthorityClient({
    endpoints: authorityEndpoints(config.AUTHORITY_URL),
    userAgent: 'ecf-gateway',
    timeouts: { responseMs: config.AUTHORITY_TIMEOUT_MS, totalMs: config.AUTHORITY_TIMEOUT_MS + 5_000 },
    onCall: measureAuthorityCalls(metrics, { skew: clockSkew }),
    clock,
  });
  const sharedCache = openSharedCache(config, { sealingKeys, logger, metrics });
  const tokens = createTokenProvider({
    client,
    cache: sharedCache ?? inMemoryTokenCache(clock),
    beforeLogin: (login) => recordUse({ ...login, use: 'login' }),
    clock,
  });
  return {
    client,
    tokens,
    async close() {
      client.close();
      await sharedCache?.close();
    },
  };
}

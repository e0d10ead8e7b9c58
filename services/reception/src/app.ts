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
import { createOutboxRelay } from '@ecf/bus';
import {
  type ArchiveOperations,
  type MasterKeyOperations,
  type ReceptionOperations,
  type StateOperations,
  TOPICS,
} from '@ecf/contracts';
import { gatewayTaxpayerSource, type Readiness, type TaxpayerSource, writerReadiness } from '@ecf/http';
import { createSealingKeys } from '@ecf/kit';
import { createInstanceReport, createMasterKeyOperations } from '@ecf/postgres';
import { bodyLimits, createFreeSpaceGuard, freeSpaceSettings, reportRevocations } from '@ecf/public-ingress';
import { openDocumentJson } from '@ecf/public-ingress/document-json';
import { openPrinting } from '@ecf/public-ingress/printing';
import { openServiceDependencies, type SharedDependencies } from '@ecf/service';
import { createCertificates } from '@ecf/taxpayer-replica';
import { createCertificateUses } from '@ecf/taxpayer-replica/certificate-uses';
import { createTaxpayerReplica, replicatedCertificates } from '@ecf/taxpayer-replica/postgres';
import type { Express } from 'express';
import { createBackground } from './background.js';
import type { ReceptionConfig } from './config.js';
import { createConfirmation } from './confirmation/index.js';
import { ReceptionError } from './errors.js';
import { createListings } from './listings/listings.postgres.js';
import { createQueryReceived } from './listings/query-received.js';
import { createReceptionReport, reportDeadline } from './metrics.js';
import { createDecisions } from './receive/decisions.postgres.js';
import { createReceiving } from './receive/index.js';
import { createReceptionApp, receptionOperations } from './routes.http.js';
import { createTokens } from './tokens/index.js';

const GATEWAY_TIMEOUT_MS = 3_000;

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
  readonly state: StateOperations;
}

/** The reception service, wired. It opens no connection before `start`. */
export function createReception(config: ReceptionConfig, overrides: ReceptionOverrides = {}): Reception {
  const service = openServiceDependencies('reception', config, overrides);
  const { clock, logger, metrics, bus, identities, database } = service;
  const observer = { failed: (what: string, error: unknown) => logger.warn({ err: error }, `${what} failed`) };
  const sealingKeys = createSealingKeys('reception', config);

  const store = overrides.archive ?? openXmlStore(config);
  const reported = { service: 'reception', database, metrics, logger };
  const integrity = createIntegrityErrors({ ...reported, archive: store });
  const archive = integrity.reported(ownDocuments(database, store));
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

  const account = { taxpayers, source, observer };
  const ports = { ...account, certificates, recordUse, archive, clock };
  const receiving = createReceiving(config, service, ports);
  const { validation, buyers } = receiving;
  const senders = createTokens(config, service, sealingKeys, validation);
  const confirmation = createConfirmation(config, service, sealingKeys, { ...ports, validation, buyers });

  const listings = createListings(database);
  const documentJson = openDocumentJson(service.watchQueue);
  const printing = openPrinting();
  const deadlineDays = config.APPROVAL_DEADLINE_DAYS ?? null;
  const query = createQueryReceived(
    { ...account, listings, archive, toJson: documentJson.toJson, print: printing.print, clock },
    deadlineDays,
  );

  const freeSpace = createFreeSpaceGuard({
    ...freeSpaceSettings(config, database),
    service: 'reception',
    metrics,
    logger,
  });
  const endDeadline = deadlineDays === null ? null : reportDeadline(metrics, listings, deadlineDays, clock);
  const endRevocations = reportRevocations(config.trust.revocations, { service: 'reception', metrics, logger });
  const archiver = createArchiver({ database, archive: store, service: 'reception', logger, metrics });
  const values = [replicatedCertificates(database), senders.sealed];
  const masterKeys = createMasterKeyOperations({ database, sealingKeys, values });
  const storedFiles = createStoredFiles(database, STORED_FILES.reception);
  const internal = receptionOperations(listings, senders.tokens);
  const ready = () => writerReadiness(service, store);
  const app = createReceptionApp(
    {
      receive: receiving.receive,
      answered: receiving.answered,
      seeds: senders.seeds,
      tokens: senders.tokens,
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
    { logger, identities, maxBodyBytes: config.MAX_BODY_BYTES, bodies: service.bodies, ready, state: service.state },
  );
  const background = createBackground({
    database,
    bus,
    taxpayers,
    decisions: createDecisions(database),
    quotas: receiving.quotas,
    relay: createOutboxRelay({ database, bus, service: 'reception', logger, metrics, clock }),
    archiver,
    instance: createInstanceReport({ database, sealingKeys, logger }),
    confirmation: confirmation.work,
    cleanSeeds: senders.cleanSeeds,
    checkArchive: createArchiveCheck({ ...reported, tables: STORED_FILES.reception, reader: archive, integrity }),
    startClock: service.startClock,
    observer,
    clock,
  });
  return {
    app,
    ready,
    internal,
    stored: storedFiles,
    masterKeys,
    state: service.state,
    async start() {
      await freeSpace.start();
      await background.start();
    },
    async stop() {
      freeSpace.stop();
      endDeadline?.();
      endRevocations();
      integrity.close();
      await receiving.close();
      await documentJson.close();
      printing.close();
      await background.stop();
      await confirmation.close();
      await service.close();
    },
  };
}

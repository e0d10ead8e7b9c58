import { setMaxListeners } from 'node:events';
import {
  createArchiveCheck,
  createArchiver,
  createIntegrityErrors,
  createStoredFiles,
  documentsOf,
  openXmlStore,
  ownDocuments,
  STORED_FILES,
  type XmlStore,
} from '@ecf/archive';
import type { AddressLookup, TokenCache } from '@ecf/authority-client';
import { createOutboxRelay } from '@ecf/bus';
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
  type StateOperations,
} from '@ecf/contracts';
import { clientOf, gatewayTaxpayerSource, type Readiness, type TaxpayerSource, writerReadiness } from '@ecf/http';
import { createSealingKeys } from '@ecf/kit';
import { createInstanceReport, createMasterKeyOperations } from '@ecf/postgres';
import { reportRevocations } from '@ecf/public-ingress';
import { openServiceDependencies, type SharedDependencies } from '@ecf/service';
import { createCertificates } from '@ecf/taxpayer-replica';
import { createTaxpayerReplica, replicatedCertificates } from '@ecf/taxpayer-replica/postgres';
import type { Express } from 'express';
import { createBackground } from './background.js';
import { pageOfDeliveries, publishDeliveries } from './buyers/deliveries.postgres.js';
import { createBuyers } from './buyers/index.js';
import type { ApprovalsConfig } from './config.js';
import { ApprovalsError } from './errors.js';
import { APPROVALS_GROUP, subscribeToEvents } from './events.kafka.js';
import { createGiven } from './given/index.js';
import { createSendReport, observeBacklog } from './metrics.js';
import { createReceived } from './received/index.js';
import { pageOfDecisions } from './received/received-approvals.postgres.js';
import { createApprovalsApp } from './routes.http.js';
import { createRunStore } from './sending/certification-runs.postgres.js';
import { createRecipients, createSendingOf } from './sending/index.js';
import { createOutgoingStore } from './sending/outgoing.postgres.js';

const GATEWAY_QUERY_MS = 3_000;

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
  readonly state: StateOperations;
}

/** The approvals service, wired. It opens no connection before `start`. */
export function createApprovals(config: ApprovalsConfig, overrides: ApprovalsOverrides = {}): Approvals {
  const service = openServiceDependencies('approvals', config, overrides);
  const { clock, logger, metrics, bus, identities, database } = service;
  const { random = Math.random, checkpoint = () => undefined } = overrides;
  const sealingKeys = createSealingKeys('approvals', config);
  const emission = overrides.emission ?? clientOf(EMISSION_OPERATIONS, 'emission', config.EMISSION_URL, { identities });
  const issued = overrides.issued ?? clientOf(ARCHIVE_OPERATIONS, 'emission', config.EMISSION_URL, { identities });
  const reception =
    overrides.reception ?? clientOf(RECEPTION_OPERATIONS, 'reception', config.RECEPTION_URL, { identities });
  const archive = overrides.archive ?? openXmlStore(config);
  const reported = { service: 'approvals', database, metrics, logger };
  const integrity = createIntegrityErrors({ ...reported, archive });
  const ownXml = integrity.reported(ownDocuments(database, archive));
  const issuedXml = integrity.reported(documentsOf(issued, archive));
  const stopping = new AbortController();
  // Every request that waits for an issuer listens to the signal.
  setMaxListeners(0, stopping.signal);
  const report = createSendReport(metrics, logger, clock);
  const source =
    overrides.source === undefined
      ? gatewayTaxpayerSource(config.GATEWAY_URL, { identities, timeoutMs: GATEWAY_QUERY_MS })
      : overrides.source;
  const account = { taxpayers: createTaxpayerReplica(database), source, observer: report };
  const certificates = createCertificates(
    sealingKeys,
    (problem, message, cause) => new ApprovalsError(problem, message, { cause }),
  );
  const recipients = createRecipients(config, service, sealingKeys, overrides);
  const outgoing = createOutgoingStore(database, publishDeliveries);
  const runs = createRunStore(database);
  const wake = () => sending.wake();
  const sender = { config, database, account, certificates, recipients, ownXml, report, stopping: stopping.signal };

  const received = createReceived(config, service, emission, reception, account);
  const given = createGiven({ ...sender, reception, send: (item) => sending.now(item), wake, clock, random });
  const buyers = createBuyers({
    ...sender,
    sealingKeys,
    emission,
    outgoing,
    signers: received.signers,
    presentRun: runs.present,
    issuedXml,
    checkpoint,
    wake,
    clock,
    random,
  });
  const sending = createSendingOf(config, {
    store: outgoing,
    send: { delivery: buyers.send, authority: given.toAuthority, issuer: given.toIssuer },
    hostCircuits: recipients.hostCircuits,
    report,
    clock,
    claimed: () => checkpoint('claimed'),
  });

  const sealed = [replicatedCertificates(database)];
  const operations = {
    internal: { ...buyers.operations, ...given.operations, ...received.operations },
    outcomes: { pageOfDeliveries: pageOfDeliveries(database), pageOfDecisions: pageOfDecisions(database) },
    stored: createStoredFiles(database, STORED_FILES.approvals),
    masterKeys: createMasterKeyOperations({ database, sealingKeys, values: sealed }),
  };
  const ready = () => writerReadiness(service, archive);
  const app = createApprovalsApp(
    { given, received, acknowledgements: buyers.acknowledgements, operations },
    { logger, identities, maxBodyBytes: config.MAX_BODY_BYTES, bodies: service.bodies, ready, state: service.state },
  );
  const background = createBackground({
    ...service,
    quotas: received.quotas,
    freeSpace: received.freeSpace,
    validation: received.validation,
    subscribe: () =>
      subscribeToEvents(
        bus,
        APPROVALS_GROUP,
        {
          taxpayers: account.taxpayers,
          approvals: given.approvals,
          deliveries: buyers.deliveries,
          signers: received.signers,
          runs,
        },
        { settings: buyers.settings, endpoints: recipients.endpoints, clock, random },
        wake,
      ),
    sending,
    relay: createOutboxRelay({ database, bus, service: 'approvals', logger, metrics, clock }),
    checkArchive: createArchiveCheck({ ...reported, tables: STORED_FILES.approvals, reader: ownXml, integrity }),
    archiver: createArchiver({ database, archive, service: 'approvals', logger, metrics }),
    instance: createInstanceReport({ database, sealingKeys, logger }),
    report,
    stopping,
    endReports: [
      observeBacklog(metrics, {
        approvals: given.approvals,
        deliveries: buyers.deliveries,
        paused: sending.paused,
        clock,
      }),
      reportRevocations(config.trust.revocations, { service: 'approvals', metrics, logger }),
      integrity.close,
    ],
    closeClients: recipients.close,
  });
  return { app, ready, ...operations, state: service.state, ...background };
}

import { hkdfSync } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ArchiveOperations, ReceptionOperations } from '@ecf/contracts';
import {
  BodyIntake,
  createGate,
  createRefusalBudgets,
  createStorageRoom,
  createTurns,
  DailyReceivedBytes,
  gatePlaces,
  intakeLimits,
  judgeThreadCounts,
  refusedBytesSettings,
  type StorageRoom,
  storageRoomSettings,
  type Turns,
  trustCheck,
} from '@ecf/public-door';
import { gatewayTaxpayerSource, type TaxpayerSource } from '@ecf/service-kit/internal';
import { createOutboxRelay } from '@ecf/service-kit/outbox';
import { checkReadiness, openServiceParts, type Readiness, type SharedParts } from '@ecf/service-kit/service';
import {
  createArchiver,
  createStoredFiles,
  openXmlStore,
  ownDocuments,
  reportIntegrityErrors,
  type XmlStore,
} from '@ecf/service-kit/xml-store';
import { createCertificates, createTaxpayerReplica } from '@ecf/taxpayer-replica';
import type { Express } from 'express';
import { createBackground } from './background.js';
import type { ReceptionConfig } from './config.js';
import { Answers } from './core/documents/answers.js';
import { QueryReceived } from './core/documents/query-received.js';
import { ReceiveDocument } from './core/documents/receive-document.js';
import { RefusedBytesRoom } from './core/documents/refused-bytes.js';
import { ReceptionError } from './core/errors.js';
import type { Ports } from './core/ports.js';
import { ProviderTokens } from './core/providers/provider-tokens.js';
import { Seeds } from './core/providers/seeds.js';
import { Receivers } from './core/receivers.js';
import { reportDeadline } from './inbound/deadline-report.js';
import { createReceptionApp } from './inbound/http.js';
import { receptionOperations } from './inbound/questions.js';
import { createReceptionReport, reportHeld } from './inbound/reception-report.js';
import { createDocumentStore } from './outbound/documents.postgres.js';
import { createJudges } from './outbound/judges.threads.js';
import { createSpentSeeds } from './outbound/spent-seeds.postgres.js';
import { STORED_FILES } from './outbound/stored-files.js';
import { createTokenKeys } from './outbound/token-keys.postgres.js';

const HOUR = 3_600_000;
const QUESTION_MS = 3_000;

/** Parts that a deployment shares between its services, and what tests replace. */
export interface ReceptionOverrides extends SharedParts {
  archive?: XmlStore;
  /** Where to ask about taxpayers; null = nowhere. By default the gateway of GATEWAY_URL. */
  source?: TaxpayerSource | null;
}

export interface Reception {
  readonly app: Express;
  /** Prepares the database, listens to events and publishes its own. */
  start(): Promise<void>;
  /** Finishes what is under way. The HTTP server is stopped by who started it, before. */
  stop(): Promise<void>;
  ready(): Promise<Readiness>;
  /** What services of the same process ask instead of the internal routes. */
  readonly internal: ReceptionOperations;
  readonly stored: ArchiveOperations;
}

/** The reception service, wired. Nothing is connected before `start`. */
export function createReception(config: ReceptionConfig, overrides: ReceptionOverrides = {}): Reception {
  const { clock, logger, metrics, bus, identityKey, database, close } = openServiceParts(
    'reception',
    config,
    overrides,
  );
  const archive = overrides.archive ?? openXmlStore(config);
  const turns = createTurns();
  const judges = createJudges({
    turns,
    trustedIssuers: config.trustedIssuers,
    maxBytes: config.MAX_BODY_BYTES,
    threads: judgeThreadCounts(config),
    timeoutMs: config.LARGE_DOCUMENT_TIMEOUT_MS,
  });
  const ports: Ports = {
    documents: createDocumentStore(database),
    taxpayers: createTaxpayerReplica(database),
    source:
      overrides.source === undefined
        ? gatewayTaxpayerSource(config.GATEWAY_URL, {
            service: 'reception',
            identityKey,
            clock,
            timeoutMs: QUESTION_MS,
          })
        : overrides.source,
    certificates: createCertificates(
      config.MASTER_KEY,
      (problem, message, cause) => new ReceptionError(problem, message, problem, { cause }),
    ),
    judges,
    archive: reportIntegrityErrors(ownDocuments(database, archive), { metrics, logger }),
    budgets: createRefusalBudgets(database),
    observer: { failed: (what, error) => logger.warn({ err: error }, `${what} failed`) },
    clock,
    sleep: delay,
  };
  const spent = createSpentSeeds(database);
  const keys = createTokenKeys(database, config.MASTER_KEY);
  const room = createStorageRoom({ ...storageRoomSettings(config), service: 'reception', database, metrics, logger });
  const parts = createParts(config, ports, { spent, keys, turns, room });
  const report = createReceptionReport(metrics, logger);
  const endHeld = reportHeld(metrics, () => parts.intake.load);
  const deadlineDays = config.APPROVAL_DEADLINE_DAYS;
  const endDeadline = deadlineDays === undefined ? null : reportDeadline(metrics, ports.documents, deadlineDays, clock);
  const relay = createOutboxRelay({ database, bus, service: 'reception', logger, metrics, clock });
  const archiver = createArchiver({ database, archive, service: 'reception', logger, metrics });
  const ready = () =>
    // Documents are received while the archive is away; the archiver stores them later.
    checkReadiness({ database: () => database.query('SELECT 1'), archive: () => archive.ready() }, 2_000, ['archive']);
  const internal = receptionOperations(ports.documents, parts.tokens);
  const stored = createStoredFiles(database, STORED_FILES);
  const app = createReceptionApp(
    { ...parts, report, clock, internal, stored },
    { logger, identityKey, clock, maxBodyBytes: config.MAX_BODY_BYTES, ready },
  );
  const background = createBackground({ database, bus, ports, relay, archiver, cleanSeeds: spent.clean });
  return {
    app,
    ready,
    internal,
    stored,
    async start() {
      await room.start();
      await background.start();
    },
    async stop() {
      room.stop();
      endDeadline?.();
      endHeld();
      await parts.answers.settled();
      await judges.stop();
      await background.stop();
      await close();
    },
  };
}

function createParts(
  config: ReceptionConfig,
  ports: Ports,
  stores: {
    spent: ReturnType<typeof createSpentSeeds>;
    keys: ReturnType<typeof createTokenKeys>;
    turns: Turns;
    room: StorageRoom;
  },
) {
  const { clock } = ports;
  const trust = trustCheck(config.trustedIssuers);
  const settings = {
    signerRnc: config.RECEPTION_SIGNER_RNC ?? null,
    ...refusedBytesSettings(config),
    maxCompetingBytes: config.MAX_COMPETING_BYTES,
    signersVouchedFor: config.trustedIssuers !== null,
  };
  const answers = new Answers(ports);
  const gate = createGate(gatePlaces(config.DATABASE_CONNECTIONS));
  return {
    answers,
    receive: new ReceiveDocument(
      ports,
      new Receivers(ports, settings),
      answers,
      {
        received: new DailyReceivedBytes(ports.budgets, config.MAX_RECEIVED_BYTES_PER_SENDER),
        refused: new RefusedBytesRoom(ports, settings),
      },
      gate,
    ),
    query: new QueryReceived(ports, config.APPROVAL_DEADLINE_DAYS ?? null),
    seeds: new Seeds({ spent: stores.spent, clock, turns: stores.turns, gate }, seedKey(config.MASTER_KEY), trust),
    tokens: new ProviderTokens(
      { keys: stores.keys, clock },
      { lifeSeconds: config.PROVIDER_TOKEN_SECONDS, rotationMs: config.PROVIDER_KEY_ROTATION_HOURS * HOUR },
    ),
    requireTokens: config.PROVIDER_AUTH === 'required',
    intake: new BodyIntake(intakeLimits(config)),
    turns: stores.turns,
    room: stores.room,
  };
}

/** Seeds are ours when they carry a code made with this key; all instances derive the same. */
function seedKey(masterKey: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', masterKey, new Uint8Array(), 'ecf reception seed v1', 32));
}

import { fileURLToPath } from 'node:url';
import { type Archiver, PENDING_DOCUMENT_DUE_TIMES } from '@ecf/archive';
import { type Bus, cleanInbox, type OutboxRelay, type Subscription } from '@ecf/bus';
import {
  createDatabaseIfMissing,
  type Database,
  type DueTimes,
  type InstanceReport,
  migrate,
  settleRestores,
} from '@ecf/postgres';
import { createDueTimeWatch, type DueWork } from '@ecf/postgres/due-work';
import type { QuotaStore } from '@ecf/public-ingress';
import { createCleaning } from '@ecf/service';
import type { TaxpayerReplica } from '@ecf/taxpayer-replica';
import { type Confirmation, LONGEST_PAUSE_MS } from './confirmation/confirmation.js';
import { subscribeToEvents } from './events.kafka.js';
import { RECEPTION_GROUP } from './receive/decisions.postgres.js';
import type { DecisionStore, Observer } from './receive/ports.js';
import { publishAfterRestore } from './receive/received-documents.postgres.js';

const MIGRATIONS = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

/** Every due time and lease of this service. */
export const DUE_TIMES: readonly DueTimes[] = [
  { table: 'confirmations', column: 'due_at', longestMs: LONGEST_PAUSE_MS },
  PENDING_DOCUMENT_DUE_TIMES,
];

export interface BackgroundParts {
  readonly database: Database;
  readonly bus: Bus;
  readonly taxpayers: TaxpayerReplica;
  readonly decisions: DecisionStore;
  readonly quotas: QuotaStore;
  readonly relay: OutboxRelay;
  readonly archiver: Archiver;
  readonly instance: InstanceReport;
  readonly confirmation: DueWork<Confirmation>;
  readonly cleanSeeds: (now: Date) => Promise<void>;
  /** Reads a share of the archive each night. */
  readonly checkArchive: (now: Date, signal: AbortSignal) => Promise<void>;
  readonly startClock: () => Promise<void>;
  readonly observer: Observer;
  readonly clock: () => Date;
}

/** The work beside the requests: events in and out, the archiver, and cleaning. */
export function createBackground({
  database,
  bus,
  taxpayers,
  decisions,
  quotas,
  relay,
  archiver,
  instance,
  confirmation,
  cleanSeeds,
  checkArchive,
  startClock,
  observer,
  clock,
}: BackgroundParts) {
  let subscriptions: Subscription[] = [];
  const cleaning = createCleaning({
    async clean(now, signal) {
      await cleanSeeds(now);
      await quotas.clean(now);
      await cleanInbox(database, now);
      await checkArchive(now, signal);
    },
    clock,
    failed: (error) => observer.failed('cleaning', error),
  });

  const dueTimes = createDueTimeWatch({
    database,
    columns: DUE_TIMES,
    wake() {
      confirmation.wake();
      archiver.wake();
    },
    failed: (error) => observer.failed('reading due times', error),
  });

  return {
    /** Prepares the database, then starts the work. */
    async start(): Promise<void> {
      await createDatabaseIfMissing(database.url);
      await migrate(database.url, MIGRATIONS);
      await startClock();
      await settleRestores(database, (tx, restore) => publishAfterRestore(tx, restore, clock()));
      await instance.start();
      subscriptions = await subscribeToEvents(bus, RECEPTION_GROUP, { taxpayers, decisions });
      relay.start();
      archiver.start();
      confirmation.start();
      cleaning.start();
      dueTimes.start();
    },
    /** Resolves when the work in flight is finished. */
    async stop(): Promise<void> {
      await cleaning.stop();
      await dueTimes.stop();
      await confirmation.stop();
      await relay.stop();
      await archiver.stop();
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      await instance.stop();
    },
  };
}

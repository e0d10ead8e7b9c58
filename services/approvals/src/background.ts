import { fileURLToPath } from 'node:url';
import { PENDING_DOCUMENT_DUE_TIMES } from '@ecf/archive';
import { cleanInbox, type Subscription } from '@ecf/bus';
import { LONGEST_RETRY_DELAY_MS } from '@ecf/domain';
import { createDatabaseIfMissing, type DueTimes, type InstanceReport, migrate, settleRestores } from '@ecf/postgres';
import { createDueTimeWatch } from '@ecf/postgres/due-work';
import { createCleaning, type ServiceDependencies } from '@ecf/service';
import { settleRestore } from './after-restore.postgres.js';
import type { SendReport } from './metrics.js';
import { LONGEST_LOOK_UP_PAUSE_MS } from './sending/retry-times.js';
import type { Sending } from './sending/sending.js';

const MIGRATIONS = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

/** Every due time and lease of this service. A receiver can request a pause of an hour at most. */
export const DUE_TIMES: readonly DueTimes[] = [
  { table: 'outgoing_documents', column: 'due_at', longestMs: LONGEST_LOOK_UP_PAUSE_MS },
  {
    table: 'outgoing_documents',
    column: 'due_at',
    longestMs: LONGEST_RETRY_DELAY_MS,
    where: "status <> 'no_receiver'",
  },
  PENDING_DOCUMENT_DUE_TIMES,
];

/** Work that runs beside the requests. */
interface Loop {
  start(): void;
  /** Looks for due work soon. */
  wake(): void;
  /** Takes nothing new and waits for the work in flight. */
  stop(): Promise<void>;
}

export interface BackgroundParts extends ServiceDependencies {
  readonly quotas: { clean(now: Date): Promise<unknown> };
  readonly freeSpace: { start(): Promise<void>; stop(): void };
  readonly relay: { start(): void; stop(): Promise<void> };
  readonly subscribe: () => Promise<Subscription[]>;
  readonly sending: Sending;
  readonly archiver: Loop;
  readonly instance: InstanceReport;
  readonly validation: { close(): Promise<void> };
  readonly report: Pick<SendReport, 'failed'>;
  /** Ends the pauses of requests that wait for an issuer. */
  readonly stopping: AbortController;
  /** Reads a share of the archive each night. */
  readonly checkArchive: (now: Date, signal: AbortSignal) => Promise<void>;
  readonly endReports: readonly (() => void)[];
  closeClients(): Promise<void>;
}

/** Starts and stops the work beside the requests, in the order that loses no event and no document. */
export function createBackground(parts: BackgroundParts): { start(): Promise<void>; stop(): Promise<void> } {
  const { database, clock, relay, report } = parts;
  const workers: readonly Loop[] = [parts.sending, parts.archiver];
  let subscriptions: Subscription[] = [];
  const cleaning = createCleaning({
    async clean(now, signal) {
      await parts.quotas.clean(now);
      await cleanInbox(database, now);
      await parts.checkArchive(now, signal);
    },
    clock,
    failed: (error) => report.failed('cleaning', error),
  });
  const dueTimes = createDueTimeWatch({
    database,
    columns: DUE_TIMES,
    wake() {
      for (const worker of workers) worker.wake();
    },
    failed: (error) => report.failed('reading due times', error),
  });

  return {
    async start() {
      await parts.freeSpace.start();
      await createDatabaseIfMissing(database.url);
      await migrate(database.url, MIGRATIONS);
      await parts.startClock();
      await settleRestores(database, (tx, restore) => settleRestore(tx, restore, clock()));
      await parts.instance.start();
      subscriptions = await parts.subscribe();
      relay.start();
      for (const worker of workers) worker.start();
      cleaning.start();
      dueTimes.start();
    },
    async stop() {
      parts.freeSpace.stop();
      for (const end of parts.endReports) end();
      await cleaning.stop();
      await dueTimes.stop();
      // The workers learn of the stop before their pauses end.
      const stopped = Promise.all(workers.map((worker) => worker.stop()));
      parts.stopping.abort();
      await stopped;
      await parts.validation.close();
      await relay.stop();
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
      await parts.instance.stop();
      await parts.closeClients();
      await parts.close();
    },
  };
}

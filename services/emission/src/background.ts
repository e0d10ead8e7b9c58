import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PENDING_DOCUMENT_DUE_TIMES } from '@ecf/archive';
import type { Subscription } from '@ecf/bus';
import { LONGEST_RETRY_DELAY_MS } from '@ecf/domain';
import { createDatabaseIfMissing, type DueTimes, type MonthlyTable, makeMonthPartitions, migrate } from '@ecf/postgres';
import { createDueTimeWatch } from '@ecf/postgres/due-work';
import { createCleaning, type ServiceDependencies } from '@ecf/service';
import { OVERDUE_MS } from './attempt/transitions.js';
import type { EmissionConfig } from './config.js';
import { LONGEST_PROBE_MS } from './contingency/recovery.js';
import { createEndsMetrics } from './metrics.js';
import { createNotices } from './notices/notices.postgres.js';
import { RESERVATION_MS } from './numbers/numbers.postgres.js';

const MIGRATIONS = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
const NOTICES_EVERY_MS = 3_600_000;
/** Milliseconds that a stop waits for answers that cannot be recorded because the database is unavailable. */
const PENDING_MS = 10_000;

/** Every due time and lease of this service. The authority can request a pause of an hour at most. */
export const DUE_TIMES: readonly DueTimes[] = [
  // A document whose result is awaited is due when it is overdue.
  { table: 'attempt', column: 'next_action_at', longestMs: OVERDUE_MS },
  {
    table: 'attempt',
    column: 'next_action_at',
    longestMs: LONGEST_RETRY_DELAY_MS,
    where: "state NOT IN ('processing', 'not-found') AND alarm IS DISTINCT FROM 'no-query'",
  },
  { table: 'cancellation', column: 'next_action_at', longestMs: LONGEST_RETRY_DELAY_MS },
  { table: 'batch', column: 'due_at', longestMs: LONGEST_RETRY_DELAY_MS },
  // Open batches are counted every second, which wakes the work on their lines.
  { table: 'batch_line', column: 'due_at', longestMs: LONGEST_RETRY_DELAY_MS, wakes: false },
  { table: 'contingency', column: 'due_at', longestMs: LONGEST_PROBE_MS },
  { table: 'reserved_number', column: 'until', longestMs: RESERVATION_MS, wakes: false },
  PENDING_DOCUMENT_DUE_TIMES,
];

/** The tables that grow with each document and are read by the id of its emission. */
const MONTHLY_TABLES: readonly MonthlyTable[] = [
  { table: 'attempt', id: 'emission_id' },
  { table: 'exchange', id: 'emission_id' },
];

/** Work that runs beside the requests. */
interface Loop {
  start(): void | Promise<void>;
  /** Looks for due work soon. */
  wake?(): void;
  stop(): Promise<void>;
}

export interface BackgroundWork {
  /** Makes this service and the others agree after a restore. */
  settle(): Promise<void>;
  /** Subscribes to the events of other services. */
  subscribe(publishNotices: (rnc: string) => Promise<void>): Promise<readonly Subscription[]>;
  /** The report of this instance's master keys. */
  readonly instance: Loop;
  /** Publishes the events of the outbox. */
  readonly relay: Loop;
  /** Moves committed documents to the archive. */
  readonly archiver: Loop;
  /** The work on documents, cancellations and batches that are due. */
  readonly backgrounds: readonly Loop[];
  /** Writes the gauges. Each counts by itself: one that fails leaves the values of the others. */
  readonly counts: readonly (() => Promise<void>)[];
  clean(now: Date, signal: AbortSignal): Promise<void>;
  /** Work that continues after its request was answered. A graceful stop waits for it. */
  readonly pending: ReadonlySet<Promise<unknown>>;
  close(): Promise<unknown>;
}

/** Starts and stops the work beside the requests, in an order that loses no work. */
export function createBackgroundWork(
  config: EmissionConfig,
  parts: ServiceDependencies,
  { instance, relay, archiver, backgrounds, pending, ...work }: BackgroundWork,
): { start(): Promise<void>; stop(): Promise<void> } {
  const { database, clock, logger, metrics } = parts;
  const notices = createNotices(database);
  const showEnds = createEndsMetrics(metrics);
  const counts = [...work.counts, async () => showEnds(await notices.backlog(clock()))];
  const cleaning = createCleaning({
    async clean(now, signal) {
      await makeMonths();
      await work.clean(now, signal);
    },
    clock,
    failed: (error) => logger.warn({ err: error }, 'cleaning failed'),
  });
  const dueTimes = createDueTimeWatch({
    database,
    columns: DUE_TIMES,
    wake() {
      for (const loop of [...backgrounds, archiver]) loop.wake?.();
    },
    failed: (error) => logger.warn({ err: error }, 'due times could not be read'),
  });
  let subscriptions: readonly Subscription[] = [];
  let endCounting: readonly (() => void)[] = [];
  let noticing: NodeJS.Timeout | undefined;

  function makeMonths(): Promise<void> {
    return makeMonthPartitions(database, MONTHLY_TABLES).catch((error: unknown) => {
      logger.warn({ err: error }, 'partitions of the next months could not be made');
    });
  }

  function publishNotices(): void {
    const failed = (error: unknown) => logger.warn({ err: error }, 'notices could not be published');
    notices.publish(null, clock()).catch(failed);
  }

  return {
    async start() {
      await createDatabaseIfMissing(config.DATABASE_URL);
      await migrate(config.DATABASE_URL, MIGRATIONS);
      await makeMonths();
      await parts.startClock();
      await work.settle();
      await instance.start();
      subscriptions = await work.subscribe((rnc) => notices.publish(rnc, clock()));
      for (const loop of [relay, archiver, ...backgrounds]) await loop.start();
      endCounting = counts.map((count) => metrics.onRender(count));
      publishNotices();
      noticing = setInterval(publishNotices, NOTICES_EVERY_MS);
      cleaning.start();
      dueTimes.start();
    },
    async stop() {
      clearInterval(noticing);
      for (const end of endCounting) end();
      await cleaning.stop();
      await dueTimes.stop();
      await Promise.all(backgrounds.map((background) => background.stop()));
      // Answers that cannot be recorded now are looked up after the next start.
      await Promise.race([Promise.allSettled(pending), delay(PENDING_MS, undefined, { ref: false })]);
      await relay.stop();
      await archiver.stop();
      for (const subscription of subscriptions) await subscription.stop();
      await instance.stop();
      await work.close();
      await parts.close();
    },
  };
}

import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Subscription } from '@ecf/service-kit/bus';
import { createDueTimeWatch } from '@ecf/service-kit/due-work';
import { createDatabaseIfMissing, migrate } from '@ecf/service-kit/postgres';
import { createCleaning, type ServiceDependencies } from '@ecf/service-kit/service';
import type { TaxpayerReplica } from '@ecf/taxpayer-replica';
import type { EmissionStore } from './attempt/ports.js';
import type { Recorder } from './attempt/recorder.js';
import type { BatchStore } from './batches/ports.js';
import type { CancellationStore } from './cancellation/ports.js';
import type { EmissionConfig } from './config.js';
import type { ContingencyStore } from './contingency/contingency.js';
import { DUE_TIMES } from './due-times.js';
import { subscribeDeliveries, subscribeInvoiceStatus, subscribeTaxpayers } from './events.kafka.js';
import type { createBatchMetrics, createCancellationMetrics, createEmissionMetrics } from './metrics.js';
import { createContingencyMetrics, createEndsMetrics } from './metrics.js';
import { createNotices } from './notices/notices.postgres.js';
import type { NumberStore } from './numbers/ports.js';
import type { PublishedDocuments } from './published/published-documents.js';
import { applyStatus } from './sending/apply-status.js';

/** The consumer group of this service. */
const EMISSION_GROUP = 'emission';

const MIGRATIONS = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', 'prisma', 'migrations');
const NOTICES_EVERY_MS = 3_600_000;
/** Milliseconds that a stop waits for answers that cannot be recorded because the database is unavailable. */
const PENDING_MS = 10_000;

/** Work that runs beside the requests. */
interface Loop {
  start(): void | Promise<void>;
  /** Looks for due work soon. */
  wake?(): void;
  stop(): Promise<void>;
}

export interface LifeCycleDependencies extends ServiceDependencies {
  readonly emissions: EmissionStore;
  readonly recorder: Recorder;
  readonly numbers: NumberStore;
  readonly contingency: ContingencyStore;
  readonly taxpayers: TaxpayerReplica;
  /** Work that continues after its request was answered. A graceful stop waits for it. */
  readonly pending: Set<Promise<unknown>>;
  readonly cancellations: Pick<CancellationStore, 'backlog'>;
  readonly published: Pick<PublishedDocuments, 'findSubmission'>;
  readonly countBacklog: {
    readonly documents: ReturnType<typeof createEmissionMetrics>['backlog'];
    readonly cancellations: ReturnType<typeof createCancellationMetrics>['backlog'];
    readonly batches: ReturnType<typeof createBatchMetrics>;
  };
  readonly relay: Loop;
  readonly archiver: Loop;
  readonly instance: Loop;
  /** The background work on documents, cancellations and batches. */
  readonly backgrounds: readonly Loop[];
  readonly batches: Pick<BatchStore, 'deleteExpired' | 'backlog'>;
  closeClients(): Promise<unknown>;
}

/** Starts and stops the work beside the requests, in an order that loses no work. */
export function createLifeCycle(
  config: EmissionConfig,
  parts: LifeCycleDependencies,
): { start(): Promise<void>; stop(): Promise<void> } {
  const { emissions, bus, clock, logger, backgrounds, relay, archiver } = parts;
  const countWaiting = createContingencyMetrics(parts.metrics);
  const notices = createNotices(parts.database);
  const countEnds = createEndsMetrics(parts.metrics);
  const cleaning = createCleaning({
    async clean(now) {
      await parts.numbers.forgetKeys(now);
      await parts.batches.deleteExpired(now);
    },
    clock,
    failed: (error) => logger.warn({ err: error }, 'cleaning failed'),
  });
  const dueTimes = createDueTimeWatch({
    database: parts.database,
    columns: DUE_TIMES,
    wake() {
      for (const loop of [...backgrounds, archiver]) loop.wake?.();
    },
    failed: (error) => logger.warn({ err: error }, 'due times could not be read'),
  });
  let subscriptions: Subscription[] = [];
  let endCounting: readonly (() => void)[] = [];
  let noticing: NodeJS.Timeout | undefined;

  function publishNotices(): void {
    const failed = (error: unknown) => logger.warn({ err: error }, 'notices could not be published');
    notices.publish(null, clock()).catch(failed);
  }

  /** Each counts by itself: one that fails leaves the values of the others. */
  const counts = [
    async () => parts.countBacklog.documents(await emissions.backlog(), clock()),
    async () => parts.countBacklog.cancellations(await parts.cancellations.backlog()),
    async () => countWaiting(await parts.contingency.backlog(), clock()),
    async () => countEnds(await notices.backlog(clock())),
    async () => parts.countBacklog.batches(await parts.batches.backlog(), clock()),
  ];

  return {
    async start() {
      await createDatabaseIfMissing(config.DATABASE_URL);
      await migrate(config.DATABASE_URL, MIGRATIONS);
      await parts.startClock();
      await parts.instance.start();
      subscriptions = [
        await subscribeTaxpayers(bus, EMISSION_GROUP, parts, (rnc) => notices.publish(rnc, clock())),
        await subscribeInvoiceStatus(bus, EMISSION_GROUP, (result) => applyStatus(parts, result)),
        await subscribeDeliveries(bus, EMISSION_GROUP, emissions),
      ];
      await relay.start();
      await archiver.start();
      for (const background of backgrounds) await background.start();
      endCounting = counts.map((count) => parts.metrics.onRender(count));
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
      await Promise.race([Promise.allSettled(parts.pending), delay(PENDING_MS, undefined, { ref: false })]);
      await relay.stop();
      await archiver.stop();
      for (const subscription of subscriptions) await subscription.stop();
      await parts.instance.stop();
      await parts.closeClients();
      await parts.close();
    },
  };
}

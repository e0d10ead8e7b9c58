import { fileURLToPath } from 'node:url';
import type { Subscription } from '@ecf/service-kit/bus';
import { createDueTimeWatch } from '@ecf/service-kit/due-work';
import type { InstanceReport } from '@ecf/service-kit/master-keys';
import { cleanInbox } from '@ecf/service-kit/outbox';
import { createDatabaseIfMissing, migrate } from '@ecf/service-kit/postgres';
import { createCleaning, type ServiceDependencies } from '@ecf/service-kit/service';
import type { Deliveries } from './deliveries.js';
import { DUE_TIMES } from './due-times.js';
import { APPROVALS_GROUP, subscribeToEvents } from './events.kafka.js';
import type { Ports } from './ports.js';

const MIGRATIONS = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

/** Work that runs beside the requests. */
interface Loop {
  start(): void;
  /** Looks for due work soon. */
  wake(): void;
  /** Takes nothing new and waits for the work in flight. */
  stop(): Promise<void>;
}

export interface LifeCycleDependencies extends ServiceDependencies {
  readonly ports: Pick<Ports, 'taxpayers' | 'approvals' | 'runs' | 'signers' | 'quotas' | 'observer' | 'clock'>;
  readonly freeSpace: { start(): Promise<void>; stop(): void };
  readonly relay: { start(): void; stop(): Promise<void> };
  readonly deliveries: Pick<Deliveries, 'subscribe' | 'taxpayerChanged' | 'worker'>;
  readonly resending: Loop;
  readonly archiver: Loop;
  readonly instance: InstanceReport;
  readonly validation: { close(): Promise<void> };
  /** Ends the pauses of requests that wait for an issuer. */
  readonly stopping: AbortController;
  readonly endReports: readonly (() => void)[];
  closeClients(): Promise<void>;
}

/** Starts and stops what runs beside the requests, in the order that loses nothing. */
export function createLifeCycle(parts: LifeCycleDependencies): { start(): Promise<void>; stop(): Promise<void> } {
  const { ports, bus, database, deliveries, relay, resending } = parts;
  const workers: readonly Loop[] = [resending, deliveries.worker, parts.archiver];
  let subscriptions: Subscription[] = [];
  const cleaning = createCleaning({
    async clean(now) {
      await ports.quotas.clean(now);
      await cleanInbox(database, now);
    },
    clock: ports.clock,
    failed: (error) => ports.observer.failed('cleaning', error),
  });

  const dueTimes = createDueTimeWatch({
    database,
    columns: DUE_TIMES,
    wake() {
      for (const worker of workers) worker.wake();
    },
    failed: (error) => ports.observer.failed('reading due times', error),
  });

  return {
    async start() {
      await parts.freeSpace.start();
      await createDatabaseIfMissing(database.url);
      await migrate(database.url, MIGRATIONS);
      await parts.startClock();
      await parts.instance.start();
      subscriptions = await subscribeToEvents(bus, APPROVALS_GROUP, ports, deliveries.taxpayerChanged);
      subscriptions.push(await deliveries.subscribe());
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

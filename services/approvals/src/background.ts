import { fileURLToPath } from 'node:url';
import type { TaxpayerState } from '@ecf/contracts';
import { quotaPeriod } from '@ecf/public-ingress';
import type { Bus, Subscription } from '@ecf/service-kit/bus';
import { cleanInbox, type OutboxRelay } from '@ecf/service-kit/outbox';
import { createDatabaseIfMissing, type Database, migrate } from '@ecf/service-kit/postgres';
import { APPROVALS_GROUP } from './consumer-group.js';
import type { Ports } from './core/ports.js';
import { subscribeToEvents } from './inbound/events.js';

const MIGRATIONS = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
const CLEANING_MS = 10 * 60_000;
const INBOX_KEPT_MS = 7 * 24 * 3_600_000;

/** Work that goes on beside the requests. */
export interface Worker {
  start(): void;
  /** Takes nothing new and waits for what is under way. */
  stop(): Promise<void>;
}

export interface BackgroundParts {
  readonly database: Database;
  readonly bus: Bus;
  readonly ports: Pick<Ports, 'taxpayers' | 'quotas' | 'observer' | 'clock'>;
  readonly relay: OutboxRelay;
  readonly workers: readonly Worker[];
  /** Of the parts that listen for themselves. */
  readonly subscribe: () => Promise<Subscription>;
  readonly onTaxpayer: (taxpayer: TaxpayerState) => Promise<void>;
}

/** What runs beside the requests: events in and out, sends that are due, and cleaning. */
export function createBackground({ database, bus, ports, relay, workers, ...parts }: BackgroundParts) {
  let subscriptions: Subscription[] = [];
  let cleaning: NodeJS.Timeout | undefined;

  async function clean(): Promise<void> {
    try {
      const now = ports.clock();
      await ports.quotas.clean(quotaPeriod(now));
      await cleanInbox(database, new Date(now.getTime() - INBOX_KEPT_MS));
    } catch (error) {
      ports.observer.failed('cleaning', error);
    }
  }

  return {
    /** Prepares the database first. */
    async start(): Promise<void> {
      await createDatabaseIfMissing(database.url);
      await migrate(database.url, MIGRATIONS);
      subscriptions = await subscribeToEvents(bus, APPROVALS_GROUP, ports, parts.onTaxpayer);
      subscriptions.push(await parts.subscribe());
      relay.start();
      for (const worker of workers) worker.start();
      cleaning = setInterval(() => void clean(), CLEANING_MS);
      cleaning.unref();
    },
    /** Finishes what is under way. */
    async stop(): Promise<void> {
      clearInterval(cleaning);
      await Promise.all(workers.map((worker) => worker.stop()));
      await relay.stop();
      await Promise.all(subscriptions.map((subscription) => subscription.stop()));
    },
  };
}

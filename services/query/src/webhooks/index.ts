import { createSealingKeys } from '@ecf/kit';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import { createInstanceReport, createMasterKeyOperations, type Database, type DueTimes } from '@ecf/postgres';
import { createDueTimeWatch, createDueWork } from '@ecf/postgres/due-work';
import type { QueryConfig } from '../config.js';
import type { FeedStore } from '../feed/ports.js';
import { placeInFeed } from '../feed/read-feed.js';
import { observeWebhooks } from '../metrics.js';
import { createDeliverEvent, LONGEST_PAUSE_MS } from './deliver-event.js';
import { createWebhookDeliveries } from './deliveries.postgres.js';
import { createManageWebhooks } from './manage-webhooks.js';
import { webhookOperations } from './operations.js';
import type { WebhookDelivery } from './ports.js';
import { createWebhookCalls } from './webhook-calls.http.js';
import { createPostgresWebhooks, sealedWebhookSecrets } from './webhooks.postgres.js';

/** Longer than a call may last. */
const LEASE_MS = 60_000;
/** Every due time and lease of webhooks. */
export const DUE_TIMES: readonly DueTimes[] = [
  { table: 'webhook_delivery', column: 'due_at', longestMs: LONGEST_PAUSE_MS },
  { table: 'webhook_delivery', column: 'leased_until', longestMs: LEASE_MS, wakes: false },
  { table: 'webhook', column: 'paused_until', longestMs: LONGEST_PAUSE_MS, wakes: false },
];
/** Calls. One that lasts longer than `afterMs` frees its slot, so that slow receivers delay no others. */
const SLOTS = { concurrency: 128, slow: { afterMs: 500, maxInFlight: 1_024 } };

/** The parts of the service that webhooks use. */
export interface WebhookParts {
  readonly database: Database;
  readonly feed: FeedStore;
  readonly clock: () => Date;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Wires the webhooks: their administration, and the delivery of events. */
export function createWebhooks(config: QueryConfig, { database, feed, clock, logger, metrics }: WebhookParts) {
  const sealingKeys = createSealingKeys('query', config);
  const values = sealedWebhookSecrets(database, sealingKeys);
  const instance = createInstanceReport({ database, sealingKeys, logger });
  const calls = createWebhookCalls({ allowPrivate: config.ALLOW_PRIVATE_ADDRESSES, clock });
  const deliveries = createWebhookDeliveries(database, sealingKeys);
  const ended = observeWebhooks(metrics, logger, { deliveries, clock });
  const work = createDueWork<WebhookDelivery>({
    store: deliveries,
    handle: createDeliverEvent({ deliveries, calls, ended, clock }),
    onError: (error, delivery) =>
      logger.warn({ err: error, webhook_id: delivery?.webhookId }, 'the delivery of events to webhooks failed'),
    clock,
    leaseMs: LEASE_MS,
    ...SLOTS,
  });
  const { wake } = work;
  const watch = createDueTimeWatch({
    database,
    columns: DUE_TIMES,
    wake,
    failed: (error) => logger.warn({ err: error }, 'the due times of webhooks could not be read'),
  });
  const webhooks = createPostgresWebhooks(database, sealingKeys);
  const manage = createManageWebhooks({ webhooks, calls, placeOf: placeInFeed(feed), wake, clock });
  return {
    /** The internal operations. */
    served: {
      webhooks: webhookOperations(manage, calls),
      masterKeys: createMasterKeyOperations({ database, sealingKeys, values }),
    },
    /** New deliveries may be due. */
    wake,
    /** The database has its tables. */
    async start() {
      await instance.start();
      work.start();
      watch.start();
    },
    async stop() {
      await watch.stop();
      await work.stop();
      await instance.stop();
      calls.close();
    },
  };
}

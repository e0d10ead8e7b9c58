import { createDueWork, type DueWorkStore } from '@ecf/service-kit/due-work';
import { createInstanceReport, createMasterKeyOperations } from '@ecf/service-kit/master-keys';
import { type Database, type DueTimes, limitDueTimes } from '@ecf/service-kit/postgres';
import { createSealingKeys } from '@ecf/service-kit/security';
import { createCleaning, createDueTimeLimits } from '@ecf/service-kit/service';
import type { Logger, Metrics } from '@ecf/service-kit/telemetry';
import type { QueryConfig } from './config.js';
import { placeInFeed } from './core/feed/read-feed.js';
import type { FeedStore } from './core/ports.js';
import { createDeliverEvent, LONGEST_PAUSE_MS } from './core/webhooks/deliver-event.js';
import { createFindOwners, type FindOwnersPorts } from './core/webhooks/find-owners.js';
import { createManageWebhooks } from './core/webhooks/manage-webhooks.js';
import type { WebhookDelivery } from './core/webhooks/webhook-ports.js';
import { webhookOperations } from './inbound/webhook-operations.js';
import { observeWebhooks } from './observer.js';
import { createWebhookCalls } from './outbound/webhook-calls.js';
import { createWebhookDeliveries } from './outbound/webhook-deliveries.postgres.js';
import { createPostgresWebhooks, sealedWebhookSecrets } from './outbound/webhooks.postgres.js';

/** Longer than a call may last. */
const LEASE_MS = 60_000;
/** Every due time and lease of this service. */
export const DUE_TIMES: readonly DueTimes[] = [
  { table: 'webhook_delivery', column: 'due_at', longestMs: LONGEST_PAUSE_MS },
  { table: 'webhook_delivery', column: 'leased_until', longestMs: LEASE_MS },
  { table: 'webhook', column: 'paused_until', longestMs: LONGEST_PAUSE_MS },
];
const IDLE_MS = 1_000;
/** Calls of a bulkhead. One that lasts longer than `afterMs` frees its slot, so that slow receivers delay no others. */
const SLOTS = { concurrency: 32, slow: { afterMs: 500, maxInFlight: 256 } };
/** As many as both other bulkheads have: however many of their calls fail at once, each first retry finds a slot. */
const FIRST_RETRY_SLOTS = { concurrency: 64, slow: { afterMs: 500, maxInFlight: 512 } };

/** The parts of the service that webhooks use. */
export interface WebhookParts extends FindOwnersPorts {
  readonly database: Database;
  readonly feed: FeedStore;
  readonly clock: () => Date;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** Wires the webhooks: their administration, and the delivery of events. */
export function createWebhooks(config: QueryConfig, parts: WebhookParts) {
  const { database, feed, clock, logger, metrics } = parts;
  const sealingKeys = createSealingKeys('query', config);
  const values = sealedWebhookSecrets(database, sealingKeys);
  const instance = createInstanceReport({ database, sealingKeys, values, logger });
  const calls = createWebhookCalls({ allowPrivate: config.ALLOW_PRIVATE_ADDRESSES, clock });
  const deliveries = createWebhookDeliveries(database, sealingKeys);
  const owners = createFindOwners(parts);
  const handle = createDeliverEvent({
    deliveries,
    calls,
    ended: observeWebhooks(metrics, logger, { deliveries, clock }),
    clock,
  });
  const workOf = (claimDue: DueWorkStore<WebhookDelivery>['claimDue'], slots = SLOTS) =>
    createDueWork<WebhookDelivery>({
      store: { claimDue },
      handle,
      onError: (error, delivery) =>
        logger.warn({ err: error, webhook_id: delivery?.webhookId }, 'the delivery of events to webhooks failed'),
      clock,
      leaseMs: LEASE_MS,
      idleMs: IDLE_MS,
      ...slots,
    });
  const working = workOf(async (request) => {
    const { unknown, skipped } = await deliveries.collect(request.now, owners.withoutOwner());
    if (skipped) working.wake();
    if (unknown !== null) void owners.find(unknown).then((found) => found && wake());
    return deliveries.claimDue(request, 'working');
  });
  const failing = workOf((request) => deliveries.claimDue(request, 'failing'));
  const firstRetries = workOf((request) => deliveries.claimDue(request, 'first_retry'), FIRST_RETRY_SLOTS);
  const bulkheads = [working, failing, firstRetries];
  function wake(): void {
    for (const work of bulkheads) work.wake();
  }
  const manage = createManageWebhooks({
    webhooks: createPostgresWebhooks(database, sealingKeys),
    calls,
    placeOf: placeInFeed(feed),
    wake,
    clock,
  });
  const cleaning = createCleaning({
    clean: (now) => feed.deleteExpired(now),
    clock,
    failed: (error) => logger.warn({ err: error }, 'old events could not be deleted'),
  });
  const dueTimeLimits = createDueTimeLimits({
    limit: (now) => limitDueTimes(database, DUE_TIMES, now),
    clock,
    failed: (error) => logger.warn({ err: error }, 'due times could not be limited'),
  });
  return {
    /** The internal operations. */
    served: {
      webhooks: webhookOperations(manage, calls),
      masterKeys: createMasterKeyOperations({ database, sealingKeys, values }),
    },
    /** The feed; new events are delivered soon after. */
    feed: {
      append: async (...request: Parameters<FeedStore['append']>) => {
        await feed.append(...request);
        if (request[0].length > 0) wake();
      },
    },
    /** The database has its tables. */
    async start() {
      await instance.start();
      cleaning.start();
      dueTimeLimits.start();
      for (const work of bulkheads) work.start();
    },
    async stop() {
      await cleaning.stop();
      await dueTimeLimits.stop();
      await Promise.all(bulkheads.map((work) => work.stop()));
      await instance.stop();
      calls.close();
    },
  };
}

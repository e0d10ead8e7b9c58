import { createDueWork, type DueWorkStore } from '@ecf/service-kit/due-work';
import { createInstanceReport, createMasterKeyOperations } from '@ecf/service-kit/master-keys';
import type { Database } from '@ecf/service-kit/postgres';
import { createMasterKeys } from '@ecf/service-kit/security';
import type { Logger, Metrics } from '@ecf/service-kit/telemetry';
import type { QueryConfig } from './config.js';
import { placeInFeed } from './core/feed/read-feed.js';
import type { FeedStore } from './core/ports.js';
import { createDeliverEvent } from './core/webhooks/deliver-event.js';
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
const IDLE_MS = 1_000;
/** Calls in flight to webhooks that fail, and as many to the others. */
const AT_ONCE = 32;
/** A call that lasts longer frees its place, so that slow receivers delay no others. */
const SLOW = { afterMs: 500, maxInFlight: 256 };

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
  const masterKeys = createMasterKeys(config.MASTER_KEY);
  const instance = createInstanceReport({ database, masterKeys, logger });
  const calls = createWebhookCalls({ allowPrivate: config.ALLOW_PRIVATE_ADDRESSES, clock });
  const deliveries = createWebhookDeliveries(database, masterKeys);
  const owners = createFindOwners(parts);
  const handle = createDeliverEvent({
    deliveries,
    calls,
    ended: observeWebhooks(metrics, logger, { deliveries, clock }),
    clock,
  });
  const workOf = (claimDue: DueWorkStore<WebhookDelivery>['claimDue']) =>
    createDueWork<WebhookDelivery>({
      store: { claimDue },
      handle,
      onError: (error, delivery) =>
        logger.warn({ err: error, webhook_id: delivery?.webhookId }, 'the delivery of events to webhooks failed'),
      clock,
      leaseMs: LEASE_MS,
      idleMs: IDLE_MS,
      concurrency: AT_ONCE,
      slow: SLOW,
    });
  const healthy = workOf(async (request) => {
    const unknown = await deliveries.collect(request.now, owners.withoutOwner());
    if (unknown !== null) void owners.find(unknown).then((found) => found && wake());
    return deliveries.claimDue(request, false);
  });
  // Webhooks that fail have calls of their own, so that they take no places from the others.
  const failing = workOf((request) => deliveries.claimDue(request, true));
  function wake(): void {
    healthy.wake();
    failing.wake();
  }
  const manage = createManageWebhooks({
    webhooks: createPostgresWebhooks(database, masterKeys),
    calls,
    placeOf: placeInFeed(feed),
    wake,
    clock,
  });
  return {
    /** The internal operations. */
    served: {
      webhooks: webhookOperations(manage, calls),
      masterKeys: createMasterKeyOperations({
        database,
        masterKeys,
        values: sealedWebhookSecrets(database, masterKeys),
      }),
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
      healthy.start();
      failing.start();
    },
    async stop() {
      await Promise.all([healthy.stop(), failing.stop()]);
      await instance.stop();
      calls.close();
    },
  };
}

import { shownEvent } from '../feed/public-events.js';
import type { DeliveryOutcome, WebhookCalls, WebhookDeliveries, WebhookDelivery } from './ports.js';

/** Seconds until the next try, after the first failure, the second, and so on; the last one repeats. */
const PAUSES = [5, 20, 60, 300, 900, 1_800] as const;
/** Milliseconds of the longest pause. */
export const LONGEST_PAUSE_MS = Math.max(...PAUSES) * 1_000;
/** Milliseconds for which a webhook is left alone after a failure. */
const WEBHOOK_PAUSE_MS = 5_000;
const GONE = 410;

export interface DeliverEventPorts {
  readonly deliveries: Pick<WebhookDeliveries, 'delivered' | 'failed' | 'giveUp' | 'deactivate'>;
  readonly calls: Pick<WebhookCalls, 'call'>;
  readonly ended: (outcome: DeliveryOutcome, delivery: WebhookDelivery, events: number) => void;
  readonly clock: () => Date;
}

/**
 * Delivers one event. 2xx is success; 410 deactivates the webhook; after anything else the event is tried again until it is
 * given up.
 */
export function createDeliverEvent({ deliveries, calls, ended, clock }: DeliverEventPorts) {
  return async function deliverEvent(delivery: WebhookDelivery): Promise<void> {
    const { event, giveUpAt, webhookId, tries } = delivery;
    if (event === null) return ended('given_up', delivery, await deliveries.giveUp(delivery, clock()));
    const { status } = await calls.call(delivery, shownEvent(event));
    const now = clock();
    if (status !== null && status >= 200 && status < 300) {
      await deliveries.delivered(delivery, now);
      ended('delivered', delivery, 1);
    } else if (status === GONE) {
      await deliveries.deactivate(webhookId);
      ended('deactivated', delivery, 1);
    } else {
      const pause = (PAUSES[tries] ?? PAUSES[PAUSES.length - 1] ?? 0) * 1_000;
      const dueAt = new Date(Math.min(now.getTime() + pause, giveUpAt.getTime()));
      await deliveries.failed(delivery, dueAt, now, new Date(now.getTime() + WEBHOOK_PAUSE_MS));
      ended('failed', delivery, 1);
      if (now < giveUpAt) return;
      ended('given_up', delivery, await deliveries.giveUp(delivery, now));
    }
  };
}

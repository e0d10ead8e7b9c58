import { createDueWork, type DueWork } from '@ecf/service-kit/due-work';
import { withinTrace } from '@ecf/service-kit/telemetry/tracing';
import type { Attempt, DeliverDocument } from '../buyers/deliver-document.js';
import type { ClaimedDelivery } from '../buyers/delivery.js';
import type { DeliveryPorts } from '../buyers/delivery-ports.js';
import { createDeliveryClaims } from './delivery-claims.js';
import { buyerOf, createDeliverySlots } from './slots.js';

export interface DeliveryBackgroundOptions {
  /** Attempts in flight at once that answer in time. */
  readonly concurrency: number;
  /** Attempts in flight at once, slow ones included. */
  readonly maxInFlight: number;
  /** Milliseconds after which an attempt frees its slot; it goes on beside the others. */
  readonly slowMs: number;
  /** Attempts at once for one buyer that answered last time. */
  readonly perBuyer: number;
  /** Attempts at once at one host, for all its buyers. */
  readonly perHost: number;
  /** Longest pause in milliseconds between two looks at the database. */
  readonly idleMs: number;
}

export interface DeliveryBackground extends Pick<DueWork<ClaimedDelivery>, 'start' | 'wake' | 'stop'> {
  /** Buyers and hosts that get no calls now. */
  paused(): number;
}

type BackgroundPorts = Pick<
  DeliveryPorts,
  | 'deliveries'
  | 'deliveryObserver'
  | 'deliverySettings'
  | 'buyerCircuits'
  | 'hostCircuits'
  | 'clock'
  | 'elapsed'
  | 'checkpoint'
>;

type Failed = { readonly error: unknown };

/** Delivers documents that are due, each attempt through the circuit breaker of its buyer. */
export function createDeliveryBackground(
  ports: BackgroundPorts,
  deliver: DeliverDocument,
  options: DeliveryBackgroundOptions,
): DeliveryBackground {
  const { buyerCircuits, hostCircuits, deliveryObserver: observer } = ports;
  const slots = createDeliverySlots({ buyerCircuits, hostCircuits, ...options });
  const engine: DueWork<ClaimedDelivery> = createDueWork<ClaimedDelivery>({
    store: createDeliveryClaims(ports, slots, () => engine.inFlight()),
    handle,
    onError: (error, delivery) =>
      delivery
        ? observer.failed('delivering to a buyer', error, delivery.key)
        : observer.failed('looking for due deliveries', error),
    clock: ports.clock,
    leaseMs: ports.deliverySettings.leaseMs,
    idleMs: options.idleMs,
    concurrency: options.concurrency,
    slow: { afterMs: options.slowMs, maxInFlight: options.maxInFlight },
  });

  async function handle(delivery: ClaimedDelivery): Promise<void> {
    const buyer = buyerOf(delivery);
    const result = await buyerCircuits.run<Attempt | Failed>(buyer, async () => {
      const attempt = await attemptOf(delivery);
      if ('error' in attempt) return { value: attempt, health: 'neutral' };
      slots.record(buyer, attempt.health);
      return { value: attempt, health: attempt.health, pauseMs: attempt.pauseMs };
    });
    if (!('value' in result)) {
      const dueAt = new Date(ports.clock().getTime() + result.retryAfterMs);
      await ports.deliveries.defer(delivery, delivery.host, dueAt);
    } else if ('error' in result.value) throw result.value.error;
  }

  /** An error of ours, such as a database that is away, must not count for or against the buyer. */
  function attemptOf(delivery: ClaimedDelivery): Promise<Attempt | Failed> {
    return withinTrace(delivery.traceparent, 'deliver to the buyer', () => deliver(delivery)).catch(
      (error: unknown): Failed => ({ error }),
    );
  }

  return {
    start: engine.start,
    wake: engine.wake,
    stop: engine.stop,
    paused() {
      const { buyers, hosts } = slots.paused();
      return buyers.length + hosts.length;
    },
  };
}

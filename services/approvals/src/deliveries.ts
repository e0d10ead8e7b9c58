import { setTimeout as delay } from 'node:timers/promises';
import {
  type CircuitBreakerOptions,
  type CircuitBreakers,
  createCircuitBreakers,
  type ReceiverClient,
} from '@ecf/authority-client';
import { actOf, type DeliveryOperations, type TaxpayerState } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { trustCheck } from '@ecf/public-ingress';
import type { Bus, Subscription } from '@ecf/service-kit/bus';
import { ApiError } from '@ecf/service-kit/errors';
import type { Database } from '@ecf/service-kit/postgres';
import type { Logger, Metrics } from '@ecf/service-kit/telemetry';
import { createDeliverDocument } from './buyers/deliver-document.js';
import { createDeliveryStore } from './buyers/deliveries.postgres.js';
import { type Delivery, deliveryBody } from './buyers/delivery.js';
import { resumeWithCertificate, subscribeToAccepted } from './buyers/delivery-events.js';
import type { DeliveryPorts } from './buyers/delivery-ports.js';
import { createQueryAcknowledgements, type QueryAcknowledgements } from './buyers/query-acknowledgements.js';
import type { ApprovalsConfig } from './config.js';
import { createDeliveryObserver, observeDeliveries } from './delivery-observer.js';
import { APPROVALS_GROUP } from './events.kafka.js';
import type { Ports } from './ports.js';
import { createDeliveryBackground } from './sending/delivery-background.js';

const HOUR = 3_600_000;
/** A send that takes longer frees its slot for another. */
export const SLOW_MS = 500;
/** Sends in flight for each slot, slow ones included. */
export const IN_FLIGHT_PER_SLOT = 32;
const LONGEST_PAUSE_MS = 5 * 60_000;
const PAUSES = { openMs: 2_000, maxOpenMs: LONGEST_PAUSE_MS, maxPauseMs: LONGEST_PAUSE_MS };
const BUYER_CIRCUITS: Partial<CircuitBreakerOptions> = { ...PAUSES, failures: 3 };

/**
 * For each host of receivers. A buyer that never answers opens its own circuit breaker long before that of a host that
 * answers others. It cannot use more than half of the slots.
 */
export function hostCircuitOptions(concurrency: number): Partial<CircuitBreakerOptions> {
  return { ...PAUSES, failures: 10, maxInFlight: slotsPerHost(concurrency) };
}

function slotsPerHost(concurrency: number): number {
  return Math.max(Math.floor(concurrency / 2), 1);
}

export interface DeliveriesParts {
  readonly ports: Ports;
  readonly buyers: Pick<ReceiverClient, 'deliverDocument'>;
  /** Those of the receiver client. */
  readonly hostCircuits: Pick<CircuitBreakers, 'waitMs' | 'waiting'>;
  readonly database: Database;
  readonly bus: Bus;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly checkpoint?: DeliveryPorts['checkpoint'];
}

type OperatedDeliveries = Pick<DeliveryOperations, 'listDeliveries' | 'retryDelivery'>;

/** Deliveries to buyers and their acknowledgements, wired. */
export interface Deliveries {
  readonly acknowledgements: QueryAcknowledgements;
  /** For the administration. */
  readonly operations: OperatedDeliveries;
  subscribe(): Promise<Subscription>;
  /** Called with each taxpayer that was applied to the replica. */
  taxpayerChanged(taxpayer: TaxpayerState): Promise<void>;
  readonly worker: { start(): void; wake(): void; stop(): Promise<void> };
}

/** Wires deliveries into the service. Nothing is connected before the worker starts. */
export function createDeliveries(config: ApprovalsConfig, parts: DeliveriesParts): Deliveries {
  const { ports, database, metrics } = parts;
  let stopping = false;
  const store = createDeliveryStore(database, APPROVALS_GROUP, ports.clock);
  const deliveryObserver = createDeliveryObserver(metrics, parts.logger, ports.clock);
  const deliveryPorts: DeliveryPorts = {
    ...ports,
    deliveries: store,
    buyers: parts.buyers,
    buyerCircuits: createCircuitBreakers({
      options: BUYER_CIRCUITS,
      elapsed: ports.elapsed,
      onPause: deliveryObserver.paused,
    }),
    hostCircuits: parts.hostCircuits,
    trust: trustCheck(config.trust),
    deliveryObserver,
    deliverySettings: {
      firstRetryMs: config.DELIVERY_FIRST_RETRY_MS,
      deadlineMs: config.DELIVERY_HOURS * HOUR,
      leaseMs: ports.settings.leaseMs,
      deliver45: config.DELIVER_TYPE_45,
    },
    wait: (ms) => delay(ms),
    stopping: () => stopping,
    checkpoint: parts.checkpoint ?? (() => undefined),
  };
  const background = createDeliveryBackground(deliveryPorts, createDeliverDocument(deliveryPorts), {
    concurrency: config.DELIVERY_CONCURRENCY,
    maxInFlight: config.DELIVERY_CONCURRENCY * IN_FLIGHT_PER_SLOT,
    slowMs: SLOW_MS,
    perBuyer: config.DELIVERY_PER_RECEIVER,
    perHost: slotsPerHost(config.DELIVERY_CONCURRENCY),
    idleMs: config.DELIVERY_IDLE_MS,
  });
  let endObserving: () => void = () => undefined;
  return {
    acknowledgements: createQueryAcknowledgements({ ...ports, acknowledgements: store.acknowledgements }),
    operations: operations(deliveryPorts, background.wake),
    taxpayerChanged: (taxpayer) => resumeWithCertificate(taxpayer, deliveryPorts, background.wake),
    subscribe: () => subscribeToAccepted(parts.bus, APPROVALS_GROUP, deliveryPorts, background.wake),
    worker: {
      start() {
        const { clock } = ports;
        endObserving = observeDeliveries(metrics, {
          deliveries: store,
          pausedCount: () => background.paused(),
          clock,
        });
        background.start();
      },
      wake: background.wake,
      async stop() {
        stopping = true;
        endObserving();
        await background.stop();
      },
    },
  };
}

function operations(ports: DeliveryPorts, wake: () => void): OperatedDeliveries {
  return {
    async listDeliveries(filter) {
      const deliveries = await ports.deliveries.list(filter);
      const last = deliveries.at(-1);
      const next = deliveries.length === filter.limit && last !== undefined ? last.id : null;
      return { deliveries: deliveries.map(deliveryBody), next };
    },
    async retryDelivery({ env, issuer_rnc: issuerRnc, encf, by }) {
      const now = ports.clock();
      const { deadlineMs, deliver45 } = ports.deliverySettings;
      const deadline = new Date(now.getTime() + deadlineMs);
      const key = { env, issuerRnc, encf };
      const target = `/deliveries/${env}/${issuerRnc}/${encf}`;
      const act = actOf(by, { action: 'delivery.retry', target, details: {} }, toIsoDominican(now));
      const delivery: Delivery | null = await ports.deliveries.retry(key, now, deadline, deliver45, act);
      if (delivery === null)
        throw new ApiError(404, 'not_found', `There is no delivery of ${encf} of ${issuerRnc} in ${env}.`);
      if (delivery.status === 'delivered')
        throw new ApiError(409, 'conflict', `${delivery.buyerRnc} acknowledged ${encf}; it is not sent again.`);
      if (delivery.status === 'not_required')
        throw new ApiError(
          409,
          'conflict',
          `${encf} is not delivered: type 45 is delivered only with DELIVER_TYPE_45=true.`,
        );
      wake();
      return deliveryBody(delivery);
    },
  };
}

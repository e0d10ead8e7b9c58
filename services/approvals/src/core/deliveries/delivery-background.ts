import { type ClaimRequest, createDueWork } from '@ecf/service-kit/due-work';
import { withinTrace } from '@ecf/service-kit/telemetry';
import type { DeliverDocument } from './deliver-document.js';
import type { ClaimedDelivery } from './delivery.js';
import { DeliveryLanes } from './delivery-lanes.js';
import type { DeliveryPorts, LaneName } from './delivery-ports.js';
import { HostVisit } from './host-visit.js';

export interface DeliveryBackgroundOptions {
  /** Sends in flight at once that answer in time. */
  readonly concurrency: number;
  /** Sends in flight at once, slow ones included. */
  readonly mostWaiting: number;
  /** Milliseconds after which a send frees its slot; it goes on beside the others. */
  readonly slowMs: number;
  /** Sends at once to one receiver that answered before. */
  readonly perReceiver: number;
  /** Sends at once to one host that answered before, whomever it receives for. */
  readonly perHost: number;
  /** Longest pause in milliseconds between two looks at the database. */
  readonly idleMs: number;
  readonly failuresToOpen: number;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

export interface DeliveryBackground {
  start(): void;
  /** Looks for due deliveries soon. */
  wake(): void;
  /** Claims nothing new and waits for the sends in flight. */
  stop(): Promise<void>;
  /** Receivers and hosts whose circuit is open now. */
  leftAlone(): number;
}

/** Between two looks for deliveries that are past their deadline while nobody answers. */
const GIVING_UP_MS = 1_000;

/**
 * Delivers documents that are due. A send that waits for its receiver holds a slot only for a moment. A host that hangs
 * holds few of them, however many buyers it receives for.
 */
export function createDeliveryBackground(
  ports: DeliveryPorts,
  delivering: Pick<DeliverDocument, 'attempt'>,
  options: DeliveryBackgroundOptions,
): DeliveryBackground {
  const { leaseMs } = ports.deliverySettings;
  const shared = {
    ...options,
    elapsed: ports.elapsed,
    onOpen: (lane: LaneName, pauseMs: number) =>
      ports.deliveryObserver.opened(lane, new Date(ports.clock().getTime() + pauseMs)),
  };
  // One send at a time to a receiver that has not answered yet, whatever the clock says about leases.
  const lanes = new DeliveryLanes({ ...shared, places: 1 });
  const hosts = new DeliveryLanes({ ...shared, places: options.perHost });
  let gaveUpAt = Number.NEGATIVE_INFINITY;
  /** When leases were renewed last, by elapsed time. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  /** Since when the database was away, and until when other instances may still have to renew their leases. */
  let away: { readonly since: Date; readonly until: number } | null = null;

  const engine = createDueWork<ClaimedDelivery>({
    store: { claimDue, renew },
    handle: deliver,
    onError: (error, delivery) =>
      delivery
        ? ports.deliveryObserver.failed('delivering to a buyer', error, delivery.key)
        : ports.deliveryObserver.failed('looking for deliveries that are due', error),
    clock: ports.clock,
    leaseMs,
    idleMs: options.idleMs,
    concurrency: options.concurrency,
    slow: { afterMs: options.slowMs, maxInFlight: options.mostWaiting },
  });

  async function claimDue(request: ClaimRequest): Promise<ClaimedDelivery[]> {
    try {
      // First the leases of this instance, or another one claims what is in flight here.
      if (ports.elapsed() - renewedAt > leaseMs / 2) await renew(engine.inFlight(), request.until);
      await giveUp();
      return await claim(request);
    } catch (error) {
      away = { since: away?.since ?? ports.clock(), until: ports.elapsed() + leaseMs / 2 };
      throw error;
    }
  }

  async function claim({ now, until, limit }: ClaimRequest): Promise<ClaimedDelivery[]> {
    if (away !== null && away.until < ports.elapsed()) away = null;
    const claimed = await ports.deliveries.claimDue({
      now,
      lapsedBy: away?.since ?? now,
      until,
      limit,
      perLane: options.perReceiver,
      blocked: [...lanes.blocked(), ...hosts.shutOut()],
      proven: lanes.proven(),
      blockedHosts: hosts.blocked(),
      roomyHosts: hosts.roomy(),
    });
    if (claimed.length > 0) await ports.checkpoint('claimed');
    return claimed;
  }

  /** Extends the leases of sends in flight: leases are short, so that those of a crashed instance end soon. */
  async function renew(claims: readonly ClaimedDelivery[], until: Date): Promise<void> {
    const began = ports.elapsed();
    if (claims.length > 0) await ports.deliveries.keep([...claims], until);
    renewedAt = began;
  }

  /** Ends deliveries past their deadline at once where nobody answers: single probes would take weeks to reach them all. */
  async function giveUp(): Promise<void> {
    const left = { lanes: [...buyersLeftAlone()], hosts: hosts.open() };
    if (ports.elapsed() - gaveUpAt < GIVING_UP_MS || left.lanes.length + left.hosts.length === 0) return;
    gaveUpAt = ports.elapsed();
    for (const delivery of await ports.deliveries.giveUp({ now: ports.clock(), ...left }))
      ports.deliveryObserver.changed(delivery, delivery.status);
  }

  /** Buyers whose circuit is open, or that of their host. */
  function buyersLeftAlone(): Set<LaneName> {
    return new Set([...lanes.open(), ...hosts.shutOut()]);
  }

  async function deliver(delivery: ClaimedDelivery): Promise<void> {
    const lane: LaneName = `${delivery.key.env}:${delivery.buyerRnc}`;
    const visit = new HostVisit(hosts, delivery.key.env, delivery.buyerRnc, delivery.host);
    lanes.begin(lane);
    try {
      const attempt = await withinTrace(delivery.traceparent, 'deliver to the buyer', () =>
        delivering.attempt(delivery, visit),
      );
      lanes.end(lane, attempt?.sign ?? 'unknown', attempt?.pauseMs);
    } catch (error) {
      lanes.end(lane, 'unknown');
      throw error;
    } finally {
      visit.leave();
    }
  }

  return {
    start: engine.start,
    wake: engine.wake,
    stop: engine.stop,
    leftAlone: () => buyersLeftAlone().size + hosts.open().length,
  };
}

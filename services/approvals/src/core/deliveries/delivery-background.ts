import { withinTrace } from '@ecf/service-kit/telemetry';
import type { DeliverDocument } from './deliver-document.js';
import type { ClaimedDelivery } from './delivery.js';
import { DeliveryLanes } from './delivery-lanes.js';
import type { DeliveryPorts, LaneName } from './delivery-ports.js';
import { HostVisit } from './host-visit.js';

export interface DeliveryBackgroundOptions {
  /** Sends under way at once that answer in time. */
  readonly concurrency: number;
  /** Sends under way at once, those at receivers that keep us waiting included. */
  readonly mostWaiting: number;
  /** A send that takes longer gives its place to another; it goes on beside. */
  readonly slowMs: number;
  /** Sends at once to one receiver that answered before. */
  readonly perReceiver: number;
  /** Sends at once to one host that answered before, whomever it receives for. */
  readonly perHost: number;
  /** Milliseconds between looks at the database while nothing is known to be due. */
  readonly idleMs: number;
  readonly failuresToOpen: number;
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

export interface DeliveryBackground {
  start(): void;
  /** Looks for due deliveries soon. */
  wake(): void;
  /** Takes nothing new and waits for what is under way. */
  stop(): Promise<void>;
  /** Buyers' receivers and hosts that are left alone now. */
  leftAlone(): number;
}

const SHORTEST_PAUSE_MS = 25;
/** What becomes due within it shares a look, unless the last one found a crowd. */
const GATHER_MS = 100;
/** Between looks at what is past its deadline where nobody answers. */
const GIVING_UP_MS = 1_000;

/**
 * Delivers what is due. Rows are claimed with SKIP LOCKED under a lease, so instances share the work and take over from
 * one that ended. A send that waits for its receiver holds a place only for a moment, and a host that hangs few of them,
 * however many buyers it receives for.
 */
export function createDeliveryBackground(
  ports: DeliveryPorts,
  delivering: Pick<DeliverDocument, 'attempt'>,
  options: DeliveryBackgroundOptions,
): DeliveryBackground {
  const { leaseMs } = ports.deliverySettings;
  const running = new Set<Promise<void>>();
  const underWay = new Set<ClaimedDelivery>();
  let keeping: NodeJS.Timeout | undefined;
  const shared = {
    ...options,
    elapsed: ports.elapsed,
    onOpen: (lane: LaneName, pauseMs: number) =>
      ports.deliveryObserver.opened(lane, new Date(ports.clock().getTime() + pauseMs)),
  };
  // Nothing new begins at a receiver while something is under way there, nor the same once more: also where the clock is set on
  // by more than a claim lasts.
  const lanes = new DeliveryLanes({ ...shared, places: 1 });
  const hosts = new DeliveryLanes({ ...shared, places: options.perHost });
  let slow = 0;
  let gaveUpAt = Number.NEGATIVE_INFINITY;
  /** When claims were prolonged last, by what has elapsed. */
  let keptAt = Number.NEGATIVE_INFINITY;
  /** The database was away: since when, and until when the others may need to prolong what they have. */
  let away: { readonly since: Date; readonly until: number } | null = null;
  let stopping = false;
  let woken = false;
  let endPause: () => void = () => undefined;
  let stopped: Promise<void> = Promise.resolve();

  async function loop(): Promise<void> {
    while (!stopping) {
      woken = false;
      let claimed = 0;
      try {
        // First ours, or another takes up what is under way here.
        if (ports.elapsed() - keptAt > leaseMs / 2) await prolong();
        await giveUp();
        claimed = await look();
      } catch (error) {
        away = { since: away?.since ?? ports.clock(), until: ports.elapsed() + leaseMs / 2 };
        ports.deliveryObserver.failed('looking for deliveries that are due', error);
      }
      if (stopping) break;
      // Sends that end come in crowds: one look serves them all.
      if (claimed >= options.perReceiver) await pause(SHORTEST_PAUSE_MS);
      else await pause(claimed > 0 || woken ? GATHER_MS : options.idleMs);
    }
  }

  async function look(): Promise<number> {
    let total = 0;
    for (let more = true; more; ) {
      const free = Math.min(options.concurrency - (running.size - slow), options.mostWaiting - running.size);
      if (free <= 0) break;
      const now = ports.clock();
      if (away !== null && away.until < ports.elapsed()) away = null;
      const { claimed, crowded } = await ports.deliveries.claimDue({
        now,
        lapsedBy: away?.since ?? now,
        until: new Date(now.getTime() + leaseMs),
        limit: free,
        perLane: options.perReceiver,
        blocked: [...lanes.blocked(), ...hosts.shutOut()],
        proven: lanes.proven(),
        blockedHosts: hosts.blocked(),
        roomyHosts: hosts.roomy(),
      });
      if (claimed.length > 0) await ports.checkpoint('claimed');
      for (const delivery of claimed) run(delivery);
      total += claimed.length;
      // Who got its share is passed over at once: after a pause it would have room again, and hide the others.
      more = crowded && total < options.concurrency && !stopping;
    }
    return total;
  }

  /** A dead host gets one probe in five minutes: thousands that wait for it would outlive their deadlines by weeks. */
  async function giveUp(): Promise<void> {
    const left = { lanes: [...buyersLeftAlone()], hosts: hosts.open() };
    if (ports.elapsed() - gaveUpAt < GIVING_UP_MS || left.lanes.length + left.hosts.length === 0) return;
    gaveUpAt = ports.elapsed();
    for (const delivery of await ports.deliveries.giveUp({ now: ports.clock(), ...left }))
      ports.deliveryObserver.changed(delivery, delivery.status);
  }

  /** For themselves, or with all for whom their host failed. */
  function buyersLeftAlone(): Set<LaneName> {
    return new Set([...lanes.open(), ...hosts.shutOut()]);
  }

  function run(delivery: ClaimedDelivery): void {
    const lane: LaneName = `${delivery.key.env}:${delivery.buyerRnc}`;
    const visit = new HostVisit(hosts, delivery.key.env, delivery.buyerRnc, delivery.host);
    lanes.begin(lane);
    underWay.add(delivery);
    let waiting = false;
    const timer = setTimeout(() => {
      waiting = true;
      slow += 1;
      wake();
    }, options.slowMs);
    const task = withinTrace(delivery.traceparent, 'deliver to the buyer', () => delivering.attempt(delivery, visit))
      .then((attempt) => lanes.end(lane, attempt?.sign ?? 'unknown', attempt?.pauseMs))
      .catch((error) => {
        lanes.end(lane, 'unknown');
        ports.deliveryObserver.failed('delivering to a buyer', error, delivery.key);
      })
      .finally(() => {
        clearTimeout(timer);
        visit.leave();
        if (waiting) slow -= 1;
        running.delete(task);
        underWay.delete(delivery);
        wake();
      });
    running.add(task);
  }

  /** Claims of an instance that ended run out soon; those of one that waits for a receiver do not. */
  async function prolong(): Promise<void> {
    const [claims, began] = [[...underWay], ports.elapsed()];
    const until = new Date(ports.clock().getTime() + leaseMs);
    if (claims.length > 0) await ports.deliveries.keep(claims, until);
    keptAt = began;
  }

  async function keep(): Promise<void> {
    await prolong().catch((error) => ports.deliveryObserver.failed('prolonging claims', error));
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      function done() {
        clearTimeout(timer);
        endPause = () => undefined;
        resolve();
      }
      endPause = ms > GATHER_MS ? done : () => undefined;
      if (woken && ms > GATHER_MS) done();
    });
  }

  function wake(): void {
    woken = true;
    endPause();
  }

  return {
    start() {
      stopped = loop();
      keeping = setInterval(() => void keep(), leaseMs / 3);
    },
    wake,
    async stop() {
      stopping = true;
      wake();
      await stopped;
      await Promise.allSettled(running);
      clearInterval(keeping);
    },
    leftAlone: () => buyersLeftAlone().size + hosts.open().length,
  };
}

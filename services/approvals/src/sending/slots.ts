import type { CircuitBreakers, Health } from '@ecf/authority-client';
import { LRUCache } from 'lru-cache';
import type { Delivery } from '../buyers/delivery.js';
import type { BuyerName, FreeSlots } from '../buyers/delivery-ports.js';

export interface DeliverySlotsParts {
  readonly buyerCircuits: Pick<CircuitBreakers, 'waiting'>;
  readonly hostCircuits: Pick<CircuitBreakers, 'waiting'>;
  /** Deliveries in flight at once to a buyer that answered last time; any other buyer gets one. */
  readonly perBuyer: number;
  /** Deliveries in flight at once to one host, for all its buyers. */
  readonly perHost: number;
}

export interface DeliverySlots {
  /** Notes the result of an attempt. */
  record(buyer: BuyerName, health: Health): void;
  /** The slots that a claim may fill beside the deliveries in flight. */
  free(inFlight: readonly Delivery[]): FreeSlots;
  /** Buyers and hosts whose circuit breaker is open, or that asked for a pause. */
  paused(): { readonly buyers: readonly BuyerName[]; readonly hosts: readonly string[] };
}

/** Every claim sends the names to the database, so not all buyers are remembered; a forgotten one gets one delivery at a time. */
const REMEMBERED = 2_000;

/** Bulkheads: a buyer or a host that hangs occupies its own slots only, and one without free slots is not claimed for. */
export function createDeliverySlots(parts: DeliverySlotsParts): DeliverySlots {
  const answered = new LRUCache<BuyerName, true>({ max: REMEMBERED });

  function paused() {
    return {
      buyers: pausedIn(parts.buyerCircuits) as BuyerName[],
      hosts: pausedIn(parts.hostCircuits),
    };
  }

  return {
    record(buyer, health) {
      if (health === 'healthy') answered.set(buyer, true);
      if (health === 'failing') answered.delete(buyer);
    },
    free(inFlight) {
      const { buyers, hosts } = paused();
      const ofBuyers = countBy(inFlight.map(buyerOf));
      const ofHosts = countBy(inFlight.flatMap(({ host }) => host ?? []));
      const slotsOf = (buyer: BuyerName) => (answered.has(buyer) ? parts.perBuyer : 1) - (ofBuyers.get(buyer) ?? 0);
      const hostSlots = [...ofHosts].map(([host, count]): [string, number] => [host, parts.perHost - count]);
      const severalSlots = [...answered.keys()].map((buyer): [BuyerName, number] => [buyer, slotsOf(buyer)]);
      return {
        busyBuyers: [...buyers, ...[...ofBuyers.keys()].filter((buyer) => slotsOf(buyer) <= 0)],
        buyerSlots: Object.fromEntries(severalSlots.filter(([, slots]) => slots > 1)),
        busyHosts: [...hosts, ...hostSlots.filter(([, slots]) => slots <= 0).map(([host]) => host)],
        hostSlots: Object.fromEntries(hostSlots.filter(([, slots]) => slots > 0)),
        slotsPerHost: parts.perHost,
      };
    },
    paused,
  };
}

/** The name of a delivery's buyer among circuit breakers and claims. */
export function buyerOf({ key, buyerRnc }: Pick<Delivery, 'key' | 'buyerRnc'>): BuyerName {
  return `${key.env}:${buyerRnc}`;
}

function pausedIn(circuits: Pick<CircuitBreakers, 'waiting'>): string[] {
  return [...circuits.waiting()].filter(([, waitMs]) => waitMs > 0).map(([name]) => name);
}

function countBy<N extends string>(names: readonly N[]): Map<N, number> {
  const counts = new Map<N, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

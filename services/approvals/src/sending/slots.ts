import type { CircuitBreakers, Health } from '@ecf/authority-client';
import { LRUCache } from 'lru-cache';
import { AUTHORITY, type Outgoing } from './outgoing.js';
import type { FreeSlots } from './ports.js';

export interface SlotsParts {
  readonly recipientCircuits: Pick<CircuitBreakers, 'waiting'>;
  readonly hostCircuits: Pick<CircuitBreakers, 'waiting'>;
  /** Approvals in flight to the authority. */
  readonly toAuthority: number;
  /** Sends in flight to a buyer that answered last time; any other recipient gets one. */
  readonly perBuyer: number;
  /** Sends in flight to one host, for all its buyers. */
  readonly perHost: number;
}

export interface Slots {
  /** Notes the result of a delivery. */
  record(recipient: string, health: Health): void;
  /** The slots that a claim may fill beside the sends in flight. */
  free(inFlight: readonly Outgoing[]): FreeSlots;
  /** Recipients and hosts whose circuit breaker is open, or that requested a pause. */
  paused(): { readonly recipients: readonly string[]; readonly hosts: readonly string[] };
}

/** Every claim sends the names to the database, so not all buyers are remembered; a forgotten one gets one delivery at a time. */
const REMEMBERED = 2_000;

/** Bulkheads: a recipient or host that hangs occupies its own slots only, and one without free slots is not claimed for. */
export function createSlots(parts: SlotsParts): Slots {
  const answered = new LRUCache<string, true>({ max: REMEMBERED });

  function paused() {
    return { recipients: pausedIn(parts.recipientCircuits), hosts: pausedIn(parts.hostCircuits) };
  }

  function slotsOf(recipient: string): number {
    if (recipient === AUTHORITY) return parts.toAuthority;
    return answered.has(recipient) ? parts.perBuyer : 1;
  }

  return {
    record(recipient, health) {
      if (health === 'healthy') answered.set(recipient, true);
      if (health === 'failing') answered.delete(recipient);
    },
    free(inFlight) {
      const { recipients, hosts } = paused();
      const ofRecipients = countBy(inFlight.map(({ recipient }) => recipient));
      const ofHosts = countBy(inFlight.flatMap(({ host }) => host ?? []));
      const left = (recipient: string) => slotsOf(recipient) - (ofRecipients.get(recipient) ?? 0);
      const several = [AUTHORITY, ...answered.keys()].map((name): [string, number] => [name, left(name)]);
      const hostSlots = [...ofHosts].map(([host, count]): [string, number] => [host, parts.perHost - count]);
      return {
        busyRecipients: [...recipients, ...[...ofRecipients.keys()].filter((name) => left(name) <= 0)],
        recipientSlots: Object.fromEntries(several.filter(([, slots]) => slots > 1)),
        busyHosts: [...hosts, ...hostSlots.filter(([, slots]) => slots <= 0).map(([host]) => host)],
        hostSlots: Object.fromEntries(hostSlots.filter(([, slots]) => slots > 0)),
        slotsPerHost: parts.perHost,
        inFlight: inFlight.map(({ id }) => id),
      };
    },
    paused,
  };
}

function pausedIn(circuits: Pick<CircuitBreakers, 'waiting'>): string[] {
  return [...circuits.waiting()].filter(([, waitMs]) => waitMs > 0).map(([name]) => name);
}

function countBy(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

import type { CircuitBreakers } from '@ecf/authority-client';
import { withinTrace } from '@ecf/kit';
import { createDueWork, type DueWork } from '@ecf/postgres/due-work';
import type { Attempt, Claimed, Kind, Outgoing, Send } from './outgoing.js';
import type { FailureReport, OutgoingStore } from './ports.js';
import { createSlots } from './slots.js';

export interface SendingOptions {
  /** Milliseconds of a lease, which is renewed while the send is in flight. */
  readonly leaseMs: number;
  /** Longest pause in milliseconds between two claims. */
  readonly idleMs: number;
  /** Sends in flight that are answered in time. */
  readonly concurrency: number;
  /** Sends in flight, slow ones included. */
  readonly maxInFlight: number;
  /** Milliseconds after which a send frees its slot and continues beside the others. */
  readonly slowMs: number;
  /** Approvals in flight to the authority. */
  readonly toAuthority: number;
  /** Deliveries in flight to a buyer that answered last time. */
  readonly perBuyer: number;
  /** Sends in flight to one host. */
  readonly perHost: number;
}

export interface SendingParts {
  readonly store: OutgoingStore;
  readonly send: Readonly<Record<Kind, Send>>;
  /** One circuit breaker for each buyer, around a delivery. */
  readonly recipientCircuits: CircuitBreakers;
  /** The circuit breakers of the receiver client, one for each host. */
  readonly hostCircuits: Pick<CircuitBreakers, 'waiting'>;
  readonly report: FailureReport & { gaveUp(delivery: Outgoing): void };
  readonly clock: () => Date;
  /** Called after a claim; tests stop the process there. */
  readonly claimed?: () => Promise<void> | void;
}

export interface Sending extends Pick<DueWork<Claimed>, 'start' | 'wake' | 'stop'> {
  /** Sends a document that the caller claimed; resolves when the send has ended. Its lease is renewed meanwhile. */
  now(item: Claimed): Promise<void>;
  /** Recipients and hosts that get no calls now. */
  paused(): number;
}

type Failed = { readonly thrown: unknown };

/** Pause between two statements that give up deliveries past their deadline whose receivers get no calls. */
const GIVING_UP_MS = 1_000;

/**
 * Sends documents that are due: always the same bytes, until the recipient has decided. Each delivery passes the circuit
 * breaker of its buyer. A recipient that hangs delays no other.
 */
export function createSending(parts: SendingParts, options: SendingOptions): Sending {
  const { store, send, recipientCircuits: circuits, report, clock } = parts;
  const slots = createSlots({ ...parts, ...options });
  let gaveUpAt = Number.NEGATIVE_INFINITY;
  const engine: DueWork<Claimed> = createDueWork<Claimed>({
    store: {
      async claimDue(request) {
        await giveUp();
        const items = await store.claimDue({ ...request, ...slots.free(engine.inFlight()) });
        if (items.length > 0) await parts.claimed?.();
        return items;
      },
      renew: store.renew,
    },
    handle: (item) => (item.kind === 'delivery' ? deliver(item) : send[item.kind](item).then(() => undefined)),
    onError: (error, item) =>
      item === undefined
        ? report.failed('claiming due documents', error)
        : report.failed(`sending a document (${item.kind})`, error, item.key),
    clock,
    leaseMs: options.leaseMs,
    idleMs: options.idleMs,
    concurrency: options.concurrency,
    slow: { afterMs: options.slowMs, maxInFlight: options.maxInFlight },
  });

  async function deliver(item: Claimed): Promise<void> {
    const result = await circuits.run<Attempt | Failed>(item.recipient, async () => {
      const attempt = await withinTrace(item.traceparent, 'deliver to the buyer', () => send.delivery(item)).catch(
        (thrown: unknown): Failed => ({ thrown }),
      );
      // Our own error, such as an unreachable database, does not count for or against the buyer.
      if ('thrown' in attempt) return { value: attempt, health: 'neutral' };
      slots.record(item.recipient, attempt.health);
      return { value: attempt, health: attempt.health, pauseMs: attempt.pauseMs };
    });
    if (!('value' in result)) {
      await store.defer(item, item.host, new Date(clock().getTime() + result.retryAfterMs));
    } else if ('thrown' in result.value) throw result.value.thrown;
  }

  /** Single probes would take weeks to reach every delivery of a receiver that never answers. */
  async function giveUp(): Promise<void> {
    const { recipients, hosts } = slots.paused();
    if (performance.now() - gaveUpAt < GIVING_UP_MS || recipients.length + hosts.length === 0) return;
    gaveUpAt = performance.now();
    for (const delivery of await store.giveUp({ now: clock(), recipients, hosts })) report.gaveUp(delivery);
  }

  return {
    start: engine.start,
    wake: engine.wake,
    stop: engine.stop,
    now: engine.run,
    paused() {
      const { recipients, hosts } = slots.paused();
      return recipients.length + hosts.length;
    },
  };
}

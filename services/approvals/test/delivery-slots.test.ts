import { createCircuitBreakers } from '@ecf/authority-client';
import { expect, it } from '@jest/globals';
import type { Delivery } from '../src/buyers/delivery.js';
import type { ClaimRequest } from '../src/buyers/delivery-ports.js';
import { createDeliveryBackground } from '../src/sending/delivery-background.js';
import { createDeliverySlots } from '../src/sending/slots.js';

const BUYER = 'TesteCF:131000001';
const OTHER = 'TesteCF:131000002';
const HOST = 'https://provider.example';
const PAUSES = { failures: 3, openMs: 2_000, maxOpenMs: 300_000, maxPauseMs: 300_000 };

function inFlight(buyerRnc: string, host: string | null = null): Delivery {
  return { key: { env: 'TesteCF' }, buyerRnc, host } as Delivery;
}

it('gives a buyer one slot until it answered, then several, and one again after a failure', () => {
  const none = { waiting: () => new Map<string, number>() };
  const slots = createDeliverySlots({ buyerCircuits: none, hostCircuits: none, perBuyer: 3, perHost: 8 });
  const first = inFlight('131000001');
  expect(slots.free([])).toMatchObject({ busyBuyers: [], buyerSlots: {} });
  expect(slots.free([first])).toMatchObject({ busyBuyers: [BUYER], buyerSlots: {} });
  slots.record(BUYER, 'healthy');
  expect(slots.free([first])).toMatchObject({ busyBuyers: [], buyerSlots: { [BUYER]: 2 } });
  slots.record(BUYER, 'neutral');
  expect(slots.free([first, first, first, inFlight('131000002')])).toMatchObject({ busyBuyers: [BUYER, OTHER] });
  slots.record(BUYER, 'failing');
  expect(slots.free([first])).toMatchObject({ busyBuyers: [BUYER], buyerSlots: {} });
});

it('gives a host its slots for all its buyers together', () => {
  const none = { waiting: () => new Map<string, number>() };
  const slots = createDeliverySlots({ buyerCircuits: none, hostCircuits: none, perBuyer: 3, perHost: 2 });
  const [one, two] = [inFlight('131000001', HOST), inFlight('131000002', HOST)];
  expect(slots.free([one])).toMatchObject({ busyHosts: [], hostSlots: { [HOST]: 1 }, slotsPerHost: 2 });
  expect(slots.free([one, two, inFlight('131000003')])).toMatchObject({ busyHosts: [HOST], hostSlots: {} });
});

it('gives no slot to buyers and hosts whose circuit breaker is open, and one to each that may be probed', async () => {
  const time = { elapsed: 0 };
  const circuits = () => createCircuitBreakers({ options: PAUSES, elapsed: () => time.elapsed });
  const [buyerCircuits, hostCircuits] = [circuits(), circuits()];
  const slots = createDeliverySlots({ buyerCircuits, hostCircuits, perBuyer: 3, perHost: 2 });
  for (const _ of [1, 2, 3]) {
    await buyerCircuits.run(BUYER, async () => ({ value: null, health: 'failing' }));
    await hostCircuits.run(HOST, async () => ({ value: null, health: 'failing' }));
  }
  expect(slots.free([])).toMatchObject({ busyBuyers: [BUYER], busyHosts: [HOST] });
  expect(slots.paused()).toEqual({ buyers: [BUYER], hosts: [HOST] });
  time.elapsed += 2_000;
  expect(slots.free([])).toMatchObject({ busyBuyers: [], busyHosts: [] });
  expect(slots.paused()).toEqual({ buyers: [], hosts: [] });
});

/** The background over a store with the deliveries `due`, and time that a test sets. */
function background(due: Delivery[], deliver: () => Promise<{ health: 'failing' | 'neutral'; pauseMs: number }>) {
  const time = { wall: Date.parse('2026-06-23T12:00:00Z'), elapsed: 0 };
  const seen = {
    busy: [] as readonly string[],
    gaveUp: 0,
    claims: 0,
    pauses: [] as number[],
    deferred: [] as string[],
  };
  const elapsed = () => time.elapsed;
  const buyerCircuits = createCircuitBreakers({
    options: PAUSES,
    elapsed,
    onPause: (_, pauseMs) => seen.pauses.push(pauseMs),
  });
  const ports = {
    deliveries: {
      async claimDue({ busyBuyers }: ClaimRequest & { busyBuyers: readonly string[] }) {
        Object.assign(seen, { busy: busyBuyers, claims: seen.claims + 1 });
        return due.splice(0);
      },
      async giveUp() {
        seen.gaveUp += 1;
        return [];
      },
      defer: async (_: unknown, __: unknown, dueAt: Date) => void seen.deferred.push(dueAt.toISOString()),
    },
    deliveryObserver: { failed: () => undefined },
    deliverySettings: { leaseMs: 15_000 },
    buyerCircuits,
    hostCircuits: { waiting: () => new Map() },
    clock: () => new Date(time.wall),
    elapsed,
    checkpoint: () => undefined,
  };
  const options = { concurrency: 4, maxInFlight: 8, slowMs: 60_000, perBuyer: 8, perHost: 2, idleMs: 20 };
  const subject = createDeliveryBackground(ports as never, deliver, options);
  const claims = async (more: number) => {
    const until = seen.claims + more;
    while (seen.claims < until) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  return { subject, time, seen, claims };
}

it('keeps a pause, and the time between two looks at deadlines, when the clock is set back', async () => {
  const PAUSE = 50_000;
  const attempt = async () => ({ health: 'failing', pauseMs: PAUSE }) as const;
  const { subject, time, seen, claims } = background([inFlight('131000001')], attempt);
  subject.start();
  try {
    await claims(3);
    expect(seen).toMatchObject({ busy: [BUYER], gaveUp: 1, pauses: [PAUSE] });
    expect(subject.paused()).toBe(1);
    time.wall -= 3_600_000;
    time.elapsed += PAUSE - 1;
    await claims(2);
    expect(seen).toMatchObject({ busy: [BUYER], gaveUp: 2 });
    time.elapsed += 1;
    await claims(2);
    expect([seen.busy, subject.paused()]).toEqual([[], 0]);
  } finally {
    await subject.stop();
  }
});

it('defers a delivery that meets an open circuit breaker, without an attempt', async () => {
  let attempts = 0;
  const due = Array.from({ length: 4 }, () => inFlight('131000001'));
  const { subject, seen, claims } = background(due, async () => {
    attempts += 1;
    return { health: 'failing', pauseMs: 0 };
  });
  subject.start();
  try {
    await claims(2);
    expect([attempts, seen.deferred]).toEqual([4, []]);
    due.push(inFlight('131000001'));
    await claims(2);
    expect([attempts, seen.deferred]).toEqual([4, ['2026-06-23T12:00:02.000Z']]);
  } finally {
    await subject.stop();
  }
});

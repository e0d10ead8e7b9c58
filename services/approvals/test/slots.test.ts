import { createCircuitBreakers } from '@ecf/authority-client';
import { expect, it } from '@jest/globals';
import { AUTHORITY, buyerRecipient, type Claimed, issuerRecipient } from '../src/sending/outgoing.js';
import { createSending } from '../src/sending/sending.js';
import { createSlots } from '../src/sending/slots.js';

const BUYER = 'TesteCF:131000001';
const OTHER = 'TesteCF:131000002';
const HOST = 'https://provider.example';
const PAUSES = { failures: 3, openMs: 2_000, maxOpenMs: 300_000, maxPauseMs: 300_000 };

function inFlight(buyerRnc: string, host: string | null = null): Claimed {
  return { kind: 'delivery', key: { env: 'TesteCF' }, recipient: buyerRecipient('TesteCF', buyerRnc), host } as Claimed;
}

const none = { waiting: () => new Map<string, number>() };
const open = { recipientCircuits: none, hostCircuits: none, toAuthority: 1, perBuyer: 3 };

it('gives a buyer one slot until it answered, then several, and one again after a failure', () => {
  const slots = createSlots({ ...open, perHost: 8 });
  const first = inFlight('131000001');
  expect(slots.free([])).toMatchObject({ busyRecipients: [], recipientSlots: {} });
  expect(slots.free([first])).toMatchObject({ busyRecipients: [BUYER], recipientSlots: {} });
  slots.record(BUYER, 'healthy');
  expect(slots.free([first])).toMatchObject({ busyRecipients: [], recipientSlots: { [BUYER]: 2 } });
  slots.record(BUYER, 'neutral');
  expect(slots.free([first, first, first, inFlight('131000002')])).toMatchObject({ busyRecipients: [BUYER, OTHER] });
  slots.record(BUYER, 'failing');
  expect(slots.free([first])).toMatchObject({ busyRecipients: [BUYER], recipientSlots: {} });
});

it('gives an issuer one slot for approvals, and the authority those of the settings', () => {
  const slots = createSlots({ ...open, toAuthority: 2, perHost: 8 });
  const approval = (kind: 'authority' | 'issuer', recipient: string) => ({ kind, recipient, host: null }) as Claimed;
  const issuer = issuerRecipient('TesteCF', '131000001');
  const free = slots.free([approval('issuer', issuer), approval('authority', AUTHORITY)]);
  expect(free).toMatchObject({ busyRecipients: [issuer] });
  expect(slots.free([]).recipientSlots).toEqual({ [AUTHORITY]: 2 });
});

it('gives a host its slots for all its buyers together', () => {
  const slots = createSlots({ ...open, perHost: 2 });
  const [one, two] = [inFlight('131000001', HOST), inFlight('131000002', HOST)];
  expect(slots.free([one])).toMatchObject({ busyHosts: [], hostSlots: { [HOST]: 1 }, slotsPerHost: 2 });
  expect(slots.free([one, two, inFlight('131000003')])).toMatchObject({ busyHosts: [HOST], hostSlots: {} });
});

it('gives no slot to buyers and hosts whose circuit breaker is open, and one to each that may be probed', async () => {
  const time = { elapsed: 0 };
  const circuits = () => createCircuitBreakers({ options: PAUSES, elapsed: () => time.elapsed });
  const [recipientCircuits, hostCircuits] = [circuits(), circuits()];
  const slots = createSlots({ ...open, recipientCircuits, hostCircuits, perHost: 2 });
  for (const _ of [1, 2, 3]) {
    await recipientCircuits.run(BUYER, async () => ({ value: null, health: 'failing' }));
    await hostCircuits.run(HOST, async () => ({ value: null, health: 'failing' }));
  }
  expect(slots.free([])).toMatchObject({ busyRecipients: [BUYER], busyHosts: [HOST] });
  expect(slots.paused()).toEqual({ recipients: [BUYER], hosts: [HOST] });
  time.elapsed += 2_000;
  expect(slots.free([])).toMatchObject({ busyRecipients: [], busyHosts: [] });
  expect(slots.paused()).toEqual({ recipients: [], hosts: [] });
});

/** Sends the deliveries `due`; a test sets the time of pauses. */
function sendingOf(due: Claimed[], deliver: () => Promise<{ health: 'failing' | 'neutral'; pauseMs: number }>) {
  const time = { wall: Date.parse('2026-06-23T12:00:00Z'), elapsed: 0 };
  const seen = { busy: [] as readonly string[], claims: 0, pauses: [] as number[], deferred: [] as string[] };
  const recipientCircuits = createCircuitBreakers({
    options: PAUSES,
    elapsed: () => time.elapsed,
    onPause: (_, pauseMs) => seen.pauses.push(pauseMs),
  });
  const subject = createSending(
    {
      store: {
        async claimDue({ busyRecipients }) {
          Object.assign(seen, { busy: busyRecipients, claims: seen.claims + 1 });
          return due.splice(0);
        },
        giveUp: async () => [],
        renew: async () => undefined,
        defer: async (_: unknown, __: unknown, dueAt: Date) => void seen.deferred.push(dueAt.toISOString()),
      },
      send: { delivery: deliver, authority: deliver, issuer: deliver },
      recipientCircuits,
      hostCircuits: { waiting: () => new Map() },
      report: { failed: () => undefined, gaveUp: () => undefined },
      clock: () => new Date(time.wall),
    },
    {
      ...{ leaseMs: 15_000, concurrency: 4, maxInFlight: 8, slowMs: 60_000, toAuthority: 1, perBuyer: 8, perHost: 2 },
      idleMs: 20,
    },
  );
  const claims = async (more: number) => {
    const until = seen.claims + more;
    while (seen.claims < until) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  return { subject, time, seen, claims };
}

it('keeps a pause when the clock is set back', async () => {
  const PAUSE = 50_000;
  const attempt = async () => ({ health: 'failing', pauseMs: PAUSE }) as const;
  const { subject, time, seen, claims } = sendingOf([inFlight('131000001')], attempt);
  subject.start();
  try {
    await claims(3);
    expect(seen).toMatchObject({ busy: [BUYER], pauses: [PAUSE] });
    expect(subject.paused()).toBe(1);
    time.wall -= 3_600_000;
    time.elapsed += PAUSE - 1;
    await claims(2);
    expect(seen.busy).toEqual([BUYER]);
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
  const { subject, seen, claims } = sendingOf(due, async () => {
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

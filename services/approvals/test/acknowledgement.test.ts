import { createCircuitBreakers } from '@ecf/authority-client';
import { trustCheck } from '@ecf/public-ingress';
import { describe, expect, it } from '@jest/globals';
import { validateAcknowledgement } from '../src/buyers/acknowledgement.js';
import { createDeliverDocument } from '../src/buyers/deliver-document.js';
import type { ClaimedDelivery } from '../src/buyers/delivery.js';
import type { HostedConclusion } from '../src/buyers/delivery-ports.js';
import { Unwritable } from '../src/errors.js';
import { createDeliveryBackground } from '../src/sending/delivery-background.js';
import { eventually } from './support/world.js';

const sent = {
  key: { env: 'TesteCF', issuerRnc: '199999991', encf: 'E310000000001' },
  buyerRnc: '188888885',
} as const;

it.each([
  ['far too large', `<ARECF>${' '.repeat(300_000)}</ARECF>`, /larger than 262144 bytes/],
  ['made to be costly', `<ARECF>${'<a xmlns="x"/>'.repeat(5_000)}</ARECF>`, /more than 1000 tags/],
  ['no XML', 'OK', /cannot be read/],
])('an answer that is %s counts for nothing and costs little', (_, text, fault) => {
  const validated = validateAcknowledgement(
    Buffer.from(text),
    sent,
    new Date('2026-06-23T16:00:00Z'),
    trustCheck({ issuers: null }),
  );
  expect(validated).toMatchObject({ receiptStatus: null, fault: expect.stringMatching(fault) });
});

describe('an answer to record', () => {
  const now = new Date('2026-06-23T16:00:00Z');
  const delivery = {
    ...{ ...sent, id: 1, accountId: 'a', xml: { path: 'x', sha256: 'x' }, status: 'pending', createdAt: now, tries: 1 },
    ...{
      deadlineAt: new Date(now.getTime() + 3_600_000),
      dueAt: now,
      lastError: null,
      traceparent: null,
      host: null,
      claim: 'c',
    },
  } satisfies ClaimedDelivery;
  const waits: number[] = [];
  const concluded: HostedConclusion[] = [];
  let sends = 0;

  /** An attempt; `conclude` records its end. The buyer's answer is no acknowledgement. */
  function attempting(conclude: (tries: number) => void, ports: Record<string, unknown> = {}) {
    [waits.length, concluded.length, sends] = [0, 0, 0];
    let tries = 0;
    const deliver = createDeliverDocument({
      taxpayers: { taxpayer: async () => ({ account_id: 'a' }) },
      certificates: { open: () => ({}) },
      receivers: {
        find: async () => ({ receptionUrl: 'https://buyer.example', authenticationUrl: null }),
        async admitted() {
          sends += 1;
          return { outcome: 'verdict', verdict: { acknowledgement: Buffer.from('OK') }, raw: { status: 200 } };
        },
      },
      issuedXml: { get: async () => Buffer.from('x') },
      runs: { present: async () => 1 },
      deliveries: {
        async conclude(_: ClaimedDelivery, conclusion: HostedConclusion) {
          tries += 1;
          conclude(tries);
          concluded.push(conclusion);
          return { ...delivery, ...conclusion };
        },
      },
      deliverySettings: { firstRetryMs: 1_000 },
      deliveryObserver: {
        failed: () => undefined,
        acknowledged: () => undefined,
        attempted: () => undefined,
        changed: () => undefined,
      },
      trust: trustCheck({ issuers: null }),
      clock: () => now,
      random: () => 0.5,
      wait: async (ms: number) => void waits.push(ms),
      stopping: () => false,
      hostCircuits: { waitMs: () => 0 },
      checkpoint: () => undefined,
      ...ports,
    } as never);
    return deliver(delivery);
  }
  const away = () => {
    throw new Error('the database is away');
  };

  it('is recorded again until the database is back, and nothing is sent meanwhile', async () => {
    await attempting((tries) => tries < 40 && away());
    expect([sends, waits.length, Math.max(...waits)]).toEqual([1, 39, 4_000]);
    expect(concluded).toMatchObject([{ status: 'unacknowledged', acknowledgement: { key: sent.key } }]);
  });

  it('is given up after some tries while the process stops', async () => {
    await expect(attempting(away, { stopping: () => true })).rejects.toThrow('away');
    expect(waits.length).toBeLessThan(5);
  });

  it('leaves out values that the database never takes, and tries again up to the deadline', async () => {
    const never = (tries: number) => {
      if (tries === 1) throw new Unwritable('out of range');
    };
    await attempting(never);
    expect(concluded).toMatchObject([
      { status: 'unacknowledged', acknowledgement: null, error: expect.stringContaining('out of range') },
    ]);
    expect(concluded[0]?.dueAt?.getTime()).toBeGreaterThan(now.getTime());
    await attempting(never, { clock: () => delivery.deadlineAt });
    expect(concluded).toMatchObject([{ status: 'failed', dueAt: null }]);
  });

  it('is not reached because of an error of ours: another try after a pause, up to the deadline', async () => {
    const broken = { taxpayers: { taxpayer: away } };
    await attempting(() => undefined, broken);
    expect(concluded).toMatchObject([{ status: 'pending', acknowledgement: null, error: 'the database is away' }]);
    await attempting(() => undefined, { ...broken, clock: () => delivery.deadlineAt });
    expect(concluded).toMatchObject([{ status: 'failed', dueAt: null }]);
  });
});

it('after a database outage renews its leases before it claims, and leaves the leases of other instances alone', async () => {
  const done: string[] = [];
  const [start, claims] = [Date.now(), [] as { now: Date; lapsedBy: Date }[]];
  let elapsed = 0;
  let isAway = false;
  const clock = () => new Date(start + elapsed);
  const call = (name: string) => {
    done.push(isAway ? `${name} failed` : name);
    if (isAway) throw new Error('away');
  };
  const background = createDeliveryBackground(
    {
      deliveries: {
        async claimDue(request: { now: Date; lapsedBy: Date }) {
          call('claim');
          claims.push(request);
          const first = claims.length === 1;
          return first ? [{ ...sent, host: null, traceparent: null }] : [];
        },
        renewLeases: async () => call('renew'),
      },
      deliveryObserver: { failed: () => undefined },
      buyerCircuits: createCircuitBreakers({ options: {}, elapsed: () => elapsed }),
      hostCircuits: { waiting: () => new Map() },
      // The engine's timer renews nothing within the test.
      deliverySettings: { leaseMs: 600_000 },
      clock,
      elapsed: () => elapsed,
      checkpoint: () => undefined,
    } as never,
    () => new Promise((resolve) => stops.push(() => resolve({ health: 'neutral', pauseMs: 0 }))),
    { concurrency: 4, maxInFlight: 8, slowMs: 60_000, perBuyer: 2, perHost: 2, idleMs: 20 },
  );
  const stops: (() => void)[] = [];
  const seen = (what: (all: string[]) => boolean) => eventually(() => done, what);
  background.start();
  try {
    await seen((all) => all.filter((one) => one === 'claim').length > 1);
    expect(claims.every(({ now, lapsedBy }) => now.getTime() === lapsedBy.getTime())).toBe(true);
    isAway = true;
    elapsed += 1_000;
    await seen((all) => all.includes('claim failed'));
    elapsed += 900_000;
    await seen((all) => all.includes('renew failed'));
    [done.length, claims.length, isAway] = [0, 0, false];
    await seen((all) => all.includes('claim'));
    expect(done.slice(0, 2)).toEqual(['renew', 'claim']);
    expect(claims[0]?.lapsedBy).toEqual(new Date(start + 1_000));
    elapsed += 300_001;
    claims.length = 0;
    await seen(() => claims.length > 1);
    expect(claims[1]?.lapsedBy).toEqual(clock());
  } finally {
    for (const stop of stops) stop();
    await background.stop();
  }
});

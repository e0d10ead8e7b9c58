import { trustCheck } from '@ecf/public-ingress';
import { describe, expect, it } from '@jest/globals';
import { judgeAcknowledgement } from '../src/core/acknowledgements/acknowledgement.js';
import { DeliverDocument } from '../src/core/deliveries/deliver-document.js';
import type { ClaimedDelivery } from '../src/core/deliveries/delivery.js';
import { createDeliveryBackground } from '../src/core/deliveries/delivery-background.js';
import type { HostedConclusion } from '../src/core/deliveries/delivery-ports.js';
import { Unwritable } from '../src/core/errors.js';
import { eventually } from './support/world.js';

const sent = {
  key: { env: 'TesteCF', issuerRnc: '199999991', encf: 'E310000000001' },
  buyerRnc: '188888885',
} as const;

it.each([
  ['far too large', `<ARECF>${' '.repeat(300_000)}</ARECF>`, /larger than 262144 bytes/],
  ['made to be costly', `<ARECF>${'<a xmlns="x"/>'.repeat(5_000)}</ARECF>`, /more in it than any acknowledgement/],
  ['no XML', 'OK', /cannot be read/],
])('an answer that is %s counts for nothing and costs little', (_, text, fault) => {
  const judged = judgeAcknowledgement(Buffer.from(text), sent, new Date('2026-06-23T16:00:00Z'), trustCheck(null));
  expect(judged).toMatchObject({ receiptStatus: null, fault: expect.stringMatching(fault) });
});

describe('writing down what a buyer answered', () => {
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

  /** A delivery whose ends `conclude` writes down; what the buyer sends is no acknowledgement. */
  function attempting(conclude: (tries: number) => void, ports: Record<string, unknown> = {}) {
    [waits.length, concluded.length, sends] = [0, 0, 0];
    let tries = 0;
    const delivering = new DeliverDocument({
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
      trust: trustCheck(null),
      clock: () => now,
      random: () => 0.5,
      wait: async (ms: number) => void waits.push(ms),
      ending: () => false,
      checkpoint: () => undefined,
      ...ports,
    } as never);
    return delivering.attempt(delivery, { enter: () => null, tell: () => undefined });
  }
  const away = () => {
    throw new Error('the database is away');
  };

  it('is tried again without end, and nothing is sent meanwhile', async () => {
    await attempting((tries) => tries < 40 && away());
    expect([sends, waits.length, Math.max(...waits)]).toEqual([1, 39, 4_000]);
    expect(concluded).toMatchObject([{ status: 'unacknowledged', acknowledgement: { key: sent.key } }]);
  });

  it('is given up after some tries where the process ends', async () => {
    await expect(attempting(away, { ending: () => true })).rejects.toThrow('away');
    expect(waits.length).toBeLessThan(5);
  });

  it('goes without what the database never takes, after a pause and up to the deadline', async () => {
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

  it('whatever goes wrong before there is an answer: after a pause, and over at the deadline', async () => {
    const broken = { taxpayers: { taxpayer: away } };
    await attempting(() => undefined, broken);
    expect(concluded).toMatchObject([{ status: 'pending', acknowledgement: null, error: 'the database is away' }]);
    await attempting(() => undefined, { ...broken, clock: () => delivery.deadlineAt });
    expect(concluded).toMatchObject([{ status: 'failed', dueAt: null }]);
  });
});

it('after the database was away, claims are prolonged before others are made, and those of others are left to them', async () => {
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
        keep: async () => call('keep'),
      },
      deliveryObserver: { opened: () => undefined, failed: () => undefined },
      // No other than the loop's own look prolongs within the test.
      deliverySettings: { leaseMs: 600_000 },
      clock,
      elapsed: () => elapsed,
      checkpoint: () => undefined,
    } as never,
    { attempt: () => new Promise((resolve) => stops.push(() => resolve(null))) },
    {
      ...{ concurrency: 4, mostWaiting: 8, slowMs: 60_000, perReceiver: 2, perHost: 2, idleMs: 20 },
      ...{ failuresToOpen: 3, firstPauseMs: 10, longestPauseMs: 10 },
    },
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
    await seen((all) => all.includes('keep failed'));
    [done.length, claims.length, isAway] = [0, 0, false];
    await seen((all) => all.includes('claim'));
    expect(done.slice(0, 2)).toEqual(['keep', 'claim']);
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

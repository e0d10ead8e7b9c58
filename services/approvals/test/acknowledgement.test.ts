import { trustCheck } from '@ecf/public-ingress';
import { describe, expect, it } from '@jest/globals';
import { validateAcknowledgement } from '../src/buyers/acknowledgement.js';
import { createDeliver, type DeliverParts } from '../src/buyers/deliver.js';
import type { DeliveryEnding } from '../src/buyers/ports.js';
import { Unwritable } from '../src/errors.js';
import type { Claimed } from '../src/sending/outgoing.js';

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
  const delivery: Claimed = {
    ...{
      ...sent,
      id: 1,
      kind: 'delivery',
      approvalId: null,
      recipient: 'x',
      accountId: 'a',
      xml: { path: 'x', sha256: 'x' },
    },
    ...{ status: 'pending', createdAt: now, deadlineAt: new Date(now.getTime() + 3_600_000), dueAt: now, tries: 1 },
    ...{ lastError: null, sentAt: null, uncertain: false, traceparent: null, host: null, claim: 'c' },
  };
  const concluded: DeliveryEnding[] = [];
  let sends = 0;

  /** An attempt; `conclude` records its end. The buyer's answer is not an acknowledgement. */
  function attempting(conclude: (tries: number) => void, changes: Partial<DeliverParts> = {}, at = now) {
    [concluded.length, sends] = [0, 0];
    let tries = 0;
    const deliver = createDeliver({
      store: {
        async conclude(_: Claimed, ending: DeliveryEnding) {
          tries += 1;
          conclude(tries);
          concluded.push(ending);
          return { ...delivery, ...ending };
        },
      },
      presentRun: async () => 1,
      callerOf: async () => ({}),
      endpoints: {
        find: async () => ({ receptionUrl: 'https://buyer.example', authenticationUrl: null }),
        async call() {
          sends += 1;
          return { outcome: 'verdict', verdict: { acknowledgement: Buffer.from('OK') }, raw: { status: 200 } };
        },
      },
      issuedXml: { get: async () => Buffer.from('x') },
      hostCircuits: { waitMs: () => 0 },
      trust: trustCheck({ issuers: null }),
      rules: { firstRetryMs: 1_000, clock: () => at, random: () => 0.5 },
      report: {
        failed: () => undefined,
        acknowledged: () => undefined,
        attempted: () => undefined,
        changed: () => undefined,
      },
      stopping: new AbortController().signal,
      checkpoint: () => undefined,
      ...changes,
    } as never);
    return deliver(delivery);
  }
  const away = () => {
    throw new Error('the database is unreachable');
  };

  it('an answer is recorded again until the database is back, without another send', async () => {
    await attempting((tries) => tries < 3 && away());
    expect(sends).toBe(1);
    expect(concluded).toMatchObject([{ status: 'unacknowledged', acknowledgement: { key: sent.key } }]);
  });

  it('recording an answer is given up when the process stops', async () => {
    await expect(attempting(away, { stopping: AbortSignal.abort() })).rejects.toThrow('unreachable');
  });

  it('an answer is stored without values that the database never takes, and the document is sent again up to the deadline', async () => {
    const never = (tries: number) => {
      if (tries === 1) throw new Unwritable('out of range');
    };
    await attempting(never);
    expect(concluded).toMatchObject([
      { status: 'unacknowledged', acknowledgement: null, error: expect.stringContaining('out of range') },
    ]);
    expect(concluded[0]?.dueAt?.getTime()).toBeGreaterThan(now.getTime());
    await attempting(never, {}, delivery.deadlineAt as Date);
    expect(concluded).toMatchObject([{ status: 'failed', dueAt: null }]);
  });

  it('an error of this service before an answer is followed by another try, up to the deadline', async () => {
    const broken = { callerOf: away };
    await attempting(() => undefined, broken);
    expect(concluded).toMatchObject([
      { status: 'pending', acknowledgement: null, error: 'the database is unreachable' },
    ]);
    await attempting(() => undefined, broken, delivery.deadlineAt as Date);
    expect(concluded).toMatchObject([{ status: 'failed', dueAt: null }]);
  });
});

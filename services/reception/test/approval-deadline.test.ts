import { randomUUID } from 'node:crypto';
import { makeEvent } from '@ecf/service-kit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { approvalDaysLeft } from '../src/core/approval-deadline.js';
import { encf, sampleBytes } from './support/documents.js';
import { BUYER, NOW, PROVIDER } from './support/senders.js';
import { eventually, startWorld, type World } from './support/world.js';

const DAY = 86_400_000;
let world: World;
beforeAll(async () => {
  world = await startWorld({ settings: { APPROVAL_DEADLINE_DAYS: '15' } });
});
afterAll(() => world.stop());

const daysLater = (days: number) => new Date(NOW.getTime() + days * DAY);
const shown = async (number: string) =>
  (await (await world.ask(`/fe/recepcion/api/invoices/${number}`, { 'buyer-rnc': BUYER })).json()) as {
    approval_status: string;
    approval_days_left: number | null;
  };

it.each([
  ['2026-06-23T23:59:00-04:00', '2026-06-23T23:59:59-04:00', 15],
  ['2026-06-23T23:59:00-04:00', '2026-06-24T00:00:00-04:00', 14],
  ['2026-06-23T12:00:00-04:00', '2026-07-08T23:59:59-04:00', 0],
  ['2026-06-23T12:00:00-04:00', '2026-07-09T00:00:00-04:00', -1],
])('received %s, looked at %s: %i', (received, now, left) => {
  const document = { approvalStatus: 'pending', receivedAt: new Date(received) } as const;
  expect(approvalDaysLeft(document, 15, new Date(now))).toBe(left);
  expect(approvalDaysLeft({ ...document, approvalStatus: 'approved' }, 15, new Date(now))).toBeNull();
});

it('days left are shown until it is answered, and the metric tells what is due', async () => {
  const number = encf(1);
  expect((await world.send(await sampleBytes({ encf: number }))).status).toBe(200);
  expect(await shown(number)).toMatchObject({ approval_status: 'pending', approval_days_left: 15 });
  expect(await world.metrics.render()).not.toContain('ecf_reception_approvals_awaited{');
  world.setTime(daysLater(13));
  expect(await shown(number)).toMatchObject({ approval_days_left: 2 });
  expect(await world.metrics.render()).toContain('ecf_reception_approvals_awaited{env="TesteCF",state="due_soon"} 1');
  world.setTime(daysLater(16));
  expect(await shown(number)).toMatchObject({ approval_days_left: -1 });
  expect(await world.metrics.render()).toContain('ecf_reception_approvals_awaited{env="TesteCF",state="overdue"} 1');
  const data = {
    direction: 'given',
    env: 'TesteCF',
    issuer_rnc: PROVIDER,
    encf: number,
    buyer_rnc: BUYER,
    revision: 1,
    approval_status: 'approved',
    approval_datetime: NOW.toISOString(),
  };
  const draft = {
    topic: 'approvals.v1',
    type: 'approval.changed',
    source: 'approvals',
    subject: number,
    key: number,
    data,
  };
  await world.bus.publish([makeEvent(draft, { id: randomUUID(), time: NOW })]);
  await eventually(
    () => shown(number),
    (seen) => seen.approval_status === 'approved',
  );
  expect((await shown(number)).approval_days_left).toBeNull();
  expect(await world.metrics.render()).not.toContain('ecf_reception_approvals_awaited{');
});

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ACCOUNT,
  encf,
  invoice,
  invoiceEvent,
  OTHER_ACCOUNT,
  OTHER_ISSUER,
  taxpayer,
  taxpayerEvent,
} from './support/events.js';
import { type Call, type Receiver, startReceiver, until } from './support/receiver.js';
import { startWorld, type World } from './support/world.js';

const SECOND = 1_000;
const DEAD = { status: 503 };

let now = Date.now();
let world: World;
let receiver: Receiver;
let sequence = 5_000;

beforeAll(async () => {
  world = await startWorld({ ALLOW_PRIVATE_ADDRESSES: 'true' }, { clock: () => new Date(now) });
  receiver = await startReceiver(() => now);
  await world.publish(taxpayerEvent(taxpayer({ rnc: OTHER_ISSUER, account_id: OTHER_ACCOUNT })));
});
afterAll(async () => {
  receiver.stop();
  await world.stop();
});
beforeEach(() => {
  now = Date.now();
  receiver.calls = [];
  receiver.answer = () => ({ status: 204 });
});
afterEach(async () => {
  receiver.breakConnections();
  await world.database.query('DELETE FROM webhook');
});

const webhooks = () => world.query.webhooks;
const name = (webhook_id: string) => ({ account_id: ACCOUNT, webhook_id });
const find = (id: string) => webhooks().findWebhook(name(id));
async function create(path = '/'): Promise<string> {
  const webhook = { url: `${receiver.base}${path}`, types: null, environments: ['TesteCF' as const] };
  return (await webhooks().createWebhook({ ...name(randomUUID()), webhook })).id;
}
const accepted = () => invoiceEvent(invoice({ sequence: ++sequence, revision: 2 }));
const elsewhere = () => invoiceEvent(invoice({ sequence: ++sequence, issuer_rnc: OTHER_ISSUER, revision: 2 }));
const publish = (count: number) => world.publish(...Array.from({ length: count }, accepted));
const idOf = ({ headers }: Call) => headers['webhook-id'] ?? '';
const callsOf = (path: string) => receiver.calls.filter((call) => call.path === path);
const until503 = (id: string) =>
  until(
    () => find(id),
    ({ failing_since }) => failing_since !== null,
  );
const idle = (id: string) =>
  until(
    () => find(id),
    ({ pending }) => pending === 0,
  );

/** Seconds pass one by one; in each of them the service looks for work. */
async function pass(seconds: number, each: () => void | Promise<void> = () => undefined): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 1) {
    now += SECOND;
    await each();
    // An event without a webhook wakes the service.
    await world.publish(elsewhere());
    await delay(100);
  }
}

/** Times of the calls of each event. */
function timesOf(calls: readonly Call[]): number[][] {
  const times = new Map<string, number[]>();
  for (const call of calls) times.set(idOf(call), [...(times.get(idOf(call)) ?? []), call.at]);
  return [...times.values()];
}

describe('a webhook that fails', () => {
  it('gets everything that waits within seconds after its first success, however long the pauses were', async () => {
    const id = await create();
    receiver.answer = () => DEAD;
    await publish(3);
    await until503(id);
    const waiting = async () => {
      const { rows } = await world.database.query<{ least: Date; tries: number }>(
        'SELECT min(due_at) AS least, min(tries) AS tries FROM webhook_delivery',
      );
      return { due: rows[0]?.least.getTime() ?? 0, tries: rows[0]?.tries ?? 0 };
    };
    for (let tries = 1; tries < 7; tries += 1)
      now = (await until(waiting, (all) => all.tries >= tries && all.due > now)).due;
    const { due } = await until(waiting, (all) => all.tries === 7 && all.due > now);
    expect(due - now).toBe(1_800 * SECOND);
    receiver.answer = () => ({ status: 200 });
    now += 10 * SECOND;
    await publish(1);
    await idle(id);
    expect(await find(id)).toMatchObject({ failing_since: null, dropped: 0 });
  });

  it('tries an event that fails alone with growing pauses, although others succeed in between', async () => {
    const id = await create();
    const poison = encf('31', sequence + 1);
    receiver.answer = ({ event }) => ({ status: event.subject.encf === poison ? 500 : 200 });
    const begin = now;
    await publish(1);
    await until503(id);
    await pass(40, () => publish(1));
    const tries = receiver.calls
      .filter(({ event }) => event.subject.encf === poison)
      .map(({ at }) => (at - begin) / SECOND);
    expect(tries.length).toBeLessThanOrEqual(5);
    expect(tries.length).toBeGreaterThanOrEqual(3);
    expect(tries[1]).toBeLessThanOrEqual(10);
    await until(
      () => find(id),
      ({ pending }) => pending === 1,
    );
    expect(receiver.calls.length).toBe(40 + tries.length);
  });

  it('is called a few times in five seconds, whatever waits, and repeats each event first within ten seconds', async () => {
    const id = await create();
    receiver.answer = () => DEAD;
    await publish(300);
    await pass(30);
    expect(receiver.calls.length).toBeGreaterThan(20);
    expect(receiver.calls.length).toBeLessThan(100);
    for (const [first = 0, second] of timesOf(receiver.calls))
      if (first <= now - 10 * SECOND)
        expect((second ?? Number.POSITIVE_INFINITY) - first).toBeLessThanOrEqual(10 * SECOND);
    receiver.answer = () => ({ status: 200 });
    await pass(6);
    await idle(id);
  });

  it('repeats an event within ten seconds also if its receiver hangs and much waits', async () => {
    const alive = await create('/alive');
    await create('/hangs');
    const open = new Set<Call>();
    const ended = new Map<string, number>();
    receiver.answer = (call) => {
      if (call.path === '/alive') return { status: 200 };
      open.add(call);
      return 'hang';
    };
    await publish(100);
    await idle(alive);
    await pass(45, () => {
      // The service gives a call up after ten seconds.
      for (const call of open)
        if (call.at <= now - 10 * SECOND) {
          open.delete(call);
          if (!ended.has(idOf(call))) ended.set(idOf(call), now);
          call.res.writeHead(503).end();
        }
    });
    const calls = callsOf('/hangs');
    expect(ended.size).toBeGreaterThan(8);
    for (const [event, end] of ended) {
      const second = calls.filter((call) => idOf(call) === event)[1]?.at ?? now;
      expect(second - end).toBeLessThanOrEqual(10 * SECOND);
    }
    expect(open.size).toBeLessThanOrEqual(20);
  });

  it('delays no other webhook, even if many hang', async () => {
    const hanging = await Promise.all(Array.from({ length: 60 }, () => create('/hangs')));
    const alive = await create('/alive');
    receiver.answer = ({ path }) => (path === '/hangs' ? 'hang' : { status: 200 });
    await world.database.query('UPDATE webhook SET failing_since = $2 WHERE id = ANY($1)', [hanging, new Date(now)]);
    await publish(20);
    await until(
      () => callsOf('/hangs').length,
      (length) => length >= 60,
    );
    // Each wait ends with an error after ten seconds.
    for (let round = 2; round <= 6; round += 1) {
      await publish(20);
      await until(
        () => callsOf('/alive').length,
        (length) => length >= round * 20,
      );
    }
    await idle(alive);
    expect(callsOf('/alive')).toHaveLength(120);
  });
});

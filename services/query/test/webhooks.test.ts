import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { publicEventSchema, TOPICS } from '@ecf/contracts';
import { ENVIRONMENTS } from '@ecf/domain';
import { createMasterKeys, sealHead } from '@ecf/kit';
import { createMasterKeyOperations, limitDueTimes } from '@ecf/postgres';
import { until } from '@ecf/test-support/until';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { createQuery } from '../src/index.js';
import { DUE_TIMES } from '../src/webhooks/index.js';
import { sealedWebhookSecrets } from '../src/webhooks/webhooks.postgres.js';
import {
  ACCOUNT,
  batchDone,
  encf,
  event,
  ISSUER,
  invoice,
  invoiceEvent,
  OTHER_ACCOUNT,
  OTHER_ISSUER,
} from './support/events.js';
import type { Call } from './support/receiver.js';
import { webhookWorld } from './support/webhook-world.js';
import { startWorld } from './support/world.js';

const tests = webhookWorld();
const { name, find, create, accepted, callsOf, failing, idle, pass } = tests;
const numbers = () => tests.receiver.calls.map(({ event }) => event.subject.encf);
const called = (times: number) =>
  until(
    () => tests.receiver.calls,
    ({ length }) => length >= times,
  );

describe('webhooks', () => {
  it('get the signed events of their account, types and environments, but none from before they existed', async () => {
    await tests.world.publish(accepted());
    const { id, secret, ...shown } = await create('/mine?token=1', { types: ['invoice.accepted'] });
    expect([secret.slice(0, 6), shown.active, shown.types]).toEqual(['whsec_', true, ['invoice.accepted']]);
    await create('/other', {}, OTHER_ACCOUNT);
    await create('/production', { environments: ['eCF'] });
    await tests.world.publish(
      invoiceEvent(invoice({ sequence: ++tests.sequence, state: 'rejected-used' })),
      accepted(),
    );
    await called(1);
    await idle(id);
    expect(tests.receiver.calls.map(({ path }) => path)).toEqual(['/mine?token=1']);
    const [{ headers, text, event } = {} as Call] = tests.receiver.calls;
    expect(publicEventSchema.parse(event)).toMatchObject({
      type: 'invoice.accepted',
      subject: { encf: encf('31', tests.sequence) },
    });
    expect(headers).toMatchObject({ 'webhook-id': event.id, 'content-type': 'application/json' });
    new Webhook(secret).verify(text, headers);
    expect(() => new Webhook(`whsec_${Buffer.alloc(32).toString('base64')}`).verify(text, headers)).toThrow();
    const state = await find(id);
    expect([state.failing_since, state.dropped, typeof state.last_success_at]).toEqual([null, 0, 'string']);
    expect(
      JSON.stringify([
        state,
        await tests.webhooks.listWebhooks({
          account_id: ACCOUNT,
          environments: [...ENVIRONMENTS],
          limit: 10,
          offset: 0,
        }),
      ]),
    ).not.toContain(secret);
    await expect(tests.webhooks.findWebhook(name(id, OTHER_ACCOUNT))).rejects.toMatchObject({ code: 'not_found' });
  });

  it('get the event that a batch of their account has ended', async () => {
    await create('/batches', { types: ['batch.done'] });
    await create('/other', { types: ['batch.done'] }, OTHER_ACCOUNT);
    await tests.world.publish(batchDone('7'));
    await called(1);
    expect(tests.receiver.calls.map(({ path, event: { data: told } }) => [path, told])).toEqual([
      ['/batches', batchDone('7').data.batch],
    ]);
  });

  it('deliver the events of a subject in order, and retry within ten seconds; other subjects continue', async () => {
    const { id } = await create();
    const first = encf('31', ++tests.sequence);
    tests.receiver.answer = ({ event }) => ({
      status: event.subject.encf === first ? 302 : 200,
      headers: { location: `${tests.receiver.base}/elsewhere` },
    });
    await tests.world.publish(
      invoiceEvent(invoice({ sequence: tests.sequence, state: 'rejected-reusable' })),
      invoiceEvent(invoice({ sequence: tests.sequence, revision: 2 })),
      accepted(),
    );
    await called(2);
    await until(
      () => find(id),
      ({ pending }) => pending === 2,
    );
    expect([...numbers()].sort()).toEqual([first, encf('31', tests.sequence)]);
    await until(
      () => find(id),
      ({ failing_since }) => failing_since === null || tests.receiver.calls.length === 2,
    );
    tests.receiver.answer = () => ({ status: 200 });
    await pass(10_000);
    await idle(id);
    expect(tests.receiver.calls.map(({ path }) => path)).not.toContain('/elsewhere');
    expect(tests.receiver.calls.slice(2).map(({ event }) => [event.subject.encf, event.type])).toEqual([
      [first, 'invoice.rejected'],
      [first, 'invoice.accepted'],
    ]);
    expect(tests.receiver.calls[2]?.headers['webhook-id']).toBe(
      tests.receiver.calls.find(({ event }) => event.subject.encf === first)?.headers['webhook-id'],
    );
  });

  it('deliver the ends of batches that have the same subject in order', async () => {
    const { id } = await create();
    tests.receiver.answer = () => ({ status: 500 });
    await tests.world.publish(batchDone('8'));
    await failing(id);
    tests.receiver.answer = () => ({ status: 200 });
    await tests.world.publish(batchDone('9'));
    await tests.world.publish(accepted());
    await pass(5_000);
    await until(
      () => numbers(),
      (told) => told.includes(encf('31', tests.sequence)),
    );
    await pass(10_000);
    await idle(id);
    const batches = tests.receiver.calls.filter(({ event }) => event.type === 'batch.done');
    expect(batches.map(({ event }) => event.data.batch_id)).toEqual(['8', '8', '9']);
  });

  it('are retried for 72 hours with growing pauses; then the event is dropped and its subject continues', async () => {
    const { id } = await create();
    tests.receiver.answer = () => ({ status: 500 });
    await tests.world.publish(invoiceEvent(invoice({ sequence: ++tests.sequence, state: 'rejected-reusable' })));
    await called(1);
    const due = async () => {
      const { rows } = await tests.world.database.query<{ due_at: Date }>('SELECT due_at FROM webhook_delivery');
      return rows[0]?.due_at.getTime() ?? 0;
    };
    const begin = tests.now;
    const pauses: number[] = [];
    for (let tries = 1; tries < 8; tries += 1) {
      const next = await until(due, (time) => time > tests.now);
      pauses.push((next - tests.now) / 1_000);
      await pass(next - tests.now);
      await called(tries + 1);
    }
    expect(pauses).toEqual([5, 20, 60, 300, 900, 1_800, 1_800]);
    expect((await find(id)).failing_since).not.toBeNull();
    await pass(begin + 72 * 3_600_000 - 1 - tests.now);
    await called(9);
    expect(await until(due, (time) => time > tests.now)).toBe(begin + 72 * 3_600_000);
    await tests.world.publish(invoiceEvent(invoice({ sequence: tests.sequence, revision: 2 })));
    await pass(5_000);
    await until(
      () => find(id),
      ({ dropped }) => dropped === 1,
    );
    tests.receiver.answer = () => ({ status: 200 });
    await pass(10_000);
    await until(
      () => tests.receiver.calls,
      () => tests.receiver.calls.at(-1)?.event.type === 'invoice.accepted',
    );
    expect(await idle(id)).toMatchObject({ dropped: 1, failing_since: null });
    expect(tests.receiver.calls.at(-1)?.event.type).toBe('invoice.accepted');
  });

  it('give up an event that the feed no longer keeps, which does not count as a success', async () => {
    const { id } = await create();
    const waitingAgain = async () => {
      const { rows } = await tests.world.database.query<{ least: number; leased: number }>(
        'SELECT min(tries) AS least, count(leased_until)::int AS leased FROM webhook_delivery',
      );
      return rows[0]?.least === 1 && rows[0].leased === 0;
    };
    tests.receiver.answer = () => ({ status: 500 });
    await tests.world.publish(accepted());
    await called(1);
    await failing(id);
    await tests.world.publish(accepted());
    await pass(5_000);
    await called(3);
    await until(waitingAgain, (again) => again);
    await tests.world.database.query('DELETE FROM feed_event WHERE id = (SELECT min(event_id) FROM webhook_delivery)');
    await pass(20_000);
    const given_up = ({ pending }: { pending: number }) => pending === 1;
    expect(await until(() => find(id), given_up)).toMatchObject({ dropped: 1, last_success_at: null });
    expect((await find(id)).failing_since).not.toBeNull();
  });

  it('count as failing only while an event waits for them', async () => {
    const { id } = await create();
    const failingNow = async () => {
      const text = await tests.world.metrics.render();
      return ['ecf_webhooks_failing', 'ecf_webhook_failing_seconds'].map((metric) =>
        Number(new RegExp(`^${metric} (.*)$`, 'm').exec(text)?.[1]),
      );
    };
    tests.receiver.answer = () => ({ status: 500 });
    await tests.world.publish(accepted());
    await failing(id);
    tests.now += 7_200_000;
    expect(await failingNow()).toEqual([1, 7_200]);
    await pass(72 * 3_600_000);
    expect(await idle(id)).toMatchObject({ dropped: 1, failing_since: expect.any(String) });
    expect(await failingNow()).toEqual([0, 0]);
  });

  it('are deactivated by 410, and get the missed events by a replay', async () => {
    const { id } = await create();
    const before = (await tests.world.get('/events?limit=1000')).body.next;
    tests.receiver.answer = () => ({ status: 410 });
    await tests.world.publish(accepted());
    await until(
      () => find(id),
      ({ active }) => !active,
    );
    tests.receiver.answer = () => ({ status: 200 });
    await tests.world.publish(accepted());
    await expect(tests.webhooks.replayWebhook({ ...name(id), after: before })).rejects.toMatchObject({ status: 409 });
    expect(await tests.webhooks.changeWebhook({ ...name(id), change: { active: true } })).toMatchObject({
      active: true,
      pending: 0,
    });
    expect(tests.receiver.calls).toHaveLength(1);
    await expect(tests.webhooks.replayWebhook({ ...name(id), after: 'made-up' })).rejects.toMatchObject({
      status: 422,
      code: 'unknown_event',
    });
    await tests.webhooks.replayWebhook({ ...name(id), after: before });
    await called(3);
    expect(numbers().slice(1)).toEqual([encf('31', tests.sequence - 1), encf('31', tests.sequence)]);
  });

  it('get the events of a replay in order, including events in flight and events that wait for a retry', async () => {
    const { id } = await create();
    const before = (await tests.world.get('/events?limit=1000')).body.next;
    tests.receiver.answer = ({ event }) => (event.type === 'invoice.accepted' ? 'hang' : { status: 200 });
    await tests.world.publish(accepted({ state: 'held', revision: 1 }));
    await called(1);
    await tests.world.publish(invoiceEvent(invoice({ sequence: tests.sequence, revision: 2 })));
    await called(2);
    tests.receiver.calls[1]?.res.writeHead(503).end();
    await failing(id);
    await tests.webhooks.replayWebhook({ ...name(id), after: before });
    await pass(5_000);
    await called(4);
    await tests.webhooks.replayWebhook({ ...name(id), after: before });
    await called(5);
    tests.receiver.answer = () => ({ status: 200 });
    tests.receiver.calls[3]?.res.writeHead(200).end();
    await called(6);
    await idle(id);
    const [held, decided] = ['invoice.held', 'invoice.accepted'];
    expect(tests.receiver.calls.map(({ event }) => event.type)).toEqual([held, decided, held, decided, held, decided]);
  });

  it('get a replay soon, however many events of others are between', async () => {
    const { id } = await create();
    await tests.world.publish(accepted());
    await called(1);
    const after = tests.receiver.calls[0]?.event.id;
    await tests.world.database.query(
      `INSERT INTO feed_event (occurrence, env, rnc, account_id, type, time, subject, data, kept_at)
        SELECT 'other' || n, 'TesteCF', $1, $2, 'invoice.accepted', now(), '{}', '{}', now() FROM generate_series(1, 100000) AS n`,
      [OTHER_ISSUER, OTHER_ACCOUNT],
    );
    await tests.world.publish(accepted());
    await called(2);
    await tests.webhooks.replayWebhook({ ...name(id), after });
    await called(3);
    await tests.world.database.query(`DELETE FROM feed_event WHERE occurrence LIKE 'other%'`);
  });

  it('that are made inactive lose their waiting events and get no new ones; a replay needs an event that is kept', async () => {
    const { id } = await create();
    tests.receiver.answer = () => ({ status: 500 });
    await tests.world.publish(accepted(), accepted());
    await until(
      () => find(id),
      ({ failing_since, pending }) => failing_since !== null && pending === 2,
    );
    const change = (active: boolean) => tests.webhooks.changeWebhook({ ...name(id), change: { active } });
    expect(await change(false)).toMatchObject({ active: false, pending: 0 });
    await create('/beside');
    tests.receiver.answer = () => ({ status: 200 });
    tests.receiver.calls = [];
    await tests.world.publish(accepted());
    await until(
      () => tests.receiver.calls,
      (calls) => calls.some(({ path }) => path === '/beside'),
    );
    expect(await find(id)).toMatchObject({ pending: 0 });
    expect(await change(true)).toMatchObject({ active: true, pending: 0, failing_since: null, dropped: 0 });
    await tests.world.publish(accepted());
    await until(
      () => tests.receiver.calls,
      (calls) => calls.filter(({ path }) => path === '/beside').length === 2 && calls.length > 2,
    );
    const mine = callsOf('/');
    expect(mine.map(({ event }) => event.subject.encf)).toEqual([encf('31', tests.sequence)]);
    await tests.world.database.query('DELETE FROM feed_event WHERE id < (SELECT max(id) FROM feed_event)');
    await expect(tests.webhooks.replayWebhook({ ...name(id), after: '1-00000000' })).rejects.toMatchObject({
      status: 410,
      code: 'event_expired',
    });
  });

  it('sign with the last two secrets for 24 hours after a rotation, and work while master keys are replaced', async () => {
    const { id, secret: former } = await create();
    const { secret } = await tests.webhooks.rotateWebhook(name(id));
    expect(await tests.webhooks.testWebhook(name(id))).toMatchObject({ status: 204, error: null });
    const both = tests.receiver.calls[0] as Call;
    expect(both.event.type).toBe('webhook.test');
    for (const each of [former, secret]) new Webhook(each).verify(both.text, both.headers);
    const newest = Buffer.alloc(32, 9);
    const oldest = Buffer.from(tests.world.config.MASTER_KEY?.[0] ?? '');
    const keys = createMasterKeys([newest, oldest]);
    const values = sealedWebhookSecrets(tests.world.database, keys);
    const operations = createMasterKeyOperations({ database: tests.world.database, sealingKeys: keys, values });
    const key_id = keys.keyIds[0] as string;
    expect((await operations.sealedState({ key_id })).older).toBe(3);
    expect(await operations.reseal({ key_id })).toEqual({ resealed: 3 });
    expect((await operations.sealedState({ key_id })).older).toBe(0);
    const back = createMasterKeys([oldest, newest]);
    for (const kind of sealedWebhookSecrets(tests.world.database, back))
      await kind.reseal(sealHead(back.keyIds[0] as string), 10);
    tests.now += 24 * 3_600_000;
    await tests.webhooks.testWebhook(name(id));
    const later = tests.receiver.calls[1] as Call;
    expect(later.headers['webhook-signature']?.split(' ')).toHaveLength(1);
    tests.now = Date.now();
    const secrets = [secret];
    for (let rotations = 0; rotations < 2; rotations += 1)
      secrets.push((await tests.webhooks.rotateWebhook(name(id))).secret);
    await tests.webhooks.testWebhook(name(id));
    const { text, headers } = tests.receiver.calls[2] as Call;
    for (const each of secrets.slice(1)) new Webhook(each).verify(text, headers);
    expect(() => new Webhook(secret).verify(text, headers)).toThrow();
  });

  it('are called once for each event by several instances; a call that an instance left open is repeated', async () => {
    const { id } = await create();
    const other = createQuery({ ...tests.world.config }, tests.world.overrides);
    await other.start();
    try {
      await tests.world.publish(...Array.from({ length: 100 }, () => accepted()));
      await called(100);
      await idle(id);
      expect(new Set(numbers()).size).toBe(100);
      expect(tests.receiver.calls).toHaveLength(100);
    } finally {
      await other.stop();
    }
    // The rows of an instance that was killed during a call.
    tests.receiver.answer = () => ({ status: 503 });
    await tests.world.publish(accepted());
    await failing(id);
    await tests.world.database.query('UPDATE webhook_delivery SET leased_until = $1, due_at = $2', [
      new Date(tests.now + 60_000),
      new Date(tests.now),
    ]);
    tests.receiver.answer = () => ({ status: 200 });
    tests.now += 59_000;
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(tests.receiver.calls).toHaveLength(101);
    await pass(2_000);
    await idle(id);
    expect(tests.receiver.calls).toHaveLength(102);
  });

  it('get the events of topics that name only the taxpayer, not the account', async () => {
    const { id } = await create('/', { types: ['delivery.delivered'] });
    await create('/other', { types: ['delivery.delivered'] }, OTHER_ACCOUNT);
    await tests.world.publish(
      event(TOPICS.deliveries.name, 'delivery.changed', 'x', {
        env: 'TesteCF',
        issuer_rnc: ISSUER,
        encf: encf('31', ++tests.sequence),
        buyer_rnc: OTHER_ISSUER,
        revision: 1,
        delivery_status: 'delivered',
        final: true,
      }),
    );
    await called(1);
    await idle(id);
    expect(tests.receiver.calls.map(({ path }) => path)).toEqual(['/']);
  });

  it('fail alone if no key opens their secret', async () => {
    const { id: lost } = await create('/lost');
    const { id } = await create('/kept');
    await tests.world.database.query(`UPDATE webhook SET secret = '\\x0200000000' WHERE id = $1`, [lost]);
    await tests.world.publish(accepted());
    await called(1);
    await idle(id);
    expect(await failing(lost)).toMatchObject({ pending: 1 });
    expect(await tests.webhooks.testWebhook(name(lost))).toMatchObject({
      status: null,
      error: expect.stringContaining('MASTER_KEY'),
    });
    expect(tests.receiver.calls.map(({ path }) => path)).toEqual(['/kept']);
  });

  it('are limited to 100 in an account, whatever other accounts have', async () => {
    for (let made = 0; made < 100; made += 1) await create();
    await expect(create()).rejects.toMatchObject({ status: 409, code: 'conflict' });
    const { id } = await create('/', {}, OTHER_ACCOUNT);
    expect(await tests.webhooks.findWebhook(name(id, OTHER_ACCOUNT))).toMatchObject({ active: true });
    const { webhooks } = await tests.webhooks.listWebhooks({
      account_id: ACCOUNT,
      limit: 1,
      offset: 0,
      environments: [...ENVIRONMENTS],
    });
    await tests.webhooks.deleteWebhook(name(webhooks[0]?.id ?? ''));
    expect(await create()).toMatchObject({ active: true });
  });

  it('refuse private addresses, and survive every answer', async () => {
    const guarded = await startWorld({}, {});
    try {
      for (const url of [
        'http://example.com/',
        'https://127.0.0.1/',
        'https://[::1]/',
        'https://10.0.0.1/',
        'https://0x7f.1/',
        'https://169.254.169.254/latest',
        'https://127.0.0.1./',
        'https://①②⑦.⓪.⓪.①/',
        'https:\\\\10.0.0.1\\',
        'https://[::ffff:a00:1]/',
        'https://[64:ff9b::7f00:1]/',
        'https://[2002:7f00:1::]/',
        'https://[fd00::1]/',
      ])
        await expect(
          guarded.query.webhooks.createWebhook({
            ...name(randomUUID()),
            webhook: { url, types: null, environments: ['eCF'] },
          }),
        ).rejects.toMatchObject({ status: 422, detail: [{ loc: ['body', 'url'] }] });
      const id = randomUUID();
      await guarded.query.webhooks.createWebhook({
        ...name(id),
        webhook: { url: 'https://localhost/', types: null, environments: ['eCF'] },
      });
      expect(await guarded.query.webhooks.testWebhook(name(id))).toMatchObject({
        status: null,
        error: expect.stringContaining('no allowed address'),
      });
      await expect(
        guarded.query.webhooks.changeWebhook({ ...name(id), change: { url: 'https://192.168.1.1/' } }),
      ).rejects.toMatchObject({ status: 422 });
    } finally {
      await guarded.stop();
    }
    const { id } = await create();
    tests.receiver.answer = () => ({ status: 200, body: 'x'.repeat(1_000_000) });
    expect(await tests.webhooks.testWebhook(name(id))).toMatchObject({
      status: null,
      error: expect.stringContaining('larger than'),
    });
  });

  it('that are dead do not delay others, and keep only a few calls open', async () => {
    const { id: dead } = await create('/dead');
    const { id: alive } = await create('/alive');
    tests.receiver.answer = ({ path }) => (path === '/dead' ? 'hang' : { status: 200 });
    await tests.world.publish(...Array.from({ length: 100 }, () => accepted()));
    await until(
      () => callsOf('/alive').length >= 100,
      (holds) => holds,
    );
    await idle(alive);
    expect(callsOf('/alive')).toHaveLength(100);
    expect(callsOf('/dead').length).toBeLessThanOrEqual(16);
    expect((await find(dead)).pending).toBe(100);
    expect(await tests.world.metrics.render()).toMatch(/ecf_webhook_pending_events 100\n/);
    tests.receiver.breakConnections();
  });
});

describe('the receivers of docs/webhooks.md', () => {
  const page = fs.readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8');
  const block = (language: string) => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(page)?.[1] ?? '';
  const hasPython = spawnSync('python3', ['--version']).status === 0;

  it.each([
    ['TypeScript', true, () => [process.execPath, '--input-type=module', '--eval', block('ts')]],
    ['Python', hasPython, () => ['python3', '-u', '-c', block('python')]],
  ] as const)('verify the calls that they get: %s', async (_language, present, command) => {
    if (!present) return;
    const free = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => free.once('listening', resolve));
    const port = (free.address() as AddressInfo).port;
    await new Promise((resolve) => free.close(resolve));
    const key = name(randomUUID());
    const webhook = { url: `http://127.0.0.1:${port}/`, types: null, environments: ['TesteCF' as const] };
    const { secret } = await tests.webhooks.createWebhook({ ...key, webhook });
    const [program = '', ...args]: string[] = command();
    const receiver: ChildProcessWithoutNullStreams = spawn(program, args, {
      env: { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) },
    });
    let printed = '';
    receiver.stdout.on('data', (chunk) => (printed += chunk));
    try {
      await until(
        () => tests.webhooks.testWebhook(key),
        ({ status }) => status === 204,
      );
      await until(
        () => printed,
        (text) => text.startsWith('webhook.test\n'),
      );
      await tests.webhooks.rotateWebhook(key);
      expect(await tests.webhooks.testWebhook(key)).toMatchObject({ status: 204 });
      tests.now += 24 * 3_600_000;
      expect(await tests.webhooks.testWebhook(key)).toMatchObject({ status: 400 });
      tests.now = Date.now() - 600_000;
      expect(await tests.webhooks.testWebhook(key)).toMatchObject({ status: 400 });
    } finally {
      receiver.kill();
    }
  });
});

it('due times beyond the longest pause are brought back to it', async () => {
  const { database } = tests.world;
  const { id } = await create();
  const now = new Date();
  await database.query(
    `INSERT INTO webhook_delivery (webhook_id, event_id, subject, due_at, give_up_at, leased_until)
      VALUES ($1, 1000000000, 'far', $2, $2, $2)`,
    [id, new Date(now.getTime() + 92 * 86_400_000)],
  );
  await limitDueTimes(database, DUE_TIMES);
  const { rows } = await database.query(
    `SELECT due_at <= now() + interval '30 minutes' AS due, leased_until <= now() + interval '1 minute' AS lease
      FROM webhook_delivery WHERE webhook_id = $1`,
    [id],
  );
  expect(rows).toEqual([{ due: true, lease: true }]);
});

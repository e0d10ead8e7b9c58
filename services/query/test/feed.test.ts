import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BusEvent } from '@ecf/bus';
import {
  type ApprovalChanged,
  type CancellationChanged,
  type CertificateNotice,
  type DeliveryChanged,
  documentKey,
  eventListSchema,
  type RangeNotice,
  type ReceivedRefused,
  TOPICS,
} from '@ecf/contracts';
import { identify } from '@ecf/http/identity';
import { createTaxpayerReplica } from '@ecf/taxpayer-replica/postgres';
import { until } from '@ecf/test-support/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { customerHandlers } from '../src/customers.http.js';
import { createPostgresFeed } from '../src/feed/feed.postgres.js';
import { createReadFeed } from '../src/feed/read-feed.js';
import {
  ACCOUNT,
  BUYER,
  batchDone,
  encf,
  event,
  ISSUER,
  invoice,
  invoiceEvent,
  OTHER_ACCOUNT,
  OTHER_ISSUER,
  received,
  receivedEvent,
  taxpayer,
  taxpayerEvent,
} from './support/events.js';
import { startWorld, type World } from './support/world.js';

let now = new Date();
let world: World;
const account = () => ({
  taxpayers: createTaxpayerReplica(world.database, { keepCertificates: false }),
  source: null,
  observer: { failed: () => undefined },
});

beforeAll(async () => {
  world = await startWorld({}, { clock: () => now });
  await world.publish(taxpayerEvent(taxpayer({ rnc: OTHER_ISSUER, account_id: OTHER_ACCOUNT })));
});
afterAll(() => world.stop());

const read = async (
  after: string | null,
  more = '',
  ...rest: Parameters<World['get']> extends [string, ...infer R] ? R : []
) => {
  const { status, body } = await world.get(`/events?${after === null ? '' : `after=${after}`}${more}`, ...rest);
  expect([status, body]).toEqual([200, eventListSchema.parse(body)]);
  return eventListSchema.parse(body);
};
const end = async () => (await read(null, '&limit=1000')).next;
const cancellation = (change: Partial<CancellationChanged>): BusEvent => {
  const data: CancellationChanged = {
    id: 7,
    env: 'TesteCF',
    issuer_rnc: ISSUER,
    account_id: 'account-1',
    revision: 1,
    authority_status: 'submitted',
    total_encf_canceled: 3,
    total_encf_blocked: 3,
    blocked: [],
    blocked_complete: true,
    created_at: '2026-06-15T10:00:00-04:00',
    sent_at: null,
    xml_storage_path: 'c.xml',
    xml_checksum: '0'.repeat(64),
    ...change,
  };
  return event(TOPICS.cancellations.name, 'cancellation.changed', `TesteCF:${ISSUER}:7`, data);
};
const delivery = (change: Partial<DeliveryChanged>): BusEvent => {
  const data = { env: 'TesteCF', issuer_rnc: ISSUER, encf: encf('31', 40), buyer_rnc: BUYER, revision: 1, ...change };
  return event(TOPICS.deliveries.name, 'delivery.changed', documentKey(data), data);
};
const decision = (change: Partial<ApprovalChanged>): BusEvent => {
  const data = {
    direction: 'received',
    env: 'TesteCF',
    issuer_rnc: ISSUER,
    encf: encf('31', 40),
    buyer_rnc: BUYER,
    revision: 1,
    approval_status: 'approved',
    approval_datetime: '2026-06-15T10:00:00-04:00',
    ...change,
  };
  return event(TOPICS.approvals.name, 'approval.changed', documentKey(data), data);
};

const refusal = (change: Partial<ReceivedRefused>): BusEvent => {
  const data: ReceivedRefused = {
    env: 'TesteCF',
    issuer_rnc: OTHER_ISSUER,
    encf: encf('31', 41),
    buyer_rnc: ISSUER,
    account_id: ACCOUNT,
    ecf_type: null,
    date_received: '2026-06-15T10:00:00-04:00',
    rejection_code: 2,
    rejection_reason: '2 Error de Firma Digital: changed',
    xml_checksum: '0'.repeat(64),
    arecf_storage_path: 'a.xml',
    arecf_checksum: '1'.repeat(64),
    ...change,
  };
  return event(TOPICS.refusals.name, 'received.refused', documentKey(data), data);
};

describe('the feed', () => {
  it('names a place to continue from before there is any event', async () => {
    const { events, next } = await read(null);
    expect(events).toEqual([]);
    expect(await read(next)).toEqual({ events: [], next });
    await world.publish(invoiceEvent(invoice({ sequence: 1, state: 'processing' })));
    expect(await read(next)).toEqual({ events: [], next });
    await world.publish(invoiceEvent(invoice({ sequence: 1, revision: 2 })));
    const found = await read(next);
    expect(found.events).toMatchObject([
      {
        type: 'invoice.accepted',
        env: 'TesteCF',
        subject: { issuer_rnc: ISSUER, encf: encf('31', 1) },
        data: { encf: encf('31', 1), status: 'Aceptado', total_amount: '118.00' },
      },
    ]);
    expect(found.next).toBe(found.events[0]?.id);
  });

  it('has each kind of event once, oldest first, although the bus delivers twice and states are published again', async () => {
    const after = await end();
    const disputed = received({ sequence: 30, revision: 2, authority_status: 'unknown' });
    const told: BusEvent[] = [
      invoiceEvent(invoice({ sequence: 20, state: 'held' })),
      invoiceEvent(invoice({ sequence: 20, state: 'conditional', revision: 2 })),
      invoiceEvent(invoice({ sequence: 21, state: 'rejected-used' })),
      invoiceEvent(invoice({ sequence: 22, state: 'withdrawn' })),
      receivedEvent(received({ sequence: 30 })),
      receivedEvent(disputed),
      event(TOPICS.receivedInvoices.name, 'received.disputed', documentKey(disputed), disputed),
      refusal({}),
      // Two instances refused at the same moment.
      refusal({ xml_checksum: '2'.repeat(64) }),
      refusal({ rejection_reason: '2 Error de Firma Digital: another' }),
      delivery({ delivery_status: 'pending' }),
      delivery({ delivery_status: 'unacknowledged', final: false, revision: 2 }),
      delivery({ delivery_status: 'delivered', final: true, revision: 3 }),
      decision({}),
      decision({ direction: 'given', issuer_rnc: OTHER_ISSUER, buyer_rnc: ISSUER, approval_status: 'rejected' }),
      decision({
        direction: 'given',
        issuer_rnc: OTHER_ISSUER,
        buyer_rnc: ISSUER,
        approval_status: 'pending',
        revision: 2,
      }),
      decision({
        direction: 'given',
        issuer_rnc: OTHER_ISSUER,
        buyer_rnc: ISSUER,
        approval_status: 'pending',
        revision: 3,
        refused_by_authority: true,
      }),
      decision({
        direction: 'given',
        issuer_rnc: OTHER_ISSUER,
        buyer_rnc: ISSUER,
        approval_status: 'rejected',
        revision: 4,
        refused_by_issuer: true,
      }),
      cancellation({}),
      cancellation({ authority_status: 'Parcial', revision: 2 }),
      invoiceEvent(invoice({ sequence: 20, state: 'conditional', revision: 3 })),
    ];
    for (const one of [...told, ...told]) await world.publish(one);
    const { events, next } = await read(after);
    expect(events.map(({ type, subject }) => [type, subject.encf])).toEqual([
      ['invoice.held', encf('31', 20)],
      ['invoice.conditional', encf('31', 20)],
      ['invoice.rejected', encf('31', 21)],
      ['invoice.withdrawn', encf('31', 22)],
      ['received.accepted', encf('31', 30)],
      ['received.disputed', encf('31', 30)],
      ['received.refused', encf('31', 41)],
      ['received.refused', encf('31', 41)],
      ['delivery.delivered', encf('31', 40)],
      ['approval.received', encf('31', 40)],
      ['approval.sent', encf('31', 40)],
      ['approval.refused', encf('31', 40)],
      ['approval.refused', encf('31', 40)],
      ['cancellation.partial', null],
    ]);
    expect(events.slice(11, 13).map(({ data }) => data)).toMatchObject([
      { approval_status: 'pending', refused_by: 'authority' },
      { approval_status: 'rejected', refused_by: 'issuer' },
    ]);
    expect(events[6]).toMatchObject({
      subject: { buyer_rnc: ISSUER, provider_rnc: OTHER_ISSUER, encf: encf('31', 41) },
      data: { provider_rnc: OTHER_ISSUER, rejection_code: 2, xml_checksum: '0'.repeat(64) },
    });
    expect((await read(events[3]?.id ?? '')).events).toEqual(events.slice(4));
    const first = await read(after, '&limit=4');
    expect([first.events, first.next]).toEqual([events.slice(0, 4), events[3]?.id]);
    expect(await read(after, '&limit=4&newest=true')).toEqual({ events: events.slice(-4), next });
    const some = await read(after, '&types=invoice.held,cancellation.partial,invoice.held');
    expect([some.events, some.next]).toEqual([[events[0], events.at(-1)], next]);
    expect(JSON.stringify(events)).not.toMatch(/<\?xml|certificate/);
  });

  it.each<[string, BusEvent]>([
    ['delivery.refused', delivery({ encf: encf('31', 80), delivery_status: 'refused', final: true })],
    ['delivery.failed', delivery({ encf: encf('31', 81), delivery_status: 'failed', final: true })],
    ['delivery.failed', delivery({ encf: encf('31', 82), delivery_status: 'unacknowledged', final: true })],
    ['cancellation.accepted', cancellation({ id: 80, authority_status: 'Aceptado' })],
    ['cancellation.rejected', cancellation({ id: 81, authority_status: 'Rechazado' })],
    ['invoice.rejected', invoiceEvent(invoice({ sequence: 83, state: 'rejected-reusable' }))],
  ])('publishes %s', async (type, told) => {
    const after = await end();
    await world.publish(told);
    expect((await read(after)).events).toMatchObject([{ type, data: { issuer_rnc: ISSUER } }]);
  });

  it('publishes the verdict on the same bytes in each certification run', async () => {
    const { next } = await read(null);
    const sent = { xml_checksum: 'b'.repeat(64), sequence: 77 };
    await world.publish(
      invoiceEvent(invoice({ ...sent, id: 771 })),
      invoiceEvent(invoice({ ...sent, id: 772, run: 2 })),
    );
    const { events } = await read(next);
    expect(events).toMatchObject([
      { type: 'invoice.accepted', data: { env: 'TesteCF', run: 1 } },
      { type: 'invoice.accepted', data: { env: 'TesteCF', run: 2 } },
    ]);
  });

  it('publishes that a held note is overdue', async () => {
    const after = await end();
    const note = (change: object) => invoiceEvent(invoice({ sequence: 84, state: 'held', ...change }));
    await world.publish(note({}), note({ revision: 2, is_late: true }), note({ revision: 3, is_late: true }));
    const { events } = await read(after);
    expect(events.map(({ type, subject }) => [type, subject.encf])).toEqual([
      ['invoice.held', encf('31', 84)],
      ['invoice.overdue', encf('31', 84)],
    ]);
  });

  it('publishes that the authority confirmed a received document', async () => {
    const after = await end();
    const confirmed = received({ sequence: 84, revision: 2, authority_status: 'confirmed' });
    await world.publish(event(TOPICS.receivedInvoices.name, 'received.confirmed', documentKey(confirmed), confirmed));
    expect((await read(after)).events).toMatchObject([
      { type: 'received.confirmed', data: { encf: encf('31', 84), authority_status: 'confirmed' } },
    ]);
  });

  it('shows an account, and a key that is limited to some taxpayers, their own events of the environment only', async () => {
    const after = await end();
    await world.publish(
      invoiceEvent(invoice({ sequence: 50, issuer_rnc: OTHER_ISSUER, account_id: OTHER_ACCOUNT })),
      invoiceEvent(invoice({ sequence: 51, env: 'CerteCF' })),
      invoiceEvent(invoice({ sequence: 52 })),
    );
    const numbers = async (...rest: [Record<string, string>, { account_id: string; taxpayers?: string[] }?]) =>
      (await read(after, '', ...rest)).events.map(({ subject }) => subject.encf);
    expect(await numbers({})).toEqual([encf('31', 52)]);
    expect(await numbers({ env: 'CerteCF' })).toEqual([encf('31', 51)]);
    expect(await numbers({}, { account_id: OTHER_ACCOUNT })).toEqual([encf('31', 50)]);
    expect(await numbers({}, { account_id: 'account-1', taxpayers: [BUYER] })).toEqual([]);
  });

  it('publishes the end of a range in its environment, and of a certificate in each environment', async () => {
    const after = await end();
    const range = { env: 'CerteCF', ecf_type: '31', from: encf('31', 1), to: encf('31', 20), expires: null } as const;
    const of = { issuer_rnc: ISSUER, account_id: ACCOUNT };
    const low = (published_at: string): RangeNotice => ({
      ...of,
      range,
      next: encf('31', 19),
      remaining: 2,
      published_at,
    });
    const certificate = {
      subject: 'CN=Juana',
      serial_number: '01',
      not_before: '2024-07-15T00:00:00-04:00',
      not_after: '2026-07-15T00:00:00-04:00',
      fingerprint: '1'.repeat(64),
    };
    const notice = (type: string, data: RangeNotice | CertificateNotice) =>
      event(TOPICS.notices.name, type, ISSUER, data);
    const notices = [
      notice('range.low', low('2026-06-15T10:00:00-04:00')),
      notice('range.low', low('2026-06-20T10:00:00-04:00')),
      notice('range.expiring', low('2026-06-20T10:00:00-04:00')),
      notice('certificate.expiring', { ...of, certificate }),
    ];
    await world.publish(...notices, ...notices);
    const { events } = await read(after, '', { env: 'CerteCF' });
    const subject = { issuer_rnc: ISSUER, encf: null };
    expect(events).toMatchObject([
      { type: 'range.low', subject, data: { ...range, issuer_rnc: ISSUER, next: encf('31', 19), remaining: 2 } },
      { type: 'range.low' },
      { type: 'range.expiring' },
      { type: 'certificate.expiring', subject, data: { ...certificate, issuer_rnc: ISSUER } },
    ]);
    for (const env of ['TesteCF', 'eCF'])
      expect((await read(after, '', { env })).events.map(({ type }) => type)).toEqual(['certificate.expiring']);
  });

  it('publishes an outage of the authority once for each issuer, and every document that is late', async () => {
    const after = await end();
    const since = '2026-06-15T10:00:00-04:00';
    const deadline = '2026-06-18T12:00:00-04:00';
    const waiting = (sequence: number, change: object = {}) =>
      invoiceEvent(
        invoice({ sequence, state: 'committed', contingency: { since, deadline: null }, is_late: false, ...change }),
      );
    const back = { contingency: { since, deadline } };
    await world.publish(
      waiting(160),
      waiting(161),
      waiting(160, { ...back, state: 'processing', revision: 2 }),
      waiting(160, { ...back, state: 'accepted', revision: 3 }),
      waiting(161, { ...back, is_late: true, revision: 2 }),
      waiting(161, { ...back, is_late: true, state: 'processing', revision: 3 }),
      invoiceEvent(invoice({ sequence: 162, state: 'unknown', is_late: true })),
    );
    const { events } = await read(after);
    expect(events.map(({ type, subject }) => [type, subject.encf])).toEqual([
      ['contingency.started', null],
      ['contingency.ended', null],
      ['invoice.accepted', encf('31', 160)],
      ['contingency.late', encf('31', 161)],
      ['invoice.overdue', encf('31', 162)],
    ]);
    const outage = { env: 'TesteCF', issuer_rnc: ISSUER, since };
    expect(events.map(({ data }) => data)).toMatchObject([
      { ...outage, deadline: null },
      { ...outage, deadline },
      { encf: encf('31', 160) },
      { ...outage, deadline },
      { encf: encf('31', 162), status: 'EnProceso' },
    ]);
  });

  it('shows the end of a batch to its account, and to keys that are limited to the same taxpayers', async () => {
    const after = await end();
    await world.publish(batchDone('1'), batchDone('1'), batchDone('2', { taxpayers: [ISSUER], issuer_rnc: null }));
    await world.publish(invoiceEvent(invoice({ sequence: 53 })));
    const ids = async (account: { account_id: string; taxpayers?: string[] }, more = '') =>
      (await read(after, more, {}, account)).events.map(({ type, data }) =>
        type === 'batch.done' ? (data as { batch_id: string }).batch_id : type,
      );
    expect(await ids({ account_id: ACCOUNT })).toEqual(['1', '2', 'invoice.accepted']);
    expect(await ids({ account_id: ACCOUNT }, '&limit=2')).toEqual(['1', '2']);
    expect(await ids({ account_id: ACCOUNT, taxpayers: [ISSUER] })).toEqual(['2', 'invoice.accepted']);
    expect(await ids({ account_id: ACCOUNT, taxpayers: [BUYER] })).toEqual([]);
    expect(await ids({ account_id: OTHER_ACCOUNT })).toEqual([]);
    const [one, two] = (await read(after, '&types=batch.done')).events;
    expect([one?.subject, two?.subject]).toEqual([{ issuer_rnc: ISSUER, encf: null }, { encf: null }]);
    expect(one?.data).toEqual(batchDone('1').data.batch);
  });

  it('refuses a made-up id, an unknown type and limits out of range', async () => {
    const [place = '', mark = ''] = (await end()).split('-');
    const other = mark === '00000000' ? '11111111' : '00000000';
    for (const after of ['x', '0', `${place}`, `${place}-${other}`, `999999-${mark}`, '0-00000000', `-1-${mark}`]) {
      const { status, body } = await world.get(`/events?after=${after}`);
      expect([after, status, body.code]).toEqual([after, 422, 'unknown_event']);
    }
    for (const [query, name] of [
      ['types=invoice.made', 'types'],
      ['limit=0', 'limit'],
      ['limit=1001', 'limit'],
      ['wait=31', 'wait'],
    ]) {
      const { status, body } = await world.get(`/events?${query}`);
      expect([status, body.detail[0].loc]).toEqual([422, ['query', name]]);
    }
  });

  it('stops querying the database when a waiting reader has left', async () => {
    const feed = createPostgresFeed(world.database);
    let [looks, pages] = [0, 0];
    const counted = {
      ...feed,
      latest: () => {
        looks += 1;
        return feed.latest();
      },
      page: (query: Parameters<typeof feed.page>[0]) => {
        pages += 1;
        return feed.page(query);
      },
    };
    let over = false;
    const readFeed = createReadFeed(account(), counted, async () => {
      if (looks === 3) over = true;
    });
    const question = { caller: { accountId: 'account-1', taxpayersRevision: 0 }, env: 'TesteCF' as const };
    const more = { after: await end(), newest: false, types: null, limit: 10, wait: 30, isOver: () => over };
    expect((await readFeed({ ...question, ...more })).events).toEqual([]);
    expect([looks, pages]).toEqual([3, 1]);
  });

  it('queries the latest event once for all readers that wait', async () => {
    const feed = createPostgresFeed(world.database);
    let [looks, rounds] = [0, 0];
    const wakes: (() => void)[] = [];
    const counted = {
      ...feed,
      latest: () => {
        looks += 1;
        return feed.latest();
      },
    };
    const readFeed = createReadFeed(account(), counted, () => new Promise<void>((resolve) => wakes.push(resolve)));
    const question = { caller: { accountId: 'account-1', taxpayersRevision: 0 }, env: 'TesteCF' as const };
    const more = { after: await end(), newest: false, types: null, limit: 10, wait: 30, isOver: () => rounds === 3 };
    let waiting = 0;
    const readers = Array.from({ length: 50 }, () =>
      readFeed({
        ...question,
        ...more,
        isOver: () => {
          waiting += 1;
          return more.isOver();
        },
      }),
    );
    while (waiting < 50) await new Promise((resolve) => setImmediate(resolve));
    for (; rounds < 3; rounds += 1) {
      await until(
        async () => wakes.length,
        (sleeping) => sleeping === 1,
      );
      wakes.splice(0)[0]?.();
    }
    await Promise.all(readers);
    expect(looks).toBe(2);
  });

  it('refuses the long polls of a key or an account above its share, and answers those of others', async () => {
    const after = await end();
    const poll = (key_id: string, account_id = 'account-1') =>
      world.get(`/events?after=${after}&wait=30`, {}, { account_id, key_id });
    // The refused one of them answers first: the others wait.
    const ofKey = Array.from({ length: 21 }, () => poll('key-1'));
    const overKey = await Promise.race(ofKey);
    expect([overKey.status, overKey.body.code, overKey.headers.get('retry-after')]).toEqual([429, 'rate_limited', '5']);
    const others = ['key-2', 'key-3', 'key-4', 'key-5'].flatMap((key) => Array.from({ length: 20 }, () => poll(key)));
    const overAccount = await Promise.race([...others, poll('key-6')]);
    expect([overAccount.status, overAccount.body.detail]).toEqual([429, expect.stringContaining('this account')]);
    // Reads that do not wait, and other accounts, are answered.
    expect((await world.get(`/events?after=${after}`, {}, { account_id: 'account-1', key_id: 'key-1' })).status).toBe(
      200,
    );
    expect((await world.get('/events?wait=1', {}, { account_id: OTHER_ACCOUNT, key_id: 'key-7' })).status).toBe(200);
    await world.publish(invoiceEvent(invoice({ sequence: 59 })));
    const statuses = (await Promise.all([...ofKey, ...others])).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(99);
    expect(
      (await world.get(`/events?after=${after}&wait=1`, {}, { account_id: 'account-1', key_id: 'key-1' })).status,
    ).toBe(200);
  });

  it('notices that a reader has left', async () => {
    const call = new AbortController();
    const server = createServer();
    const left = new Promise((resolve) => {
      const readFeed = async ({ isOver }: { isOver: () => boolean }) => {
        call.abort();
        resolve(await until(isOver, (over) => over));
      };
      const { events } = customerHandlers({ readFeed } as never);
      server.on('request', (req, res) => {
        identify(req, { kind: 'account', account_id: 'account-1', env: 'TesteCF' } as never);
        void events(Object.assign(req, { query: {}, params: {} }) as never, res as never);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await expect(fetch(`http://127.0.0.1:${port}/events`, { signal: call.signal })).rejects.toThrow();
    await left;
    server.close();
    // `fetch` connects anew after the call that it aborts.
    server.closeAllConnections();
  });

  it('lets a reader wait until the next event', async () => {
    const after = await end();
    const waiting = read(after, '&wait=30');
    await world.publish(invoiceEvent(invoice({ sequence: 60 })));
    expect((await waiting).events).toMatchObject([{ subject: { encf: encf('31', 60) } }]);
  });

  it('answers a waiting reader with the events so far when the server stops', async () => {
    const stopping = await startWorld();
    const next = (await stopping.get('/events')).body.next;
    const waiting = stopping.get('/events?wait=30');
    await until(
      async () => stopping.requests(),
      (received) => received === 2,
    );
    await stopping.stop();
    expect(await waiting).toMatchObject({ status: 200, body: { events: [], next } });
  });

  it('makes a later id never visible before an earlier one while several instances add events', async () => {
    const after = await end();
    const feed = createPostgresFeed(world.database);
    const add = (writer: number, n: number) =>
      feed.append(
        [
          {
            type: 'approval.received',
            env: 'TesteCF',
            occurrence: `order:${writer}:${n}`,
            rnc: ISSUER,
            account_id: ACCOUNT,
            time: now,
            subject: { issuer_rnc: ISSUER, encf: null },
            data: {
              issuer_rnc: ISSUER,
              buyer_rnc: null,
              encf: '',
              approval_status: 'pending',
              approval_confirmed: false,
              approval_datetime: null,
            },
          },
        ],
        now,
      );
    let writing = true;
    const writers = Promise.all(
      [1, 2].map(async (writer) => {
        for (let n = 0; n < 55; n += 1) await add(writer, n);
      }),
    ).finally(() => {
      writing = false;
    });
    const seen: string[] = [];
    let place = after;
    while (writing) {
      const { events, next } = await read(place, '&limit=7');
      seen.push(...events.map(({ id }) => id));
      place = next;
    }
    await writers;
    seen.push(...(await read(place, '&limit=1000')).events.map(({ id }) => id));
    const all = (await read(after)).events.map(({ id }) => id);
    expect(all).toHaveLength(110);
    expect(seen).toEqual(all);
  });

  it('stays as it is when the read models are rebuilt', async () => {
    const before = await read(null, '&limit=1000');
    world.owners.issue(invoice({ sequence: 1, revision: 2 }), invoice({ sequence: 99 }));
    await world.query.internal.startRebuild({});
    while ((await world.query.internal.rebuildState({})).building)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await world.query.internal.rebuildState({})).failure).toBeNull();
    expect(await read(null, '&limit=1000')).toEqual(before);
    await world.publish(invoiceEvent(invoice({ sequence: 99 })));
    expect((await read(before.next)).events).toHaveLength(1);
  });

  it('keeps events for 90 days; a reader that comes later gets 410', async () => {
    const old = await end();
    now = new Date(now.getTime() + 89 * 86_400_000);
    await world.publish(invoiceEvent(invoice({ sequence: 70 })));
    expect((await read(old)).events).toHaveLength(1);
    now = new Date(now.getTime() + 2 * 86_400_000);
    await world.publish(invoiceEvent(invoice({ sequence: 71 })));
    await createPostgresFeed(world.database).deleteExpired(now);
    const { status, body } = await world.get(`/events?after=${old}`);
    expect([status, body.code]).toEqual([410, 'event_expired']);
    expect((await read(null)).events.map(({ subject }) => subject.encf)).toEqual([encf('31', 70), encf('31', 71)]);
  });

  it('does not repeat an event of 90 days ago when a received document changes', async () => {
    const arrived = received({ sequence: 72 });
    const old = await end();
    await world.publish(receivedEvent(arrived));
    expect((await read(old)).events).toMatchObject([{ type: 'received.accepted' }]);
    now = new Date(now.getTime() + 91 * 86_400_000);
    await world.publish(invoiceEvent(invoice({ sequence: 73 })));
    const after = await end();
    const later = new Date(Date.parse(arrived.date_received) + 91 * 86_400_000);
    await world.publish(receivedEvent({ ...arrived, revision: 2, approval_status: 'approved' }, later));
    expect((await read(after)).events).toEqual([]);
  });
});

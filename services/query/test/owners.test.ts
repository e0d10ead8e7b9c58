import type { RunningServer } from '@ecf/http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createOwners } from '../src/invoices/owners.js';
import { encf, FOREIGN_ISSUER, ISSUER, invoice, invoiceEvent, received } from './support/events.js';
import { createOwners as makeOwners, serveOwners } from './support/owners.js';
import { startWorld, type World } from './support/world.js';

const YEAR = { 'rnc-issuing': ISSUER, 'start-date': '01-01-2026', 'end-date': '31-12-2026' };
const mine = { 'rnc-issuing': ISSUER };
let world: World;
let now = new Date('2026-06-20T12:00:00Z').getTime();
const clock = () => new Date(now);

describe.each(['in the same process', 'over HTTP'])('with owners %s,', (place) => {
  let served: RunningServer | null = null;
  beforeAll(async () => {
    if (place === 'in the same process') {
      world = await startWorld({}, { clock });
      return;
    }
    const owners = makeOwners();
    served = await serveOwners(owners, clock);
    const places = { EMISSION_URL: served.url, RECEPTION_URL: served.url };
    world = await startWorld(places, { clock, emission: undefined, reception: undefined }, owners);
  });
  afterAll(async () => {
    await world.stop();
    await served?.stop();
  });
  afterEach(() => {
    world.owners.away = false;
    now += 60_000;
  });

  const total = async () => (await world.get('/invoices/count', YEAR)).body.total_invoices as number;
  const lag = async (address: string) => (await world.get(address, YEAR)).headers.get('x-read-model-lag-ms');

  it('lists show a document once its event has arrived, and name the delay of the latest event', async () => {
    world.owners.issue(invoice({ sequence: 1 }));
    expect((await world.get('/invoices/', YEAR)).body).toMatchObject({ count: 0, total: 0 });
    expect(world.owners.queries).not.toContain('findInvoices');
    expect(await lag('/invoices/')).toBe('0');
    const submitted = clock();
    now += 3_000;
    await world.publish({ ...invoiceEvent(invoice({ sequence: 1 })), time: submitted.toISOString() });
    expect((await world.get('/invoices/', YEAR)).body).toMatchObject({ count: 1, total: 1 });
    for (const address of ['/invoices/', '/invoices/count', '/invoices/aggregate', `/trackids/${encf('31', 1)}`])
      expect([address, await lag(address)]).toEqual([address, '3000']);
    await world.publish({ ...invoiceEvent(invoice({ sequence: 1 })), time: clock().toISOString() });
    expect(await lag('/invoices/')).toBe('0');
  });

  describe('a query by number before the event of the document has arrived', () => {
    it('finds the document with its submissions and its XML', async () => {
      const { checksum } = await world.archive.put('a/b.xml', Buffer.from('<ECF/>'));
      world.owners.issue(
        invoice({ sequence: 5, state: 'processing', xml_storage_path: 'a/b.xml', xml_checksum: checksum }),
      );
      expect((await world.get(`/invoices/${encf('31', 5)}`, mine)).body).toMatchObject({ status: 'EnProceso' });
      world.owners.issue(invoice({ sequence: 5, revision: 2, xml_storage_path: 'a/b.xml', xml_checksum: checksum }));
      expect((await world.get(`/trackids/${encf('31', 5)}`, mine)).body.track_ids).toMatchObject([
        { status: 'Aceptado' },
      ]);
      world.owners.issue(invoice({ sequence: 6, xml_storage_path: 'a/b.xml', xml_checksum: checksum }));
      expect((await world.get(`/${encf('31', 6)}/xml`)).text).toBe('<ECF/>');
    });

    it('finds every submission and message of a number, even beyond the size of events', async () => {
      const [latest] = invoice({ sequence: 7 }).attempts;
      if (latest === undefined) throw new Error('a document has a submission');
      const all = [1, 2, 3].map((attempt) => ({
        ...latest,
        attempt,
        messages: ['a', 'b'].map((valor) => ({ codigo: '613', valor })),
      }));
      world.owners.whole = invoice({ sequence: 7, attempts: all });
      const published = all.slice(1).map((attempt) => ({ ...attempt, messages: [], messages_cut: true }));
      if (published[0] !== undefined) Object.assign(published[0], { earlier_omitted: 1 });
      world.owners.issue(invoice({ sequence: 7, attempts: published }));
      const { status, body } = await world.get(`/trackids/${encf('31', 7)}`, mine);
      expect([status, body.count, body.track_ids]).toEqual([200, 3, all]);
      world.owners.away = true;
      expect(await world.get(`/trackids/${encf('31', 7)}`, mine)).toMatchObject({
        status: 503,
        body: { code: 'service_unavailable' },
      });
      world.owners.whole = null;
    });

    it('finds a received document', async () => {
      const { checksum } = await world.archive.put('r/c.xml', Buffer.from('<ECF>received</ECF>'));
      world.owners.receive(received({ sequence: 50, xml_storage_path: 'r/c.xml', xml_checksum: checksum }));
      expect((await world.get(`/${encf('31', 50)}/xml?issuer_rnc=${FOREIGN_ISSUER}`)).text).toBe('<ECF>received</ECF>');
      expect((await world.get(`/${encf('31', 50)}/xml`)).text).toBe('<ECF>received</ECF>');
      world.owners.receive(
        received({
          sequence: 51,
          encf: encf('31', 50),
          issuer_rnc: '122222228',
          xml_storage_path: 'r/c.xml',
          xml_checksum: checksum,
        }),
      );
      expect((await world.get(`/${encf('31', 50)}/xml`)).body).toMatchObject({ code: 'ambiguous_encf' });
    });

    it('finds a document that was received under a malformed number; other text causes no query', async () => {
      const { checksum } = await world.archive.put('r/odd.xml', Buffer.from('<ECF>odd</ECF>'));
      world.owners.receive(
        received({ sequence: 96, encf: 'e310000000096', xml_storage_path: 'r/odd.xml', xml_checksum: checksum }),
      );
      expect((await world.get('/e310000000096/xml', {})).status).toBe(200);
      expect((await world.get('/something/xml?issuer_rnc=199999991', {})).status).toBe(422);
      world.owners.issue(invoice({ sequence: 97 }));
      expect((await world.get(`/invoices/${encf('31', 97)}`, mine)).status).toBe(200);
    });

    it('finds another document for each of many callers at the same time', async () => {
      const found = await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const sequence = 100 + index;
          world.owners.issue(invoice({ sequence }));
          return (await world.get(`/invoices/${encf('31', sequence)}`, mine)).status;
        }),
      );
      expect(found).toEqual(found.map(() => 200));
    });

    it('finds what a later event does not change', async () => {
      const before = (await world.get('/invoices/aggregate', YEAR)).body;
      await world.publish(invoiceEvent(invoice({ sequence: 6 })), invoiceEvent(invoice({ sequence: 97 })));
      expect((await world.get('/invoices/aggregate', YEAR)).body).toEqual(before);
    });
  });

  describe('a query of the owners', () => {
    it('is made only about documents that are not in a final state', async () => {
      await world.publish(invoiceEvent(invoice({ sequence: 200 })));
      world.owners.queries.length = 0;
      expect((await world.get(`/invoices/${encf('31', 200)}`, mine)).status).toBe(200);
      expect(world.owners.queries).toEqual([]);
      await world.publish(invoiceEvent(invoice({ sequence: 201, state: 'rejected-reusable' })));
      await world.get(`/invoices/${encf('31', 201)}`, mine);
      expect(world.owners.queries).toEqual(['findInvoices']);
    });
  });

  describe('an owner that does not answer', () => {
    it('does not affect documents in the read models; an unknown one is 503', async () => {
      const before = await total();
      world.owners.away = true;
      expect(await total()).toBe(before);
      expect((await world.get(`/invoices/${encf('31', 201)}`, mine)).status).toBe(200);
      expect((await world.get(`/invoices/${encf('31', 404)}`, mine)).status).toBe(503);
    });

    it('makes the answer for an unknown document 503 instead of 404', async () => {
      const number = encf('31', 210);
      const { checksum } = await world.archive.put('a/210.xml', Buffer.from('<ECF>210</ECF>'));
      world.owners.issue(invoice({ sequence: 210, xml_storage_path: 'a/210.xml', xml_checksum: checksum }));
      world.owners.away = true;
      const places = [
        `/invoices/${number}`,
        `/trackids/${number}`,
        `/trackids/${number}/raw`,
        `/${number}/xml`,
        `/${number}/xml?sha256=${checksum}`,
        `/${number}/xml?issuer_rnc=${FOREIGN_ISSUER}`,
      ];
      const answers = async () => {
        const all = await Promise.all(places.map((place) => world.get(place, mine)));
        return all.map(({ status, headers, body }) => [status, headers.get('retry-after'), body.code]);
      };
      expect(await answers()).toEqual(places.map(() => [503, '5', 'service_unavailable']));
      world.owners.away = false;
      expect((await answers()).map(([status]) => status)).toEqual([200, 200, 200, 200, 200, 404]);
      expect((await world.get(`/invoices/${encf('31', 404)}`, mine)).status).toBe(404);
    });

    it('is queried again by the next call', async () => {
      world.owners.away = true;
      expect((await world.get(`/invoices/${encf('31', 203)}`, mine)).status).toBe(503);
      world.owners.away = false;
      world.owners.issue(invoice({ sequence: 203 }));
      expect((await world.get(`/invoices/${encf('31', 203)}`, mine)).status).toBe(200);
    });
  });

  it('a listing in CSV has all documents, and names that a spreadsheet does not take for formulas', async () => {
    const before = await total();
    await world.publish(
      ...Array.from({ length: 1_100 }, (_, index) =>
        invoiceEvent(invoice({ sequence: 1_000 + index, buyer_name: '=1+"x", y' })),
      ),
    );
    const csv = { ...YEAR, accept: 'text/csv' };
    const { status, headers, text } = await world.get('/invoices/?sort=created_at', csv);
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8; header=present']);
    const [names = '', ...rows] = text.trimEnd().split('\r\n');
    const { invoices } = (await world.get('/invoices/?sort=created_at&limit=1000', YEAR)).body;
    expect(names.split(',').sort()).toEqual(Object.keys(invoices[0]).sort());
    expect(rows).toHaveLength(before + 1_100);
    expect(rows.map((row) => row.split(',')[1]).slice(0, 1_000)).toEqual(
      invoices.map((one: { encf: string }) => one.encf),
    );
    expect(text.match(/,"'=1\+""x"", y",/g)).toHaveLength(1_100);
    const sums = (await world.get('/invoices/aggregate/', YEAR)).body.by_type;
    const inCsv = await world.get('/invoices/aggregate/', csv);
    const lines = sums.map((row: object) => Object.values(row).join(','));
    expect(inCsv.text).toBe(['ecf_type,count,total_amount,total_itbis', ...lines, ''].join('\r\n'));
    for (const parameter of ['limit=5', 'offset=0', 'cursor=x'])
      expect(await world.get(`/invoices/?${parameter}`, csv)).toMatchObject({ status: 422 });
  });
});

it('the taxpayers of an account are looked up in lots of at most a thousand', async () => {
  const requested: string[][] = [];
  const owners = createOwners({
    reception: {
      findReceived: async ({ buyer_rncs }: { buyer_rncs: string[] }) => {
        requested.push(buyer_rncs);
        return { received: [] };
      },
    },
    failed: () => undefined,
  } as unknown as Parameters<typeof createOwners>[0]);
  const buyerRncs = Array.from({ length: 2_500 }, (_, i) => String(100_000_000 + i));
  const search = { env: 'TesteCF' as const, buyerRncs, issuerRnc: null, encf: 'E310000000001' };
  expect(await owners.received(search)).toBe(true);
  expect(requested.map(({ length }) => length)).toEqual([1_000, 1_000, 500]);
  expect(requested.flat()).toEqual(buyerRncs);
});

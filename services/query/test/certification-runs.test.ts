import { invoiceListSchema, TOPICS } from '@ecf/contracts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encf, event, ISSUER, invoice, invoiceEvent } from './support/events.js';
import { startWorld, type World } from './support/world.js';

const PERIOD = { 'rnc-issuing': ISSUER, 'start-date': '01-01-2026', 'end-date': '31-12-2026' };
const NUMBER = encf('31', 1);
let world: World;

const startOf = (run: number) =>
  event(TOPICS.runs.name, 'run.started', ISSUER, {
    env: 'TesteCF',
    issuer_rnc: ISSUER,
    account_id: 'account-1',
    run,
    started_at: '2026-06-15T16:40:00-04:00',
  });

/** A document with its stored XML. */
async function issued(id: number, run: number, total_amount: string, change: Parameters<typeof invoice>[0] = {}) {
  const file = `TesteCF/ecf/${ISSUER}/issued/2026/06/run-${run}-${id}.xml`;
  const { checksum } = await world.archive.put(file, Buffer.from(`<ECF>run ${run}</ECF>`));
  const stored = { xml_storage_path: file, xml_checksum: checksum };
  return invoice({ sequence: 1, id, run, total_amount, track_id: `track-${id}`, ...stored, ...change });
}

async function list(query = '') {
  const { body } = await world.get(`/invoices/${query}`, PERIOD);
  invoiceListSchema.parse(body);
  const rows = body.invoices as { run: number; superseded: boolean; total_amount: string; env: string }[];
  return { total: body.total, rows: rows.map(({ run, superseded, total_amount }) => [run, superseded, total_amount]) };
}

beforeAll(async () => {
  world = await startWorld();
  await world.publish(
    invoiceEvent(await issued(1, 1, '100.00')),
    invoiceEvent(await issued(2, 1, '7.00', { encf: encf('31', 2) })),
  );
  // The document of the new run arrives before the start of the run: other keys have no order.
  await world.publish(invoiceEvent(await issued(3, 2, '30.00')), startOf(2));
});
afterAll(() => world.stop());

describe('a certification run', () => {
  it('hides the documents of earlier runs from lists, counts and sums', async () => {
    expect(await list()).toEqual({ total: 1, rows: [[2, false, '30.00']] });
    expect((await world.get('/invoices/count/', PERIOD)).body.total_invoices).toBe(1);
    const { total_invoices, total_amount } = (await world.get('/invoices/aggregate/', PERIOD)).body;
    expect([total_invoices, Number(total_amount)]).toEqual([1, 30]);
  });

  it('shows the documents of earlier runs with superseded=true', async () => {
    const all = await list('?superseded=true&sort=total_amount');
    const rows = [
      [1, true, '7.00'],
      [2, false, '30.00'],
      [1, true, '100.00'],
    ];
    expect(all).toEqual({ total: 3, rows });
    expect(await list('?superseded=false')).toEqual({ total: 1, rows: [[2, false, '30.00']] });
    const first = await world.get('/invoices/?superseded=true&limit=2', PERIOD);
    const next = await world.get(`/invoices/?superseded=true&limit=2&cursor=${first.body.next_cursor}`, PERIOD);
    expect([first.body.invoices.length, next.body.invoices.length, next.body.next_cursor]).toEqual([2, 1, null]);
    expect((await world.get('/invoices/?superseded=maybe', PERIOD)).status).toBe(422);
    expect((await list('?superseded=true&updated_since=2026-01-01T00:00:00Z')).total).toBe(3);
  });

  it('is the present one by default, and another one with the parameter run', async () => {
    const of = async (address: string) => (await world.get(address, PERIOD)).body;
    expect(await of(`/invoices/${NUMBER}`)).toMatchObject({ id: 3, run: 2, superseded: false });
    expect(await of(`/invoices/${NUMBER}?run=1`)).toMatchObject({ id: 1, run: 1, superseded: true, env: 'TesteCF' });
    expect((await of(`/trackids/${NUMBER}?run=1`)).track_ids[0].track_id).toBe('track-1');
    expect((await world.get(`/${NUMBER}/xml`)).text).toBe('<ECF>run 2</ECF>');
    expect((await world.get(`/${NUMBER}/xml?run=1`)).text).toBe('<ECF>run 1</ECF>');
    for (const address of [`/invoices/${NUMBER}?run=3`, `/${NUMBER}/xml?run=3`, `/invoices/${encf('31', 2)}`])
      expect([address, (await world.get(address, PERIOD)).status]).toEqual([address, 404]);
    expect((await world.get(`/${NUMBER}/xml?run=0`)).status).toBe(422);
  });

  it('keeps its documents apart from those of other runs while they change', async () => {
    await world.publish(invoiceEvent(await issued(1, 1, '100.00', { revision: 9, state: 'rejected-used' })));
    expect(await list()).toEqual({ total: 1, rows: [[2, false, '30.00']] });
    expect((await world.get(`/invoices/${NUMBER}?run=1`, PERIOD)).body.status).toBe('Rechazado');
    const delivered = (run: number | undefined, delivery_status: string) =>
      event(TOPICS.deliveries.name, 'delivery.changed', NUMBER, {
        env: 'TesteCF',
        issuer_rnc: ISSUER,
        encf: NUMBER,
        run,
        buyer_rnc: '188888885',
        revision: 4,
        delivery_status,
        final: true,
      });
    await world.publish(delivered(undefined, 'delivered'), delivered(2, 'refused'));
    const statusOf = async (run: number) =>
      (await world.get(`/invoices/${NUMBER}?run=${run}`, PERIOD)).body.delivery_status;
    expect([await statusOf(1), await statusOf(2)]).toEqual(['delivered', 'refused']);
  });

  it('is known as soon as one of its documents is looked up at emission', async () => {
    const first = encf('31', 3);
    world.owners.issue(await issued(4, 3, '5.00', { encf: first }));
    expect((await world.get(`/invoices/${first}`, PERIOD)).body).toMatchObject({ id: 4, run: 3 });
    expect(await list()).toEqual({ total: 1, rows: [[3, false, '5.00']] });
    // A start that arrives late has no effect.
    await world.publish(startOf(2));
    expect((await list()).rows).toEqual([[3, false, '5.00']]);
  });
});

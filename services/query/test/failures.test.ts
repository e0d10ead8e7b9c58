import { randomUUID } from 'node:crypto';
import type { BusEvent } from '@ecf/bus';
import { deadLettersOf, silentLogger, TEST_SERVICE_KEYS } from '@ecf/test-support/services';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createQuery, readQueryConfig } from '../src/index.js';
import { encf, ISSUER, invoice, invoiceEvent, taxpayer, taxpayerEvent } from './support/events.js';
import { startWorld, type World } from './support/world.js';

const YEAR = { 'rnc-issuing': ISSUER, 'start-date': '01-01-2026', 'end-date': '31-12-2026' };
let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describe('events', () => {
  const deadLetters = async () =>
    (await deadLettersOf(world.database)).map(({ topic, reason }) => [topic, reason.split(':')[0]]);

  it('that violate the schema of their topic become dead letters and block no others', async () => {
    const good = invoiceEvent(invoice({ sequence: 1 }));
    const malformed: BusEvent[] = [
      { ...invoiceEvent(invoice({ sequence: 2 })), data: { encf: 'E31' } },
      { ...invoiceEvent(invoice({ sequence: 3 })), data: null },
      { ...invoiceEvent(invoice({ sequence: 4 })), type: 'invoice.changed.v9' },
    ];
    await world.publish(...malformed, good);
    expect(await deadLetters()).toEqual(malformed.map(() => ['invoices.v1', 'EventError']));
    expect((await world.get('/invoices/', YEAR)).body).toMatchObject({ total: 1 });
  });

  it('of a version without subscribers reach no consumer', async () => {
    await world.publish({ ...invoiceEvent(invoice({ sequence: 5 })), topic: 'invoices.v2' });
    expect((await world.get('/invoices/', YEAR)).body.total).toBe(1);
  });

  it('with unknown fields are handled by their known fields', async () => {
    const event = invoiceEvent(invoice({ sequence: 6 }));
    await world.publish({ ...event, data: { ...(event.data as object), colour: 'green' } });
    expect((await world.get(`/invoices/${encf('31', 6)}`, YEAR)).status).toBe(200);
  });

  it('that cannot be stored fail alone; the others of their batch are stored', async () => {
    const before = (await deadLettersOf(world.database)).length;
    const poison = invoiceEvent(invoice({ sequence: 7, revision: 2_147_483_647 + 5 }));
    const others = Array.from({ length: 30 }, (_, index) => invoiceEvent(invoice({ sequence: 20 + index })));
    await world.publish(...others.slice(0, 15), poison, ...others.slice(15));
    expect((await deadLettersOf(world.database)).length).toBe(before + 1);
    expect((await world.get('/invoices/', YEAR)).body.total).toBe(32);
  });

  it('that are repeated under another id or arrive late change nothing', async () => {
    const after = invoiceEvent(invoice({ sequence: 8, revision: 3, total_amount: '10.00' }));
    const before = invoiceEvent(invoice({ sequence: 8, revision: 2, state: 'processing' }));
    await world.publish(after);
    const aggregate = (await world.get('/invoices/aggregate', YEAR)).body;
    await world.publish(before, { ...after, id: randomUUID() }, after);
    expect((await world.get('/invoices/aggregate', YEAR)).body).toEqual(aggregate);
  });
});

describe('an unavailable database', () => {
  it('causes 503 with Retry-After; afterwards queries and events work again', async () => {
    world.line.cut();
    for (const path of ['/invoices/', `/invoices/${encf('31', 8)}`, `/${encf('31', 8)}/xml`]) {
      const { status, body, headers } = await world.get(path, YEAR);
      expect([status, body.code]).toEqual([503, 'service_unavailable']);
      expect(headers.get('retry-after')).not.toBeNull();
    }
    const event = invoiceEvent(invoice({ sequence: 9 }));
    const deadLetters = (await deadLettersOf(world.database)).length;
    // The bus keeps no event that no consumer stored: the outbox still has it and publishes it again.
    await expect(world.publish(event)).rejects.toThrow('cannot work');
    world.line.join();
    await world.publish(event);
    expect((await deadLettersOf(world.database)).length).toBe(deadLetters);
    expect((await world.get(`/invoices/${encf('31', 9)}`, YEAR)).status).toBe(200);
  });

  it('makes the service not ready', async () => {
    const config = readQueryConfig({
      DATABASE_URL: 'postgresql://nobody@127.0.0.1:1/none',
      ...TEST_SERVICE_KEYS.query,
      MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    });
    const query = createQuery(config, {
      logger: silentLogger,
      emission: world.owners.emission,
      reception: world.owners.reception,
    });
    expect(await query.ready()).toMatchObject({ ready: false });
    await query.stop();
  });
});

describe('an unavailable gateway', () => {
  it('does not affect the taxpayers whose events have arrived', async () => {
    const failing = await startWorld(
      {},
      {
        taxpayers: {
          account: async () => {
            throw new Error('gone');
          },
          taxpayer: async () => null,
          logo: async () => null,
        },
      },
    );
    await failing.publish(taxpayerEvent(taxpayer({ rnc: ISSUER })), invoiceEvent(invoice({ sequence: 1 })));
    const account = { account_id: 'account-1', taxpayers_revision: 1_000_000 };
    expect((await failing.get('/invoices/count', YEAR, account)).body.total_invoices).toBe(1);
    await failing.stop();
  });
});

describe('settings', () => {
  it('are refused with the names of missing variables', () => {
    expect(() => readQueryConfig({})).toThrow(/DATABASE_URL/);
    expect(() => readQueryConfig({ DATABASE_URL: 'postgresql://x/y' })).toThrow(/SERVICE_PRIVATE_KEY/);
    expect(() => readQueryConfig({ DATABASE_URL: 'mysql://x/y', PORT: 'x' })).toThrow(
      /DATABASE_URL[\s\S]*PORT|PORT[\s\S]*DATABASE_URL/,
    );
  });
});

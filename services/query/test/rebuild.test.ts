import { QUERY_OPERATIONS, type QueryOperations } from '@ecf/contracts';
import { createInternalClient } from '@ecf/http';
import { identitiesOf } from '@ecf/test-support/services';
import { until } from '@ecf/test-support/until';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { OutcomeSource } from '../src/invoices/ports.js';
import { createRebuild, type RebuildState } from '../src/rebuild/rebuild.js';
import { createPostgresRebuild } from '../src/rebuild/rebuild.postgres.js';
import { encf, FOREIGN_ISSUER, ISSUER, invoice, invoiceEvent, received, receivedEvent } from './support/events.js';
import { createOwners } from './support/owners.js';
import { startWorld, type World } from './support/world.js';

const YEAR = { 'rnc-issuing': ISSUER, 'start-date': '01-01-2026', 'end-date': '31-12-2026' };
const COUNT = 1_200;

let world: World;
let operations: QueryOperations;
const truth = Array.from({ length: COUNT }, (_, index) =>
  invoice({
    sequence: index + 1,
    total_amount: `${index}.25`,
    created_at: new Date(Date.UTC(2026, 0, 1 + (index % 300), 12)).toISOString(),
    state: index % 7 === 0 ? 'processing' : 'accepted',
  }),
);

const named = (sequence: number) => ({
  env: 'TesteCF' as const,
  issuer_rnc: ISSUER,
  encf: encf('31', sequence),
  buyer_rnc: FOREIGN_ISSUER,
});
/** The outcomes of the approvals service, two to a page. */
const outcomes: OutcomeSource = {
  pageOfDeliveries: async ({ after }) => ({
    deliveries: [1, 2].map((n) => ({
      ...named(after + n),
      revision: 2,
      delivery_status: 'delivered' as const,
      final: true,
    })),
    next: after === 0 ? 2 : null,
  }),
  pageOfDecisions: async () => ({
    decisions: [
      {
        ...named(3),
        direction: 'received',
        revision: 1,
        approval_status: 'approved',
        approval_datetime: '2026-01-02T10:00:00-04:00',
      },
    ],
    next: null,
  }),
};

beforeAll(async () => {
  world = await startWorld({}, { outcomes });
  world.owners.issue(...truth);
  world.owners.receive(received({ sequence: 1 }));
  for (let at = 0; at < truth.length; at += 500)
    await world.publish(...truth.slice(at, at + 500).map((one) => invoiceEvent(one)));
  operations = createInternalClient(QUERY_OPERATIONS, {
    url: world.url,
    owner: 'query',
    identities: identitiesOf('gateway'),
  });
});
afterAll(() => world.stop());

const rebuild = () => operations.rebuildState({});
const ended = () => until(rebuild, ({ building }) => !building);

async function answers() {
  const [list, aggregate, one] = [
    await world.get('/invoices/?limit=1000&offset=1100', YEAR),
    await world.get('/invoices/aggregate/', YEAR),
    await world.get(`/invoices/${encf('31', 8)}`, YEAR),
  ];
  return { list: list.body, aggregate: aggregate.body, one: one.body };
}

describe('a rebuild', () => {
  it('rebuilds everything from the owners while changes continue; lists and sums are 503 meanwhile', async () => {
    const before = await answers();
    // A wrong read model: wrong sums, a document unknown to its owner, a missing document.
    await world.database.query('UPDATE invoice_rollup SET amount = amount + 1, count = count + 3');
    await world.database.query(
      `UPDATE invoice SET encf = 'E319999999999', id = 999999 WHERE encf = '${encf('31', 8)}'`,
    );
    await world.database.query('DELETE FROM buyer_rollup');
    expect((await answers()).aggregate).not.toEqual(before.aggregate);

    let pages = 0;
    const during: [lists: number, sums: number, single: number][] = [];
    world.owners.beforePage = async () => {
      pages += 1;
      // Changes during the rebuild: of a document already copied, of one not yet copied, and a new one.
      const change = invoice({ ...truth[3], revision: 1 + pages, total_amount: `${pages}.00` });
      const later = invoice({ ...truth[COUNT - 1], revision: 1 + pages, state: 'conditional' });
      const fresh = invoice({ sequence: 5_000 + pages });
      world.owners.issue(change, later, fresh);
      await world.publish(invoiceEvent(change), invoiceEvent(later), invoiceEvent(fresh));
      const status = async (address: string) => (await world.get(address, YEAR)).status;
      const single = `/invoices/${encf('31', 4)}`;
      during.push([await status('/invoices/'), await status('/invoices/aggregate'), await status(single)]);
    };
    expect(await operations.startRebuild({})).toMatchObject({ building: true, failure: null, finished_at: null });
    await expect(operations.startRebuild({})).rejects.toMatchObject({ status: 409, code: 'conflict' });
    const state = await ended();
    world.owners.beforePage = async () => undefined;
    expect(state).toMatchObject({ failure: null, finished_at: expect.any(String) });
    expect(state.documents).toBeGreaterThanOrEqual(COUNT + 1);
    // The first two pages are read before the read models are emptied.
    expect(during.slice(0, 2)).toEqual([
      [200, 200, 200],
      [200, 200, 200],
    ]);
    expect(during.slice(2)).toEqual(during.slice(2).map(() => [503, 503, 200]));
    expect(during.length).toBeGreaterThan(4);

    const after = await answers();
    expect(after.one).toEqual(before.one);
    expect(after.aggregate.total_invoices).toBe(COUNT + pages);
    const { rows } = await world.database.query<{ count: number; amount: string }>(
      `SELECT count(*)::int AS count, sum(total_amount)::text AS amount FROM invoice WHERE status LIKE 'Aceptado%'`,
    );
    expect(after.aggregate.total_amount).toBe(rows[0]?.amount);
    expect(after.aggregate.top_clients).toMatchObject([{ count: rows[0]?.count, total_amount: rows[0]?.amount }]);
    expect((await world.get(`/invoices/${encf('31', 4)}`, YEAR)).body.total_amount).toBe(`${pages}.00`);
    expect((await world.get('/invoices/E319999999999', YEAR)).status).toBe(404);
  });

  it('is followed by the handling of events, also of received documents', async () => {
    await world.publish(invoiceEvent(invoice({ sequence: 6_000 })), receivedEvent(received({ sequence: 2 })));
    expect((await world.get(`/invoices/${encf('31', 6_000)}`, YEAR)).status).toBe(200);
    const { rows } = await world.database.query('SELECT encf FROM received_invoice ORDER BY encf');
    expect(rows).toEqual([{ encf: encf('31', 1) }, { encf: encf('31', 2) }]);
    world.owners.issue(invoice({ sequence: 6_000 }));
    const before = await answers();
    await operations.startRebuild({});
    expect(await ended()).toMatchObject({ failure: null });
    expect(await answers()).toEqual(before);
    expect((await world.get(`/${encf('31', 1)}/xml?issuer_rnc=${FOREIGN_ISSUER}`)).body.code).toBe('document_damaged');
  });

  it('keeps the times at which documents changed; a document that it finds first has changed now', async () => {
    const changed = async () => {
      const { rows } = await world.database.query<{ encf: string; at: string }>(
        'SELECT encf, updated_at::text AS at FROM invoice_change ORDER BY encf',
      );
      return new Map(rows.map(({ encf, at }) => [encf, at]));
    };
    const before = await changed();
    expect(before.size).toBeGreaterThanOrEqual(COUNT);
    const [early, late] = [invoice({ ...truth[9], revision: 7 }), invoice({ sequence: 7_000 })];
    world.owners.issue(early, late);
    await operations.startRebuild({});
    expect(await ended()).toMatchObject({ failure: null });
    const after = await changed();
    const differs = [...after].filter(([number, at]) => before.get(number) !== at).map(([number]) => number);
    // Besides the rebuild, the query for outcomes brings some.
    const outcomes = [1, 2, 3, 4].map((sequence) => encf('31', sequence));
    expect(differs.filter((number) => !outcomes.includes(number))).toEqual([early.encf, late.encf]);
    await world.publish(invoiceEvent(early), invoiceEvent(late));
    expect(await changed()).toEqual(after);
  });

  it('restores deliveries and decisions of buyers, and keeps newer ones', async () => {
    await world.database.query('DELETE FROM delivery; DELETE FROM buyer_decision');
    await world.database.query(
      'INSERT INTO delivery (env, encf, issuer_rnc, revision, status) VALUES ($1, $2, $3, 9, $4)',
      ['TesteCF', encf('31', 4), ISSUER, 'refused'],
    );
    await operations.startRebuild({});
    expect(await ended()).toMatchObject({ failure: null });
    const shown = async (sequence: number) => (await world.get(`/invoices/${encf('31', sequence)}`, YEAR)).body;
    expect(await Promise.all([1, 2, 3, 4].map(async (n) => (await shown(n)).delivery_status))).toEqual([
      'delivered',
      'delivered',
      'delivered',
      'refused',
    ]);
    const { rows } = await world.database.query('SELECT encf, status FROM buyer_decision');
    expect(rows).toEqual([{ encf: encf('31', 3), status: 'approved' }]);
  });

  it('does not empty the read models if the owners do not answer at its start', async () => {
    const before = await answers();
    world.owners.away = true;
    await expect(operations.startRebuild({})).rejects.toMatchObject({ status: 503 });
    world.owners.away = false;
    expect(await answers()).toEqual(before);
  });

  it('that fails later is repeated until it succeeds, and reports the reason', async () => {
    const before = await answers();
    let pages = 0;
    world.owners.beforePage = async () => {
      pages += 1;
      if (pages === 3) throw new Error('the owner ended in the middle');
    };
    await operations.startRebuild({});
    const failed = await until(rebuild, ({ failure }) => failure !== null);
    expect(failed).toMatchObject({ building: true, failure: 'the owner ended in the middle' });
    expect((await world.get('/invoices/count', YEAR)).status).toBe(503);
    expect(await ended()).toMatchObject({ failure: null });
    world.owners.beforePage = async () => undefined;
    expect(await answers()).toEqual(before);
  });

  it('of an instance that crashed is begun anew after three minutes without progress', async () => {
    const before = await answers();
    const store = createPostgresRebuild(world.database);
    const dead = await store.begin({ empty: true });
    expect(dead).not.toBeNull();
    await expect(operations.startRebuild({})).rejects.toMatchObject({ status: 409, code: 'conflict' });
    await world.database.query("UPDATE rebuild SET progress_at = now() - interval '4 minutes'");
    await operations.startRebuild({});
    expect(await store.progress(dead as Date, { documents: 1 })).toBe(false);
    expect(await ended()).toMatchObject({ failure: null });
    expect(await answers()).toEqual(before);
  });
});

describe('the first start', () => {
  it('copies the earlier documents of the owners', async () => {
    const owners = createOwners();
    owners.issue(...truth.slice(0, 30));
    const late = await startWorld({}, {}, owners);
    const { rows } = await late.database.query('SELECT count(*) AS count FROM invoice');
    expect(rows).toEqual([{ count: 30 }]);
    expect((await late.get('/invoices/count', YEAR)).body.total_invoices).toBe(30);
    await late.stop();
  });

  it('keeps the documents that events brought before', async () => {
    const owners = createOwners();
    owners.issue(...truth.slice(0, 3));
    const late = await startWorld({}, {}, owners);
    await late.publish(invoiceEvent(invoice({ sequence: 7_001 })));
    expect(await createPostgresRebuild(late.database).begin({ empty: false })).not.toBeNull();
    const { rows } = await late.database.query('SELECT count(*) AS count FROM invoice');
    expect(rows).toEqual([{ count: 4 }]);
    await late.stop();
  });

  it('copies the documents after a first page that is empty because its month is detached', async () => {
    const owners = createOwners();
    owners.issue(...truth.slice(0, 30));
    const emission: typeof owners.emission = {
      ...owners.emission,
      pageOfInvoices: async (request) =>
        request.after === 0 ? { invoices: [], next: 10 } : owners.emission.pageOfInvoices(request),
    };
    const late = await startWorld({}, {}, { ...owners, emission });
    expect((await late.get('/invoices/count', YEAR)).body.total_invoices).toBe(20);
    await late.stop();
  });

  it('retries until the owners answer, and does nothing if they have no documents', async () => {
    const owners = createOwners();
    owners.away = true;
    const failures: string[] = [];
    const state: RebuildState = {
      building: false,
      filled: false,
      startedAt: null,
      finishedAt: null,
      documents: 0,
      failure: null,
    };
    let filled = false;
    await createRebuild({
      projection: {} as never,
      outcomes: {} as never,
      outcomeSource: null,
      emission: owners.emission,
      reception: owners.reception,
      failed: (what) => {
        failures.push(what);
        if (failures.length === 3) owners.away = false;
      },
      store: {
        begin: async () => {
          throw new Error('there is nothing to rebuild from');
        },
        state: async () => ({ ...state, filled }),
        nothingToFill: async () => {
          filled = true;
        },
        progress: async () => true,
        end: async () => undefined,
      },
      retryMs: 1,
    }).resume();
    expect([failures.length, filled]).toEqual([3, true]);
  });
});

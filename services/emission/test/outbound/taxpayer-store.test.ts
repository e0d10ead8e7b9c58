import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TaxpayerState } from '@ecf/contracts';
import { type Database, migrate, openDatabase } from '@ecf/service-kit/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TaxpayerStore } from '../../src/core/ports.js';
import { createTaxpayers } from '../../src/core/taxpayers.js';
import { createInMemoryTaxpayerStore } from '../../src/outbound/taxpayer-store.in-memory.js';
import { createPostgresTaxpayerStore } from '../../src/outbound/taxpayer-store.postgres.js';

const MIGRATIONS = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../prisma/migrations');

function state(rnc: string, revision: number, previous: number, change: Partial<TaxpayerState> = {}): TaxpayerState {
  return {
    rnc,
    account_id: 'a',
    account_active: true,
    revision,
    previous_revision: previous,
    name: `n${revision}`,
    active: true,
    certificate: null,
    fingerprint: null,
    ranges: [],
    created_at: `2026-01-01T00:00:0${rnc.at(-1)}-04:00`,
    ...change,
  };
}

function contract(name: string, fresh: () => Promise<TaxpayerStore>) {
  describe(`the copy of the taxpayers ${name}`, () => {
    it('grows with events that leave no gap, and stays where one is missing', async () => {
      const store = await fresh();
      await store.apply(state('100000001', 3, 0), randomUUID());
      await store.apply(state('100000002', 7, 3), randomUUID());
      expect(await store.lookUp('a', '100000001')).toMatchObject({ revision: 7, taxpayer: { name: 'n3' } });
      await store.apply(state('100000003', 12, 9), randomUUID());
      expect(await store.lookUp('a', '100000003')).toMatchObject({ revision: 7, taxpayer: { name: 'n12' } });
      expect(await store.lookUp('b', '100000003')).toEqual({ revision: 0, taxpayer: null });
    });

    it('keeps the newer state whatever the order, and an event once', async () => {
      const store = await fresh();
      const id = randomUUID();
      await store.apply(state('100000001', 5, 2), id);
      await store.apply(state('100000001', 2, 0), randomUUID());
      await store.apply(state('100000001', 9, 5), id);
      expect((await store.taxpayer('100000001'))?.name).toBe('n5');
    });

    it('takes a whole account from the gateway', async () => {
      const store = await fresh();
      await store.apply(state('100000001', 30, 20), randomUUID());
      const taxpayers = [state('100000001', 10, 0), state('100000002', 20, 10)];
      await store.replaceAccount({ account_id: 'a', revision: 25, taxpayers });
      const account = await store.account('a');
      expect(account.revision).toBe(25);
      expect(account.taxpayers.map(({ name: label }) => label).sort()).toEqual(['n20', 'n30']);
    });

    it('serves what the caller’s identity knows: from memory, from the copy, from the gateway', async () => {
      const store = await fresh();
      let asked = 0;
      const taxpayers = createTaxpayers({
        taxpayers: store,
        accounts: {
          async fetch() {
            asked += 1;
            return {
              account_id: 'a',
              revision: 8,
              taxpayers: [state('100000001', 4, 0), state('100000002', 8, 4, { active: false })],
            };
          },
        },
      });
      const caller = (taxpayersRevision: number) => ({ accountId: 'a', taxpayersRevision });
      await store.apply(state('100000001', 4, 0), randomUUID());
      expect((await taxpayers.require(caller(4), '100000001')).name).toBe('n4');
      expect(asked).toBe(0);
      expect((await taxpayers.require(caller(8), '100000001')).name).toBe('n4');
      expect((await taxpayers.require(caller(7), '100000001')).name).toBe('n4');
      expect(asked).toBe(1);
      await expect(taxpayers.require(caller(8), '100000002')).rejects.toMatchObject({ code: 'taxpayer_not_found' });
      await expect(taxpayers.require(caller(8), '100000009')).rejects.toMatchObject({ code: 'taxpayer_not_found' });
      await expect(taxpayers.require({ accountId: 'b', taxpayersRevision: 0 }, '100000001')).rejects.toMatchObject({
        code: 'taxpayer_not_found',
      });
      expect((await taxpayers.list(caller(8))).map(({ rnc }) => rnc)).toEqual(['100000001', '100000002']);
      expect(asked).toBe(1);
      await store.apply(state('100000001', 11, 8), randomUUID());
      expect((await taxpayers.require(caller(11), '100000001')).name).toBe('n11');
      expect(asked).toBe(1);
    });
  });
}

contract('in memory', async () => createInMemoryTaxpayerStore());

describe('with a database', () => {
  const databases: Database[] = [];
  let postgres: Awaited<ReturnType<typeof startTestPostgres>>;
  beforeAll(async () => {
    postgres = await startTestPostgres();
  });
  afterAll(() => Promise.all(databases.map((database) => database.close())));
  contract('over PostgreSQL', async () => {
    const url = await postgres.createDatabase();
    await migrate(url, MIGRATIONS);
    const database = openDatabase(url, { max: 2 });
    databases.push(database);
    return createPostgresTaxpayerStore({ database, patienceMs: 1_000 });
  });
});

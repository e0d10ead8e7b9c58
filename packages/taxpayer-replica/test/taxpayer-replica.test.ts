import type { TaxpayerState } from '@ecf/contracts';
import { type Database, openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { createInMemoryTaxpayerReplica } from '@ecf/test-support/taxpayer-replica';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readAccount } from '../src/account-taxpayers.js';
import type { TaxpayerReplica } from '../src/taxpayer-replica.js';
import { createTaxpayerReplica } from '../src/taxpayer-replica.postgres.js';

const TABLES = `
  CREATE TABLE taxpayers (rnc text PRIMARY KEY, account_id text NOT NULL, revision bigint NOT NULL, state json NOT NULL);
  CREATE TABLE accounts (id text PRIMARY KEY, revision bigint NOT NULL);`;

function state(rnc: string, revision: number, previous: number, change: Partial<TaxpayerState> = {}): TaxpayerState {
  return {
    rnc,
    account_id: 'a',
    account_active: true,
    revision,
    previous_revision: previous,
    name: `n${revision}`,
    active: true,
    certificate: 'sealed',
    fingerprint: null,
    ranges: [],
    created_at: '2026-01-01T00:00:01-04:00',
    ...change,
  };
}

let database: Database;
beforeAll(async () => {
  database = openDatabase(await (await startTestPostgres()).createDatabase(), { max: 2 });
  await database.query(TABLES);
});
beforeEach(() => database.query('TRUNCATE taxpayers, accounts'));
afterAll(() => database.close());

const REPLICAS: Record<string, () => TaxpayerReplica> = {
  'in memory': () => createInMemoryTaxpayerReplica(),
  'in PostgreSQL': () => createTaxpayerReplica(database),
};

describe.each(Object.entries(REPLICAS))('the taxpayer replica %s', (_name, open) => {
  it('advances the account with events without a gap, and stays if one is missing', async () => {
    const replica = open();
    await replica.apply(state('100000001', 3, 0));
    await replica.apply(state('100000002', 7, 3));
    expect(await replica.lookUp('a', '100000001')).toMatchObject({ revision: 7, taxpayer: { name: 'n3' } });
    await replica.apply(state('100000003', 12, 9));
    expect(await replica.lookUp('a', '100000003')).toMatchObject({ revision: 7, taxpayer: { name: 'n12' } });
    expect(await replica.lookUp('b', '100000003')).toEqual({ revision: 0, taxpayer: null });
  });

  it('keeps the newer state for any order of the events', async () => {
    const replica = open();
    await replica.apply(state('100000001', 5, 2));
    expect((await replica.account('a')).revision).toBe(0);
    await replica.apply(state('100000001', 2, 0));
    expect((await replica.taxpayer('100000001'))?.name).toBe('n5');
  });

  it('a repeated event changes nothing but a gap that was closed meanwhile', async () => {
    const replica = open();
    await replica.apply(state('100000001', 5, 2));
    await replica.apply(state('100000001', 2, 0));
    await replica.apply(state('100000001', 5, 2));
    await replica.apply(state('100000001', 5, 2));
    expect(await replica.account('a')).toMatchObject({ revision: 5, taxpayers: [{ name: 'n5' }] });
  });

  it('copies a complete account from the gateway', async () => {
    const replica = open();
    await replica.apply(state('100000001', 30, 20));
    const taxpayers = [state('100000001', 10, 0), state('100000002', 20, 10)];
    await replica.replaceAccount({ account_id: 'a', revision: 25, taxpayers });
    const account = await replica.account('a');
    expect(account.revision).toBe(25);
    expect(account.taxpayers.map(({ name }) => name)).toEqual(['n30', 'n20']);
    expect(await replica.account('b')).toEqual({ account_id: 'b', revision: 0, taxpayers: [] });
    expect(await replica.taxpayer('133333336')).toBeNull();
  });

  it('reads an account with the latest change of its caller, from the gateway if the replica is behind', async () => {
    const replica = open();
    const failures: string[] = [];
    let answer: () => Promise<Awaited<ReturnType<TaxpayerReplica['account']>>> = () =>
      Promise.reject(new Error('away'));
    const ports = {
      taxpayers: replica,
      source: { account: () => answer() },
      observer: { failed: (what: string) => failures.push(what) },
    };
    await replica.apply(state('100000001', 4, 0));
    expect(await readAccount(ports, { accountId: 'a', taxpayersRevision: 4 })).toMatchObject({ current: true });
    expect(await readAccount(ports, { accountId: 'a', taxpayersRevision: 8 })).toMatchObject({
      current: false,
      taxpayers: [{ rnc: '100000001' }],
    });
    expect(failures).toEqual(['reading an account from the gateway']);
    answer = async () => ({ account_id: 'a', revision: 8, taxpayers: [state('100000002', 8, 4)] });
    const fresh = await readAccount(ports, { accountId: 'a', taxpayersRevision: 8 });
    expect(fresh).toMatchObject({ current: true, taxpayers: [{ rnc: '100000002' }] });
    expect((await replica.account('a')).revision).toBe(8);
  });
});

it('a service that never signs keeps no certificate', async () => {
  const replica = createTaxpayerReplica(database, { keepCertificates: false });
  await replica.apply(state('100000001', 3, 0));
  expect((await replica.taxpayer('100000001'))?.certificate).toBeNull();
});

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { SERVICE_NAMES } from '@ecf/contracts';
import type { Database } from '@ecf/postgres';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { agreement, type LedgerEntry } from '../support/agreement/agreement.js';
import { StoredEverywhere } from '../support/agreement/stored-everywhere.js';
import { Client } from '../support/client.js';
import { embeddedDatabase } from '../support/deployment/embedded-database.js';
import { fillDataFolder } from '../support/deployment/prepared-folder.js';
import { type Standalone, startStandalone } from '../support/deployment/standalone-process.js';
import { Numbering } from '../support/documents/documents.js';
import { until } from '../support/until.js';

const SETTINGS = {
  STATUS_WAIT_MS: '10000',
  RESEND_AFTER_MS: '200',
  FIRST_RETRY_MS: '100',
  FIRST_QUERY_MS: '100',
  COMPARE_EVERY_MS: '5000',
  BACKGROUND_IDLE_MS: '250',
  PROCESSING_MS: '20',
};
const ISSUER = '199999991';
const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-restored-'));
fs.chmodSync(dataDir, 0o755);
const numbers = new Numbering({ rnc: ISSUER, name: 'Comercial Palma Ficticia, SRL' });
let running: Standalone;
const client = () => new Client(running);

beforeAll(async () => {
  await fillDataFolder(dataDir);
  running = await startStandalone(dataDir, SETTINGS);
  await issue(4);
});
afterAll(async () => {
  if (running?.child.exitCode === null && running.child.signalCode === null) await running.end('SIGTERM');
  fs.rmSync(dataDir, { recursive: true, force: true });
});

/** Issues documents, most of them to the other taxpayer of the gateway. */
async function issue(count: number) {
  const all = Array.from({ length: count }, (_, index) => numbers.next(index % 4 === 3 ? 'ecf-32' : 'ecf-31'));
  for (const { invoice } of all) expect((await client().submit(invoice)).body.status).toBe('Aceptado');
  return all;
}

async function noOpenWork(stored: StoredEverywhere): Promise<void> {
  await until(
    () => stored.openWork(),
    (work) => Object.values(work).every((count) => count === 0),
  );
}

/** The differences between all services, the authority and the archive once no work is open; `expected` of them are waited for. */
async function differences(expected = 0): Promise<unknown[]> {
  const stored = new StoredEverywhere(dataDir, {});
  try {
    await noOpenWork(stored);
    const { body } = await client().control('GET', `/submissions?rnc=${ISSUER}`);
    const documents = (body as LedgerEntry[]).filter(({ operation }) => /^recepcion/.test(operation));
    let last: unknown[] = [];
    await until(
      async () => {
        last = (await agreement(stored, documents)).differences;
        return last;
      },
      (found) => found.length === expected,
      20_000,
    ).catch(() => undefined);
    return last;
  } finally {
    await stored.close();
  }
}

/** The tables of a database, partitions without their parents' names. */
async function tablesOf(database: Pick<Database, 'query'>): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
      AND NOT relispartition AND relname <> '_prisma_migrations'`,
  );
  return rows.map(({ name }) => name);
}

/** Copies all tables of a service, as of one moment and after open work has ended. */
async function backUp(service: string): Promise<void> {
  const stored = new StoredEverywhere(dataDir, {});
  await noOpenWork(stored);
  await stored.close();
  const database = embeddedDatabase(dataDir, service);
  await database.transaction(
    async (tx) => {
      await tx.query('DROP SCHEMA IF EXISTS backup CASCADE');
      await tx.query('CREATE SCHEMA backup');
      for (const table of await tablesOf(tx)) await tx.query(`CREATE TABLE backup.${table} AS TABLE public.${table}`);
    },
    { isolation: 'repeatable read' },
  );
  await database.close();
}

/** Puts the copies of one service back, records the restore everywhere, and starts the deployment again. */
async function restore(service: string): Promise<void> {
  for (const one of SERVICE_NAMES) {
    const database = embeddedDatabase(dataDir, one);
    await database.transaction(async (tx) => {
      if (one === service) {
        // Neither triggers nor foreign keys change the rows that are put back.
        await tx.query("SET LOCAL session_replication_role = 'replica'");
        const tables = await tablesOf(tx);
        await tx.query(`TRUNCATE ${tables.join(', ')}`);
        for (const table of tables) await tx.query(`INSERT INTO public.${table} SELECT * FROM backup.${table}`);
      }
      await tx.query(
        `INSERT INTO restored (restored_at, backup_at, of_others) VALUES (now(), now() - interval '1 minute', $1)
         ON CONFLICT (of_others) DO UPDATE SET restored_at = excluded.restored_at, settled_at = NULL`,
        [one !== service],
      );
    });
    await database.close();
  }
  await running.end('SIGKILL');
  running = await startStandalone(dataDir, SETTINGS);
}

describe('a deployment of which one database was restored to an older state', () => {
  it.each(['status-poller', 'query', 'approvals'])('agrees everywhere, after %s was restored', async (service) => {
    await backUp(service);
    await issue(3);
    expect(await differences()).toEqual([]);
    await restore(service);
    await issue(2);
    expect(await differences()).toEqual([]);
  });

  it('agrees everywhere, after emission was restored and its callers sent the lost documents again', async () => {
    await backUp('emission');
    const lost = await issue(3);
    expect(await differences()).toEqual([]);
    await restore('emission');
    for (const { invoice } of lost) expect((await client().submit(invoice)).body.status).toBe('Aceptado');
    await issue(2);
    expect(await differences()).toEqual([]);
  });

  it('agrees everywhere, after reception was restored, except for the documents that it lost', async () => {
    await backUp('reception');
    const lost = await issue(2);
    expect(await differences()).toEqual([]);
    await restore('reception');
    await issue(2);
    const found = (await differences(lost.length)) as { what: string; row: object | null; other: { encf: string } }[];
    expect(found.map(({ what, row }) => [what, row])).toEqual(lost.map(() => ['received', null]));
    expect(found.map(({ other }) => other.encf).sort()).toEqual(lost.map(({ encf }) => encf).sort());
  });

  it('forgets a taxpayer that was registered after the backup of the gateway, until it is registered again', async () => {
    const { body } = await client().admin('GET', '/accounts');
    const account = (body as { id: string }[])[0]?.id;
    const register = () =>
      client().admin('POST', `/accounts/${account}/taxpayers`, { rnc: '131880681', name: 'Nueva' });
    await backUp('gateway');
    expect((await register()).status).toBe(201);
    await restore('gateway');
    await issue(1);
    const ranges = await client().admin('GET', `/accounts/${account}/taxpayers/131880681/ranges`);
    expect(ranges.status).toBe(404);
    const emission = embeddedDatabase(dataDir, 'emission');
    const replicas = async () => (await emission.query("SELECT FROM taxpayers WHERE rnc = '131880681'")).rowCount;
    expect(await replicas()).toBe(0);
    expect((await register()).status).toBe(201);
    await until(replicas, (count) => count === 1);
    await emission.close();
  });
});

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@ecf/service-kit';
import { afterAll, expect, it } from '@jest/globals';
import { clientsOf, killer, load, type Submitted } from '../support/chaos.js';
import { Client, type LedgerRow } from '../support/client.js';
import { Numbering } from '../support/documents.js';
import { embeddedDatabase } from '../support/embedded-database.js';
import { describeDistributed, type Standalone, startDistributed } from '../support/standalone-process.js';

/** Invoices of the load; 2000 by hand: `ECF_CHAOS_INVOICES=2000 node scripts/jest.mjs test-e2e/scenarios/chaos`. */
const COUNT = Number(process.env.ECF_CHAOS_INVOICES ?? 150);
const ISSUER = '199999991';
/** Two of each service in the full size; twelve processes would be most of a small load's time. */
const INSTANCES = COUNT < 1_000 ? 1 : 2;
const SETTINGS = {
  INSTANCES: String(INSTANCES),
  STATUS_WAIT_MS: '0',
  AUTHORITY_TIMEOUT_MS: '2000',
  RESEND_AFTER_MS: '1000',
  FIRST_RETRY_MS: '200',
  FIRST_QUERY_MS: '300',
  POLL_LEASE_MS: '5000',
  PROCESSING_MS: '100',
  UPSTREAM_TIMEOUT_MS: '20000',
};
/** What the authority does to one submission in a hundred, for each of them. */
const FAULTS = ['timeout-after', 'reset', 'reset-after', 'http'];
const FINAL_MS = 120_000;

const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-chaos-'));
fs.chmodSync(dataDir, 0o755);
const databases: Database[] = [];
let running: Standalone;

afterAll(async () => {
  for (const database of databases) await database.close();
  if (running?.child.exitCode === null && running.child.signalCode === null) await running.end('SIGTERM');
  if (process.env.ECF_KEEP === undefined) fs.rmSync(dataDir, { recursive: true, force: true });
  else fs.writeFileSync(path.join(dataDir, 'output.txt'), running?.output() ?? '');
}, 60_000);

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

function databaseOf(service: string): Database {
  const database = embeddedDatabase(dataDir, service);
  databases.push(database);
  return database;
}

async function rows<T extends object>(service: string, sql: string): Promise<T[]> {
  return (await databaseOf(service).query<T>(sql)).rows;
}

const issued = () => {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10).split('-').reverse().join('-');
  return {
    'rnc-issuing': ISSUER,
    'start-date': day(Date.now() - 2 * 86_400_000),
    'end-date': day(Date.now() + 86_400_000),
  };
};

/** Everything that the read models hold of the issuer. */
async function listed(): Promise<Record<string, string>[]> {
  const all: Record<string, string>[] = [];
  for (;;) {
    const { body } = await new Client(running).call('GET', `/invoices/?limit=1000&offset=${all.length}`, {
      headers: issued(),
    });
    all.push(...body.invoices);
    if (body.invoices.length === 0 || all.length >= body.total) return all;
  }
}

function archived(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.xml'))
    .map((name) => sha256(fs.readFileSync(path.join(folder, name))));
}

describeDistributed(`${COUNT} mixed invoices from 32 callers over ${INSTANCES} of each service`, () => {
  let all: Submitted[];
  let invoices: Record<string, string>[];

  it('are answered while every process is killed once, the broker and the database too, and the authority errs', async () => {
    running = await startDistributed(dataDir, SETTINGS);
    const client = new Client(running);
    for (const operation of ['recepcion', 'recepcionfc'])
      for (const kind of FAULTS)
        await client.fault({
          operation,
          kind,
          rate: 0.01,
          ...(kind === 'http' ? { status: 503, body: '<html>' } : {}),
        });
    const victims = running
      .processes()
      .map(({ name }) => name)
      .filter((name) => name !== 'authority-simulator');
    const kills = killer(running, victims, COUNT);
    all = await load(
      running,
      new Numbering({ rnc: ISSUER, name: 'Comercial Palma Ficticia, SRL' }),
      COUNT,
      kills.onProgress,
    );
    expect(kills.log.map(({ name }) => name)).toEqual(victims);
    await client.control('DELETE', '/faults');
  }, 900_000);

  it('reach their final state by themselves', async () => {
    for (const end = Date.now() + FINAL_MS; ; await delay(500)) {
      invoices = await listed().catch(() => []);
      const open = invoices.filter(({ status }) => !['Aceptado', 'AceptadoCondicional'].includes(status as string));
      if (invoices.length >= COUNT && open.length === 0) return;
      if (Date.now() > end)
        throw new Error(`${invoices.length} listed, not final: ${JSON.stringify(open.slice(0, 3))} and ${open.length}`);
    }
  }, 200_000);

  it('stand once each, alike, in the ledger, the databases, the read models and the archive', async () => {
    const ledger = (await clientsOf(running)[0]?.control('GET', `/submissions?rnc=${ISSUER}`))?.body as (LedgerRow & {
      encf: string;
    })[];
    const submissions = ledger.filter(({ operation }) => /^recepcion/.test(operation));
    const effective = submissions.filter((row) => row.effective);
    const first = (encf: string) => !encf.endsWith('0000000001');
    const numbers = all.map(({ encf }) => encf).sort();
    expect(
      effective
        .map(({ encf }) => encf)
        .filter(first)
        .sort(),
    ).toEqual(numbers);
    expect(
      invoices
        .map(({ encf }) => encf as string)
        .filter(first)
        .sort(),
    ).toEqual(numbers);

    const attempts = await rows<{
      encf: string;
      state: string;
      route: string;
      xml_sha256: string;
      rfce_sha256: string;
    }>('emission', 'SELECT encf, state, route, xml_sha256, rfce_sha256 FROM attempt JOIN emission ON id = emission_id');
    expect(
      attempts
        .map(({ encf }) => encf)
        .filter(first)
        .sort(),
    ).toEqual(numbers);
    const files = new Set(archived(path.join(dataDir, 'xml')));
    const differences: unknown[] = [];
    for (const { encf, state, route, xml_sha256: xml, rfce_sha256: rfce } of attempts) {
      const sent = effective.find((row) => row.encf === encf);
      const told = invoices.find((row) => row.encf === encf);
      const wire = route === 'rfce' ? rfce : xml;
      const alike =
        state === 'accepted' &&
        sent?.sha256 === wire &&
        told?.xml_checksum === xml &&
        files.has(xml) &&
        files.has(wire);
      // Whatever else arrived under the number were the very same bytes.
      const repeated = submissions.filter((row) => row.encf === encf && row.sha256 !== wire);
      if (!alike || repeated.length > 0) differences.push({ encf, state, route, xml, rfce, sent, told, repeated });
    }
    expect(differences).toEqual([]);

    const polled = await rows<{ track_id: string }>('status_poller', 'SELECT track_id FROM poll');
    expect(polled).toEqual([]);
    for (const service of ['gateway', 'emission', 'status_poller'])
      expect(await rows(service, 'SELECT 1 FROM outbox')).toEqual([]);
    const repeats = submissions.length - effective.length;
    const calls = all.reduce((sum, one) => sum + one.calls, 0);
    process.stderr.write(
      `chaos: ${COUNT} invoices, ${calls} calls, ${submissions.length} submissions, ${repeats} without effect, ${files.size} files\n`,
    );
  }, 120_000);
});

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { agreement, type LedgerEntry } from '../support/agreement/agreement.js';
import { killer, load, type Submitted } from '../support/agreement/chaos.js';
import { StoredEverywhere } from '../support/agreement/stored-everywhere.js';
import { untilWhole } from '../support/agreement/whole.js';
import { Client } from '../support/client.js';
import { bucket, type TestBucket } from '../support/deployment/bucket.js';
import { describeDistributed, type Standalone, startDistributed } from '../support/deployment/standalone-process.js';
import { Numbering } from '../support/documents/documents.js';
import { until } from '../support/until.js';

/** Number of invoices. By hand 2000: `ECF_CHAOS_INVOICES=2000 node scripts/jest.mjs test-e2e/scenarios/chaos`. */
const COUNT = Number(process.env.ECF_CHAOS_INVOICES ?? 150);
const FULL = COUNT >= 1_000;
const SEVERAL = 'gateway,emission';
const ISSUER = '199999991';
const SETTINGS = {
  INSTANCES: '2',
  // Starting twelve processes would take most of a small run, so it has two gateways and two of emission only.
  ...(FULL ? {} : { INSTANCES_OF: SEVERAL }),
  STATUS_WAIT_MS: '0',
  AUTHORITY_TIMEOUT_MS: '2000',
  RESEND_AFTER_MS: '1000',
  FIRST_RETRY_MS: '200',
  FIRST_QUERY_MS: '300',
  POLL_LEASE_MS: '5000',
  PROCESSING_MS: '100',
  UPSTREAM_TIMEOUT_MS: '20000',
};
/** Each of these faults hits one submission in a hundred. */
const FAULTS = ['timeout-after', 'reset', 'reset-after', 'http'];
const FINAL_MS = 240_000;

const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-chaos-'));
fs.chmodSync(dataDir, 0o755);
/** The bucket for the XML if ECF_CHAOS_ARCHIVE=s3; null if files hold it. */
const storage: TestBucket | null = process.env.ECF_CHAOS_ARCHIVE === 's3' ? await bucket() : null;
let running: Standalone;
let stored: StoredEverywhere | undefined;

afterAll(async () => {
  await stored?.close();
  if (running?.child.exitCode === null && running.child.signalCode === null) await running.end('SIGTERM');
  await storage?.stop();
  if (process.env.ECF_KEEP === undefined) fs.rmSync(dataDir, { recursive: true, force: true });
  else fs.writeFileSync(path.join(dataDir, 'output.txt'), running?.output() ?? '');
});

const issued = () => {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10).split('-').reverse().join('-');
  return {
    'rnc-issuing': ISSUER,
    'start-date': day(Date.now() - 2 * 86_400_000),
    'end-date': day(Date.now() + 86_400_000),
  };
};

/** Every document of the issuer that the public interface lists. */
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

describeDistributed(`${COUNT} mixed invoices from 32 callers over two of ${FULL ? 'each' : SEVERAL}`, () => {
  let all: Submitted[];

  it('are answered while every process, the broker and the database are killed once and the authority fails', async () => {
    running = await startDistributed(dataDir, { ...SETTINGS, ...storage?.settings });
    stored = new StoredEverywhere(dataDir, { ...process.env, ...storage?.settings });
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

  it('reach their final state without intervention, and consumers handle every event', async () => {
    await untilWhole(running, stored as StoredEverywhere, FINAL_MS);
  });

  it('are stored once each, with equal contents, in ledger, databases, read models and archive', async () => {
    const { body } = await new Client(running).control('GET', `/submissions?rnc=${ISSUER}`);
    const submissions = (body as LedgerEntry[]).filter(({ operation }) => /^recepcion/.test(operation));
    // The sandbox issued the first number itself.
    const numbers = [...all.map(({ encf }) => encf), 'E310000000001'].sort();
    // A delivery may still be retried, which changes its row for a moment. Rows missing in the read models stay missing.
    const { compared, differences } = await until(
      () => agreement(stored as StoredEverywhere, submissions),
      (seen) => seen.differences.length === 0,
    ).catch(() => agreement(stored as StoredEverywhere, submissions));
    expect(differences.slice(0, 5)).toEqual([]);
    expect(((await stored?.readModels()) ?? []).map(({ encf }) => encf).sort()).toEqual(numbers);
    expect((await listed()).map(({ encf }) => encf).sort()).toEqual(numbers);
    const calls = all.reduce((sum, one) => sum + one.calls, 0);
    const counts = Object.entries({ invoices: COUNT, calls, ...compared }).map(([what, count]) => `${what} ${count}`);
    process.stderr.write(`chaos: ${counts.join(', ')}; all alike\n`);
  });
});

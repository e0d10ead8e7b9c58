import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { type Answer, Client, newAccount } from '../support/client.js';
import { bucket, type TestBucket } from '../support/deployment/bucket.js';
import { type Ran, ranWith } from '../support/deployment/ecf-command.js';
import {
  DEPLOYMENT,
  describeDistributed,
  type Standalone,
  startDeployment,
} from '../support/deployment/standalone-process.js';
import { Numbering } from '../support/documents/documents.js';
import { until } from '../support/until.js';

const ISSUER = { rnc: '199999991', name: 'Comercial Palma' };
const BUYER_RNC = '188888885';
const CUSTOMER = { rnc: '101000074', name: 'Ferretería Ejemplo' };
const EXAMPLES = ['ecf-31', 'ecf-32', 'ecf-44', 'ecf-45'];
/** What a restore does not bring back: the authority, and what its operator keeps elsewhere. */
const KEPT = ['authority', 'secrets.json', 'demo.json'];

const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-backup-e2e-'));
const backupDir = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-backup-of-e2e-'));
fs.chmodSync(dataDir, 0o755);
/** The distributed deployment has its XML in a bucket, if the machine can run a storage. */
let storage: TestBucket | null = DEPLOYMENT === 'distributed' ? await bucket() : null;
let running: Standalone;

const start = async () => {
  const settings = { STATUS_WAIT_MS: '15000', PROCESSING_MS: '20', FIRST_QUERY_MS: '200' };
  running = await startDeployment(dataDir, { ...settings, ...storage?.settings }, { ownServers: true });
};
const ecf = (...args: string[]): Promise<Ran> => ranWith({ DATA_DIR: dataDir, ...storage?.settings }, args);

afterAll(async () => {
  if (running?.child.exitCode === null) await running.end('SIGTERM');
  await storage?.stop();
  for (const folder of [dataDir, backupDir]) fs.rmSync(folder, { recursive: true, force: true });
});

const numbers = new Numbering(ISSUER);
const get = (path: string, headers: Record<string, string> = {}) =>
  new Client(running).call('GET', path, { headers: { 'rnc-issuing': ISSUER.rnc, 'buyer-rnc': BUYER_RNC, ...headers } });

async function submit(example: string): Promise<string> {
  const { invoice, encf } = numbers.next(example, (ecf) => {
    if (example === 'ecf-31') ecf.Encabezado.Comprador.RNCComprador = BUYER_RNC;
  });
  const answer = await new Client(running).submit(invoice);
  expect([answer.status, answer.body.status]).toEqual([200, 'Aceptado']);
  return encf;
}

/** Submits from four callers until `isOver`; resolves with the numbers. */
async function submitUntil(isOver: () => boolean): Promise<string[]> {
  const submitted: string[] = [];
  const caller = async (_: unknown, index: number) => {
    while (!isOver()) submitted.push(await submit(EXAMPLES[index] as string));
  };
  await Promise.all(EXAMPLES.map(caller));
  return submitted;
}

/** The state of a document that the issuer sees, and its XML; null if it does not exist. */
async function issued(encf: string) {
  const { status, body } = await get(`/invoices/${encf}`);
  if (status === 404) return null;
  const { status: state, track_id, total_amount, delivery_status, approval_status } = body;
  return { state, track_id, total_amount, delivery_status, approval_status, xml: (await get(`/${encf}/xml`)).text };
}

/** What the buyer received, with its content and its acknowledgement. */
async function received(encf: string) {
  const answers = [
    await get(`/fe/recepcion/api/invoices/${encf}`),
    await get(`/fe/recepcion/api/invoices/${encf}/document`),
    await get(`/arecf/${encf}?issuer_rnc=${ISSUER.rnc}`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  const [row, document, arecf] = answers.map(({ text }) => text) as [string, string, string];
  return { ...JSON.parse(row), document, arecf };
}

const withoutUse = ({ body }: Answer) =>
  JSON.parse(JSON.stringify(body, (name, value) => (/^last_|_used_at$/.test(name) ? undefined : value)));

/** The settings of an account, as an administrator sees them. */
async function settingsOf(account: string) {
  const seen: Record<string, unknown> = {};
  for (const place of ['', '/taxpayers', `/taxpayers/${CUSTOMER.rnc}/certificate`, '/api-keys', '/webhooks']) {
    const answer = await new Client(running).admin('GET', `/accounts/${account}${place}`);
    expect([place, answer.status]).toEqual([place, 200]);
    seen[place] = withoutUse(answer);
  }
  return seen;
}

async function approve(encf: string) {
  const { id, total_amount, date_issued } = await received(encf);
  const { status, body } = await new Client(running).call('POST', '/acecf/', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ecf_document_id: id,
      issuer_rnc: ISSUER.rnc,
      receiver_rnc: BUYER_RNC,
      encf,
      approval_datetime: '2026-06-23T17:45:47-04:00',
      authority_environment: 'TesteCF',
      invoice_date_issued: date_issued.slice(0, 10),
      invoice_total_amount: total_amount.toFixed(2),
      approval_status: 1,
    }),
  });
  expect(status).toBe(201);
  await until(
    () => issued(encf),
    (seen) => seen?.approval_status === 'approved',
  );
  return body.id as number;
}

const describeHere = DEPLOYMENT === 'distributed' ? describeDistributed : describe;

describeHere('A deployment that was destroyed and restored', () => {
  const sold: string[] = [];
  const before = new Map<string, unknown>();
  let during: string[] = [];
  let approval: number;
  let customer: Awaited<ReturnType<typeof newAccount>>;

  /** Everything about the documents and accounts from before the backup. */
  async function state() {
    const seen: Record<string, unknown> = {};
    for (const encf of sold) seen[encf] = await issued(encf);
    for (const encf of sold.filter((number) => number.startsWith('E31')))
      seen[`received ${encf}`] = await received(encf);
    seen.approval = withoutUse(await get(`/acecf/${approval}`));
    seen.customer = await settingsOf(customer.accountId);
    seen.accounts = withoutUse(await new Client(running).admin('GET', '/accounts'));
    return seen;
  }

  it('was backed up while submissions continued, and the repetition copied new documents only.', async () => {
    await start();
    customer = await newAccount(running, CUSTOMER);
    const root = new Client(running);
    const webhook = { url: 'https://erp.example/hook', types: ['invoice.accepted'], environments: ['TesteCF'] };
    expect((await root.admin('POST', `/accounts/${customer.accountId}/webhooks`, webhook)).status).toBe(201);
    for (const example of EXAMPLES) sold.push(await submit(example));
    const delivered = sold[0] as string;
    await until(
      () => issued(delivered),
      (seen) => seen?.delivery_status === 'delivered',
    );
    approval = await approve(delivered);
    const first = await ecf('backup', backupDir);
    // The client of S3 warns about old versions of Node on standard error.
    expect([first.code, first.rows]).toMatchObject([0, [{ missing: 0 }]]);

    let isOver = false;
    const load = submitUntil(() => isOver);
    const second = await ecf('backup', backupDir).finally(() => {
      isOver = true;
    });
    during = await load;
    expect([second.code, second.rows[0].missing]).toEqual([0, 0]);
    expect(second.rows[0].copied).toBeLessThan(second.rows[0].documents);
    expect(await ecf('backup', 'verify', backupDir)).toMatchObject({ code: 0, rows: [{ faults: 0 }] });
    for (const encf of during) before.set(encf, await issued(encf));
    before.set('state', await state());
  });

  it('is refused while it runs, and without its master key.', async () => {
    const over = await ecf('restore', backupDir);
    expect([over.code, over.stderr]).toEqual([2, expect.stringContaining('in use')]);
    await running.end('SIGTERM');
    const data = await ecf('restore', backupDir);
    expect([data.code, data.stderr]).toEqual([2, expect.stringContaining('databases already')]);
    for (const name of fs.readdirSync(dataDir))
      if (!KEPT.includes(name)) fs.rmSync(path.join(dataDir, name), { recursive: true });
    if (storage !== null) {
      await storage.stop();
      storage = await bucket();
    }
    const keyless = await ecf('restore', backupDir, '--data-dir', path.join(dataDir, 'elsewhere'));
    expect([keyless.code, keyless.stderr]).toEqual([2, expect.stringContaining('set MASTER_KEY')]);
  });

  it('has every document, decision, account, key and webhook again, byte by byte.', async () => {
    // An earlier restore was killed while it moved its result into the folder.
    for (const left of ['restoring', 'xml/TesteCF']) fs.mkdirSync(path.join(dataDir, left), { recursive: true });
    fs.writeFileSync(path.join(dataDir, 'xml/TesteCF/left.xml'), 'left');
    const restored = await ecf('restore', backupDir);
    expect([restored.code, restored.rows]).toMatchObject([0, [{ restored: true, faults: 0 }]]);
    await start();
    expect(await state()).toEqual(before.get('state'));
    // Some were submitted after the moment of the backup.
    for (const encf of during) {
      const now = await issued(encf);
      if (now !== null) expect(now.xml).toBe((before.get(encf) as typeof now).xml);
    }
    expect(await ecf('verify-archive')).toMatchObject({ code: 0 });
  });

  it('continues to sign and submit with the restored certificate and key.', async () => {
    const encf = await submit('ecf-31');
    expect(await issued(encf)).toMatchObject({ state: 'Aceptado' });
  });
});

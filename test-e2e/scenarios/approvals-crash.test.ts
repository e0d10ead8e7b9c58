import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Client } from '../support/client.js';
import { fillDataFolder } from '../support/deployment/prepared-folder.js';
import { type Standalone, startStandalone } from '../support/deployment/standalone-process.js';
import { type BuyerReceiver, startBuyerReceiver } from '../support/documents/buyer-receiver.js';
import { Numbering } from '../support/documents/documents.js';
import { PROVIDER } from '../support/documents/provided-documents.js';
import { documentsToPush, type PushedDocument, pushAll } from '../support/documents/pushed-documents.js';
import { until } from '../support/until.js';

const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-approvals-crash-'));
const SETTINGS = {
  STATUS_WAIT_MS: '15000',
  PROCESSING_MS: '20',
  // Longer than a busy machine may suspend the process, shorter than a start.
  APPROVAL_CLAIM_MS: '6000',
  APPROVAL_FIRST_RETRY_MS: '200',
  DELIVERY_FIRST_RETRY_MS: '200',
  RECEIVER_TIMEOUT_MS: '60000',
};
/** RNC of a buyer outside the deployment. */
const ELSEWHERE = '144444446';
let standalone: Standalone;
let buyer: BuyerReceiver;
/** The documents that strangers were sending when the process was killed, and the answers that they got. */
let pushed: PushedDocument[];
let answered: Map<string, string>;

beforeAll(async () => {
  fs.chmodSync(dataDir, 0o755);
  await fillDataFolder(dataDir);
  standalone = await startStandalone(dataDir, SETTINGS);
  buyer = await startBuyerReceiver(ELSEWHERE);
});
afterAll(async () => {
  await standalone?.end('SIGTERM');
  await buyer?.stop();
  fs.rmSync(dataDir, { recursive: true, force: true });
});

it('killed while the authority and a buyer have not answered: both documents are resolved after the restart, with the same bytes', async () => {
  const { issuer_rnc, buyer_rnc } = standalone.demo;
  pushed = await documentsToPush(48, 600_001, buyer_rnc);
  const client = new Client(standalone);
  const numbers = new Numbering({ rnc: issuer_rnc, name: 'Comercial Palma Ficticia, SRL' });
  const { invoice, encf } = numbers.next();
  const { body } = await client.submit(invoice);
  expect(body.status).toBe('Aceptado');
  await client.control('PUT', `/taxpayers/${ELSEWHERE}`, { name: 'Elsewhere', reception_url: buyer.url });
  const [done, inFlight] = [await delivery(client, numbers), await delivery(client, numbers, { silent: true })];
  await client.fault({ operation: 'aprobacioncomercial', kind: 'timeout-after', times: 1 });
  const { Totales, Emisor } = invoice.ECF.Encabezado;
  const order = {
    issuer_rnc,
    receiver_rnc: buyer_rnc,
    encf,
    approval_status: 1,
    approval_datetime: '2026-06-23T17:45:47-04:00',
    authority_environment: 'TesteCF',
    invoice_date_issued: Emisor.FechaEmision.split('-').reverse().join('-'),
    invoice_total_amount: Totales.MontoTotal,
  };
  const headers = { 'content-type': 'application/json' };
  const lost = client.call('POST', '/acecf', { headers, body: JSON.stringify(order) }).catch(() => null);
  const arrived = () => client.control('GET', `/submissions?encf=${encf}&operation=aprobacioncomercial`);
  await until(arrived, ({ body: rows }) => rows.length === 1);
  let ended: Promise<unknown> | null = null;
  answered = await pushAll(standalone, pushed, (count) => {
    if (count === 20) ended = standalone.end('SIGKILL');
  });
  await ended;
  await lost;
  buyer.silent = false;

  standalone = await startStandalone(dataDir, SETTINGS);
  const again = new Client(standalone);
  const list = () => again.call('GET', `/acecf?receiver_rnc=${buyer_rnc}`);
  const { body: records } = await until(
    list,
    ({ body: seen }) =>
      seen[0]?.authority_submission_status === 'Aceptado' && seen[0]?.issuer_delivery_status !== 'pending',
  );
  expect(records).toMatchObject([
    { encf, authority_submission_status: 'Aceptado', issuer_delivery_status: 'delivered' },
  ]);
  const { body: ledger } = await again.control('GET', `/submissions?encf=${encf}&operation=aprobacioncomercial`);
  expect(ledger).toMatchObject([
    { sha256: records[0].xml_checksum, effective: true, answered: false },
    { sha256: records[0].xml_checksum, effective: false, answered: true },
  ]);
  const recorded = await again.call('GET', `/fe/aprobacioncomercial/api/invoices/${encf}?issuer_rnc=${issuer_rnc}`);
  expect(recorded.body.approval_status).toBe('approved');

  await reaches(again, inFlight, 'delivered');
  expect(await deliveryStatus(again, done)).toBe('delivered');
  expect(buyer.reached).toEqual([done, inFlight, inFlight]);
  const { body: arecf } = await again.call('GET', `/received-arecf/?issuer_rnc=${issuer_rnc}&encf=${inFlight}`);
  expect(arecf).toMatchObject([{ receipt_status: 1, rejection_code: 3, valid: true }]);
});

it('killed while strangers send documents: acknowledged ones are kept, the others are received when they are sent again', async () => {
  expect(answered.size).toBeGreaterThanOrEqual(20);
  expect(answered.size).toBeLessThan(pushed.length);
  const first = new Map(answered);
  const second = await pushAll(standalone, pushed);
  const third = await pushAll(standalone, pushed);
  const client = new Client(standalone);
  for (const { encf, xml } of pushed) {
    const [before, again] = [first.get(encf), second.get(encf)];
    if (before === undefined) expect(again).toContain('<Estado>0<');
    else if (again !== before) expect(again).toContain('<CodigoMotivoNoRecibido>3<');
    expect(third.get(encf)).toContain('<CodigoMotivoNoRecibido>3<');
    const kept = await client.call('GET', `/${encf}/xml?issuer_rnc=${PROVIDER}`);
    expect([kept.status, kept.text]).toEqual([200, xml]);
    const acknowledgement = await client.call('GET', `/arecf/${encf}?issuer_rnc=${PROVIDER}`);
    expect(acknowledgement.text).toBe(before ?? again);
  }
});

async function deliveryStatus(client: Client, encf: string): Promise<string> {
  const headers = { 'rnc-issuing': standalone.demo.issuer_rnc };
  return (await client.call('GET', `/invoices/${encf}`, { headers })).body.delivery_status;
}

const reaches = (client: Client, encf: string, wanted: string) =>
  until(
    () => deliveryStatus(client, encf),
    (seen) => seen === wanted,
  );

/** An accepted e-CF that its buyer has, and has acknowledged unless it is silent. */
async function delivery(client: Client, numbers: Numbering, { silent = false } = {}): Promise<string> {
  buyer.silent = silent;
  const { invoice, encf } = numbers.next('ecf-31', (ecf) => {
    ecf.Encabezado.Comprador.RNCComprador = ELSEWHERE;
  });
  expect((await client.submit(invoice)).body.status).toBe('Aceptado');
  await until(
    async () => buyer.reached,
    (reached) => reached.includes(encf),
  );
  if (!silent) await reaches(client, encf, 'delivered');
  return encf;
}

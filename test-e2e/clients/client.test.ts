import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import {
  createClient,
  type Event,
  type GatewayClient,
  GatewayError,
  type InvoiceDocument,
  unwrap,
  verifyWebhook,
} from '@ecf/client';
import { freePort } from '@ecf/test-servers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, newAccount } from '../support/client.js';
import { type Standalone, startDeployment } from '../support/deployment/standalone-process.js';
import { Numbering } from '../support/documents/documents.js';

const ISSUER = { rnc: '122222227', name: 'Cliente Ficticio, SRL' };
const numbers = new Numbering(ISSUER);
const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'ecf-client-'));
fs.chmodSync(dataDir, 0o755);
let running: Standalone;
let settings: Record<string, string>;
let account: Client & { accountId: string };
let gateway: GatewayClient;

beforeAll(async () => {
  settings = { PORT: String(await freePort()), FIRST_QUERY_MS: '200', STATUS_WAIT_MS: '0' };
  running = await startDeployment(dataDir, settings);
  account = await newAccount(running, ISSUER);
  gateway = clientOf();
});
afterAll(async () => {
  await running?.end('SIGTERM');
  fs.rmSync(dataDir, { recursive: true, force: true });
});

const clientOf = (apiKey = account.apiKey) =>
  createClient({ url: running.demo.base_url, apiKey, environment: 'TesteCF' });
const today = () => new Date(Date.now() - 4 * 3_600_000).toISOString().slice(0, 10);
const period = () => ({ start_date: today(), end_date: today() });

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe('a program with the client package', () => {
  it('submits an invoice, repeats it harmlessly, and reads it as row, XML and printed form.', async () => {
    const { invoice, encf } = numbers.next();
    const options = { idempotencyKey: 'sale-1', reference: 'sale-1' };
    const first = await gateway.submit(invoice, options);
    expect(first).toMatchObject({ encf, security_code: expect.any(String) });
    expect((await gateway.submit(invoice, options)).trackId).toBe(first.trackId);
    // Without a key of the caller, the number of the document identifies it.
    expect((await gateway.submit(invoice)).trackId).toBe(first.trackId);
    const id = { issuer_rnc: ISSUER.rnc, encf };
    expect(await gateway.invoices.get(id)).toMatchObject({ encf, reference: 'sale-1' });
    expect(await gateway.invoices.xml(id)).toBe(first.xml);
    for (const format of ['letter', 'ticket'] as const) {
      const pdf = await gateway.invoices.pdf({ ...id, format });
      expect(Buffer.from(pdf.subarray(0, 5)).toString()).toBe('%PDF-');
    }
    expect((await gateway.submit(numbers.next().invoice, { validate: true })).status).toBe('Validado');
  });

  it('gets every fault of a document, and what is wrong with a parameter, as one kind of error.', async () => {
    const { invoice } = numbers.next('ecf-31', (ecf) => {
      ecf.Encabezado.Totales.MontoTotal = '1,00';
    });
    const refused = await gateway.submit(invoice).catch((error: GatewayError) => error);
    expect(refused).toBeInstanceOf(GatewayError);
    expect(refused).toMatchObject({
      status: 400,
      code: 'invalid_document',
      faults: [{ path: 'ECF.Encabezado.Totales.MontoTotal' }],
      requestId: expect.any(String),
    });
    const wrong = gateway.invoices.get({ issuer_rnc: 'none', encf: 'E310000000001' });
    await expect(wrong).rejects.toMatchObject({ status: 422, items: [{ loc: ['header', 'rnc-issuing'] }] });
    await expect(clientOf('none').submit(invoice)).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
  });

  it('sends documents from an iterable in batches, finds the batches again under its key, and lists the documents.', async () => {
    const sales = Array.from({ length: 5 }, () => numbers.next());
    async function* documents(): AsyncGenerator<InvoiceDocument> {
      for (const { invoice } of sales) yield { ...invoice, reference: 'batch' };
    }
    const options = { idempotencyKey: 'june', batchSize: 2 };
    const lines = await all(gateway.batches.submit(documents(), options));
    expect(lines.map(({ line, encf, status }) => [line, encf, status])).toEqual(
      sales.map(({ encf }, index) => [index + 1, encf, 'Aceptado']),
    );
    const batchIds = (list: typeof lines) => list.map(({ batch_id }) => batch_id);
    expect(new Set(batchIds(lines)).size).toBe(3);
    expect(batchIds(await all(gateway.batches.submit(documents(), options)))).toEqual(batchIds(lines));

    const filters = { issuer_rnc: ISSUER.rnc, ...period(), reference: 'batch' };
    const listed = await all(gateway.invoices.list({ ...filters, limit: 2 }));
    expect(listed.map(({ encf }) => encf).sort()).toEqual(sales.map(({ encf }) => encf));
    expect((await all(gateway.paginate('/batches', { query: { limit: 1 } }))).length).toBe(3);
    const shown = await unwrap(
      gateway.GET('/batches/{batch_id}', { params: { path: { batch_id: batchIds(lines)[0]! } } }),
    );
    expect(shown).toMatchObject({ total: 2, accepted: 2, status: 'done' });
  });

  it('lists what providers sent, also if that is not a single document.', async () => {
    expect(await all(gateway.received.list({ buyer_rnc: ISSUER.rnc, ...period() }))).toEqual([]);
    await expect(all(gateway.received.list({ buyer_rnc: '101000001', ...period() }))).rejects.toThrow(GatewayError);
  });

  it('verifies what a webhook sends.', async () => {
    let secret = '';
    const received: Event[] = [];
    const receiver = http.createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      const event = await verifyWebhook(body, request.headers, secret).catch((error: GatewayError) => error);
      if (event instanceof GatewayError) return response.writeHead(event.status).end(event.message);
      received.push(event);
      response.writeHead(204).end();
    });
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    try {
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
      const { body } = await account.admin('POST', `/accounts/${account.accountId}/webhooks`, { url });
      const test = () => account.admin('POST', `/accounts/${account.accountId}/webhooks/${body.id}/test`);
      secret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
      expect((await test()).body).toMatchObject({ status: 400 });
      secret = body.secret;
      expect((await test()).body).toMatchObject({ status: 204 });
      expect(received).toMatchObject([{ type: 'webhook.test' }]);
      await account.admin('DELETE', `/accounts/${account.accountId}/webhooks/${body.id}`);
    } finally {
      receiver.close();
    }
  });

  it('reads events from the oldest, and continues through a restart of the gateway without losing or repeating one.', async () => {
    const seen: Event[] = [];
    let reached = '';
    const last = numbers.next();
    const controller = new AbortController();
    const reading = (async () => {
      const { events } = createClient({
        url: running.demo.base_url,
        apiKey: account.apiKey,
        environment: 'TesteCF',
        maxRetries: 1,
      });
      for await (const event of events({ types: ['invoice.accepted'] }, { signal: controller.signal })) {
        seen.push(event);
        reached = event.id;
        if (event.type === 'invoice.accepted' && event.data.encf === last.encf) return;
      }
    })();
    while (reached === '') await new Promise((resolve) => setTimeout(resolve, 100));
    await running.end('SIGTERM');
    running = await startDeployment(dataDir, settings);
    await gateway.submit(last.invoice);
    await reading;
    // From an id, the reader gets what came after it.
    const [first, ...later] = seen.map(({ id }) => id);
    const again: string[] = [];
    for await (const { id } of gateway.events({ after: first, types: ['invoice.accepted'] })) {
      again.push(id);
      if (id === reached) break;
    }
    expect(again).toEqual(later);
    expect(new Set(seen.map(({ subject }) => subject.encf)).size).toBe(seen.length);
    await expect(all(gateway.events({ after: '9-none' }))).rejects.toMatchObject({ code: 'unknown_event' });
  });
});

import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { split } from '../src/batches.js';
import {
  type ClientOptions,
  createClient,
  GatewayError,
  type InvoiceDocument,
  isEcf31,
  isEcf34,
  unwrap,
} from '../src/index.js';

interface Seen {
  method: string;
  url: string;
  headers: http.IncomingHttpHeaders;
  body: string;
}
type Answer = (response: http.ServerResponse, seen: Seen) => unknown;

/** Answers in their order; the last one repeats. */
let answers: Answer[] = [];
let seen: Seen[] = [];
const server = http.createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const call = { method: request.method as string, url: request.url as string, headers: request.headers, body };
  seen.push(call);
  const answer = answers.length > 1 ? answers.shift() : answers[0];
  (answer as Answer)(response, call);
});
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  answers = [];
  seen = [];
});

const json =
  (status: number, body: unknown, headers: http.OutgoingHttpHeaders = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const page =
  (status: number, body: string, headers: http.OutgoingHttpHeaders = {}): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body);
/** Ends the connection without an answer. */
const drop: Answer = (response) => response.socket?.destroy();
/** Ends the connection in the middle of the body. */
const cut: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 });
  response.write('{"encf":', () => response.socket?.destroy());
};
const silence: Answer = () => undefined;

const refusal = (code: string, more: object = {}) => ({
  code,
  message: `The code is ${code}.`,
  faults: [],
  items: [],
  messages: [],
  request_id: 'request-1',
  detail: '',
  ...more,
});
const client = (options: Partial<ClientOptions> = {}) =>
  createClient({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    apiKey: 'key',
    environment: 'TesteCF',
    ...options,
  });
const INVOICE = { ECF: { Encabezado: {} } } as never;
const STORED = { encf: 'E310000000001', status: 'Aceptado' };
const failure = (call: Promise<unknown>): Promise<GatewayError> =>
  call.then(
    () => Promise.reject(new Error('The call succeeded.')),
    (error) => (error instanceof GatewayError ? error : Promise.reject(error)),
  );

describe('a submission', () => {
  it('is repeated after an answer with Retry-After, with the same generated key and the same body.', async () => {
    answers = [json(503, refusal('overloaded'), { 'retry-after': '0' }), json(200, STORED)];
    expect(await client().submit(INVOICE, { reference: 'sale-1' })).toEqual(STORED);
    const [first, second] = seen as [Seen, Seen];
    expect(first.headers['idempotency-key']).toMatch(/^[0-9a-f-]{36}$/);
    expect(second.headers['idempotency-key']).toBe(first.headers['idempotency-key']);
    expect(second.body).toBe(JSON.stringify(INVOICE));
    expect(second.headers).toMatchObject({ 'x-api-key': 'key', env: 'TesteCF', 'x-reference': 'sale-1' });
  });

  it('is repeated after connections that ended without an answer, or in the middle of it.', async () => {
    answers = [drop, cut, json(200, STORED)];
    expect(await client().submit(INVOICE, { idempotencyKey: 'sale-1' })).toEqual(STORED);
    expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual(['sale-1', 'sale-1', 'sale-1']);
  });

  it('gets a key for each call.', async () => {
    answers = [json(200, STORED)];
    const { submit } = client();
    await Promise.all([submit(INVOICE), submit(INVOICE)]);
    expect(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(2);
  });

  it('that is refused is sent once, and its error has the faults, the code and the request.', async () => {
    const fault = { path: 'ECF.Encabezado', rule: 'schema.required', code: null, message: 'missing', source: 'XSD' };
    answers = [json(400, refusal('invalid_document', { faults: [fault] }))];
    const error = await failure(client().submit(INVOICE));
    expect(error).toMatchObject({
      name: 'GatewayError',
      status: 400,
      code: 'invalid_document',
      message: 'The code is invalid_document.',
      faults: [fault],
      items: [],
      requestId: 'request-1',
      retryAfter: undefined,
      isTemporary: false,
    });
    expect(seen).toHaveLength(1);
  });

  it('whose answer has 503 without Retry-After is sent once.', async () => {
    answers = [json(503, refusal('certificate_missing'))];
    expect(await failure(client().submit(INVOICE))).toMatchObject({ status: 503, code: 'certificate_missing' });
    expect(seen).toHaveLength(1);
  });
});

describe('a repeat', () => {
  it('has an end, after which the error says when the call may succeed.', async () => {
    answers = [json(429, refusal('rate_limited'), { 'retry-after': '0' })];
    const error = await failure(client({ maxRetries: 3 }).submit(INVOICE));
    expect(error).toMatchObject({ status: 429, retryAfter: 0, isTemporary: true });
    expect(seen).toHaveLength(4);
  });

  it('is left to the caller if Retry-After is longer than two minutes.', async () => {
    answers = [json(429, refusal('rate_limited'), { 'retry-after': '3600' })];
    expect(await failure(client().submit(INVOICE))).toMatchObject({ retryAfter: 3600 });
    expect(seen).toHaveLength(1);
  });

  it('follows a Retry-After that is a date.', async () => {
    answers = [json(503, refusal('overloaded'), { 'retry-after': new Date(0).toUTCString() }), json(200, STORED)];
    expect(await client().submit(INVOICE)).toEqual(STORED);
  });

  it('is not made after a connection that ended, for a POST without an idempotency key.', async () => {
    answers = [drop];
    const error = await failure(client().POST('/batches/{batch_id}/cancel', { params: { path: { batch_id: '1' } } }));
    expect(error).toMatchObject({ status: 0, code: 'no_answer', isTemporary: true });
    expect(error.message).toContain('/batches/1/cancel');
    expect(seen).toHaveLength(1);
  });

  it('is made for a POST without an idempotency key if the answer has Retry-After.', async () => {
    answers = [json(503, refusal('service_unavailable'), { 'retry-after': '0' }), json(200, {})];
    await unwrap(client().POST('/batches/{batch_id}/cancel', { params: { path: { batch_id: '1' } } }));
    expect(seen).toHaveLength(2);
  });

  it('ends when the signal is aborted during a pause.', async () => {
    const controller = new AbortController();
    answers = [
      (response, call) => {
        json(503, refusal('overloaded'), { 'retry-after': '100' })(response, call);
        response.once('close', () => controller.abort(new Error('stopped')));
      },
    ];
    await expect(client().submit(INVOICE, { signal: controller.signal })).rejects.toThrow('stopped');
    expect(seen).toHaveLength(1);
  });

  it('is not made for a call whose signal is aborted while it waits for the answer, nor before it.', async () => {
    const controller = new AbortController();
    answers = [() => controller.abort(new Error('stopped'))];
    await expect(client().submit(INVOICE, { signal: controller.signal })).rejects.toThrow('stopped');
    await expect(client().submit(INVOICE, { signal: controller.signal })).rejects.toThrow('stopped');
    expect(seen).toHaveLength(1);
  });

  it('follows an attempt that was too slow.', async () => {
    answers = [silence, json(200, STORED)];
    expect(await client({ timeout: 300 }).submit(INVOICE)).toEqual(STORED);
    answers = [silence];
    const error = await failure(client({ timeout: 50, maxRetries: 0 }).submit(INVOICE));
    expect(error.message).toMatch(/^No answer from POST http:.*: no answer within 50 ms$/);
  });
});

describe('the upload of a batch', () => {
  it('has a longer time than other calls.', async () => {
    answers = [
      (response, call) => setTimeout(() => json(202, { batch_id: '1' })(response, call), 1_200),
      json(200, { pending: 0, in_process: 0 }),
      json(200, { results: [], next: null }),
    ];
    expect(await all(client({ timeout: 1_000, maxRetries: 0 }).batches.submit([INVOICE]))).toEqual([]);
    answers = [silence];
    const error = await failure(all(client({ batchTimeout: 50, maxRetries: 0 }).batches.submit([INVOICE])));
    expect(error.message).toMatch(/no answer within 50 ms$/);
  });
});

describe('behind a proxy', () => {
  const PAGE = '<html><head><title>502 Bad Gateway</title></head><body><h1>502</h1>nginx</body></html>';

  it('a page is an error with the status and the first words.', async () => {
    answers = [page(403, '<!doctype html><h1>Access  denied</h1>\n<p>by the firewall</p>')];
    const error = await failure(client().submit(INVOICE));
    expect(error).toMatchObject({ status: 403, code: 'unknown_answer', isTemporary: false });
    expect(error.message).toBe(
      "The answer is not the gateway's: status 403, text/html. It begins: Access denied by the firewall",
    );
    expect(seen).toHaveLength(1);
  });

  it('502, 503 and 504 of the proxy count as no answer.', async () => {
    answers = [page(502, PAGE), page(504, PAGE), json(200, STORED)];
    expect(await client().submit(INVOICE)).toEqual(STORED);
    answers = [page(502, PAGE)];
    const error = await failure(client({ maxRetries: 1 }).submit(INVOICE));
    expect(error).toMatchObject({ status: 502, isTemporary: true, body: PAGE });
    expect(error.message).toContain('502 Bad Gateway');
    expect(seen).toHaveLength(5);
  });

  it('502 of the gateway itself is final.', async () => {
    answers = [json(502, refusal('authority_unreadable'))];
    await failure(client().submit(INVOICE));
    expect(seen).toHaveLength(1);
  });

  it('a page with status 200, a redirect and an empty answer are readable errors.', async () => {
    answers = [page(200, '<title>Sign in</title>')];
    expect((await failure(client().submit(INVOICE))).message).toContain('status 200, text/html. It begins: Sign in');
    answers = [page(302, '', { location: 'https://login.example/' })];
    expect((await failure(client().submit(INVOICE))).message).toContain('redirects to https://login.example/. It has');
    answers = [(response) => response.writeHead(404).end()];
    expect((await failure(client().submit(INVOICE))).message).toContain('status 404, no content type. It has no text.');
  });

  it('a success that is not JSON is an error, and no failure of the client.', async () => {
    answers = [(response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('OK')];
    const error = await failure(client().submit(INVOICE));
    expect(error).toMatchObject({ status: 200, code: 'unknown_answer', body: 'OK', isTemporary: false });
    expect(error.message).toBe("The answer is not the gateway's: status 200, text/plain. It begins: OK");
    answers = [(response) => response.writeHead(200, { 'content-length': 0 }).end()];
    expect((await failure(client().submit(INVOICE))).message).toContain('status 200, no content type. It has no text.');
    answers = [(response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"encf":')];
    expect((await failure(client().submit(INVOICE))).message).toContain('It begins: {"encf":');
  });

  it('an answer without a body, in XML or in PDF is passed.', async () => {
    answers = [(response) => response.writeHead(204).end()];
    const removed = client().DELETE('/account/webhooks/{webhookId}', { params: { path: { webhookId: '1' } } });
    expect(await unwrap(removed)).toBeUndefined();
    const id = { issuer_rnc: '131', encf: 'E310000000001' };
    answers = [(response) => response.writeHead(200, { 'content-type': 'application/xml' }).end('<ECF/>')];
    expect(await client().invoices.xml(id)).toBe('<ECF/>');
    answers = [(response) => response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-')];
    expect(await client().invoices.pdf(id)).toEqual(new TextEncoder().encode('%PDF-'));
  });

  it('an address where no program listens is named.', async () => {
    const closed = http.createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const error = await failure(client({ url: `http://127.0.0.1:${port}`, maxRetries: 0 }).submit(INVOICE));
    expect(error.message).toBe(
      `No answer from POST http://127.0.0.1:${port}/fe_Submit: connect ECONNREFUSED 127.0.0.1:${port}`,
    );
  });
});

describe('a gateway of another version', () => {
  it('passes fields and types of events that this version does not describe.', async () => {
    const event = { id: '1-a', type: 'invoice.archived', data: { shelf: 4 }, since: '2031' };
    answers = [json(200, { ...STORED, carbon: 'none' }), json(200, { events: [event], next: '1-a', more: true })];
    expect(await client().submit(INVOICE)).toEqual({ ...STORED, carbon: 'none' });
    for await (const one of client().events()) {
      expect(one).toEqual(event);
      break;
    }
  });

  it('gives readable errors without `message` too.', async () => {
    answers = [json(404, { detail: 'The account has no such object.', code: 'not_found', request_id: 'r' })];
    const error = await failure(client().invoices.get({ issuer_rnc: '1', encf: 'E' }));
    expect(error).toMatchObject({ message: 'The account has no such object.', code: 'not_found', faults: [] });
  });
});

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

describe('a listing', () => {
  const PERIOD = { start_date: '2026-06-01', end_date: '30-06-2026' };

  it('follows the cursor to the last page.', async () => {
    answers = [
      json(200, { invoices: [{ encf: '1' }, { encf: '2' }], next_cursor: 'c' }),
      json(200, { invoices: [{ encf: '3' }], next_cursor: null }),
    ];
    const listed = await all(client().invoices.list({ issuer_rnc: '131', ...PERIOD, status: 'Rechazado', limit: 2 }));
    expect(listed.map(({ encf }) => encf)).toEqual(['1', '2', '3']);
    expect(seen.map(({ url }) => url)).toEqual([
      '/invoices?status=Rechazado&limit=2',
      '/invoices?status=Rechazado&limit=2&cursor=c',
    ]);
    expect(seen[0]?.headers).toMatchObject({
      'rnc-issuing': '131',
      'start-date': '01-06-2026',
      'end-date': '30-06-2026',
    });
  });

  it('follows `next`, or counts rows where pages are arrays.', async () => {
    answers = [json(200, { batches: [{ batch_id: '2' }], next: '2' }), json(200, { batches: [], next: null })];
    expect(await all(client().paginate('/batches', {}))).toEqual([{ batch_id: '2' }]);
    expect(seen[1]?.url).toBe('/batches?after=2');
    answers = [json(200, [{ id: 1 }, { id: 2 }]), json(200, [])];
    const listed = await all(client().paginate('/anecf', { query: { issuer_rnc: '131' } }));
    expect(listed.map(({ id }) => id)).toEqual([1, 2]);
    expect(seen[3]?.url).toBe('/anecf?issuer_rnc=131&offset=2');
  });

  it('of received documents may be empty; a taxpayer of another account is an error.', async () => {
    answers = [json(404, refusal('not_found')), json(404, refusal('taxpayer_not_found'))];
    expect(await all(client().received.list({ buyer_rnc: '131', ...PERIOD }))).toEqual([]);
    const error = await failure(all(client().received.list({ buyer_rnc: '132', ...PERIOD })));
    expect(error.code).toBe('taxpayer_not_found');
  });

  it('continues after a page that was cut off.', async () => {
    answers = [
      json(200, { invoices: [{ encf: '1' }], next_cursor: 'c' }),
      cut,
      json(200, { invoices: [{ encf: '2' }], next_cursor: null }),
    ];
    expect(await all(client().invoices.list({ issuer_rnc: '131', ...PERIOD }))).toHaveLength(2);
  });
});

describe('events', () => {
  const event = (id: string) => ({ id, type: 'invoice.accepted' });
  const EMPTY = json(200, { events: [], next: '1-a' });

  it('continue from `after` and `next`, through empty answers and outages longer than the repeats of a call.', async () => {
    answers = [
      json(200, { events: [event('1-a')], next: '1-a' }),
      json(503, refusal('service_unavailable'), { 'retry-after': '0' }),
      json(503, refusal('service_unavailable'), { 'retry-after': '0' }),
      json(503, refusal('service_unavailable'), { 'retry-after': '0' }),
      EMPTY,
      json(200, { events: [event('1-b')], next: '1-b' }),
    ];
    const ids: string[] = [];
    const { events } = client({ maxRetries: 1 });
    for await (const { id } of events({ after: '1-0', types: ['invoice.accepted', 'invoice.rejected'] })) {
      ids.push(id);
      if (id === '1-b') break;
    }
    expect(ids).toEqual(['1-a', '1-b']);
    expect(seen.map(({ url }) => new URL(url, 'http://x').searchParams.get('after'))).toEqual([
      '1-0',
      ...Array(5).fill('1-a'),
    ]);
    expect(seen[0]?.url).toContain('types=invoice.accepted%2Cinvoice.rejected&wait=20');
  });

  it('continue through the successes of a proxy: a page, a text, an empty body.', async () => {
    const wait = setTimeout;
    const fast = jest.spyOn(globalThis, 'setTimeout');
    fast.mockImplementation(((run: () => void, ms: number) => wait(run, ms === 5_000 ? 0 : ms)) as never);
    try {
      answers = [
        EMPTY,
        page(200, '<title>Maintenance</title>'),
        (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('OK'),
        (response) => response.writeHead(200, { 'content-length': 0 }).end(),
        json(200, { events: [event('1-b')], next: '1-b' }),
      ];
      for await (const { id } of client().events()) {
        expect(id).toBe('1-b');
        break;
      }
      expect(seen).toHaveLength(5);
    } finally {
      fast.mockRestore();
    }
    answers = [page(200, '<title>Sign in</title>')];
    expect(await failure(all(client().events()))).toMatchObject({ code: 'unknown_answer' });
  });

  it('end with an error if the gateway never answered, or if the answer is final.', async () => {
    answers = [drop];
    expect(await failure(all(client({ maxRetries: 1 }).events()))).toMatchObject({ code: 'no_answer' });
    expect(seen).toHaveLength(2);
    answers = [EMPTY, json(410, refusal('event_expired'))];
    expect(await failure(all(client().events({ after: '0-1' })))).toMatchObject({ code: 'event_expired' });
  });

  it('end with the signal, also while they wait.', async () => {
    const controller = new AbortController();
    answers = [EMPTY, () => controller.abort(new Error('stopped'))];
    await expect(all(client().events({}, { signal: controller.signal }))).rejects.toThrow('stopped');
  });
});

describe('batches', () => {
  /** A gateway that answers queries of a batch with these counts first, then decides it at the second query at the latest. */
  function batchGateway(...counts: { status: string; pending: number; in_process: number }[]) {
    const batches: { key: string; lines: string[]; queries: number }[] = [];
    answers = [
      (response, call) => {
        const { pathname, searchParams } = new URL(call.url, 'http://x');
        const [, , id, part] = pathname.split('/');
        const batch = batches[Number(id) - 1];
        if (call.method === 'POST') {
          batches.push({
            key: call.headers['idempotency-key'] as string,
            lines: call.body.trim().split('\n'),
            queries: 0,
          });
          return json(202, { batch_id: String(batches.length), total: 1, status_url: '' })(response, call);
        }
        if (batch === undefined) return json(404, refusal('not_found'))(response, call);
        batch.queries += 1;
        const pending = batch.queries > 1 ? 0 : batch.lines.length;
        if (part === undefined)
          return json(200, { status: pending > 0 ? 'processing' : 'done', pending, in_process: 0, ...counts.shift() })(
            response,
            call,
          );
        const after = Number(searchParams.get('after') ?? 0);
        const size = batch.lines.length > 10 ? Number(searchParams.get('limit')) : 2;
        const results = batch.lines.slice(after, after + size).map((text, index) => ({
          line: after + index + 1,
          reference: JSON.parse(text).reference,
        }));
        const last = after + results.length;
        return json(200, { count: results.length, next: last < batch.lines.length ? String(last) : null, results })(
          response,
          call,
        );
      },
    ];
    return batches;
  }
  async function* documents(count: number) {
    for (let n = 1; n <= count; n += 1) yield { ECF: {}, reference: `sale-${n}` } as never;
  }

  it('are split, and give the outcome of each document in its order, with the line counted over all of them.', async () => {
    const batches = batchGateway();
    const options = { idempotencyKey: 'june', batchSize: 3, warnings: 'refuse', validate: true } as const;
    const results = await all(client().batches.submit(documents(7), options));
    expect(results.map(({ line, reference, batch_id }) => [line, reference, batch_id])).toEqual(
      [1, 1, 1, 2, 2, 2, 3].map((batch, index) => [index + 1, `sale-${index + 1}`, String(batch)]),
    );
    expect(batches.map(({ key, lines }) => [key, lines.length])).toEqual([
      ['june-1', 3],
      ['june-2', 3],
      ['june-3', 1],
    ]);
    expect(seen[0]).toMatchObject({ url: '/batches?validate=true&warnings=refuse' });
    expect(seen[0]?.headers['content-type']).toBe('application/x-ndjson');
  });

  it('that are cancelled give the outcomes once the lines that had begun are finished.', async () => {
    const batches = batchGateway(
      { status: 'processing', pending: 2, in_process: 0 },
      { status: 'cancelled', pending: 0, in_process: 1 },
      { status: 'cancelled', pending: 0, in_process: 0 },
    );
    expect(await all(client().batches.submit(documents(2)))).toHaveLength(2);
    expect(seen.filter(({ url }) => url === '/batches/1')).toHaveLength(3);
    expect(batches).toHaveLength(1);
  });

  it('have a generated key that holds for repeats of a call.', async () => {
    batchGateway();
    answers.unshift(drop);
    await all(client().batches.submit([{ ECF: {} } as never]));
    const keys = seen.slice(0, 2).map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}-1$/);
    expect(keys[1]).toBe(keys[0]);
    expect(seen[1]?.body).toBe('{"ECF":{}}\n');
  });

  it.each([0, -1, 1.5, Number.NaN])('of %p documents are a RangeError, and none is sent.', async (batchSize) => {
    batchGateway();
    await expect(all(client().batches.submit(documents(1), { batchSize }))).rejects.toThrow(
      new RangeError(`batchSize is ${batchSize}; it must be an integer from 1.`),
    );
    expect(seen).toEqual([]);
  });

  it('take at most 10,000 documents and 100 MiB each; none is sent for no document.', async () => {
    const batches = batchGateway();
    await all(client().batches.submit(documents(10_001), { batchSize: 20_000 }));
    expect(batches.map(({ lines }) => lines.length)).toEqual([10_000, 1]);
    const large = { ECF: { text: 'x'.repeat(45 * 1024 * 1024) } };
    expect((await all(split([large, large, large], 10_000))).map((lines) => lines.length)).toEqual([2, 1]);
    expect(await all(client().batches.submit([]))).toEqual([]);
    expect(batches).toHaveLength(2);
  });
});

describe('the package', () => {
  it('tells the types of documents apart.', () => {
    const read = (name: string): InvoiceDocument =>
      JSON.parse(fs.readFileSync(new URL(`../../../examples/${name}.json`, import.meta.url), 'utf8'));
    const { ECF: note } = read('ecf-34');
    expect(isEcf34(note) && note.InformacionReferencia.NCFModificado).toBe('E310000000001');
    expect([isEcf31(note), isEcf31(read('ecf-31').ECF)]).toEqual([false, true]);
  });

  it('uses the given fetch, and imports no module of Node.', async () => {
    const calls: string[] = [];
    const { submit } = client({
      fetch: async (request) => {
        calls.push((request as Request).url);
        return Response.json(STORED);
      },
    });
    expect(await submit(INVOICE)).toEqual(STORED);
    expect(calls).toHaveLength(1);
    const folder = new URL('../src/', import.meta.url);
    for (const name of fs.readdirSync(folder).filter((file) => file.endsWith('.ts'))) {
      const imported = [...fs.readFileSync(new URL(name, folder), 'utf8').matchAll(/from '([^.'][^']*)'/g)];
      expect(imported.map(([, from]) => from).filter((from) => from !== 'openapi-fetch')).toEqual([]);
    }
  });
});

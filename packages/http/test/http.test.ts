import http from 'node:http';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { XmlStoreError } from '@ecf/archive';
import { errorBodySchema } from '@ecf/contracts';
import { ApiError, InvalidRequest } from '@ecf/kit';
import { createLogger, createMetrics } from '@ecf/kit/telemetry';
import { silentLogger } from '@ecf/test-support/services';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type express from 'express';
import { countBodies, createBodiesInFlight } from '../src/body/bodies-in-flight.js';
import { jsonBody } from '../src/body/json-body.js';
import { checkReadiness, healthRoutes, rememberReadiness } from '../src/health.js';
import { createHttpApp, writeChunk } from '../src/http-app.js';
import { callerSignal, onAnswerEnd, type RunningServer, serve } from '../src/http-server.js';
import { serveMetrics } from '../src/serve-metrics.js';

const running: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

async function start(routes: (app: express.Express) => void): Promise<RunningServer> {
  const app = createHttpApp({ logger: silentLogger, maxBodyBytes: 1_000, routes });
  const server = await serve(app, { host: '127.0.0.1', port: 0, timeouts: { drain: 1_000 } });
  running.push(server);
  return server;
}

async function get(url: string): Promise<{ status: number; headers: Headers; body: Record<string, unknown> }> {
  const response = await fetch(url);
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
}

describe('the trace of a request without an exporter', () => {
  const call = async (headers: Record<string, string>) => {
    const lines: Record<string, unknown>[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const app = createHttpApp({
      logger: createLogger({ service: 'test', destination }),
      maxBodyBytes: 1_000,
      routes: (routes) => {
        routes.get('/', (req, res) => void res.json(req.headers));
        routes.get('/broken', () => {
          throw new TypeError('broken');
        });
      },
    });
    const server = await serve(app, { host: '127.0.0.1', port: 0, timeouts: { drain: 1_000 } });
    running.push(server);
    const onward = (await (await fetch(`${server.url}/`, { headers })).json()) as Record<string, string>;
    const failed = (await (await fetch(`${server.url}/broken`, { headers })).json()) as { request_id: string };
    return { onward, failed, logged: lines.at(-1) as { trace_id: string; request_id: string } };
  };

  it("is the caller's, in the log and in forwarded calls", async () => {
    const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-00`;
    const { onward, logged } = await call({ traceparent, tracestate: 'a=b' });
    expect([onward.traceparent, onward.tracestate, logged.trace_id]).toEqual([traceparent, 'a=b', 'ab'.repeat(16)]);
  });

  it.each([undefined, 'nonsense', `00-${'0'.repeat(32)}-${'cd'.repeat(8)}-01`])(
    'follows from the request id if the traceparent of the caller is %s, which is forwarded unchanged',
    async (traceparent) => {
      const { onward, failed, logged } = await call(traceparent === undefined ? {} : { traceparent });
      expect(onward.traceparent).toBe(traceparent);
      expect(logged).toMatchObject({
        request_id: failed.request_id,
        trace_id: failed.request_id.replaceAll('-', ''),
      });
    },
  );

  it('is always the same one if the caller names the request', async () => {
    const [first, again, other] = await Promise.all(
      ['mine-1', 'mine-1', 'mine-2'].map(async (id) => (await call({ 'x-request-id': id })).logged),
    );
    expect(first).toMatchObject({ request_id: 'mine-1', trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect([again?.trace_id, other?.trace_id]).toEqual([
      first?.trace_id,
      expect.not.stringMatching(first?.trace_id ?? ''),
    ]);
  });
});

describe('errors of an app', () => {
  it('have the same form of body, with the request id and the headers of their code', async () => {
    const { url } = await start((app) => {
      app.get('/known', () => {
        throw new ApiError(409, 'encf_already_used', 'E310000000001 is used; take the next number.');
      });
      app.get('/waits', async () => {
        throw new ApiError(503, 'authority_unreachable', 'The authority does not answer; repeat.');
      });
      app.get('/faults', () => {
        const fault = {
          path: 'ECF.Encabezado',
          rule: 'schema.required',
          code: null,
          message: 'is required',
          source: 'XSD',
          severity: 'error' as const,
        };
        throw new ApiError(400, 'invalid_document', 'The document has faults.', { faults: [fault] });
      });
      app.get('/items', () => {
        throw new InvalidRequest([{ loc: ['header', 'rnc-issuing'], msg: 'is required', type: 'missing' }]);
      });
      app.get('/full/:cause', ({ params }) => {
        const cause = Object.assign(new Error('no room'), { code: params.cause });
        throw new XmlStoreError('unavailable', 'The storage of documents cannot be reached.', { cause });
      });
      app.get('/unknown', () => {
        throw new TypeError('a secret detail');
      });
    });
    const known = await get(`${url}/known`);
    expect(known.body).toEqual({
      code: 'encf_already_used',
      message: 'E310000000001 is used; take the next number.',
      faults: [],
      items: [],
      messages: ['E310000000001 is used; take the next number.'],
      request_id: known.headers.get('x-request-id'),
      detail: 'E310000000001 is used; take the next number.',
    });
    expect(known.headers.get('retry-after')).toBeNull();
    expect((await get(`${url}/waits`)).headers.get('retry-after')).toBe('10');
    expect((await get(`${url}/faults`)).body).toMatchObject({
      message: 'The document has faults.',
      messages: ['ECF.Encabezado: is required'],
      faults: [{ rule: 'schema.required' }],
      items: [],
    });
    const item = { loc: ['header', 'rnc-issuing'], msg: 'is required', type: 'missing' };
    expect(await get(`${url}/items`)).toMatchObject({
      status: 422,
      body: {
        code: 'validation_error',
        message: 'The request is not valid: header.rnc-issuing: is required.',
        messages: ['header.rnc-issuing: is required'],
        faults: [],
        items: [item],
        detail: [item],
      },
    });
    for (const [cause, code] of [
      ['ENOSPC', 'storage_full'],
      ['EDQUOT', 'storage_full'],
      ['53100', 'storage_full'],
      ['EIO', 'service_unavailable'],
    ])
      expect(await get(`${url}/full/${cause}`)).toMatchObject({ status: 503, body: { code } });
    expect((await get(`${url}/full/ENOSPC`)).headers.get('retry-after')).toBe('60');
    const unknown = await get(`${url}/unknown`);
    expect(unknown).toMatchObject({ status: 500, body: { code: 'internal_error' } });
    expect(JSON.stringify(unknown.body)).not.toContain('secret');
    expect(await get(`${url}/nowhere`)).toMatchObject({ status: 404, body: { code: 'unknown_route' } });
  });

  it('replace the answers that Node would give without a body; an upgrade is ignored', async () => {
    const { port } = await start((app) => {
      app.post('/', (req, res) => void req.resume().once('end', () => res.json({ done: true })));
    });
    const send = (text: string) =>
      new Promise<string>((resolve, reject) => {
        const socket = net.connect(port, '127.0.0.1').on('error', reject);
        let answer = '';
        socket.on('data', (data) => {
          answer += data;
        });
        socket.once('close', () => resolve(answer));
        socket.write(text);
      });
    const post = (...headers: string[]) => ['POST / HTTP/1.1', ...headers, 'Content-Length: 2', '', '{}'].join('\r\n');
    const chunked = (coding: string) => `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n`;
    const refused = /^HTTP\/1\.1 (\d+) .*^x-request-id: \S+\r\n.*^({"code":.+})$/ims;
    const answers = await Promise.all(
      [
        post(),
        // The text after the headers is neither a request nor answered.
        `${post('Host: x', 'Expect: foo')}}} x`,
        chunked('gzip, chunked'),
        post('Host: x', 'host: y'),
        'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n',
        `${post('Host: x', 'Connection: close, Upgrade', 'Upgrade: h2c')}`,
      ].map(send),
    );
    const read = answers.slice(0, 5).map((answer) => {
      const [, status, body = ''] = refused.exec(answer) ?? [];
      return [Number(status), errorBodySchema.strict().parse(JSON.parse(body)).code];
    });
    expect(read).toEqual([
      [400, 'bad_request'],
      [417, 'expectation_failed'],
      [415, 'unsupported_media_type'],
      [400, 'bad_request'],
      [405, 'method_not_allowed'],
    ]);
    for (const answer of answers.slice(0, 5)) expect(answer).toMatch(/^connection: close\r$/im);
    expect(answers[4]).toMatch(/^allow: GET, HEAD, POST, PUT, PATCH, DELETE\r$/im);
    expect(answers.map((answer) => answer.split('HTTP/1.1').length - 1)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(answers[5]).toContain('{"done":true}');
    // HTTP/1.0 does not require a Host.
    expect(await send(post().replace('1.1', '1.0'))).toContain('{"done":true}');
  });

  it('cannot be made with a status that the code does not have', () => {
    expect(() => new ApiError(500, 'not_found', 'x')).toThrow('has status 404');
  });

  it('cut off an answer that has begun, rather than end it as if it were complete', async () => {
    const { url } = await start((app) => {
      app.get('/half', (_req, res) => {
        res.write('half');
        throw new Error('broken');
      });
    });
    await expect(fetch(`${url}/half`).then((response) => response.text())).rejects.toThrow();
  });
});

describe('JSON bodies', () => {
  it('are read up to the limit, and are refused with a message that names the fault', async () => {
    const { url } = await start((app) => {
      app.post('/echo', jsonBody(100), (req: express.Request, res: express.Response) => {
        res.json({ body: req.body ?? null });
      });
    });
    const post = async (body: string, type = 'application/json') => {
      const response = await fetch(`${url}/echo`, { method: 'POST', body, headers: { 'content-type': type } });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    };
    expect(await post('{"a":"ñ"}')).toEqual({ status: 200, body: { body: { a: 'ñ' } } });
    expect(await post('')).toEqual({ status: 200, body: { body: null } });
    expect(await post('{"a":}')).toMatchObject({
      status: 400,
      body: { code: 'invalid_json', message: expect.stringContaining('JSON') },
    });
    expect(await post(`"${'x'.repeat(200)}"`)).toMatchObject({ status: 413 });
    expect(await post('{}', 'text/plain')).toMatchObject({ status: 415 });
  });
});

describe('a server', () => {
  it('names the setting if its port is in use or its address does not belong to this machine', async () => {
    const { port } = await start(() => {});
    await expect(serve(() => {}, { host: '127.0.0.1', port })).rejects.toThrow(`PORT ${port} on 127.0.0.1 is in use`);
    await expect(serve(() => {}, { host: '203.0.113.1', port: 0 })).rejects.toThrow(
      'HOST 203.0.113.1 is not an address',
    );
  });

  it('lets requests in flight end when it stops, accepts no new ones, and leaves no connection', async () => {
    let respond: (() => void) | undefined;
    const { url } = await start((app) => {
      app.get('/slow', (_req, res) => {
        respond = () => res.json({ done: true });
      });
      app.get('/quick', (_req, res) => {
        res.json({});
      });
    });
    const agent = new http.Agent({ keepAlive: true });
    await new Promise((resolve) =>
      http.get(`${url}/quick`, { agent }, (res) => res.resume().on('end', () => resolve(null))),
    );
    const slow = fetch(`${url}/slow`);
    while (respond === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    const stopped = running[0]?.stop();
    await expect(fetch(`${url}/quick`)).rejects.toThrow();
    respond();
    const answer = await slow;
    expect(await answer.json()).toEqual({ done: true });
    await stopped;
    agent.destroy();
  });

  it('cuts requests that exceed the timeout', async () => {
    const { url } = await start((app) => {
      app.get('/never', () => {});
    });
    const never = fetch(`${url}/never`).catch(() => 'cut');
    await new Promise((resolve) => setTimeout(resolve, 100));
    await running[0]?.stop();
    expect(await never).toBe('cut');
  });
});

describe('a malformed or late request', () => {
  const post = (path: string, body: string, length = body.length) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${body}`;
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  let server: RunningServer;
  const answered: number[] = [];
  beforeEach(async () => {
    answered.length = 0;
    server = await serve(
      (req, res) => {
        if (req.url === '/early') return void res.end('early');
        if (req.url === '/body') return void req.resume().once('end', () => res.end('whole'));
        if (req.url === '/begun') res.writeHead(200, { 'content-length': 10 }).write('01234');
        setTimeout(() => res.end(req.url === '/begun' ? '56789' : 'slow'), 300);
      },
      {
        host: '127.0.0.1',
        port: 0,
        timeouts: { headers: 500, request: 500, drain: 1_000 },
        onClientError: ({ status }) => answered.push(status),
      },
    );
    running.push(server);
  });

  /** Reads the answer until the server closes the connection. The peer keeps its own end open. */
  const send = async (text: string) => {
    const socket = net.connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    socket.write(text);
    await new Promise((resolve) => socket.once('end', resolve).once('error', resolve));
    return { answer, statuses: [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status)), socket };
  };
  const open = () => new Promise<number>((resolve) => server.server.getConnections((_, count) => resolve(count)));

  it('is answered with the error body, and its connection is closed whatever the peer does', async () => {
    const answers = await Promise.all(
      [get('/').slice(0, 8), '', post('/body', '{"', 10), 'HELLO\r\n\r\n'].map((text) => send(text)),
    );
    expect(answers.map(({ statuses }) => statuses)).toEqual([[408], [408], [408], [400]]);
    for (const { answer } of answers) expect(answer).toMatch(/x-request-id: (\S+)\r\n.*"request_id":"\1"/s);
    expect(answered.sort()).toEqual([400, 408, 408, 408]);
    while ((await open()) > 0) await delay(50);
    for (const { socket } of answers) socket.destroy();
  });

  it('never replaces the answer to another request; the connection closes after that answer', async () => {
    const answers = await Promise.all([
      send(`${post('/slow', 'body')}x\r\n\r\n`),
      send(`${get('/begun')}x\r\n\r\n`),
      send(`${get('/slow')}${get('/slow')}x\r\n\r\n`),
      send(post('/early', '{"', 10)),
    ]);
    expect(answers.map(({ statuses }) => statuses)).toEqual([[200], [200], [200, 200], [200]]);
    expect(answers[0]?.answer).toMatch(/^HTTP.*connection: close.*slow$/is);
    expect(answers[1]?.answer).toMatch(/\r\n\r\n0123456789$/);
    expect(answered).toEqual([]);
    for (const { socket } of answers) socket.destroy();
    while ((await open()) > 0) await delay(50);
  });

  it('is cut off while other requests are answered, even if it is one of 300', async () => {
    let connected = 0;
    server.server.on('connection', () => {
      connected += 1;
    });
    const slow = Array.from({ length: 300 }, () => send(post('/body', '{', 1_000)));
    while (connected < 300) await delay(10);
    for (let i = 0; i < 20; i += 1) expect((await fetch(`${server.url}/early`)).status).toBe(200);
    const answers = await Promise.all(slow);
    expect(answers.map(({ statuses }) => statuses)).toEqual(answers.map(() => [408]));
    for (const { socket } of answers) socket.destroy();
  });
});

describe('connections', () => {
  const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  const connect = (server: RunningServer) => {
    const socket = net.connect(server.port, '127.0.0.1').on('error', () => undefined);
    socket.write(GET);
    return socket;
  };

  it('beyond the greatest number are closed immediately', async () => {
    let refused = 0;
    const server = await serve((_req, res) => void res.end('ok'), {
      host: '127.0.0.1',
      port: 0,
      maxConnections: 2,
      timeouts: { drain: 100 },
      onRefusedConnection: () => {
        refused += 1;
      },
    });
    running.push(server);
    const open = () => {
      const socket = connect(server);
      return new Promise<string>((resolve) => {
        socket.once('data', () => resolve('answered')).once('close', () => resolve('closed'));
      });
    };
    expect([await open(), await open(), await open()]).toEqual(['answered', 'answered', 'closed']);
    expect(refused).toBe(1);
  });

  it('that do not read their answer are closed after a while, and the answer counts as cut', async () => {
    const complete: boolean[] = [];
    const server = await serve(
      (_req, res) => {
        onAnswerEnd(res, (whole) => complete.push(whole));
        // More than the system buffers for a connection that is not read.
        res.end(Buffer.alloc(32 * 1024 * 1024));
      },
      { host: '127.0.0.1', port: 0, timeouts: { inactivity: 300, drain: 100 } },
    );
    running.push(server);
    const socket = connect(server).pause();
    while (complete.length === 0) await delay(20);
    expect(complete).toEqual([false]);
    socket.destroy();
  });

  it('abort the signal of a caller that leaves, not of one that has its answer', async () => {
    const signals: AbortSignal[] = [];
    const server = await start((app) => {
      app.get('/answered', (_req, res) => {
        signals.push(callerSignal(res));
        res.json({});
      });
      app.get('/left', (_req, res) => void signals.push(callerSignal(res)));
    });
    await get(`${server.url}/answered`);
    const caller = new AbortController();
    const left = fetch(`${server.url}/left`, { signal: caller.signal }).catch((error) => error.name);
    while (signals.length < 2) await delay(5);
    caller.abort();
    expect(await left).toBe('AbortError');
    while (!signals[1]?.aborted) await delay(5);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
  });

  it('that close also end the answers that wait behind another one for their turn', async () => {
    const begun: string[] = [];
    const ended: string[] = [];
    const bodies = createBodiesInFlight();
    const server = await start((app) => {
      app.use(countBodies(bodies));
      app.post('/:name', jsonBody(1_000), async (req, res) => {
        const { name } = req.params;
        begun.push(name as string);
        onAnswerEnd(res, () => ended.push(`${name} ends`));
        callerSignal(res).addEventListener('abort', () => ended.push(`${name} is left`));
        if (name === 'first') return;
        await writeChunk(res, 'x'.repeat(1_000_000));
        ended.push(`${name} waits no longer`);
        if (callerSignal(res).aborted) ended.push(`${name} was left`);
      });
    });
    const post = (name: string) =>
      `POST /${name} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
    const socket = net.connect(server.port, '127.0.0.1').on('error', () => undefined);
    socket.write(post('first') + post('second'));
    while (begun.length < 2) await delay(5);
    expect(bodies.bytes()).toBeGreaterThanOrEqual(2 * 16 * 1024);
    socket.destroy();
    while (ended.length < 6) await delay(5);
    expect(ended.sort()).toEqual([
      'first ends',
      'first is left',
      'second ends',
      'second is left',
      'second waits no longer',
      'second was left',
    ]);
    expect(bodies.bytes()).toBe(0);
  });
});

describe('health and metrics', () => {
  it('distinguish live from ready, and name failed checks', async () => {
    let database = async (): Promise<unknown> => 1;
    const { url } = await start((app) => {
      app.use(healthRoutes(() => checkReadiness({ database: () => database(), always: async () => 1 }, 100)));
    });
    expect(await get(`${url}/health/live`)).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await get(`${url}/health/ready`)).toMatchObject({
      status: 200,
      body: { status: 'ok', checks: { database: 'ok', always: 'ok' } },
    });
    database = () => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }));
    expect(await get(`${url}/health/ready`)).toMatchObject({
      status: 503,
      body: {
        status: 'not_ready',
        checks: { database: 'ECONNREFUSED', always: 'ok' },
        code: 'service_unavailable',
        message: 'Not ready: database (ECONNREFUSED). Repeat after Retry-After.',
        faults: [],
        items: [],
        request_id: expect.any(String),
      },
    });
    database = () => new Promise(() => {});
    expect(await get(`${url}/health/ready`)).toMatchObject({
      status: 503,
      body: { checks: { database: 'no answer within 100 ms' } },
    });
  });

  it('run checks once for all requests within a second', async () => {
    let [now, checks] = [0, 0];
    let end = () => {};
    const ready = rememberReadiness(
      () =>
        new Promise((resolve) => {
          checks += 1;
          end = () => resolve({ ready: true, checks: { round: String(checks) } });
        }),
      1_000,
      () => now,
    );
    const first = [ready(), ready()];
    now = 5_000;
    first.push(ready());
    end();
    expect((await Promise.all(first)).map(({ checks }) => checks.round)).toEqual(['1', '1', '1']);
    now = 5_999;
    expect((await ready()).checks.round).toBe('1');
    now = 6_000;
    const next = ready();
    end();
    expect((await next).checks.round).toBe('2');
  });

  it('are served on their own port, measured on request, and shared by name', async () => {
    const metrics = createMetrics();
    metrics.counter({ name: 'ecf_test_total', help: 'x', labels: ['service'] }).inc({ service: 'a' });
    metrics.counter({ name: 'ecf_test_total', help: 'x', labels: ['service'] }).inc({ service: 'b' });
    const gauge = metrics.gauge({ name: 'ecf_test_depth', help: 'x' });
    metrics.onRender(async () => gauge.set(7));
    metrics.onRender(() => Promise.reject(new Error('the database is unreachable')));
    const server = await serveMetrics(metrics, { host: '127.0.0.1', port: 0, logger: silentLogger });
    running.push(server);
    const text = await (await fetch(`${server.url}/metrics`)).text();
    expect(text).toContain('ecf_test_total{service="a"} 1');
    expect(text).toContain('ecf_test_total{service="b"} 1');
    expect(text).toContain('ecf_test_depth 7');
  });
});

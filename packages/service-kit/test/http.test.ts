import { AsyncLocalStorage } from 'node:async_hooks';
import http from 'node:http';
import net from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type express from 'express';
import { onAnswerEnd } from '../src/http/answer-end.js';
import { limitBody } from '../src/http/body-limit.js';
import { Connection } from '../src/http/edge/connection.js';
import { ConnectionShares } from '../src/http/edge/connection-shares.js';
import { ApiError, InvalidRequest } from '../src/http/errors.js';
import { ExpressRequest, ExpressResponse } from '../src/http/express-app.js';
import { createHttpApp } from '../src/http/http-app.js';
import { type RunningServer, serve } from '../src/http/http-server.js';
import { jsonBody } from '../src/http/json-body.js';
import { checkReadiness, healthRoutes, rememberReadiness } from '../src/service/health.js';
import { serveMetrics } from '../src/service/serve-metrics.js';
import { createLogger } from '../src/telemetry/logger.js';
import { createMetrics } from '../src/telemetry/metrics.js';
import { silentLogger } from '../src/testing/index.js';
import { XmlStoreError } from '../src/xml-store/xml-store.js';

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
  const ask = async (headers: Record<string, string>) => {
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

  it("is the caller's, in the log and in what is passed on", async () => {
    const traceparent = `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-00`;
    const { onward, logged } = await ask({ traceparent, tracestate: 'a=b' });
    expect([onward.traceparent, onward.tracestate, logged.trace_id]).toEqual([traceparent, 'a=b', 'ab'.repeat(16)]);
  });

  it.each([undefined, 'nonsense', `00-${'0'.repeat(32)}-${'cd'.repeat(8)}-01`])(
    'follows from the id of the request where the caller names %s, and makes nobody behind sample',
    async (traceparent) => {
      const { onward, failed, logged } = await ask(traceparent === undefined ? {} : { traceparent });
      expect(onward.traceparent).toBe(traceparent);
      expect(logged).toMatchObject({
        request_id: failed.request_id,
        trace_id: failed.request_id.replaceAll('-', ''),
      });
    },
  );

  it('is always the same one where the caller names the request', async () => {
    const [first, again, other] = await Promise.all(
      ['mine-1', 'mine-1', 'mine-2'].map(async (id) => (await ask({ 'x-request-id': id })).logged),
    );
    expect(first).toMatchObject({ request_id: 'mine-1', trace_id: expect.stringMatching(/^[0-9a-f]{32}$/) });
    expect([again?.trace_id, other?.trace_id]).toEqual([
      first?.trace_id,
      expect.not.stringMatching(first?.trace_id ?? ''),
    ]);
  });
});

describe('requests and answers', () => {
  it('are what express makes of them from the beginning, and stay that in every app', async () => {
    const seen: unknown[] = [];
    const look = (req: express.Request, res: express.Response) => {
      seen.push(Object.getPrototypeOf(req), Object.getPrototypeOf(res), req.query.a);
    };
    const inner = createHttpApp({
      logger: silentLogger,
      maxBodyBytes: 1_000,
      routes: (app) =>
        app.get('/', (req, res) => {
          look(req, res);
          res.json({});
        }),
    });
    const outer = createHttpApp({
      logger: silentLogger,
      maxBodyBytes: 1_000,
      routes: (app) =>
        app.use((req, res, next) => {
          look(req, res);
          inner(req, res, next);
        }),
    });
    const listener: http.RequestListener = (req, res) => {
      look(req as express.Request, res as express.Response);
      outer(req as express.Request, res as express.Response);
    };
    const server = await serve(listener, { host: '127.0.0.1', port: 0 });
    running.push(server);
    const answer = await fetch(`${server.url}/?a=1&a=2`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('etag')).toBeNull();
    expect(answer.headers.get('x-powered-by')).toBeNull();
    const own = [ExpressRequest.prototype, ExpressResponse.prototype, ['1', '2']];
    expect(seen).toEqual([...own, ...own, ...own]);
    expect(seen[3]).toBe(ExpressRequest.prototype);
    expect(seen[6]).toBe(ExpressRequest.prototype);
  });
});

describe('errors of an app', () => {
  it('have one body, with the request id and the headers of their code', async () => {
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
        };
        throw new ApiError(400, 'invalid_document', 'The document has faults.', {
          messages: ['ECF.Encabezado: is required'],
          faults: [fault],
        });
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
      detail: 'E310000000001 is used; take the next number.',
      code: 'encf_already_used',
      request_id: known.headers.get('x-request-id'),
    });
    expect(known.headers.get('retry-after')).toBeNull();
    expect((await get(`${url}/waits`)).headers.get('retry-after')).toBe('10');
    expect((await get(`${url}/faults`)).body).toMatchObject({
      messages: ['ECF.Encabezado: is required'],
      faults: [{ rule: 'schema.required' }],
    });
    expect(await get(`${url}/items`)).toMatchObject({
      status: 422,
      body: { code: 'validation_error', detail: [{ loc: ['header', 'rnc-issuing'] }] },
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

  it('are what gets an answer that node would give by itself, without a body; an upgrade is passed over', async () => {
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
    const refused = /^HTTP\/1\.1 (\d+) .*^x-request-id: \S+\r\n.*"code":"(\w+)","request_id":"[^"]+"}$/ims;
    const answers = await Promise.all(
      [
        post(),
        // What follows as its body is no request, nor is there an answer to it.
        `${post('Host: x', 'Expect: foo')}}} x`,
        chunked('gzip, chunked'),
        post('Host: x', 'host: y'),
        'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n',
        `${post('Host: x', 'Connection: close, Upgrade', 'Upgrade: h2c')}`,
      ].map(send),
    );
    expect(answers.slice(0, 5).map((answer) => refused.exec(answer)?.slice(1))).toEqual([
      ['400', 'bad_request'],
      ['417', 'expectation_failed'],
      ['415', 'unsupported_media_type'],
      ['400', 'bad_request'],
      ['405', 'method_not_allowed'],
    ]);
    for (const answer of answers.slice(0, 5)) expect(answer).toMatch(/^connection: close\r$/im);
    expect(answers[4]).toMatch(/^allow: GET, HEAD, POST, PUT, PATCH, DELETE\r$/im);
    expect(answers.map((answer) => answer.split('HTTP/1.1').length - 1)).toEqual([1, 1, 1, 1, 1, 1]);
    expect(answers[5]).toContain('{"done":true}');
    // It can do without a Host in HTTP/1.0.
    expect(await send(post().replace('1.1', '1.0'))).toContain('{"done":true}');
  });

  it('cannot be made with a status that the code does not have', () => {
    expect(() => new ApiError(500, 'not_found', 'x')).toThrow('has status 404');
  });

  it('cut an answer that was begun, rather than end it as if it were whole', async () => {
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
  it('are read, bounded, and refused in words', async () => {
    const { url } = await start((app) => {
      app.post('/echo', ...jsonBody(100), (req: express.Request, res: express.Response) => {
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
      body: { code: 'invalid_json', detail: expect.stringContaining('JSON') },
    });
    expect(await post(`"${'x'.repeat(200)}"`)).toMatchObject({ status: 413 });
    expect(await post('{}', 'text/plain')).toMatchObject({ status: 415 });
  });
});

describe('bodies in small chunks', () => {
  it('are held to what a handler that does not read yet has room for, and come whole', async () => {
    let arriving: http.IncomingMessage | undefined;
    const server = await serve(
      (req, res) => {
        limitBody(10_000_000, 'few')(req as express.Request, res as express.Response, () => {
          arriving = req;
        });
      },
      { host: '127.0.0.1', port: 0, timeouts: { drain: 100 } },
    );
    running.push(server);
    const socket = net.connect(server.port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    const chunk = `bb8\r\n${'x'.repeat(3_000)}\r\n`;
    for (let i = 0; i < 500; i += 1) {
      socket.write(chunk);
      for (let turn = 0; turn < 3; turn += 1) await immediate();
    }
    socket.write('0\r\n\r\n');
    while (arriving === undefined) await delay(20);
    expect(arriving.readableLength).toBeLessThan(100_000);
    let bytes = 0;
    for await (const piece of arriving) bytes += (piece as Buffer).length;
    expect(bytes).toBe(1_500_000);
    socket.destroy();
  });
});

describe('a server', () => {
  it('names the setting when its port is taken, or its address is none of the machine', async () => {
    const { port } = await start(() => {});
    await expect(serve(() => {}, { host: '127.0.0.1', port })).rejects.toThrow(`PORT ${port} on 127.0.0.1 is in use`);
    await expect(serve(() => {}, { host: '203.0.113.1', port: 0 })).rejects.toThrow(
      'HOST 203.0.113.1 is not an address',
    );
  });

  it('lets requests under way end when it stops, takes no new ones, and leaves no connection', async () => {
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
    expect(answer.headers.get('connection')).toBe('close');
    await stopped;
    agent.destroy();
  });

  it('cuts what does not end in the time that is allowed', async () => {
    const { url } = await start((app) => {
      app.get('/never', () => {});
    });
    const never = fetch(`${url}/never`).catch(() => 'cut');
    await new Promise((resolve) => setTimeout(resolve, 100));
    await running[0]?.stop();
    expect(await never).toBe('cut');
  });
});

describe('answers that nobody reads', () => {
  const ONE = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
  const closed: string[] = [];
  const dropped: string[] = [];
  const serving = async (app: http.RequestListener, unreadAnswer = 60_000) => {
    const server = await serve(app, {
      host: '127.0.0.1',
      port: 0,
      timeouts: { drain: 1_000, unreadAnswer },
      onRefusedConnection: (reason) => closed.push(reason),
      onDroppedRequests: (reason, requests, address) => dropped.push(`${reason} ${requests} ${address}`),
    });
    running.push(server);
    return server;
  };
  const connect = ({ port }: RunningServer) => net.connect(port, '127.0.0.1').on('error', () => undefined);
  /** More than the system keeps of a connection that is not read. */
  const LARGE = Buffer.alloc(32 * 1024 * 1024);

  it('are made one at a time', async () => {
    let made = 0;
    const server = await serving((_req, res) => {
      made += 1;
      res.end(LARGE);
    });
    const socket = connect(server).pause();
    socket.write(ONE.repeat(40));
    while (made === 0) await delay(20);
    await delay(100);
    expect(made).toBe(1);
    socket.destroy();
  });

  it('and many more requests than any sender has under way close the connection, which is told', async () => {
    const server = await serving(() => undefined);
    const socket = connect(server);
    const closed = new Promise((resolve) => socket.once('close', () => resolve('closed')));
    socket.write(ONE.repeat(200));
    expect(await closed).toBe('closed');
    expect(dropped.splice(0).at(-1)).toBe('too_many 199 127.0.0.1');
  });

  it('nor what is behind one that closes the connection, nor behind one that its sender did not wait for', async () => {
    let answer: (() => void) | undefined;
    const server = await serving((req, res) => {
      if (req.url === '/last') res.setHeader('connection', 'close');
      answer = () => res.end('ok');
      if (req.url === '/last') answer();
    });
    const behind = connect(server);
    behind.write(ONE.replace('/', '/last') + ONE.repeat(3));
    await new Promise((resolve) => behind.once('close', resolve).resume());
    expect(dropped.splice(0)).toEqual(['closing 3 127.0.0.1']);
    const impatient = connect(server);
    answer = undefined;
    impatient.write(ONE.repeat(3));
    while (answer === undefined) await delay(20);
    impatient.destroy();
    while (dropped.length === 0) await delay(20);
    expect(dropped.splice(0)).toEqual(['lost 2 127.0.0.1']);
  });

  it('do not bar the rest of one that is read, whatever was sent behind its request', async () => {
    const server = await serving((_req, res) => {
      const piece = Buffer.alloc(256 * 1024, 'x');
      Readable.from(Array.from({ length: 32 }, () => piece)).pipe(res);
    });
    const socket = connect(server);
    let [bytes, end] = [0, ''];
    socket.on('data', (data: Buffer) => {
      bytes += data.length;
      end = data.subarray(-5).toString();
    });
    const ended = new Promise((resolve) => socket.once('close', resolve));
    socket.write(`${ONE}CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n`);
    await ended;
    expect([bytes > 8 * 1024 * 1024, end]).toEqual([true, '0\r\n\r\n']);
    while (dropped.length === 0) await delay(20);
    expect(dropped.splice(0)).toEqual(['closing 1 127.0.0.1']);
  });

  it('are cut after a while; one that is still being made is not, nor one that is read slowly', async () => {
    let finish = () => {};
    const cut = new Set<string | undefined>();
    const ended: [string | undefined, boolean][] = [];
    const server = await serving((req, res) => {
      req.socket.once('close', () => cut.add(req.url));
      onAnswerEnd(res, (complete) => ended.push([req.url, complete]));
      if (req.url === '/unread' || req.url === '/slow') return void res.end(LARGE);
      res.write('begun');
      finish = () => res.end();
    }, 300);
    const [unread, slow, waiting] = [connect(server), connect(server), connect(server)];
    unread.pause().write(ONE.replace('/', '/unread'));
    slow.write(ONE.replace('/', '/slow'));
    slow.on('data', () => {
      slow.pause();
      setTimeout(() => slow.resume(), 1);
    });
    waiting.write(ONE);
    let answer = '';
    waiting.on('data', (data) => {
      answer += data;
    });
    while (!cut.has('/unread')) await delay(20);
    await delay(300);
    expect([...cut]).toEqual(['/unread']);
    finish();
    while (!answer.endsWith('0\r\n\r\n')) await delay(20);
    // On a fast machine the slow reader has had its whole answer by now.
    const others = ended.filter(([url]) => url !== '/slow');
    expect([closed, others]).toEqual([
      ['unread'],
      [
        ['/unread', false],
        ['/', true],
      ],
    ]);
    const had = ended.length === 3;
    slow.destroy();
    while (ended.length < 3) await delay(20);
    expect(ended.find(([url]) => url === '/slow')).toEqual(['/slow', had]);
    for (const socket of [unread, waiting]) socket.destroy();
  });

  it('are not given to who closed its side meanwhile, which looks like having gone, and count as not handed over', async () => {
    const ended: boolean[] = [];
    const server = await serving((_req, res) => {
      onAnswerEnd(res, (complete) => ended.push(complete));
      setTimeout(() => res.end('ok'), 100);
    });
    const socket = connect(server);
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    socket.end(ONE);
    await new Promise((resolve) => socket.once('close', resolve));
    while (ended.length === 0) await delay(20);
    expect([answer, ended]).toEqual(['', [false]]);
  });

  it('are cut as well where a byte is taken now and then, not where enough is', () => {
    const output = { bytesWritten: 1_000_000, writeQueueSize: 1_000_000 };
    const socket = { writableLength: 1, _handle: output, on: () => undefined };
    const connection = new Connection(socket as unknown as net.Socket, '192.0.2.1');
    const looks = (taken: readonly number[]) =>
      taken.map((bytes) => {
        output.bytesWritten += bytes;
        return connection.isRead(1_000);
      });
    expect(looks([1_000, 1_000, 0, 0, 6_000, 900, 1_100, 0, 3_000, 1_000]).every(Boolean)).toBe(true);
    expect(looks(Array.from({ length: 20 }, () => 1_000)).every(Boolean)).toBe(true);
    expect(looks(Array.from({ length: 12 }, () => 100)).lastIndexOf(true)).toBe(4);
  });

  it('leave pipelined requests in order, each in the context that it came in', async () => {
    const trace = new AsyncLocalStorage<string>();
    const server = await serving((req, res) => {
      const known = trace.getStore();
      req.resume().once('end', () => setTimeout(() => res.end(`${req.url} ${known};`), 5));
    });
    const urls = Array.from({ length: 90 }, (_, i) => `/${i}`);
    const emit = server.server.emit.bind(server.server) as (event: string, ...args: unknown[]) => boolean;
    server.server.emit = (event: string, ...args: unknown[]) => {
      if (event !== 'request') return emit(event, ...args);
      return trace.run(`trace ${(args[0] as http.IncomingMessage).url}`, () => emit(event, ...args));
    };
    const socket = connect(server);
    let text = '';
    socket.on('data', (data) => {
      text += data;
    });
    // All together more than may come at once.
    for (const first of [0, 30, 60]) {
      const some = urls.slice(first, first + 30);
      socket.write(some.map((url) => `POST ${url} HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody`).join(''));
      await delay(20);
    }
    while (!text.includes('/89 trace /89;')) {
      expect(socket.destroyed).toBe(false);
      await delay(20);
    }
    expect(text.match(/\/\d+ trace \/\d+;/g)).toEqual(urls.map((url) => `${url} trace ${url};`));
    socket.write(ONE);
    while (!text.includes('/ trace /;')) await delay(20);
    socket.destroy();
  });
});

describe('a connection on which requests are answered before their bodies are complete', () => {
  it('closes however many they were', () => {
    const socket = new net.Socket();
    const connection = new Connection(socket, '192.0.2.1');
    for (let i = 0; i < 20_000; i += 1) {
      const req = { socket, complete: false };
      const res = new http.ServerResponse(req as unknown as http.IncomingMessage);
      connection.take(res.req, res, () => res.emit('finish'));
      req.complete = true;
      res.emit('close');
    }
    socket.destroySoon();
    expect(socket.writableEnded).toBe(true);
  });

  it('closes at once after a whole request, and after a part of one reads on before it closes', async () => {
    const server = await serve((_req, res) => void res.end('ok'), { host: '127.0.0.1', port: 0 });
    running.push(server);
    const whole = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const part = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n';
    for (const [head, body] of [
      [whole, ''],
      [`${part}Connection: close\r\n\r\n`, 'x'.repeat(5_000_000)],
    ] as const) {
      const socket = net.connect(server.port, '127.0.0.1');
      let [answers, text] = [0, ''];
      socket.on('data', (data) => {
        text += data;
        if (answers >= 50 || !text.endsWith('ok')) return;
        answers += 1;
        socket.write(`y}${answers < 50 ? early : head + body}`);
      });
      const early = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n{x';
      socket.write(early);
      await new Promise((resolve, reject) => socket.once('close', resolve).once('error', reject));
      expect(text.match(/HTTP\/1.1 200 OK/g)).toHaveLength(51);
    }
  });
});

describe('what is no request, or not complete in time', () => {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const post = (path: string, body: string, length = body.length) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n${body}`;
  /** `/slow` is answered after a while, `/begun` in two parts; `/body` when its body is there, `/early` at once. */
  const app: http.RequestListener = (req, res) => {
    if (req.url === '/early') return void res.end('early');
    if (req.url === '/body') return void req.resume().once('end', () => res.end('whole'));
    if (req.url === '/begun') res.writeHead(200, { 'content-length': 10 }).write('01234');
    setTimeout(() => res.end(req.url === '/begun' ? '56789' : 'slow'), 300);
  };
  let server: RunningServer;
  const told: number[] = [];
  const dropped: number[] = [];
  beforeEach(async () => {
    const timeouts = { headers: 500, request: 500, drain: 1_000 };
    server = await serve(app, {
      host: '127.0.0.1',
      port: 0,
      timeouts,
      onUnreadableRequest: (t) => told.push(t.status),
      onDroppedRequests: (_reason, requests) => dropped.push(requests),
    });
    running.push(server);
    for (const list of [told, dropped]) list.length = 0;
  });
  const open = () => new Promise<number>((resolve) => server.server.getConnections((_, count) => resolve(count)));

  /** What comes back, by an end of our own that stays open, until the server closes. */
  const send = async (text: string, more: (text: string) => string = () => '') => {
    const socket = net.connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
    let [answer, sent] = ['', ''];
    socket.on('data', (data) => {
      answer += data;
      const next = more(answer);
      if (next === '' || sent !== '') return;
      sent = next;
      socket.write(next);
    });
    socket.write(text);
    await new Promise((resolve, reject) => socket.once('end', resolve).once('error', reject));
    const statuses = [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
    return { answer, statuses, socket };
  };

  it('is answered, and its connection closed whatever the peer does', async () => {
    const asked = [get('/').slice(0, 8), '', post('/body', '{"', 10), 'HELLO\r\n\r\n'].map((text) => send(text));
    const answers = await Promise.all(asked);
    expect(answers.map(({ statuses }) => statuses)).toEqual([[408], [408], [408], [400]]);
    expect(told.sort()).toEqual([400, 408, 408, 408]);
    expect(await open()).toBeGreaterThan(0);
    while ((await open()) > 0) await delay(50);
    for (const { socket } of answers) socket.destroy();
  });

  it('neither replaces the answer under way nor is written into it; the connection closes after that', async () => {
    const answers = await Promise.all([
      send(`${post('/slow', 'body')}x\r\n\r\n`),
      send(`${get('/begun')}x\r\n\r\n`),
      send(get('/begun'), () => 'x\r\n\r\n'),
      send(`${get('/slow')}${get('/slow')}x\r\n\r\n`),
      send(post('/early', '{"', 10)),
    ]);
    expect(answers.map(({ statuses }) => statuses)).toEqual(answers.map(() => [200]));
    expect(answers[0]?.answer).toMatch(/^HTTP.*connection: close.*slow$/is);
    for (const { answer } of answers.slice(1, 3)) expect(answer).toMatch(/\r\n\r\n0123456789$/);
    for (const { socket } of answers) socket.destroy();
    while (dropped.length < 4) await delay(20);
    expect([told, dropped.sort()]).toEqual([[], [1, 1, 1, 2]]);
  });

  it('is not late for the time in which we read nothing', async () => {
    const eight = get('/slow').repeat(7) + get('/slow').slice(0, 8);
    const answered = (text: string) => text.split('slow').length - 1;
    // Of the sixth the head is read when nothing waits any more, 1.2 s after its first bytes; nor is its body late then.
    const six = `${get('/slow').repeat(5)}POST`;
    const rest = post('/body', '', 4).slice(4).replace('\r\n', '\r\nConnection: close\r\n');
    const sixth = async () => {
      const socket = net.connect(server.port, '127.0.0.1');
      let answer = '';
      socket.on('data', (data) => {
        answer += data;
      });
      server.server.once('connection', (held: net.Socket) =>
        setTimeout(() => {
          const late = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
          server.server.emit('clientError', late, held);
        }, 650),
      );
      socket.write(six);
      setTimeout(() => socket.write(rest), 100);
      setTimeout(() => socket.write('body'), 1_400);
      await new Promise((resolve) => socket.once('close', resolve));
      return answer;
    };
    const [sixAnswers, late, complete] = await Promise.all([
      sixth(),
      send(eight),
      send(eight, (text) =>
        answered(text) < 7 ? '' : get('/slow').slice(8).replace('\r\n', '\r\nConnection: close\r\n'),
      ),
    ]);
    expect(sixAnswers.match(/200 OK|slow|whole/g)).toEqual(
      [...Array(5).fill(['200 OK', 'slow']), '200 OK', 'whole'].flat(),
    );
    expect(late.statuses).toEqual([...Array(7).fill(200), 408]);
    expect(complete.statuses).toEqual(Array(8).fill(200));
    for (const { socket } of [late, complete]) socket.destroy();
  });
});

describe('connections, where all are taken', () => {
  const shares = (max: number, perSender: number) => {
    const counted = new ConnectionShares(max, { max: perSender, isProxy: (address) => address === '10.0.0.1' });
    const names = new Map<Connection, string>();
    const add = (address: string, name = address) => {
      const connection = new Connection(new net.Socket(), address);
      names.set(connection, name);
      const place = counted.add(connection, address);
      const told = 'refused' in place ? place.refused : place.closing && names.get(place.closing);
      return { connection, told };
    };
    return { counted, add, told: (address: string, name?: string) => add(address, name).told };
  };

  it('are those of whoever has most, first the one on which longest nothing was answered', () => {
    const { counted, add, told } = shares(6, 5);
    const first = add('192.0.2.1', 'first');
    for (const name of ['second', 'third', 'fourth']) expect(told('192.0.2.1', name)).toBeNull();
    expect([told('192.0.2.2'), told('192.0.2.2')]).toEqual([null, null]);
    counted.answered(first.connection);
    expect(told('192.0.2.1')).toBe('all');
    expect(told('192.0.2.3')).toBe('second');
    expect(told('192.0.2.4')).toBe('third');
    expect(told('192.0.2.3')).toBe('all');
    // A proxy has no share of its own, and finds a place as anybody who has none.
    expect([told('10.0.0.1'), told('10.0.0.1')]).toEqual(['192.0.2.2', 'fourth']);
    expect(told('192.0.2.9')).toBe('all');
    counted.remove(first.connection);
    counted.remove(first.connection);
    expect([told('192.0.2.9'), told('192.0.2.8')]).toEqual([null, 'all']);
  });

  it('give way first where no answer is being made', () => {
    const { counted, add, told } = shares(5, 5);
    const [first, second, third] = ['first', 'second', 'third', 'fourth'].map((name) => add('192.0.2.1', name));
    for (const made of [first, second, third]) if (made !== undefined) counted.begun(made.connection);
    expect([told('192.0.2.2'), told('192.0.2.3')]).toEqual([null, 'fourth']);
    if (second !== undefined) counted.answered(second.connection);
    expect(told('192.0.2.4')).toBe('second');
    // Two of one and one of each other: the next would be as many.
    expect(told('192.0.2.4')).toBe('all');
    expect(told('192.0.2.5')).toBe('first');
    if (third !== undefined) counted.remove(third.connection);
    expect([told('192.0.2.6'), told('192.0.2.7')]).toEqual([null, 'all']);
  });

  it('of an IPv6 /48 are bounded and give way together', () => {
    const { told } = shares(10, 2);
    const subnet = (i: number) => told(`2001:db8:7:${i}::1`, `${i}`);
    expect([subnet(1), subnet(1), subnet(1)]).toEqual([null, null, 'sender']);
    expect([2, 3, 4, 5, 6, 7].map(subnet)).toEqual(Array(6).fill(null));
    expect(subnet(8)).toBe('sender');
    expect([told('192.0.2.1'), told('192.0.2.2'), told('192.0.2.3')]).toEqual([null, null, '1']);
    expect(told('2001:db8:8::1')).toBe('1');
  });

  it('are closed for a newcomer that has none', async () => {
    const closed: string[] = [];
    const server = await serve((_req, res) => void res.end('ok'), {
      host: '127.0.0.1',
      port: 0,
      maxConnections: 4,
      timeouts: { drain: 100 },
      onRefusedConnection: (reason, address) => closed.push(`${reason} ${address}`),
    });
    running.push(server);
    const open = (localAddress: string) => {
      const socket = net.connect({ port: server.port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      return new Promise<string>((resolve) => {
        socket.once('data', () => resolve('answered')).once('close', () => resolve('closed'));
      });
    };
    for (let i = 0; i < 4; i += 1) expect(await open('127.0.0.1')).toBe('answered');
    expect(await open('127.0.0.1')).toBe('closed');
    expect(await open('127.0.0.2')).toBe('answered');
    expect(closed).toEqual(['all 127.0.0.1', 'gave_way 127.0.0.1']);
  });
});

describe('health and metrics', () => {
  it('tell live from ready, naming what is not', async () => {
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
      body: { status: 'not_ready', checks: { database: 'ECONNREFUSED', always: 'ok' } },
    });
    database = () => new Promise(() => {});
    expect(await get(`${url}/health/ready`)).toMatchObject({
      status: 503,
      body: { checks: { database: 'no answer within 100 ms' } },
    });
  });

  it('ask once for all who ask within a second', async () => {
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
    expect((await Promise.all(first)).map((told) => told.checks.round)).toEqual(['1', '1', '1']);
    now = 5_999;
    expect((await ready()).checks.round).toBe('1');
    now = 6_000;
    const next = ready();
    end();
    expect((await next).checks.round).toBe('2');
  });

  it('are served on a port of their own, looked up when asked for, and shared by name', async () => {
    const metrics = createMetrics();
    metrics.counter({ name: 'ecf_test_total', help: 'x', labels: ['service'] }).inc({ service: 'a' });
    metrics.counter({ name: 'ecf_test_total', help: 'x', labels: ['service'] }).inc({ service: 'b' });
    const gauge = metrics.gauge({ name: 'ecf_test_depth', help: 'x' });
    metrics.onRender(async () => gauge.set(7));
    metrics.onRender(() => Promise.reject(new Error('the database is away')));
    const server = await serveMetrics(metrics, { host: '127.0.0.1', port: 0, logger: silentLogger });
    running.push(server);
    const text = await (await fetch(`${server.url}/metrics`)).text();
    expect(text).toContain('ecf_test_total{service="a"} 1');
    expect(text).toContain('ecf_test_total{service="b"} 1');
    expect(text).toContain('ecf_test_depth 7');
  });
});

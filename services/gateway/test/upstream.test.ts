import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RunningServer, serve } from '@ecf/http';
import { beginPost, chunkOf } from '@ecf/test-support/raw-posts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { echoService, type GatewayUnderTest, makeAccount, startGateway } from './gateway-under-test.js';

let service: RunningServer;
let under: GatewayUnderTest;
let key: string;
const opened: { close(): void }[] = [];

beforeAll(async () => {
  service = await serve(echoService('emission'), { host: '127.0.0.1', port: 0 });
  under = await startGateway({ EMISSION_URL: service.url }, { upstreams: {} });
  ({ key } = await makeAccount(under, '131000001'));
});
afterEach(() => {
  for (const server of opened.splice(0)) server.close();
});
afterAll(async () => {
  await under.stop();
  await service.stop();
});

/** A gateway with a service that behaves as configured. */
async function before(
  listener: http.RequestListener,
  settings: Record<string, string> = {},
): Promise<GatewayUnderTest> {
  const server = http.createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const gateway = await startGateway(
    { DATABASE_URL: under.config.DATABASE_URL, EMISSION_URL: url, ...settings },
    { upstreams: {} },
  );
  opened.push({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return gateway;
}

describe('a service behind HTTP', () => {
  it('gets body, query, request id and identity, and neither the key nor headers of the connection', async () => {
    const answer = await under.call('POST', '/fe_Submit/?validate=true&validate=%20y', {
      key,
      headers: { env: 'CerteCF', 'x-request-id': 'mine-1', 'x-ecf-identity': 'forged', te: 'trailers' },
      body: 'a body',
    });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        service: 'emission',
        url: '/fe_Submit?validate=true&validate=%20y',
        api_key: null,
        body: 'a body',
        request_id: 'mine-1',
        caller: { kind: 'account', env: 'CerteCF' },
      },
    });
    expect(answer.headers.get('x-request-id')).toBe('mine-1');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('gets no header that Connection names, unless the gateway sets it, and returns none', async () => {
    const arrived: http.IncomingHttpHeaders[] = [];
    const gateway = await before((req, res) => {
      arrived.push(req.headers);
      req.resume();
      res.writeHead(200, { connection: 'keep-alive, X-Hop, x-request-id', 'x-hop': 'a', 'x-kept': 'b' }).end('{}');
    });
    const named =
      'X-Hop , cookie,,CONTENT-TYPE, x-ecf-identity, x-forwarded-for, x-request-id, content-length, "x-kept"';
    const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const request = http.request(`${gateway.url}/fe_Submit`, {
        method: 'POST',
        agent: false,
        headers: {
          connection: named,
          'x-api-key': key,
          'x-hop': 'a',
          cookie: 'a=b',
          'content-type': 'application/json',
          'content-length': '2',
          'x-request-id': 'mine-2',
          'x-forwarded-for': '203.0.113.9',
          'x-kept': 'b',
        },
      });
      request.on('response', resolve).on('error', reject).end('{}');
    });
    answer.resume();
    expect(arrived).toMatchObject([
      {
        'x-kept': 'b',
        'x-request-id': 'mine-2',
        'x-forwarded-for': '127.0.0.1',
        'x-ecf-identity': expect.stringMatching(/./),
      },
    ]);
    for (const name of ['x-hop', 'cookie', 'content-type']) expect(arrived[0]).not.toHaveProperty(name);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers).toMatchObject({ 'x-kept': 'b', 'x-request-id': 'mine-2' });
    expect(answer.headers).not.toHaveProperty('x-hop');
    await gateway.stop();
  });

  it('reads a body of a method that has none as a body, never as another request', async () => {
    const arrived: string[] = [];
    const gateway = await before(async (req, res) => {
      let body = '';
      for await (const chunk of req) body += chunk;
      arrived.push(`${req.method} ${req.url} ${body}`);
      res.end('{}');
    });
    const other = 'GET /other HTTP/1.1\r\nhost: a\r\n\r\n';
    for (const headers of [
      { 'content-length': other.length },
      { 'content-length': other.length, connection: 'content-length' },
      { 'transfer-encoding': 'chunked' },
    ]) {
      const status = await new Promise((resolve, reject) => {
        const request = http.request(`${gateway.url}/batches`, {
          agent: false,
          headers: { 'x-api-key': key, ...headers },
        });
        request
          .on('response', (answer) => resolve(answer.resume().statusCode))
          .on('error', reject)
          .end(other);
      });
      expect(status).toBe(200);
      // On the same connection: a request that the body hides would be answered first.
      expect((await gateway.call('GET', '/contingency', { key })).status).toBe(200);
    }
    await gateway.stop();
    const once = [`GET /batches ${other}`, 'GET /contingency '];
    expect(arrived).toEqual([...once, ...once, ...once]);
  });

  it('that has its own limit reports what is left of it beside the limit of the key', async () => {
    const gateway = await before(
      (_req, res) =>
        res.writeHead(200, { ratelimit: '"account";r=1;t=1', 'ratelimit-policy': '"account";q=2;w=1' }).end(),
      { RATE_LIMIT_PER_KEY: '5' },
    );
    const { headers } = await gateway.call('GET', '/obtain_token', { key });
    expect(headers.get('ratelimit')).toBe('"key";r=4;t=1, "account";r=1;t=1');
    expect(headers.get('ratelimit-policy')).toBe('"key";q=5;w=1, "account";q=2;w=1');
    await gateway.stop();
  });

  it('gets chunks that arrived together as one, and no body of more than 16,384 tiny chunks', async () => {
    const bodies: { chunks: number; bytes: number }[] = [];
    const gateway = await before((req, res) => {
      const body = { chunks: 0, bytes: 0 };
      bodies.push(body);
      req.on('data', (chunk) => {
        body.chunks += 1;
        body.bytes += chunk.length;
      });
      req.on('end', () => res.writeHead(200, { 'content-type': 'application/json' }).end('{"code":"read"}'));
    });
    const begin = (wire: string) => beginPost(`${gateway.url}/fe_Submit`, { 'x-api-key': key }, wire);
    const small = begin(`${chunkOf(' ').repeat(10_000)}0\r\n\r\n`);
    expect(await small.answer()).toMatchObject({ status: 200, code: 'read' });
    expect(bodies[0]?.bytes).toBe(10_000);
    expect(bodies[0]?.chunks).toBeLessThan(1_000);
    const large = begin(chunkOf(' ').repeat(20_000));
    expect(await large.answer()).toMatchObject({ status: 400, code: 'bad_request' });
    await large.closed;
    for (const { bytes } of bodies.slice(1)) expect(bytes).toBeLessThan(20_000);
    small.socket.destroy();
    await gateway.stop();
  });

  it.each([503, 429])(
    'that answers %i before the body has ended gets no more of it, and its sender is cut off',
    async (status) => {
      const gateway = await before((_req, res) => {
        res.writeHead(status, { 'content-type': 'application/json', 'retry-after': '5' }).end('{"code":"overloaded"}');
      });
      const request = beginPost(`${gateway.url}/fe_Submit`, { 'x-api-key': key }, chunkOf('x'.repeat(100_000)));
      expect(await request.answer()).toMatchObject({ status, code: 'overloaded' });
      await request.closed;
      await gateway.stop();
    },
  );

  it('answers many requests at the same time, large and small', async () => {
    const sizes = Array.from({ length: 60 }, (_, i) => (i % 6 === 0 ? 3_000_000 : i));
    const answers = await Promise.all(
      sizes.map((size) => under.call('POST', '/submit_ecf', { key, body: Buffer.alloc(size) })),
    );
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
    expect(answers[0]?.body.body).toBe('3000000 bytes');
  });

  it('is shown in the gateway’s readiness', async () => {
    const sick = await before((_req, res) => {
      res.statusCode = 503;
      res.end('{}');
    });
    expect(await sick.call('GET', '/health/ready')).toMatchObject({
      status: 503,
      body: { checks: { database: 'ok', emission: 'failed' } },
    });
    await sick.stop();
  });

  it('that is down is 503 with Retry-After, and refuses nothing afterwards', async () => {
    const gone = await startGateway(
      { DATABASE_URL: under.config.DATABASE_URL, EMISSION_URL: 'http://127.0.0.1:1' },
      { upstreams: {} },
    );
    const answer = await gone.call('POST', '/fe_Submit', { key, body: 'x'.repeat(100_000) });
    expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    expect(answer.headers.get('retry-after')).toBe('5');
    await gone.stop();
  });

  it('that cuts the connection before an answer is 503; a query is repeated once on a new connection', async () => {
    let calls = 0;
    const cutting = await before((req, res) => {
      calls += 1;
      if (calls === 1) res.end('{}');
      else if (calls === 2 || req.method === 'POST') req.socket.destroy();
      else res.end('{}');
    });
    expect(await cutting.call('GET', '/obtain_token', { key })).toMatchObject({ status: 200 });
    expect(await cutting.call('GET', '/obtain_token', { key })).toMatchObject({ status: 200 });
    expect(calls).toBe(3);
    expect(await cutting.call('POST', '/fe_Submit', { key, body: 'x' })).toMatchObject({ status: 503 });
    await cutting.stop();
  });

  it('that fails within a large body is 503, and the rest of the body is taken, so that the connection stays usable', async () => {
    const failing = await before((req) => void req.once('data', () => req.socket.destroy()));
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    for (let round = 0; round < 2; round += 1) {
      const request = http.request(`${failing.url}/fe_Submit`, {
        method: 'POST',
        agent,
        headers: { 'x-api-key': key },
      });
      const answered = new Promise<http.IncomingMessage>((resolve, reject) => {
        request.once('response', resolve).once('error', reject);
      });
      // The caller reads the answer after it has sent everything.
      const sent = new Promise<void>((resolve) => request.once('finish', () => resolve()));
      request.end(Buffer.alloc(9_000_000));
      const [answer] = await Promise.all([answered, sent]);
      expect(answer.statusCode).toBe(503);
      answer.resume();
    }
    agent.destroy();
    await failing.stop();
  });

  it('that answers before it has read the body has its answer passed on, and the connection stays usable', async () => {
    const refusing = await before((req, res) => {
      res.writeHead(429, { 'content-type': 'application/json', 'retry-after': '7' });
      res.end('{"code":"rate_limited"}');
      req.resume();
    });
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    for (let round = 0; round < 3; round += 1) {
      const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
        const headers = { 'x-api-key': key };
        const request = http.request(`${refusing.url}/fe_Submit`, { method: 'POST', agent, headers }, resolve);
        request.on('error', reject);
        request.end(Buffer.alloc(500_000));
      });
      expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '7']);
      answer.resume();
    }
    agent.destroy();
    await refusing.stop();
  });

  it('that sends no bytes is given up after the timeout', async () => {
    const silent = await before(() => {}, { UPSTREAM_TIMEOUT_MS: '1000' });
    expect(await silent.call('GET', '/obtain_token', { key })).toMatchObject({
      status: 503,
      body: { code: 'service_unavailable' },
    });
    await silent.stop();
  });

  it('that stops within its answer ends the caller’s connection, so that no partial answer looks complete', async () => {
    const breaking = await before((_req, res) => {
      res.writeHead(200, { 'content-length': '1000' });
      res.write('half');
      setTimeout(() => res.destroy(), 20);
    });
    await expect(breaking.call('GET', '/obtain_token', { key })).rejects.toThrow();
    await breaking.stop();
  });

  it('that waits for hundreds of slow bodies still answers others', async () => {
    const SLOW = 600;
    let waiting = 0;
    const behind = await before(
      (req, res) => {
        if (req.method === 'POST') waiting += 1;
        else res.end('{}');
      },
      { RATE_LIMIT_PER_KEY: '0', RATE_LIMIT_PER_SENDER: '0' },
    );
    const slow = Array.from({ length: SLOW }, () => {
      const request = http.request(`${behind.url}/fe_Submit`, {
        method: 'POST',
        agent: false,
        headers: { 'x-api-key': key, 'content-type': 'application/json', 'content-length': '1000' },
      });
      request.on('error', () => {});
      request.write('{');
      return request;
    });
    while (waiting < SLOW) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await behind.call('GET', '/obtain_token', { key })).toMatchObject({ status: 200 });
    for (const request of slow) request.destroy();
    await behind.stop();
  });

  it('notices when the caller disconnects', async () => {
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    let closed = false;
    const waiting = await before((_req, res) => {
      res.on('close', () => {
        closed = true;
      });
      arrived();
    });
    const abort = new AbortController();
    const call = fetch(`${waiting.url}/obtain_token`, { headers: { 'x-api-key': key }, signal: abort.signal }).catch(
      () => 'gone',
    );
    await arrival;
    abort.abort();
    expect(await call).toBe('gone');
    while (!closed) await new Promise((resolve) => setTimeout(resolve, 5));
    await waiting.stop();
  });
});

describe('an orderly stop', () => {
  it('lets requests in flight end', async () => {
    let arrived = (_answer: () => void) => {};
    const request = new Promise<() => void>((resolve) => {
      arrived = resolve;
    });
    const slow = await before((_req, res) => arrived(() => res.end('{"done":true}')));
    const call = slow.call('GET', '/obtain_token', { key });
    const respond = await request;
    const stopped = slow.stop();
    setTimeout(respond, 100);
    expect(await call).toMatchObject({ status: 200 });
    await stopped;
  });
});

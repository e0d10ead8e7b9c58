/** Network faults and broken servers: a call never rejects or throws, and no secret leaks. */
import { gzipSync } from 'node:zlib';
import type { Environment } from '@ecf/domain';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  type AuthorityClient,
  type AuthorityClientOptions,
  authorityEndpoints,
  type CallReport,
  createAuthorityClient,
} from '../src/index.js';
import { deadAddress, type Handler, httpAnswer, type RawServer, startRawServer } from './raw-server.js';
import { serverCertificate } from './server-certificate.js';

const JSON_TYPE = 'application/json; charset=utf-8';
const ACCEPTED = '{"codigo":"1","estado":"Aceptado","mensajes":[],"encf":"E310000000001"}';
const RECEIVED = '{"trackId":"d2b6e27c-b6b1-4f5a-9d0e-8a5d3f4b2c10","error":null,"mensaje":null}';
const submission = { env: 'TesteCF', token: 'secret-token-1', issuerRnc: '101672919', encf: 'E310000000001' } as const;
const query = { ...submission, trackId: 'd2b6e27c' } as const;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function server(handle: Handler, tlsOptions?: Parameters<typeof startRawServer>[1]): Promise<RawServer> {
  const started = await startRawServer(handle, tlsOptions);
  closers.push(() => started.stop());
  return started;
}

function clientFor(url: string, options: Partial<AuthorityClientOptions> = {}): AuthorityClient {
  const client = createAuthorityClient({
    endpoints: authorityEndpoints(url),
    userAgent: 'ecf-test/1',
    circuit: false,
    ...options,
  });
  closers.push(() => client.close());
  return client;
}

const connectionLost = { outcome: 'unknown', cause: 'connection', reachedAuthority: 'maybe', raw: null };

describe('the request cannot have arrived', () => {
  it('reports that nothing listens at the address', async () => {
    const client = clientFor(await deadAddress());
    expect(await client.submitDocument({ ...submission, xml: '<ECF/>' })).toMatchObject({
      outcome: 'unknown',
      cause: 'connection',
      reachedAuthority: 'no',
      raw: null,
      detail: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('reports an untrusted certificate of the server', async () => {
    const { tls } = serverCertificate('receiver.test');
    const { url, requests } = await server((_, socket) => socket.end(), tls);
    const answer = await clientFor(url).submitDocument({ ...submission, xml: '<ECF/>' });
    expect(answer).toMatchObject({ outcome: 'unknown', cause: 'connection', reachedAuthority: 'no' });
    expect(requests).toHaveLength(0);
  });

  it('reports a TLS handshake that never ends', async () => {
    const { port } = await server(() => undefined);
    const client = clientFor(`https://127.0.0.1:${port}`, { timeouts: { connectMs: 100 } });
    const answer = await client.submitDocument({ ...submission, xml: '<ECF/>' });
    expect(answer).toMatchObject({ outcome: 'unknown', cause: 'timeout', reachedAuthority: 'no' });
  });

  it('reports a call aborted before it began', async () => {
    const { url, requests } = await server((_, socket) => socket.end());
    const answer = await clientFor(url).queryResult({ ...query, signal: AbortSignal.abort() });
    expect(answer).toMatchObject({ outcome: 'unknown', cause: 'aborted', reachedAuthority: 'no' });
    expect(requests).toHaveLength(0);
  });

  it.each([
    ['queryState', { ...submission, env: 'CerteCF' }],
    ['queryTrackIds', { ...submission, env: 'CerteCF' }],
    ['submitCancellation', { ...submission, env: 'CerteCF', xml: '<ANECF/>' }],
    ['listDirectory', { env: 'CerteCF', token: 't' }],
    ['findInDirectory', { env: 'CerteCF', token: 't', rnc: '101672919' }],
  ] as const)('%s does not exist in the certification environment', async (operation, input) => {
    const { url, requests } = await server((_, socket) => socket.end());
    const method = clientFor(url)[operation] as (input: { env: Environment }) => Promise<unknown>;
    expect(await method(input)).toMatchObject({ outcome: 'refused', code: 'service_not_in_environment', raw: null });
    expect(requests).toHaveLength(0);
  });

  it('does not send a token that no header can carry', async () => {
    const { url, requests } = await server((_, socket) => socket.end());
    const answer = await clientFor(url).queryResult({ ...query, token: 'a\r\nX-Other: b' });
    expect(answer).toEqual({ outcome: 'unauthorized', raw: null });
    expect(requests).toHaveLength(0);
  });
});

describe('the request may have arrived', () => {
  it('cut after it was read', async () => {
    const { url } = await server((_, socket) => socket.destroy());
    expect(await clientFor(url).submitDocument({ ...submission, xml: '<ECF/>' })).toMatchObject(connectionLost);
  });

  it('reset after it was read', async () => {
    const { url } = await server((_, socket) => socket.resetAndDestroy());
    expect(await clientFor(url).submitDocument({ ...submission, xml: '<ECF/>' })).toMatchObject(connectionLost);
  });

  it('half an answer, shorter than its Content-Length', async () => {
    const { url } = await server((_, socket) => {
      const whole = httpAnswer('200 OK', JSON_TYPE, RECEIVED);
      socket.end(whole.subarray(0, whole.length - 20));
    });
    expect(await clientFor(url).submitDocument({ ...submission, xml: '<ECF/>' })).toMatchObject(connectionLost);
  });

  it('half a chunked answer', async () => {
    const { url } = await server((_, socket) =>
      socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${RECEIVED.length.toString(16)}\r\n${RECEIVED}`),
    );
    expect(await clientFor(url).submitDocument({ ...submission, xml: '<ECF/>' })).toMatchObject(connectionLost);
  });

  it('an answer that ends with the connection, in the middle of its JSON', async () => {
    const { url } = await server((_, socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${RECEIVED.slice(0, 40)}`));
    const answer = await clientFor(url).submitDocument({ ...submission, xml: '<ECF/>' });
    expect(answer).toMatchObject({ outcome: 'unknown', cause: 'not_a_verdict', reachedAuthority: 'maybe' });
  });

  it('bytes that are not HTTP', async () => {
    const { url } = await server((_, socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    expect(await clientFor(url).submitDocument({ ...submission, xml: '<ECF/>' })).toMatchObject(connectionLost);
  });

  it('no answer at all', async () => {
    const { url, requests } = await server(() => undefined);
    const client = clientFor(url, { timeouts: { responseMs: 100 } });
    const answer = await client.submitDocument({ ...submission, xml: '<ECF/>' });
    expect(answer).toMatchObject({ outcome: 'unknown', cause: 'timeout', reachedAuthority: 'maybe', raw: null });
    expect(requests).toHaveLength(1);
  });

  it('an answer that drips', async () => {
    const { url } = await server((_, socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
      const timer = setInterval(() => socket.write(' '), 10);
      socket.on('close', () => clearInterval(timer));
    });
    const answer = await clientFor(url, { timeouts: { totalMs: 150 } }).queryResult(query);
    expect(answer).toMatchObject({ outcome: 'unknown', cause: 'timeout', reachedAuthority: 'maybe' });
  });

  it('aborted while it waits', async () => {
    const controller = new AbortController();
    const { url } = await server(() => controller.abort());
    const answer = await clientFor(url).queryResult({ ...query, signal: controller.signal });
    expect(answer).toMatchObject({ outcome: 'unknown', cause: 'aborted', reachedAuthority: 'maybe' });
  });

  it('a timeout of the caller, distinguished from ours', async () => {
    const controller = new AbortController();
    const { url } = await server(() => controller.abort(new DOMException('the caller waited enough', 'TimeoutError')));
    const answer = await clientFor(url).queryResult({ ...query, signal: controller.signal });
    expect(answer).toMatchObject({ outcome: 'unknown', cause: 'aborted', reachedAuthority: 'maybe' });
  });

  it('an answer larger than the operation allows', async () => {
    const { url } = await server((_, socket) => socket.write(httpAnswer('200 OK', JSON_TYPE, ' '.repeat(1_100_000))));
    const answer = await clientFor(url).queryResult(query);
    expect(answer).toMatchObject({ outcome: 'unknown', cause: 'too_large', reachedAuthority: 'maybe' });
  });

  it('a small answer that unpacks to a large one', async () => {
    const packed = gzipSync(Buffer.alloc(50_000_000, 0x20));
    const { url } = await server((_, socket) =>
      socket.write(httpAnswer('200 OK', JSON_TYPE, packed, 'Content-Encoding: gzip\r\n')),
    );
    expect(await clientFor(url).queryResult(query)).toMatchObject({ outcome: 'unknown', cause: 'too_large' });
  });
});

describe('whole answers in odd wrappings', () => {
  it.each([
    [
      'chunked',
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n${ACCEPTED.slice(0, 5)}\r\n${(
        ACCEPTED.length - 5
      ).toString(16)}\r\n${ACCEPTED.slice(5)}\r\n0\r\n\r\n`,
    ],
    ['until the connection ends', `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n${ACCEPTED}`],
    ['with blank lines around', `HTTP/1.1 200 OK\r\n\r\n\r\n\r\n${ACCEPTED}\r\n\r\n`],
  ])('%s', async (_, bytes) => {
    const { url } = await server((__, socket) => socket.end(bytes));
    expect(await clientFor(url).queryResult(query)).toMatchObject({
      outcome: 'verdict',
      verdict: { status: 'Aceptado' },
    });
  });

  it('gzip', async () => {
    const { url } = await server((_, socket) =>
      socket.write(httpAnswer('200 OK', JSON_TYPE, gzipSync(ACCEPTED), 'Content-Encoding: gzip\r\n')),
    );
    expect(await clientFor(url).queryResult(query)).toMatchObject({ outcome: 'verdict' });
  });
});

describe('connections', () => {
  it('are kept and used again', async () => {
    const started = await server((_, socket) => socket.write(httpAnswer('200 OK', JSON_TYPE, ACCEPTED)));
    const client = clientFor(started.url);
    for (let call = 0; call < 5; call += 1) await client.queryResult(query);
    expect(started.requests).toHaveLength(5);
    expect(started.connections).toBe(1);
  });

  /** Answers the first request of a connection, cuts the connection at the second. */
  const closesIdle: Handler = (request, socket) => {
    const seen = (socket as { seen?: boolean }).seen ?? false;
    Object.assign(socket, { seen: true });
    if (seen) socket.destroy();
    else socket.write(httpAnswer('200 OK', JSON_TYPE, request.method === 'GET' ? ACCEPTED : RECEIVED));
  };

  it('that were closed meanwhile: a query is repeated once', async () => {
    const started = await server(closesIdle);
    const client = clientFor(started.url);
    await client.queryResult(query);
    expect(await client.queryResult(query)).toMatchObject({ outcome: 'verdict' });
    expect(started.connections).toBe(2);
  });

  it('that were closed meanwhile: a submission is not repeated', async () => {
    const started = await server(closesIdle);
    const client = clientFor(started.url);
    await client.submitDocument({ ...submission, xml: '<ECF/>' });
    expect(await client.submitDocument({ ...submission, xml: '<ECF/>' })).toMatchObject(connectionLost);
    expect(started.requests).toHaveLength(2);
  });

  it('are not left for another host by a redirect', async () => {
    const other = await server((_, socket) => socket.write(httpAnswer('200 OK', JSON_TYPE, ACCEPTED)));
    const { url } = await server((_, socket) =>
      socket.write(httpAnswer('307 Temporary Redirect', null, '', `Location: ${other.url}/x\r\n`)),
    );
    const answer = await clientFor(url).queryResult(query);
    expect(answer).toMatchObject({ outcome: 'unknown', cause: 'redirect', reachedAuthority: 'maybe' });
    expect(other.requests).toHaveLength(0);
  });
});

describe('the request body', () => {
  it('is the exact bytes, in one body of known length', async () => {
    const { url, requests } = await server((_, socket) => socket.write(httpAnswer('200 OK', JSON_TYPE, RECEIVED)));
    const xml = Buffer.from([0x3c, 0xff, 0x00, 0xc3, 0xb1, 0x0d, 0x0a, 0x3e]);
    await clientFor(url).submitDocument({ ...submission, xml });
    const [request] = requests;
    expect(request!.headers['transfer-encoding']).toBeUndefined();
    expect(Number(request!.headers['content-length'])).toBe(request!.body.length);
    expect(request!.headers['user-agent']).toBe('ecf-test/1');
    const start = request!.body.indexOf('\r\n\r\n') + 4;
    expect(request!.body.subarray(start, start + xml.length)).toEqual(xml);
    const boundary = /boundary=(\S+)/.exec(request!.headers['content-type']!)![1];
    expect(request!.body.subarray(start + xml.length).toString()).toBe(`\r\n--${boundary}--\r\n`);
  });
});

describe('the report of a call', () => {
  it('carries the Date header of the answer, and null where it is missing or unreadable', async () => {
    const reports: CallReport[] = [];
    const dates = ['Date: Wed, 01 Jul 2026 12:00:00 GMT\r\n', 'Date: yesterday\r\n', ''];
    const { url } = await server((request, socket) =>
      socket.write(
        `HTTP/1.1 200 OK\r\n${dates[request.number - 1]}Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
      ),
    );
    const client = clientFor(url, { onCall: (report) => reports.push(report) });
    for (const _ of dates) await client.queryResult(query);
    expect(reports.map(({ date }) => date)).toEqual([new Date('2026-07-01T12:00:00Z'), null, null]);
  });
});

describe('the recorded answer', () => {
  it('shows no token, wherever the other side repeats it', async () => {
    const reports: CallReport[] = [];
    const { url } = await server((request, socket) =>
      socket.write(httpAnswer('403 Forbidden', 'text/html', `<html>${JSON.stringify(request.headers)}</html>`)),
    );
    const answer = await clientFor(url, { onCall: (report) => reports.push(report) }).queryResult(query);
    expect(answer).toMatchObject({ outcome: 'unknown', cause: 'not_a_verdict', raw: { status: 403 } });
    expect(answer.raw?.body).toContain('Bearer [removed]');
    expect(JSON.stringify([answer, reports])).not.toContain(query.token);
  });

  it('shows no token of a login', async () => {
    const token = 'eyJhbGciOiJIUzI1NiJ9.eyJuYW1lIjoiMDAxIn0.c2ln';
    const bodies = [
      `{"token":"${token}","expira":"2026-06-23T19:33:32Z","expedido":"2026-06-23T18:33:32Z"}`,
      `{"data":{"access":"${token}"}}`,
      `<RespuestaAutenticacion><token>${token}</token></RespuestaAutenticacion>`,
    ];
    const { url } = await server((request, socket) =>
      socket.write(httpAnswer('200 OK', null, bodies[request.number - 1] ?? '')),
    );
    const client = clientFor(url);
    for (const _ of bodies) {
      const answer = await client.validateSeed({ env: 'TesteCF', signedSeed: '<SemillaModel/>' });
      expect(JSON.stringify(answer.raw)).toContain('[removed]');
      expect(JSON.stringify(answer.raw)).not.toContain(token);
    }
  });

  it('is bounded, and can be stored as text', async () => {
    const { url } = await server((_, socket) =>
      socket.write(httpAnswer('502 Bad Gateway', 'text/html', `<html>\0${'x'.repeat(200_000)}</html>`)),
    );
    const { raw } = await clientFor(url).queryResult(query);
    expect(raw).toMatchObject({ status: 502, truncated: true });
    expect(raw!.body.length).toBe(65_536);
    expect(raw!.body).not.toContain('\0');
  });

  it.each([
    ['7', 7_000],
    ['86400000', 3_600_000],
    ['9'.repeat(400), 3_600_000],
    ['Tue, 23 Jun 2026 12:00:30 GMT', 30_000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 3_600_000],
    ['Mon, 22 Jun 2026 12:00:00 GMT', 0],
    ['-5', undefined],
    ['1.5', undefined],
    ['soon', undefined],
    ['NaN', undefined],
    ['', undefined],
  ])('Retry-After: %s is a pause of %s ms', async (header, expected) => {
    const { url } = await server((_, socket) =>
      socket.write(httpAnswer('503 Service Unavailable', null, '', `Retry-After: ${header}\r\n`)),
    );
    const answer = await clientFor(url, { clock: () => new Date('2026-06-23T12:00:00Z') }).queryResult(query);
    expect(answer.outcome === 'unknown' && answer.retryAfterMs).toBe(expected);
  });

  it('names operation, service, environment, outcome and cause of each call, and survives a failing observer', async () => {
    const reports: CallReport[] = [];
    const { url } = await server((request, socket) =>
      socket.write(
        request.number === 1
          ? httpAnswer('200 OK', JSON_TYPE, ACCEPTED)
          : httpAnswer('503 Service Unavailable', null, '', 'Retry-After: Tue, 23 Jun 2026 12:00:30 GMT\r\n'),
      ),
    );
    const client = clientFor(url, {
      clock: () => new Date('2026-06-23T12:00:00Z'),
      onCall: (report) => {
        reports.push(report);
        throw new Error('observer');
      },
    });
    await client.queryResult(query);
    expect(await client.queryResult(query)).toMatchObject({ cause: 'server_error', retryAfterMs: 30_000 });
    await client.queryState({ ...submission, env: 'CerteCF' });
    const common = { operation: 'queryResult', service: 'consultaresultado', env: 'TesteCF' };
    expect(reports).toEqual([
      { ...common, outcome: 'verdict', cause: null, status: 200, durationMs: expect.any(Number), date: null },
      { ...common, outcome: 'unknown', cause: 'server_error', status: 503, durationMs: expect.any(Number), date: null },
    ]);
  });
});

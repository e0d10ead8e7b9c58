/** Calls to receivers of other taxpayers; their addresses and answers are not trusted. */
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createCircuitBreakers,
  createReceiverClient,
  isPublicAddress,
  type ReceiverClient,
  type ReceiverClientOptions,
} from '../src/index.js';
import { type Handler, httpAnswer, type RawServer, startRawServer } from './raw-server.js';
import { serverCertificate } from './server-certificate.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function server(handle: Handler, tls?: Parameters<typeof startRawServer>[1]): Promise<RawServer> {
  const started = await startRawServer(handle, tls);
  closers.push(() => started.stop());
  return started;
}

function receivers(options: Partial<ReceiverClientOptions> = {}): ReceiverClient {
  const client = createReceiverClient({
    userAgent: 'ecf-test/1',
    addressGuard: () => true,
    allowPlainHttp: true,
    ...options,
  });
  closers.push(() => client.close());
  return client;
}

const document = { issuerRnc: '101672919', encf: 'E310000000001', xml: '<ECF/>' };
const approval = { buyerRnc: '130862346', encf: 'E310000000001', xml: '<ACECF/>' };
const ARECF = '<ARECF><DetalleAcusedeRecibo><Estado>0</Estado></DetalleAcusedeRecibo></ARECF>';

describe('circuit breakers of hosts', () => {
  function breaking(maxInFlight = Number.POSITIVE_INFINITY) {
    const options = { failures: 2, openMs: 2_000, maxInFlight };
    const circuits = createCircuitBreakers({ options, elapsed: () => 0 });
    const client = receivers({ circuits });
    const causeOf = async (baseUrl: string) => {
      const answer = await client.deliverDocument({ ...document, baseUrl });
      return answer.outcome === 'unknown' ? answer.cause : answer.outcome;
    };
    return { circuits, causeOf };
  }

  it('open for all addresses of a host that gives no answer, and for no other host', async () => {
    const { circuits, causeOf } = breaking();
    const [dead, other] = [
      await server((_, socket) => socket.destroy()),
      await server((_, socket) => socket.write(httpAnswer('200 OK', 'application/xml', ARECF))),
    ];
    expect([await causeOf(`${dead.url}/one`), await causeOf(`${dead.url}/two`)]).toEqual(['connection', 'connection']);
    expect([await causeOf(`${dead.url}/three`), await causeOf(other.url)]).toEqual(['circuit_open', 'verdict']);
    expect([dead.requests.length, circuits.waitMs(new URL(dead.url).origin)]).toEqual([2, 2_000]);
  });

  it('stay closed for error statuses and Retry-After, which may concern one buyer', async () => {
    const { circuits, causeOf } = breaking();
    const busy = await server((_, socket) =>
      socket.write(httpAnswer('503 Service Unavailable', null, '', 'retry-after: 60\r\n')),
    );
    for (const _ of [1, 2, 3]) expect(await causeOf(busy.url)).toBe('server_error');
    expect([busy.requests.length, circuits.waiting().size]).toEqual([3, 0]);
  });

  it('bound the calls in flight at one host', async () => {
    const { causeOf } = breaking(1);
    const slow = await server(async (_, socket) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      socket.write(httpAnswer('200 OK', 'application/xml', ARECF));
    });
    expect(await Promise.all([causeOf(slow.url), causeOf(slow.url)])).toEqual(['verdict', 'circuit_open']);
  });
});

describe('delivering an e-CF', () => {
  it.each([
    ['compact', 'application/xml', ARECF],
    ['pretty-printed with declaration', 'text/xml', `<?xml version="1.0"?>\r\n<ARECF>\r\n  <a/>\r\n</ARECF>\r\n`],
    ['as text/plain with BOM', 'text/plain', `\uFEFF${ARECF}`],
    ['without content type', null, ARECF],
    ['cut off', 'application/xml', ARECF.slice(0, 30)],
    ['HTML in its place', 'text/html', '<html><body>Welcome</body></html>'],
    ['JSON in its place', 'application/json', '{"estado":"0"}'],
    ['another document in its place', 'application/xml', '<ECF/>'],
    ['with a DOCTYPE', 'application/xml', `<!DOCTYPE ARECF>${ARECF}`],
  ])('keeps the exact bytes of an acknowledgement: %s', async (_, type, body) => {
    const { url } = await server((__, socket) => socket.write(httpAnswer('200 OK', type, body)));
    const answer = await receivers().deliverDocument({ ...document, baseUrl: url });
    expect(answer.outcome).toBe('verdict');
    if (answer.outcome === 'verdict') expect(Buffer.from(answer.verdict.acknowledgement).toString()).toBe(body);
  });

  it.each([
    ['nothing', '200 OK', null, '', 'not_a_verdict'],
    ['the page of a 404', '404 Not Found', 'text/html', '<html><body>None</body></html>', 'not_a_verdict'],
    ['an empty 400', '400 Bad Request', null, '', 'not_a_verdict'],
    ['a failure', '500 Internal Server Error', 'application/xml', '<Error/>', 'server_error'],
    ['a cut-off one of a failure', '503 Service Unavailable', 'application/xml', ARECF.slice(0, 30), 'server_error'],
    ['the page of a redirect', '302 Found', 'text/html', '<html/>', 'redirect'],
    ['words about too many', '429 Too Many Requests', 'text/plain', 'later', 'rate_limited'],
  ])('takes %s for no acknowledgement', async (_, status, type, body, cause) => {
    const { url } = await server((__, socket) => socket.write(httpAnswer(status, type, body)));
    const answer = await receivers().deliverDocument({ ...document, baseUrl: url });
    expect(answer).toMatchObject({ outcome: 'unknown', cause, reachedAuthority: 'maybe' });
  });

  it.each([
    '302 Found',
    '400 Bad Request',
    '401 Unauthorized',
    '404 Not Found',
    '408 Request Timeout',
    '429 Too Many Requests',
    '500 Internal Server Error',
    '503 Service Unavailable',
  ])('keeps the exact bytes of an acknowledgement that comes with %s', async (status) => {
    const { url, requests } = await server((_, socket) => socket.write(httpAnswer(status, 'text/plain', ARECF)));
    const answer = await receivers().deliverDocument({ ...document, baseUrl: url, token: 'abc' });
    expect(answer).toMatchObject({ outcome: 'verdict', raw: { status: Number(status.slice(0, 3)) } });
    if (answer.outcome === 'verdict') expect(Buffer.from(answer.verdict.acknowledgement).toString()).toBe(ARECF);
    expect(requests).toHaveLength(1);
  });

  it('sends a bearer token only if it got one, and appends the standard path to the base', async () => {
    const { url, requests } = await server((_, socket) => socket.write(httpAnswer('200 OK', null, ARECF)));
    const client = receivers();
    await client.deliverDocument({ ...document, baseUrl: `${url}/tenant/7/` });
    await client.deliverDocument({ ...document, baseUrl: `${url}/Fe/Recepcion/api/ecf`, token: 'abc' });
    await client.deliverApproval({ ...approval, baseUrl: `${url}/?x=1#y` });
    expect(requests.map((request) => [request.target, request.headers.authorization])).toEqual([
      ['/tenant/7/fe/recepcion/api/ecf', undefined],
      ['/Fe/Recepcion/api/ecf', 'Bearer abc'],
      ['/fe/aprobacioncomercial/api/ecf', undefined],
    ]);
    expect(requests[0]!.body.toString()).toContain('name="xml"; filename="101672919E310000000001.xml"');
    expect(requests[2]!.body.toString()).toContain('name="xml"; filename="130862346E310000000001.xml"');
  });

  it('reports a refused token', async () => {
    const { url } = await server((_, socket) => socket.write(httpAnswer('401 Unauthorized', null, '')));
    expect(await receivers().deliverDocument({ ...document, baseUrl: url, token: 'abc' })).toMatchObject({
      outcome: 'unauthorized',
    });
  });
});

const said = (valor: string) => ({ codigo: '', valor });

describe('delivering an approval', () => {
  it.each([
    ['200, empty', '200 OK', null, '', { accepted: true, messages: [] }],
    ['200, text', '200 OK', 'text/plain', 'OK', { accepted: true, messages: [] }],
    ['200, JSON', '200 OK', 'application/json', '{"codigo":"OK","mensaje":[]}', { accepted: true, messages: [] }],
    [
      '200 that says no',
      '200 OK',
      'application/json',
      '{"codigo":"Error","estado":"x","mensaje":["No existe"]}',
      { accepted: false, messages: [{ codigo: '', valor: 'No existe' }] },
    ],
    [
      '400 with reasons',
      '400 Bad Request',
      'application/json',
      '{"codigo":"2","estado":"Aprobacion Comercial Rechazada","mensaje":["No existe"]}',
      { accepted: false, messages: [{ codigo: '', valor: 'No existe' }] },
    ],
    ['400 in XML', '400 Bad Request', 'text/xml', '<Respuesta><codigo>2</codigo></Respuesta>', { accepted: false }],
    ['400, empty', '400 Bad Request', null, '', { accepted: false, messages: [] }],
    [
      '400, text',
      '400 Bad Request',
      'text/plain',
      'Monto no coincide',
      { accepted: false, messages: [said('Monto no coincide')] },
    ],
    [
      '400, a JSON text',
      '400 Bad Request',
      'application/json',
      '"No existe"',
      { accepted: false, messages: [said('No existe')] },
    ],
    [
      '400, a JSON list',
      '400 Bad Request',
      'application/json',
      '["a","b"]',
      { accepted: false, messages: [said('a'), said('b')] },
    ],
    [
      '400, JSON of another shape',
      '400 Bad Request',
      'application/json',
      '{"error":"x"}',
      { accepted: false, messages: [said('{"error":"x"}')] },
    ],
  ])('%s', async (_, status, type, body, verdict) => {
    const { url } = await server((__, socket) => socket.write(httpAnswer(status, type, body)));
    expect(await receivers().deliverApproval({ ...approval, baseUrl: url })).toMatchObject({
      outcome: 'verdict',
      verdict,
    });
  });

  it.each([
    ['a page with status 200', '200 OK', 'text/html', '<!DOCTYPE html><html><body>Parked</body></html>'],
    ['a page without doctype', '200 OK', 'text/html', '<html><body><p>Parked</p></body></html>'],
    ['a page with status 400', '400 Bad Request', 'text/html', '<html><body>WAF</body></html>'],
    ['404', '404 Not Found', 'application/json', '{"message":"no route"}'],
  ])('%s decides nothing', async (_, status, type, body) => {
    const { url } = await server((__, socket) => socket.write(httpAnswer(status, type, body)));
    expect(await receivers().deliverApproval({ ...approval, baseUrl: url })).toMatchObject({
      outcome: 'unknown',
      cause: 'not_a_verdict',
    });
  });
});

describe('authentication at a receiver', () => {
  it('gets a seed and trades it for a token', async () => {
    const { url, requests } = await server((request, socket) =>
      socket.write(
        request.method === 'GET'
          ? httpAnswer('200 OK', 'text/xml', '<SemillaModel><valor>v</valor><fecha>f</fecha></SemillaModel>')
          : httpAnswer('200 OK', 'application/json', '{"token":"abc","expira":"2026-01-01T01:00:00Z","expedido":null}'),
      ),
    );
    const client = receivers();
    expect(await client.receiverSeed({ baseUrl: url })).toMatchObject({ verdict: { value: 'v', date: 'f' } });
    expect(await client.receiverToken({ baseUrl: url, signedSeed: '<SemillaModel/>' })).toMatchObject({
      outcome: 'verdict',
      verdict: { token: 'abc', lifetimeMs: null },
    });
    expect(requests.map((request) => request.target)).toEqual([
      '/fe/autenticacion/api/semilla',
      '/fe/autenticacion/api/validacioncertificado',
    ]);
  });
});

describe('addresses', () => {
  const refused = { outcome: 'refused', code: 'address_refused', raw: null };

  it.each(['', 'no address', 'ftp://a.example', 'file:///etc/passwd', 'https://user:pass@a.example', 'javascript:1'])(
    'refuses %j',
    async (baseUrl) => {
      expect(await receivers().deliverDocument({ ...document, baseUrl })).toMatchObject(refused);
    },
  );

  it('refuses plain http unless it is allowed', async () => {
    const { url, requests } = await server((_, socket) => socket.write(httpAnswer('200 OK', null, ARECF)));
    const client = receivers({ allowPlainHttp: false });
    expect(await client.deliverDocument({ ...document, baseUrl: url })).toMatchObject(refused);
    expect(requests).toHaveLength(0);
  });

  it.each(['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', 'localhost'])(
    'refuses %s by default',
    async (host) => {
      const started = await server((_, socket) => socket.write(httpAnswer('200 OK', null, ARECF)));
      const client = createReceiverClient({ userAgent: 'test', allowPlainHttp: true });
      closers.push(() => client.close());
      const answer = await client.deliverDocument({ ...document, baseUrl: `http://${host}:${started.port}` });
      expect(answer).toMatchObject(refused);
      expect(started.connections).toBe(0);
    },
  );

  it('refuses a name that resolves to a private address, and uses the public one of several', async () => {
    const started = await server((_, socket) => socket.write(httpAnswer('200 OK', null, ARECF)));
    const checked: string[] = [];
    const client = receivers({
      addressGuard: (address) => {
        checked.push(address);
        return address === '127.0.0.1';
      },
      lookup: async (name) =>
        name === 'inside.test'
          ? [{ address: '10.0.0.8', family: 4 }]
          : [
              { address: '10.0.0.8', family: 4 },
              { address: '127.0.0.1', family: 4 },
            ],
    });
    const inside = await client.deliverDocument({ ...document, baseUrl: `http://inside.test:${started.port}` });
    expect(inside).toMatchObject(refused);
    expect(started.connections).toBe(0);
    const both = await client.deliverDocument({ ...document, baseUrl: `http://both.test:${started.port}` });
    expect(both).toMatchObject({ outcome: 'verdict' });
    expect(checked).toContain('10.0.0.8');
  });

  it('reports a name that does not resolve as a failed connection', async () => {
    const client = receivers({ lookup: () => Promise.reject(Object.assign(new Error('none'), { code: 'ENOTFOUND' })) });
    expect(await client.deliverDocument({ ...document, baseUrl: 'http://nowhere.test' })).toMatchObject({
      outcome: 'unknown',
      cause: 'connection',
      reachedAuthority: 'no',
    });
  });

  it('speaks TLS to the name, not to the address it resolved to', async () => {
    const { tls, ca } = serverCertificate('receiver.test');
    const started = await server((_, socket) => socket.write(httpAnswer('200 OK', null, ARECF)), tls);
    const client = receivers({ tls: { ca }, lookup: async () => [{ address: '127.0.0.1', family: 4 }] });
    const good = await client.deliverDocument({ ...document, baseUrl: `https://receiver.test:${started.port}` });
    expect(good).toMatchObject({ outcome: 'verdict' });
    const other = await client.deliverDocument({ ...document, baseUrl: `https://other.test:${started.port}` });
    expect(other).toMatchObject({ outcome: 'unknown', cause: 'connection', reachedAuthority: 'no' });
    expect(started.requests).toHaveLength(1);
  });

  it('bounds the answer', async () => {
    const { url } = await server((_, socket) => socket.write(httpAnswer('200 OK', null, 'x'.repeat(1_100_000))));
    expect(await receivers().deliverDocument({ ...document, baseUrl: url })).toMatchObject({ cause: 'too_large' });
  });
});

describe('isPublicAddress', () => {
  it.each(['8.8.8.8', '190.6.128.1', '2606:4700::1', '::ffff:8.8.8.8'])('accepts %s', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each([
    ...[
      '0.0.0.0',
      '10.1.2.3',
      '100.64.0.1',
      '127.0.0.1',
      '127.8.8.8',
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.255',
    ],
    ...['192.168.1.1', '192.0.2.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
    ...['::', '::1', 'fe80::1', 'fe80::1%eth0', 'fc00::1', 'fd12::1', 'ff02::1', '2001:db8::1', '2002:7f00:1::'],
    ...['::ffff:127.0.0.1', '::ffff:7f00:1', '64:ff9b::7f00:1', '::7f00:1', 'no address'],
  ])('refuses %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

import net from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { Client } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';
import { Numbering } from '../support/documents/documents.js';
import { until } from '../support/until.js';

const deployment = useDeployment();
const numbers = new Numbering({ rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' });
const call = (method: string, path: string, headers: Record<string, string> = {}, body?: BodyInit) =>
  deployment.demo.call(method, path, { headers, ...(body === undefined ? {} : { body }) });

/** Sends raw bytes and resolves with everything received until the connection closes. */
function raw(text: string | Buffer): Promise<string> {
  const { hostname, port } = new URL(deployment.running.demo.base_url);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = net.connect(Number(port), hostname, () => socket.write(text));
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', (error) => (answer === '' ? reject(error) : resolve(answer)));
  });
}

/** A request as bytes; its answer closes the connection. */
const request = (line: string, headers: string[] = []) =>
  Buffer.from(`${[`${line} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers].join('\r\n')}\r\n\r\n`, 'latin1');

describe('routes', () => {
  it('accept a slash at the end, for every method', async () => {
    for (const path of ['/fe_Submit', '/fe_Submit/', '/fe_Submit//']) {
      const form = new FormData();
      form.set('data', JSON.stringify(numbers.next('ecf-32').invoice));
      expect((await call('POST', path, {}, form)).body.status).toBe('Aceptado');
    }
    for (const path of ['/obtain_token/', '/errors/', '/health/live/', '/health/ready/', '/admin/accounts/'])
      expect((await call('GET', path, admin())).status).toBe(200);
    const json = { 'content-type': 'application/json' };
    expect((await call('POST', '/submit_ecf/', json, '{}')).status).toBe(422);
  });

  it('that do not exist are 404; existing ones with another method are 405 with Allow', async () => {
    for (const path of [
      '/nada',
      '/fe_Submit/nada',
      '/obtain_token/x',
      '/admin/nada',
      '/.env',
      '/metrics',
      '/invoices/x/y',
    ])
      expect([path, (await call('GET', path, admin())).status]).toEqual([path, 404]);
    for (const [method, path, allow] of [
      ['GET', '/fe_Submit', 'POST'],
      ['DELETE', '/obtain_token', 'GET'],
      ['PUT', '/submit_ecf', 'POST'],
      ['POST', '/errors', 'GET, HEAD'],
      ['POST', '/health/ready', 'GET, HEAD'],
      ['POST', '/', 'GET, HEAD'],
      ['GET', '/fe/recepcion/api/ecf', 'POST'],
      ['POST', '/invoices/E310000000001', 'GET'],
    ] as const) {
      const answer = await call(method, path);
      expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 405, 'method_not_allowed']);
      expect(answer.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(allow.split(', ')));
    }
    expect((await call('HEAD', '/')).status).toBe(200);
  });

  it('of receivers match in any case, with encoded accents, under an environment, without a key', async () => {
    const paths = [
      '/fe/autenticacion/api/semilla',
      '/FE/Autenticacion/API/Semilla/',
      '/fe/autenticaci%C3%B3n/api/semilla',
      '/fe/autenticaci%c3%b3n/api/semilla',
      '/testecf/fe/autenticacion/api/semilla',
      '/CerteCF/fe/Autenticacion/api/Semilla',
      '/ecf/fe/autenticacion/api/semilla',
    ];
    for (const key of ['', 'nope'])
      for (const path of paths) {
        const answer = await new Client(deployment.running, key).call('GET', path);
        expect([path, answer.status]).toEqual([path, 200]);
        expect(answer.text).toContain('<SemillaModel');
      }
    expect((await call('GET', '/nada/fe/autenticacion/api/semilla')).status).toBe(404);
  });

  it('name the product, and list every error', async () => {
    expect(await call('GET', '/')).toMatchObject({ status: 200, body: { name: expect.any(String) } });
    const { body } = await new Client(deployment.running, '').call('GET', '/errors');
    expect(body.length).toBeGreaterThan(30);
    for (const row of body)
      expect(row).toEqual({
        code: expect.stringMatching(/^[a-z_0-9]+$/),
        status: expect.any(Number),
        retry_after: row.retry_after === null ? null : expect.any(Number),
        meaning: expect.stringMatching(/\.$/),
        remedy: expect.stringMatching(/\.$/),
      });
    expect(new Set(body.map(({ code }: { code: string }) => code)).size).toBe(body.length);
  });
});

describe('a request id', () => {
  it('is the caller’s if it is harmless, else a new one; the answer and its body carry it', async () => {
    const given = await call('GET', '/nada', { 'x-request-id': 'pedido-77' });
    expect(given.headers.get('x-request-id')).toBe('pedido-77');
    expect(given.body.request_id).toBe('pedido-77');
    const submitted = await deployment.demo.submit(numbers.next().invoice, { 'x-request-id': 'pedido-78' });
    expect(submitted.headers.get('x-request-id')).toBe('pedido-78');
    for (const id of ['x'.repeat(300), '<script>', 'a b', "'; DROP TABLE"]) {
      const answer = await call('GET', '/nada', { 'x-request-id': id });
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
      expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'));
    }
    const ids = await Promise.all(Array.from({ length: 5 }, () => call('GET', '/')));
    expect(new Set(ids.map(({ headers }) => headers.get('x-request-id'))).size).toBe(5);
  });
});

describe('malformed HTTP', () => {
  it('gets an answer, and the server keeps running', async () => {
    const broken = await raw('hola\r\n\r\n');
    expect(broken).toMatch(/^HTTP\/1\.1 400 .*"code":"bad_request"/s);
    const id = /^x-request-id: (\S+)\r$/m.exec(broken)?.[1];
    expect(broken).toContain(`"request_id":"${id}"`);
    expect(await raw(request('GET /', [`x-long: ${'x'.repeat(20_000)}`]))).toMatch(
      /^HTTP\/1\.1 431 .*headers_too_large/s,
    );
    expect(await raw(request('GET /%zz'))).toMatch(/^HTTP\/1\.1 4/);
    expect(await raw(request('GET /%E0%A4%A'))).toMatch(/^HTTP\/1\.1 4/);
    expect(await raw(request('GET //'))).toMatch(/^HTTP\/1\.1 (200|404) /);
    expect(await raw(request('GET http://otro/errors'))).toMatch(/^HTTP\/1\.1 /);
    expect(await raw(request('OPTIONS *'))).toMatch(/^HTTP\/1\.1 /);
    expect(await raw(request('TRACE /'))).toMatch(/^HTTP\/1\.1 405/);
    expect(await raw(request('POST /fe_Submit', ['Content-Length: -1']))).toMatch(/^HTTP\/1\.1 400/);
    const both = ['Content-Length: 5', 'Transfer-Encoding: chunked'];
    expect(await raw(request('POST /fe_Submit', both))).toMatch(/^HTTP\/1\.1 400/);
    expect((await call('GET', '/health/live')).status).toBe(200);
  });

  it('a caller that disconnects within its body leaves nothing behind', async () => {
    const { invoice, encf } = numbers.next();
    const { hostname, port } = new URL(deployment.running.demo.base_url);
    await new Promise<void>((resolve) => {
      const socket = net.connect(Number(port), hostname, () => {
        socket.write(
          `POST /fe_Submit HTTP/1.1\r\nHost: x\r\nx-api-key: ${deployment.running.demo.api_key}\r\ncontent-type: multipart/form-data; boundary=abc\r\ncontent-length: 100000\r\n\r\n--abc\r\nContent-Disposition: form-data; name="data"\r\n\r\n${JSON.stringify(invoice).slice(0, 500)}`,
          () => socket.destroy(),
        );
      });
      socket.on('close', () => resolve());
    });
    expect(await deployment.demo.ledger(encf)).toEqual([]);
    expect((await deployment.demo.submit(invoice)).body).toMatchObject({ status: 'Aceptado', encf });
  });

  it('headers that forge an identity have no effect', async () => {
    const forged = { 'x-ecf-identity': 'eyJhbGciOiJub25lIn0.eyJhY2NvdW50X2lkIjoieCJ9.x' };
    const nobody = new Client(deployment.running, '');
    expect((await nobody.call('GET', '/obtain_token', { headers: forged })).status).toBe(401);
    expect((await call('GET', '/obtain_token', forged)).status).toBe(200);
    for (const path of ['/internal/accounts/1/taxpayers', '/internal/emissions/resolve'])
      for (const method of ['GET', 'POST'])
        expect([401, 404, 405]).toContain((await call(method, path, forged)).status);
  });
});

describe('the headers of an answer', () => {
  it('forbid caching and content sniffing, and name no product', async () => {
    for (const path of ['/', '/errors', '/nada', '/obtain_token']) {
      const { headers } = await call('GET', path);
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-powered-by')).toBeNull();
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
  });
});

describe('the metrics', () => {
  it('are Prometheus text on a separate port', async () => {
    const answer = await fetch(deployment.running.demo.metrics_url);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
    const rows = [
      /^ecf_submissions_total\{[^}]*ecf_type="32"[^}]*\} \d+/m,
      /^ecf_http_request_duration_seconds_count\{[^}]*operation="submitJson"[^}]*status="200"[^}]*\}/m,
    ];
    // The page lacks a process that is too busy to answer in time.
    await until(deployment.metrics, (text) => rows.every((row) => row.test(text)));
    expect((await call('GET', '/metrics')).status).toBe(404);
  });
});

function admin(): Record<string, string> {
  return { authorization: `Bearer ${deployment.running.demo.admin_token}` };
}

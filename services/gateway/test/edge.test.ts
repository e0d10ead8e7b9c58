import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { Readable } from 'node:stream';
import { ERROR_CODES, OPERATIONS, SCOPES } from '@ecf/contracts';
import { createHttpTaxpayerSource } from '@ecf/http';
import type { Identities } from '@ecf/http/identity';
import { createMetrics } from '@ecf/kit/telemetry';
import { openDatabase } from '@ecf/postgres';
import { CuttableProxy } from '@ecf/test-servers';
import { identitiesOf, silentLogger } from '@ecf/test-support/services';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import express from 'express';
import { createInProcessUpstream } from '../src/edge/upstream.http.js';
import {
  ADMIN_TOKEN,
  type CallOptions,
  type GatewayUnderTest,
  makeAccount,
  startGateway,
} from './gateway-under-test.js';

let under: GatewayUnderTest;
let key: string;
let accountId: string;
let live: string;
beforeAll(async () => {
  under = await startGateway({ MAX_BODY_BYTES: '100000', HEADERS_TIMEOUT_MS: '1500', REQUEST_TIMEOUT_MS: '2500' });
  ({ key, id: accountId } = await makeAccount(under, '131000001'));
  ({ key: live } = await makeAccount(under, '131000002', ['eCF']));
});
afterAll(() => under.stop());

/** Sends bytes as they are and reads until the connection ends. */
function raw(text: string | Buffer, url = under.url): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(new URL(url).port), '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    socket.on('end', () => resolve(answer));
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
    socket.write(text);
  });
}

describe('keys and environments', () => {
  it('a valid key reaches the owner with a signed identity in its place', async () => {
    const answer = await under.call('POST', '/fe_Submit?validate=true', {
      key,
      headers: { env: 'CerteCF' },
      body: 'data',
    });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        service: 'emission',
        method: 'POST',
        url: '/fe_Submit?validate=true',
        api_key: null,
        body: 'data',
        caller: {
          kind: 'account',
          account_id: accountId,
          env: 'CerteCF',
          env_given: true,
          environments: ['TesteCF', 'CerteCF'],
        },
      },
    });
    expect(answer.body.caller.request_id).toBe(answer.headers.get('x-request-id'));
  });

  it.each([
    ['no key', {}, 401, 'invalid_api_key'],
    ['an empty key', { key: '' }, 401, 'invalid_api_key'],
    ['an unknown key', { key: `ecf_test_${'A'.repeat(43)}` }, 401, 'invalid_api_key'],
    ['no key and a bad environment', { headers: { env: 'x' } }, 401, 'invalid_api_key'],
  ])('%s is refused', async (_what, options, status, code) => {
    const answer = await under.call('GET', '/obtain_token', options);
    expect(answer).toMatchObject({ status, body: { code, request_id: answer.headers.get('x-request-id') } });
    expect(typeof answer.body.detail).toBe('string');
  });

  it('a key acts only in its environments', async () => {
    const call = (k: string, env?: string) =>
      under.call('GET', '/obtain_token', { key: k, headers: env === undefined ? {} : { env } });
    expect((await call(key)).body.caller).toMatchObject({ env: 'TesteCF', env_given: false });
    expect(await call(key, 'eCF')).toMatchObject({ status: 401, body: { code: 'environment_not_allowed' } });
    expect(await call(live)).toMatchObject({ status: 401, body: { code: 'environment_not_allowed' } });
    expect((await call(live, 'eCF')).body.caller).toMatchObject({ env: 'eCF' });
    expect(await call(key, 'ECF')).toMatchObject({
      status: 422,
      body: { code: 'validation_error', detail: [{ loc: ['header', 'env'], type: 'enum' }] },
    });
  });

  it('a key reaches exactly the operations of its scope, checked before any other look-up', async () => {
    const open: Record<string, string[]> = {};
    for (const scope of SCOPES) {
      const created = await under.admin('POST', `/admin/accounts/${accountId}/api-keys`, {
        name: scope,
        environments: ['TesteCF'],
        scopes: [scope],
      });
      open[scope] = [];
      for (const { id, method, path, access } of OPERATIONS) {
        if (access === 'public') continue;
        const address = path.replaceAll(/\{\w+\}/g, 'E310000000001');
        const answer = await under.call(method, address, { key: created.body.key });
        if (answer.body.code !== 'missing_scope') open[scope]?.push(id);
        else expect(answer).toMatchObject({ status: 403, body: { detail: expect.stringContaining(id) } });
      }
    }
    const invoices = [
      'invoiceStatus',
      'listInvoices',
      'countInvoices',
      'aggregateInvoices',
      'findInvoice',
      'invoiceDocument',
      'invoicePdf',
      'invoiceQrSvg',
      'invoiceQrPng',
    ];
    const about = [...invoices, 'listTrackIds', 'listRawAnswers', 'consumerInvoiceStatus', 'invoiceXml'];
    const batches = ['listWaiting', 'listBatches', 'findBatch', 'batchResults'];
    const cancellations = ['listCancellations', 'findCancellation', 'cancellationXml'];
    const approvals = ['listApprovals', 'findApproval', 'approvalXml'];
    const sorted = (ids: string[] = []) => [...ids].sort();
    expect(sorted(open.submit)).toEqual(
      sorted([
        'account',
        'obtainToken',
        'submitJson',
        'submitSigned',
        'submitSignedSummary',
        'createBatch',
        'cancelBatch',
        ...batches,
        ...about,
      ]),
    );
    expect(sorted(open.cancel)).toEqual(sorted(['account', 'createCancellation', ...cancellations]));
    expect(sorted(open.approve)).toEqual(sorted(['account', 'createApproval', ...approvals]));
    const received = [
      'listReceived',
      'listAllReceived',
      'countReceived',
      'aggregateReceived',
      'findReceived',
      'receivedDocument',
      'receivedPdf',
      'acknowledgementXml',
    ];
    expect(sorted(open.receive)).toEqual(
      sorted(['account', ...received, 'findReceivedApproval', 'listApprovalAnswers', 'invoiceXml', ...approvals]),
    );
    const settings = OPERATIONS.filter(({ owner }) => owner === 'gateway').map(({ id }) => id);
    expect(sorted(open.manage)).toEqual(sorted(settings));
    expect(sorted(open.read)).toEqual(
      sorted([
        'account',
        'monitoringStatus',
        'listEvents',
        'listReceivedAcknowledgements',
        'findReceivedAcknowledgement',
        'receivedAcknowledgementXml',
        'listDirectory',
        'findInDirectory',
        ...batches,
        ...about,
        ...cancellations,
      ]),
    );
  });

  it.each([
    ['POST', '/fe_Submit?VALIDATE=true', '/fe_Submit?validate=true'],
    ['POST', '/fe_Submit?%56alidate=1&', '/fe_Submit?validate=1'],
    ['POST', '/anecf/?Submit_To_Authority=false', '/anecf?submit_to_authority=false'],
    ['GET', '/anecf/?ISSUER_RNC=131000001&limit=2', '/anecf?issuer_rnc=131000001&limit=2'],
    ['GET', '/obtain_token?', '/obtain_token'],
  ])('matches names of the query in any case: %s %s', async (method, address, url) => {
    expect(await under.call(method, address, { key })).toMatchObject({ status: 200, body: { url } });
  });

  it.each([
    ['POST', '/fe_Submit?validat=true', 'validat'],
    ['POST', '/fe_Submit?validate=true&dry_run=1', 'dry_run'],
    ['GET', '/obtain_token?validate=true', 'validate'],
    ['GET', '/anecf/?__proto__=1', '__proto__'],
  ])('refuses a name that the operation does not have: %s %s', async (method, address, name) => {
    expect(await under.call(method, address, { key })).toMatchObject({
      status: 422,
      body: { code: 'validation_error', detail: [{ loc: ['query', name], type: 'unknown' }] },
    });
  });

  it('leaves the environment to the body where the body may name it', async () => {
    expect(await under.call('POST', '/anecf/', { key: live, body: '{}' })).toMatchObject({
      status: 200,
      body: { url: '/anecf', caller: { env: 'TesteCF', env_given: false, environments: ['eCF'] } },
    });
    expect(await under.call('POST', '/anecf/', { key: live, headers: { env: 'TesteCF' } })).toMatchObject({
      status: 401,
    });
    expect(await under.call('GET', '/anecf', { key: live })).toMatchObject({ status: 401 });
  });

  it('forwards the latest revision of the account’s taxpayers with the next call', async () => {
    const before = (await under.call('GET', '/obtain_token', { key })).body.caller.taxpayers_revision;
    await under.admin('PATCH', `/admin/accounts/${accountId}/taxpayers/131000001`, { active: true });
    const after = (await under.call('GET', '/obtain_token', { key })).body.caller.taxpayers_revision;
    expect(after).toBeGreaterThan(before);
    expect((await under.gateway.taxpayerSource.account(accountId)).revision).toBe(after);
  });
});

describe('the public ingress', () => {
  it.each([
    ['/fe/recepcion/api/ecf', {}, 'TesteCF'],
    ['/FE/RECEPCI%C3%93N/API/ECF/', {}, 'TesteCF'],
    ['/certecf/fe/recepcion/api/ecf', {}, 'CerteCF'],
    ['/fe/recepcion/api/ecf', { env: 'eCF' }, 'eCF'],
    ['/fe/recepcion/api/ecf', { env: 'CERTECF' }, 'CerteCF'],
    ['/fe/recepcion/api/ecf', { env: '' }, 'TesteCF'],
    ['/fe/recepcion/api/ecf', { env: 'produccion' }, 'TesteCF'],
    ['/testecf/fe/recepcion/api/ecf', { env: 'eCF' }, 'TesteCF'],
  ])('needs no key: %s with %j is %s', async (path, headers, env) => {
    const answer = await under.call('POST', path, {
      headers: headers as Record<string, string>,
      key: 'not a key',
      body: '<x/>',
    });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        service: 'reception',
        url: '/fe/recepcion/api/ecf',
        api_key: null,
        body: '<x/>',
        caller: { kind: 'public', env, sender: '127.0.0.1' },
      },
    });
  });

  it('accepts the absolute form of the target, as proxies write it', async () => {
    const answerTo = (target: string, method = 'GET') =>
      raw(`${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    const at = 'HTTP://Gateway.example:8080';
    expect(await answerTo(`${at}/fe/recepcion/api/ecf?a=http://b/c`, 'POST')).toContain(
      '"url":"/fe/recepcion/api/ecf?a=http://b/c"',
    );
    for (const target of [at, `${at}/health/live`]) expect(await answerTo(target)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await answerTo(`${at}?a=/b`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await answerTo(`/${at}/health/live`)).toMatch(/^HTTP\/1\.1 404 /);
  });

  it('does not include the listings', async () => {
    expect(await under.call('GET', '/fe/recepcion/api/invoices')).toMatchObject({ status: 401 });
    expect(await under.call('GET', '/fe/recepcion/api/invoices', { key })).toMatchObject({
      status: 200,
      body: { service: 'reception' },
    });
  });
});

describe('services', () => {
  it('that the deployment lacks are 503 with an explanation', async () => {
    const answer = await under.call('GET', '/invoices/', { key });
    expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    expect(answer.body.detail).toContain('The service query');
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(await under.call('GET', '/invoices/')).toMatchObject({ status: 401 });
  });

  it('query accounts and taxpayers with their own identity', async () => {
    const source = createHttpTaxpayerSource({ gatewayUrl: under.url, identities: identitiesOf('emission') });
    const account = await source.account(accountId);
    expect(account).toEqual(await under.gateway.taxpayerSource.account(accountId));
    expect(account.taxpayers).toMatchObject([{ rnc: '131000001', account_id: accountId }]);
    expect(await source.taxpayer('131000001')).toEqual(account.taxpayers[0]);
    expect(await source.taxpayer('999999999')).toBeNull();
    expect(await source.account('nobody')).toEqual({ account_id: 'nobody', revision: 0, taxpayers: [] });

    const path = `/internal/accounts/${accountId}/taxpayers`;
    expect(await under.call('GET', path)).toMatchObject({ status: 401, body: { code: 'invalid_identity' } });
    expect(await under.call('GET', path, { key })).toMatchObject({ status: 401 });
    const status = async (identities: Identities, caller: Parameters<Identities['sign']>[0], called = path) => {
      const identity = await identities.sign(caller, { audience: 'gateway', method: 'GET', path: called });
      return (await under.call('GET', path, { headers: { 'x-ecf-identity': identity } })).status;
    };
    const service = { kind: 'service', request_id: '' } as const;
    expect(await status(identitiesOf('emission'), service)).toBe(200);
    expect(await status(identitiesOf('status-poller'), service)).toBe(401);
    expect(await status(identitiesOf('emission'), { kind: 'public', env: 'TesteCF', request_id: '' })).toBe(401);
    expect(await status(identitiesOf('emission'), service, '/internal/accounts/x/taxpayers')).toBe(401);
    expect(
      await status(
        identitiesOf('emission', () => new Date(Date.now() - 600_000)),
        service,
      ),
    ).toBe(401);
  });
});

describe('the gateway itself', () => {
  it('describes itself, its errors and its health', async () => {
    expect(await under.call('GET', '/')).toMatchObject({
      status: 200,
      body: { name: 'ecf-gateway', interface_version: '3.0', authority: 'official' },
    });
    const errors = await under.call('GET', '/errors/');
    expect(errors.body.map((entry: { code: string }) => entry.code).sort()).toEqual(Object.keys(ERROR_CODES).sort());
    expect(await under.call('GET', '/health/live')).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await under.call('GET', '/health/ready')).toMatchObject({
      status: 200,
      body: { checks: { database: 'ok', emission: 'ok' } },
    });
    expect((await under.call('HEAD', '/')).status).toBe(200);
  });

  it.each([
    ['GET', '/nothing/here/at/all', 404, 'unknown_route'],
    ['GET', '/favicon.ico', 404, 'unknown_route'],
    ['POST', '/', 405, 'method_not_allowed'],
    ['DELETE', '/errors', 405, 'method_not_allowed'],
    ['GET', '/fe_Submit', 405, 'method_not_allowed'],
    ['POST', '/health/live', 405, 'method_not_allowed'],
    ['GET', '/%E0%A4%A', 404, 'unknown_route'],
    ['OPTIONS', '/fe_Submit', 405, 'method_not_allowed'],
  ])('answers %s %s with %i in JSON', async (method, path, status, code) => {
    const answer = await under.call(method, path);
    expect(answer).toMatchObject({
      status,
      body: { code, detail: expect.any(String), request_id: expect.any(String) },
    });
  });

  it('keeps a harmless request id and replaces any other', async () => {
    const given = await under.call('GET', '/', { headers: { 'x-request-id': 'erp-2026:0042' } });
    expect(given.headers.get('x-request-id')).toBe('erp-2026:0042');
    for (const bad of ['a b', '<script>', 'x'.repeat(129), '']) {
      const answer = await under.call('GET', '/', { headers: { 'x-request-id': bad } });
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('sends headers against caching and sniffing, and no banner', async () => {
    for (const path of ['/', '/obtain_token', '/nothing']) {
      const { headers } = await under.call('GET', path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });
});

describe('large, slow and broken requests', () => {
  it('a body over the limit is 413, declared or not, and the connection stays usable', async () => {
    expect(await under.call('POST', '/fe_Submit', { key, body: Buffer.alloc(100_000) })).toMatchObject({
      status: 200,
      body: { body: '100000 bytes' },
    });
    expect(await under.call('POST', '/fe_Submit', { key, body: Buffer.alloc(20_000_000) })).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    });
    const chunks = Readable.toWeb(
      Readable.from(Array.from({ length: 400 }, () => Buffer.alloc(1_000))),
    ) as ReadableStream;
    expect(await under.call('POST', '/fe_Submit', { key, body: chunks as never })).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    });
    const fitting = Readable.toWeb(
      Readable.from(Array.from({ length: 90 }, () => Buffer.alloc(1_000))),
    ) as ReadableStream;
    expect(await under.call('POST', '/fe_Submit', { key, body: fitting as never })).toMatchObject({
      status: 200,
      body: { body: '90000 bytes' },
    });
  });

  it('slow headers, or a body that never comes, are 408 in JSON', async () => {
    const [headers, body] = await Promise.all([
      raw('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: '),
      raw(`POST /fe_Submit HTTP/1.1\r\nHost: x\r\nx-api-key: ${key}\r\nContent-Length: 10\r\n\r\nabc`),
    ]);
    for (const answer of [headers, body]) {
      expect(answer).toContain('408 Request Timeout');
      expect(answer).toContain('"code":"request_timeout"');
      expect(answer).toContain('retry-after: 1');
    }
  });

  it('malformed HTTP is 400, and headers of 20 KB are 431, in JSON', async () => {
    expect(await raw('HELLO\r\n\r\n')).toContain('"code":"bad_request"');
    expect(await raw(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`)).toContain(
      '"code":"headers_too_large"',
    );
  });

  it('each is counted, and logged with its id and sender; so are refusals at the edge and cut connections', async () => {
    const lines: Record<string, unknown>[] = [];
    const logger = Object.assign(Object.create(silentLogger), { info: (line: object) => lines.push({ ...line }) });
    const metrics = createMetrics();
    const endless = createInProcessUpstream({
      app: express().use((_req, res) => void res.end(Buffer.alloc(32 * 1024 * 1024))),
      ready: async () => ({ ready: true, checks: {} }),
    });
    const logged = await startGateway(
      { MAX_BODY_BYTES: '1024' },
      { logger, metrics, upstreams: { reception: endless } },
    );
    try {
      const answer = await raw('HELLO\r\n\r\n', logged.url);
      const [, id] = /x-request-id: (\S+)/.exec(answer) ?? [];
      const unreadable = lines.find(({ request_id }) => request_id === id);
      expect(unreadable).toMatchObject({ status: 400, code: 'bad_request', sender: '127.0.0.1' });
      expect(await metrics.render()).toContain('ecf_gateway_unreadable_requests_total{status="400"} 1');
      // Requests that Node itself would answer or cut.
      const seed = 'GET /fe/autenticacion/api/semilla HTTP/1.1\r\n';
      const odd = [`${seed}\r\n`, `${seed}Host: x\r\nExpect: foo\r\n\r\n`, 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'];
      for (const [i, status] of [400, 417, 405].entries()) {
        const [, id] = /x-request-id: (\S+)/i.exec(await raw(odd[i] ?? '', logged.url)) ?? [];
        expect(lines.find(({ request_id }) => request_id === id)).toMatchObject({ status, sender: '127.0.0.1' });
      }
      expect(await metrics.render()).toContain('ecf_gateway_unreadable_requests_total{status="405"} 1');
      const large = await logged.call('POST', '/fe/recepcion/api/ecf', { body: Buffer.alloc(5_000) });
      expect(large.status).toBe(413);
      const line = lines.find(({ request_id }) => request_id === large.headers.get('x-request-id'));
      expect(line).toMatchObject({ status: 413, sender: '127.0.0.1' });
      // A caller that reads only a part of the answer.
      const socket = net.connect(Number(new URL(logged.url).port), '127.0.0.1').pause();
      socket.write('GET /fe/autenticacion/api/semilla HTTP/1.1\r\nHost: x\r\n\r\n');
      await new Promise((resolve) => socket.once('readable', resolve));
      socket.destroy();
      const aborted = () => lines.find(({ operation, status }) => operation === 'seed' && status !== 200);
      while (aborted() === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
      expect(aborted()).toMatchObject({ status: 499, aborted: true });
      expect(await metrics.render()).toMatch(
        /ecf_http_request_duration_seconds_count\{service="gateway",operation="seed",status="499"\} 1/,
      );
    } finally {
      await logged.stop();
    }
  });
});

describe('limits', () => {
  it('hold for each key and each sender, with Retry-After', async () => {
    const limited = await startGateway({
      RATE_LIMIT_PER_KEY: '5',
      RATE_LIMIT_PER_SENDER: '3',
      MAX_BODY_BYTES: '1024',
      TRUSTED_PROXIES: 'loopback',
    });
    const first = await makeAccount(limited, '131000001');
    const second = await makeAccount(limited, '131000002');
    type Answered = Awaited<ReturnType<typeof limited.call>>;
    const refusedOf = async (call: () => Promise<Answered>) =>
      (await Promise.all(Array.from({ length: 30 }, call))).filter(({ status }) => status === 429);
    const byKey = await refusedOf(() => limited.call('GET', '/obtain_token', { key: first.key }));
    expect(byKey.length).toBeGreaterThan(0);
    const told = ({ headers }: Answered) => ['ratelimit', 'ratelimit-policy'].map((name) => headers.get(name));
    expect(told(byKey[0] as Answered)).toEqual(['"key";r=0;t=1', '"key";q=5;w=1']);
    const passes = await limited.call('GET', '/obtain_token', { key: second.key });
    expect([passes.status, ...told(passes)]).toEqual([200, '"key";r=4;t=1', '"key";q=5;w=1']);
    const seedFor = (sender: string) =>
      limited.call('GET', '/fe/autenticacion/api/semilla', { headers: { 'x-forwarded-for': sender } });
    const [refused] = await refusedOf(() => seedFor('198.51.100.1'));
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(refused?.headers.get('retry-after')).toBe('1');
    expect(await seedFor('198.51.100.2')).toMatchObject({ status: 200, body: { caller: { sender: '198.51.100.2' } } });
    // An IPv6 network is one sender for all its addresses.
    const network = Array.from({ length: 30 }, (_, i) => seedFor(`2001:db8:1:2::${(i + 1).toString(16)}`));
    const statuses = (await Promise.all(network)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(15);
    expect(await seedFor('2001:db8:1:3::1')).toMatchObject({ status: 200 });
    // The gateway's own pages count for the sender's rate too; probes do not.
    const from = { headers: { 'x-forwarded-for': '198.51.100.7' } };
    for (const path of ['/openapi.json', '/docs', '/errors', '/admin/openapi.json', '/nowhere'])
      expect((await refusedOf(() => limited.call('GET', path, from))).length).toBeGreaterThan(0);
    expect(await refusedOf(() => limited.call('GET', '/health/live', from))).toEqual([]);
    // Calls that never reach a service count too: another method, a body that is too large.
    const unanswered: [method: string, path: string, options?: CallOptions][] = [
      ['DELETE', '/fe_Submit'],
      ['POST', '/fe/recepcion/api/ecf', { body: Buffer.alloc(5_000) }],
      ['POST', '/fe_Submit', { key: first.key, body: Buffer.alloc(5_000) }],
    ];
    for (const [i, [method, path, options]] of unanswered.entries()) {
      const headers = { 'x-forwarded-for': `198.51.100.${20 + i}` };
      const refused = await refusedOf(() => limited.call(method, path, { ...options, headers }));
      expect([method, path, refused.length > 0]).toEqual([method, path, true]);
    }
    await limited.stop();
  });

  it('refuse production if a simulator would answer for it', async () => {
    const settings = {
      ...{ SANDBOX: 'false', DEFAULT_ENV: 'TesteCF', AUTHORITY_URL: 'http://127.0.0.1:9' },
      DATABASE_URL: under.config.DATABASE_URL,
    };
    const simulated = await startGateway(settings);
    expect((await simulated.call('GET', '/')).body.authority).toBe('simulated');
    const refused = { status: 422, body: { code: 'environment_not_served', detail: [{ loc: ['header', 'env'] }] } };
    expect(await simulated.call('GET', '/obtain_token', { key: live, headers: { env: 'eCF' } })).toMatchObject(refused);
    expect(await simulated.call('POST', '/anecf/', { key: live, body: '{}' })).toMatchObject(refused);
    expect(await simulated.call('POST', '/ecf/fe/recepcion/api/ecf')).toMatchObject(refused);
    expect(await simulated.call('POST', '/fe/recepcion/api/ecf', { headers: { env: 'ecf' } })).toMatchObject(refused);
    expect((await simulated.call('GET', '/obtain_token', { key })).status).toBe(200);
    // The body may name eCF, which only the owner reads.
    const { caller } = (await simulated.call('POST', '/anecf/', { key, body: '{}' })).body;
    expect(caller).toMatchObject({ env: 'TesteCF', production_refused: true });
    expect((await simulated.call('POST', '/fe/recepcion/api/ecf')).status).toBe(200);
    await simulated.stop();
    await expect(startGateway({ ...settings, DEFAULT_ENV: 'eCF' })).rejects.toThrow(/DEFAULT_ENV: .*simulator/);
    const meant = await startGateway({ ...settings, DEFAULT_ENV: 'eCF', SIMULATED_AUTHORITY: 'true' });
    expect((await meant.call('GET', '/obtain_token', { key: live, headers: { env: 'eCF' } })).status).toBe(200);
    await meant.stop();
  });

  it('hold for failed sign-ins, by sender; valid keys and the valid token still pass', async () => {
    const metrics = createMetrics();
    const settings = {
      SANDBOX: 'false',
      DEFAULT_ENV: 'TesteCF',
      TRUSTED_PROXIES: 'loopback',
      DATABASE_URL: under.config.DATABASE_URL,
    };
    const limited = await startGateway(settings, { metrics });
    const guess = (token: string) =>
      limited.call('GET', '/admin/accounts', {
        headers: { 'x-forwarded-for': '198.51.100.1', authorization: `Bearer ${token}` },
      });
    const among = (i: number) => (i % 100 === 99 ? ADMIN_TOKEN : 'a-wrong-token-of-16');
    const answers = await Promise.all(Array.from({ length: 300 }, (_, i) => guess(among(i))));
    expect([answers[99], answers[199], answers[299]].map((answer) => answer?.status)).toEqual([200, 200, 200]);
    const wrong = answers.filter(({ status }) => status !== 200);
    const refused = wrong.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]).toMatchObject({ body: { code: 'rate_limited' } });
    expect(wrong.filter(({ status }) => status === 401)).toHaveLength(wrong.length - refused.length);
    expect(await metrics.render()).toContain('ecf_gateway_limited_requests_total{limit="admin_tokens"}');
    const signIn = (sender: string, apiKey?: string) =>
      limited.call('GET', '/obtain_token', {
        headers: { 'x-forwarded-for': sender, ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }) },
      });
    expect((await signIn('198.51.100.1', key)).status).toBe(200);
    for (const [index, wrong] of [undefined, 'x', `ecf_test_${'A'.repeat(43)}`].entries()) {
      const sender = `198.51.100.${index + 2}`;
      const refusals = await Promise.all(Array.from({ length: 60 }, () => signIn(sender, wrong)));
      expect(new Set(refusals.map(({ status }) => status))).toEqual(new Set([401, 429]));
      expect((await signIn(sender, key)).status).toBe(200);
    }
    await limited.stop();
  });
});

describe('several gateways on one database', () => {
  it('see each other’s changes with the next call', async () => {
    const other = await startGateway({ DATABASE_URL: under.config.DATABASE_URL });
    for (let round = 0; round < 5; round += 1) {
      const created = await under.admin('POST', `/admin/accounts/${accountId}/api-keys`, {
        name: `r${round}`,
        environments: ['TesteCF'],
      });
      const use = () => other.call('GET', '/obtain_token', { key: created.body.key });
      expect(await use()).toMatchObject({ status: 200 });
      await under.admin('PATCH', `/admin/accounts/${accountId}/taxpayers/131000001`, { active: round % 2 === 0 });
      const { revision } = await under.gateway.taxpayerSource.account(accountId);
      expect((await use()).body.caller.taxpayers_revision).toBe(revision);
      await under.admin('DELETE', `/admin/accounts/${accountId}/api-keys/${created.body.id}`);
      expect(await use()).toMatchObject({ status: 401 });
    }
    await other.stop();
  });

  it('refuse a second start with another master key, naming it', async () => {
    const sealed = { subject: 's', serialNumber: '1', fingerprint: 'f', notBefore: new Date(), notAfter: new Date() };
    const database = openDatabase(under.config.DATABASE_URL);
    await database.query(
      'INSERT INTO certificates (rnc, sealed, subject, serial_number, not_before, not_after, fingerprint) VALUES ($1, $2, $3, $4, $5, $6, $7)',
      [
        '131000002',
        Buffer.concat([Buffer.from([1]), Buffer.alloc(60, 9)]),
        sealed.subject,
        '1',
        sealed.notBefore,
        sealed.notAfter,
        'f',
      ],
    );
    await expect(startGateway({ DATABASE_URL: under.config.DATABASE_URL })).rejects.toThrow('MASTER_KEY');
    await database.query("DELETE FROM certificates WHERE rnc = '131000002'");
    await database.close();
  });
});

describe('a single gateway', () => {
  it('sees its own changes immediately, without a query', async () => {
    const only = await startGateway({}, { onlyInstance: true });
    const made = await makeAccount(only, '131000001');
    const use = () => only.call('GET', '/obtain_token', { key: made.key });
    expect(await use()).toMatchObject({ status: 200 });
    const first = (await use()).body.caller.taxpayers_revision;
    await only.admin('PATCH', `/admin/accounts/${made.id}/taxpayers/131000001`, { active: false });
    expect((await use()).body.caller.taxpayers_revision).toBeGreaterThan(first);
    await only.admin('DELETE', `/admin/accounts/${made.id}/api-keys/${made.keyId}`);
    expect(await use()).toMatchObject({ status: 401 });
    await only.stop();
  });
});

describe('an unavailable database', () => {
  it('is 503 with Retry-After, shows in readiness, and recovers', async () => {
    const database = new URL(under.config.DATABASE_URL);
    const link = await CuttableProxy.start({ host: database.hostname, port: Number(database.port) });
    database.host = `127.0.0.1:${link.port}`;
    const other = await startGateway({ DATABASE_URL: database.href });
    const use = () => other.call('GET', '/obtain_token', { key });
    expect(await use()).toMatchObject({ status: 200 });
    await link.cut();
    const answer = await use();
    expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(await other.admin('GET', '/admin/accounts')).toMatchObject({ status: 503 });
    expect(await other.admin('POST', '/admin/accounts', { name: 'x' })).toMatchObject({ status: 503 });
    expect(await other.call('GET', '/health/ready')).toMatchObject({ status: 503, body: { status: 'not_ready' } });
    expect(await other.call('GET', '/health/live')).toMatchObject({ status: 200 });
    await link.restore();
    expect(await use()).toMatchObject({ status: 200 });
    expect(await other.admin('GET', '/admin/accounts')).toMatchObject({ status: 200 });
    await other.stop();
    await link.cut();
  });
});

it('does not reveal what belongs to others', async () => {
  const answer = await under.call('GET', `/internal/taxpayers/131000001?${randomUUID()}`, { key });
  expect(JSON.stringify(answer.body)).not.toContain('131000001');
});

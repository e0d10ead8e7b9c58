import { once } from 'node:events';
import http from 'node:http';
import { json } from 'node:stream/consumers';
import {
  type NumberRange,
  OPERATIONS,
  type ResolutionOperations,
  type Scope,
  taxpayerStateSchema,
  type WebhookBody,
  type WebhookOperations,
} from '@ecf/contracts';
import { createMasterKeys } from '@ecf/kit';
import { testKey } from '@ecf/test-support';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PNG } from 'pngjs';
import { type AccountSettingOptions, accountRoutes } from '../src/accounts/routes.js';
import { type Answer, type GatewayUnderTest, startGateway } from './gateway-under-test.js';
import { named, routesOf } from './routes-of.js';

const [FIRST, SECOND] = ['131000901', '131000902'];
const SANDBOX = ['TesteCF', 'CerteCF'];
const authority = createCertificateAuthority({ commonName: 'Test authority', key: testKey(1) });

/** Numbers that the test double of emission counts as used: the first hundred of each environment. */
const USED = 100;
const sequence = (encf: string) => Number(encf.slice(3));
const numbersLeft: ResolutionOperations['numbersLeft'] = async ({ ranges }) => ({
  ranges: ranges.map(({ from, to, ecf_type }: NumberRange) => {
    const first = Math.max(sequence(from), USED + 1);
    const remaining = Math.max(0, sequence(to) - first + 1);
    return { next: remaining === 0 ? null : `E${ecf_type}${String(first).padStart(10, '0')}`, remaining };
  }),
});

/** The starts of certification runs that came to emission. */
const starts: Parameters<ResolutionOperations['startRun']>[0][] = [];
const startRun: ResolutionOperations['startRun'] = async (start) => {
  starts.push(start);
  return { run: starts.length + 1, env: start.env, started_at: '2026-06-15T16:40:00-04:00', superseded: 25 };
};

/** The webhooks of a query service, in memory. */
function webhookDouble(): WebhookOperations {
  const kept = new Map<string, WebhookBody & { account_id: string }>();
  const of = ({ account_id, webhook_id }: { account_id: string; webhook_id: string }) => {
    const webhook = kept.get(webhook_id);
    if (webhook?.account_id !== account_id) throw new Error('no such webhook');
    const { account_id: _, ...body } = webhook;
    return body;
  };
  return {
    async createWebhook({ account_id, webhook_id, webhook }) {
      const facts = { created_at: '2026-06-23T10:00:00-04:00', last_success_at: null, failing_since: null };
      kept.set(webhook_id, { account_id, id: webhook_id, ...webhook, ...facts, active: true, pending: 0, dropped: 0 });
      return { id: webhook_id, ...webhook, active: true, secret: 'whsec_x' };
    },
    listWebhooks: async ({ account_id, environments }) => ({
      webhooks: [...kept.values()]
        .filter((one) => one.account_id === account_id && one.environments.every((env) => environments.includes(env)))
        .map((one) => of({ account_id, webhook_id: one.id })),
    }),
    findWebhook: async (name) => of(name),
    async changeWebhook({ change, ...name }) {
      kept.set(name.webhook_id, { ...of(name), ...(change as object), account_id: name.account_id });
      return of(name);
    },
    async deleteWebhook(name) {
      of(name);
      kept.delete(name.webhook_id);
      return {};
    },
    rotateWebhook: async () => ({ secret: 'whsec_y' }),
    replayWebhook: async () => ({}),
    testWebhook: async () => ({ status: 204, duration_ms: 1, error: null }),
  };
}

let under: GatewayUnderTest;
let account: string;
/** A key with `manage` and every other scope, for the sandbox environments. */
let manager: string;
let managerId: string;

beforeAll(async () => {
  const resolution = { numbersLeft, startRun } as ResolutionOperations;
  const webhooks = webhookDouble();
  const operations = {
    resolution,
    deliveries: null,
    readModels: null,
    webhooks,
    archive: {},
    masterKeys: {},
    state: {},
  };
  under = await startGateway({ RATE_LIMIT_PER_KEY: '100000' }, { operations });
  account = (await under.admin('POST', '/admin/accounts', { name: 'Autoservicio' })).body.id;
  for (const rnc of [FIRST, SECOND])
    await under.admin('POST', `/admin/accounts/${account}/taxpayers`, { rnc, name: `Taxpayer ${rnc}` });
  const made = await newKey();
  manager = made.key;
  managerId = made.id;
});
afterAll(() => under.stop());

interface Wanted {
  environments?: string[];
  scopes?: Scope[];
  taxpayers?: string[] | null;
  expires_at?: string | null;
}

const ALL: Scope[] = ['submit', 'read', 'receive', 'approve', 'cancel', 'manage'];

/** A key that an administrator makes. */
async function newKey(wanted: Wanted = {}, of = account): Promise<{ id: string; key: string }> {
  const body = { name: 'k', environments: SANDBOX, scopes: ALL, ...wanted };
  const answer = await under.admin('POST', `/admin/accounts/${of}/api-keys`, body);
  expect(answer.status).toBe(201);
  return answer.body;
}

/** A call with an API key. */
function as(key: string, method: string, path: string, body?: unknown): Promise<Answer> {
  const form = body instanceof FormData;
  return under.call(method, path, {
    key,
    headers: body === undefined || form ? {} : { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: form ? body : JSON.stringify(body) }),
  });
}

const nameOf = ({ name }: { name: string }) => name;

/** A call of a key that is revoked after the gateway admitted it, while its body arrives. */
async function revokedMeanwhile({ id, key }: { id: string; key: string }, method: string, path: string, body: unknown) {
  const text = JSON.stringify(body);
  const headers = { 'x-api-key': key, 'content-type': 'application/json', 'content-length': text.length };
  const ofKey = `/admin/accounts/${account}/api-keys/${id}`;
  const request = http.request(`${under.url}${path}`, { method, headers });
  const answered = once(request, 'response') as Promise<[http.IncomingMessage]>;
  request.write(text.slice(0, 5));
  // The gateway notes the use of a key when it admits the headers.
  for (let used = null; used === null; ) used = (await under.admin('GET', ofKey)).body.last_used_at;
  await under.admin('DELETE', ofKey);
  request.end(text.slice(5));
  const [response] = await answered;
  return { status: response.statusCode, body: await json(response) };
}

function png(width: number, height: number): Buffer {
  return PNG.sync.write(new PNG({ width, height, fill: true }));
}

/** Sends a logo; `type` is its content type. */
function putLogo(key: string, path: string, body: Uint8Array, type = 'image/png'): Promise<Answer> {
  return under.call('PUT', path, { key, headers: { 'content-type': type }, body: new Uint8Array(body) });
}

function certificateForm(): FormData {
  const now = Date.now();
  const { p12 } = authority.issue({
    commonName: 'JUANA PEREZ',
    holderId: '00100000009',
    notBefore: new Date(now - 1_000),
    notAfter: new Date(now + 86_400_000),
    password: 'secret',
    key: testKey(0),
  });
  const form = new FormData();
  form.set('certificate', new Blob([new Uint8Array(p12)]), 'firma.p12');
  form.set('password', 'secret');
  return form;
}

const range = (env: string, from: number, to: number, type = '31') => ({
  env,
  ecf_type: type,
  from: `E${type}${String(from).padStart(10, '0')}`,
  to: `E${type}${String(to).padStart(10, '0')}`,
  expires: null,
});
const beyond = { status: 403, body: { code: 'beyond_own_rights' } };
const absent = { status: 404, body: { code: 'not_found' } };

it('the gateway serves exactly its own operations of the interface', () => {
  const options = {
    operations: { resolution: null, webhooks: null },
    sealingKeys: createMasterKeys([new Uint8Array(32)]),
  };
  const routes = routesOf(accountRoutes(options as unknown as AccountSettingOptions));
  expect(routes.sort()).toEqual(named(OPERATIONS.filter(({ owner }) => owner === 'gateway')));
});

describe('GET /account', () => {
  it('shows to any key what the key may do, whatever the header env says', async () => {
    const path = `/admin/accounts/${account}/taxpayers/${SECOND}/ranges`;
    await under.admin('PUT', path, [range('TesteCF', 1, 1000), range('eCF', 1, 500)]);
    const expires_at = '2099-06-30T00:00:00-04:00';
    const limited = await newKey({ scopes: ['submit'], taxpayers: [SECOND], expires_at });
    for (const env of [undefined, 'CerteCF', 'eCF', 'nada']) {
      const headers: Record<string, string> = env === undefined ? {} : { env };
      expect(await under.call('GET', '/account', { key: limited.key, headers })).toMatchObject({
        status: 200,
        body: {
          account: { id: account, name: 'Autoservicio' },
          key: { id: limited.id, name: 'k', expires_at },
          environments: SANDBOX,
          scopes: ['submit'],
          total_taxpayers: 1,
          taxpayers: [
            {
              rnc: SECOND,
              name: `Taxpayer ${SECOND}`,
              active: true,
              certificate_not_after: null,
              ranges: [{ ...range('TesteCF', 1, 1000), next: 'E310000000101', remaining: 900 }],
            },
          ],
        },
      });
    }
    const live = await newKey({ environments: ['eCF'], scopes: ['read'] });
    const { body } = await as(live.key, 'GET', '/account/?limit=1&offset=1');
    expect(body).toMatchObject({ environments: ['eCF'], total_taxpayers: 2, taxpayers: [{ rnc: SECOND }] });
    expect(body.taxpayers).toHaveLength(1);
    expect(body.taxpayers[0].ranges).toMatchObject([{ env: 'eCF', remaining: 400 }]);
    expect(await as(live.key, 'GET', '/account?limit=101')).toMatchObject({ status: 422 });
    await under.admin('DELETE', `/admin/accounts/${account}/api-keys/${live.id}`);
    expect(await as('', 'GET', '/account')).toMatchObject({ status: 401, body: { code: 'invalid_api_key' } });
  });
});

describe('a key with the scope manage', () => {
  it('changes the settings of its account, and the audit log names it', async () => {
    const certificate = `/account/taxpayers/${FIRST}/certificate`;
    const stored = await as(manager, 'PUT', certificate, certificateForm());
    expect(stored).toMatchObject({ status: 200, body: { subject: expect.stringContaining('JUANA PEREZ') } });
    expect((await as(manager, 'GET', certificate)).body).toEqual(stored.body);
    expect((await under.admin('GET', `/admin/accounts/${account}/taxpayers/${FIRST}/certificate`)).body).toEqual(
      stored.body,
    );
    const logo = `/account/taxpayers/${FIRST}/logo`;
    const picture = png(30, 10);
    const facts = await putLogo(manager, logo, picture);
    expect(facts).toMatchObject({ status: 200, body: { content_type: 'image/png', width: 30, height: 10 } });
    expect((await under.admin('GET', `/admin/accounts/${account}/taxpayers/${FIRST}`)).body.logo).toEqual(facts.body);
    const read = await fetch(under.url + logo, { headers: { 'x-api-key': manager } });
    expect(read.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await read.arrayBuffer()).equals(picture)).toBe(true);
    expect((await as(manager, 'DELETE', logo)).status).toBe(204);
    for (const method of ['GET', 'DELETE']) expect(await as(manager, method, logo)).toMatchObject(absent);
    const ranges = [range('TesteCF', 1, 1000)];
    expect(await as(manager, 'PUT', `/account/taxpayers/${FIRST}/ranges`, ranges)).toMatchObject({
      status: 200,
      body: ranges,
    });
    expect((await as(manager, 'GET', `/account/taxpayers/${FIRST}/ranges`)).body).toMatchObject([{ remaining: 900 }]);

    const made = await as(manager, 'POST', '/account/api-keys', { name: 'caja', environments: ['TesteCF'] });
    expect(made).toMatchObject({ status: 201, body: { scopes: ALL.slice(0, 5), taxpayers: null } });
    const own = await as(made.body.key, 'GET', '/account');
    expect([own.status, own.headers.get('ratelimit-policy')]).toEqual([200, expect.stringContaining('100000')]);
    const change = await as(manager, 'PATCH', `/account/api-keys/${made.body.id}`, { refuse_warnings: true });
    expect(change).toMatchObject({ status: 200, body: { refuse_warnings: true } });
    const rotated = await as(manager, 'POST', `/account/api-keys/${made.body.id}/rotate`, { overlap_hours: 1 });
    expect(rotated.status).toBe(200);
    expect((await as(manager, 'GET', `/account/api-keys/${rotated.body.id}`)).body).toMatchObject({ name: 'caja' });
    const strict = await as(manager, 'PATCH', `/account/api-keys/${rotated.body.id}`, { refuse_warnings: true });
    expect(strict).toMatchObject({ status: 200, body: { refuse_warnings: true } });
    expect((await as(manager, 'DELETE', `/account/api-keys/${rotated.body.id}`)).status).toBe(204);
    expect((await as(rotated.body.key, 'GET', '/account')).status).toBe(401);

    const url = 'https://erp.example.do/events?token=secreto';
    const webhook = await as(manager, 'POST', '/account/webhooks', { url, environments: SANDBOX });
    expect(webhook.status).toBe(201);
    const place = `/account/webhooks/${webhook.body.id}`;
    expect((await as(manager, 'GET', '/account/webhooks')).body).toMatchObject([{ id: webhook.body.id }]);
    expect((await as(manager, 'GET', place)).body).toMatchObject({ url });
    expect((await as(manager, 'PATCH', place, { active: false })).body).toMatchObject({ active: false });
    expect((await as(manager, 'POST', `${place}/rotate`)).status).toBe(200);
    expect((await as(manager, 'POST', `${place}/test`)).status).toBe(200);
    expect((await as(manager, 'POST', `${place}/replay`, { after: '1-5c0f31aa' })).status).toBe(202);
    expect((await as(manager, 'DELETE', place)).status).toBe(204);

    const log = await under.admin('GET', `/admin/audit?limit=1000&actor=api_key:${managerId}`);
    const acts = log.body.entries.filter(({ action }: { action: string }) => action !== 'api_key.use');
    expect(acts.map(({ action }: { action: string }) => action)).toEqual([
      'certificate.put',
      'logo.put',
      'logo.delete',
      'ranges.put',
      'api_key.create',
      'api_key.update',
      'api_key.rotate',
      'api_key.update',
      'api_key.delete',
      'webhook.create',
      'webhook.update',
      'webhook.rotate',
      'webhook.test',
      'webhook.replay',
      'webhook.delete',
    ]);
    for (const { target, request_id } of acts) {
      expect(target.startsWith(`/accounts/${account}/`)).toBe(true);
      expect(request_id).toEqual(expect.any(String));
    }
    expect(JSON.stringify(log.body)).not.toMatch(/secret|ecf_test_|whsec_/);
  });

  it('is told why a picture cannot be a logo, and the stored one stays', async () => {
    const path = `/account/taxpayers/${SECOND}/logo`;
    const stored = (await putLogo(manager, path, png(8, 4))).body;
    const [plain, jpeg] = [png(8, 4), Buffer.from([0xff, 0xd8, 0xff, 0xe0])];
    const wide = Buffer.from(plain);
    wide.writeUInt32BE(9_000, 16);
    wide.writeUInt32BE(9_000, 20);
    for (const [body, type, status, code, words] of [
      [plain, 'image/svg+xml', 415, 'unsupported_media_type', 'image/png or image/jpeg'],
      [plain, 'application/json', 415, 'unsupported_media_type', 'image/png or image/jpeg'],
      [plain, 'image/jpeg', 422, 'wrong_type', 'The body is a PNG'],
      [Buffer.alloc(2 ** 20 + 1), 'image/png', 413, 'body_too_large', '1048576 bytes'],
      [Buffer.alloc(0), 'image/png', 422, 'not_png_or_jpeg', 'save it as one of them'],
      [Buffer.from('<svg/>'), 'image/png', 422, 'not_png_or_jpeg', 'neither a PNG nor a JPEG'],
      [wide, 'image/png', 422, 'too_many_pixels', '9000 by 9000'],
      [plain.subarray(0, -20), 'image/png', 422, 'damaged', 'Save it again'],
      [jpeg, 'image/jpeg', 422, 'damaged', 'Save it again'],
    ] as const) {
      const answer = await putLogo(manager, path, body, type);
      const [item] = answer.body.items;
      expect([answer.status, item?.type ?? answer.body.code]).toEqual([status, code]);
      expect(item?.msg ?? answer.body.detail).toContain(words);
    }
    expect((await under.admin('GET', `/admin/accounts/${account}/taxpayers/${SECOND}`)).body.logo).toEqual(stored);
    expect(await putLogo(manager, '/account/taxpayers/131999999/logo', plain)).toMatchObject(absent);
  });

  it('publishes the SHA-256 of a logo, and the services read the picture', async () => {
    const path = `/account/taxpayers/${SECOND}/logo`;
    const picture = png(5, 5);
    const { sha256 } = (await putLogo(manager, path, picture)).body;
    const published = () =>
      under.events.some(({ data }) => taxpayerStateSchema.safeParse(data).data?.logo_sha256 === sha256);
    while (!published()) await new Promise((resolve) => setTimeout(resolve, 20));
    const { taxpayerSource } = under.gateway;
    expect(await taxpayerSource.taxpayer(SECOND)).toMatchObject({ logo_sha256: sha256 });
    expect(await taxpayerSource.logo(SECOND)).toMatchObject({ type: 'png', sha256, bytes: picture });
    expect(await taxpayerSource.logo('131999999')).toBeNull();
  });

  it('starts a certification run in its environments, as administrators do', async () => {
    const path = `/account/taxpayers/${FIRST}/runs`;
    const wanted = { env: 'CerteCF', reason: 'E320000000006 was rejected' };
    expect(await as(manager, 'POST', path, wanted)).toMatchObject({ status: 201, body: { run: 2, superseded: 25 } });
    const asAdministrator = await under.admin('POST', `/admin/accounts/${account}/taxpayers/${FIRST}/runs`, wanted);
    expect(asAdministrator).toMatchObject({ status: 201, body: { run: 3, env: 'CerteCF' } });
    const run = { ...wanted, account_id: account, issuer_rnc: FIRST };
    expect(starts).toMatchObject([
      { ...run, by: { actor: `api_key:${managerId}`, proof: expect.any(String) } },
      { ...run, by: { actor: 'ADMIN_TOKEN', proof: expect.any(String) } },
    ]);

    const test = await newKey({ environments: ['TesteCF'] });
    expect(await as(test.key, 'POST', path, wanted)).toMatchObject(beyond);
    expect(await as((await newKey({ scopes: ['submit'] })).key, 'POST', path, wanted)).toMatchObject({ status: 403 });
    expect(await as(manager, 'POST', '/account/taxpayers/131999999/runs', wanted)).toMatchObject(absent);
    for (const body of [
      { ...wanted, env: 'eCF' },
      { env: 'CerteCF' },
      { ...wanted, reason: ' ' },
      { ...wanted, run: 7 },
    ]) {
      const { status, body: refused } = await as(manager, 'POST', path, body);
      expect([body, status, refused.code]).toEqual([body, 422, 'validation_error']);
    }
    const { body } = await as(manager, 'POST', path, { ...wanted, env: 'eCF' });
    expect(body.items[0]).toMatchObject({ loc: ['body', 'env'], msg: expect.stringMatching(/TesteCF or CerteCF/) });
    expect(starts).toHaveLength(2);
  });

  it('makes keys with its own rights at most', async () => {
    const expires_at = '2099-06-30T00:00:00-04:00';
    const scopes: Scope[] = ['read', 'manage'];
    const { key } = await newKey({ environments: ['TesteCF'], scopes, taxpayers: [FIRST], expires_at });
    const wanted = { name: 'x', environments: ['TesteCF'], scopes: ['read'], taxpayers: [FIRST], expires_at };
    for (const [more, named] of [
      [{ scopes: undefined }, 'submit, receive, approve, cancel'],
      [{ scopes: ['read', 'cancel'] }, 'the scopes cancel'],
      [{ environments: ['TesteCF', 'CerteCF'] }, 'name only TesteCF'],
      [{ environments: ['eCF'] }, 'name only TesteCF'],
      [{ taxpayers: [FIRST, SECOND] }, `among ${FIRST}`],
      [{ taxpayers: null }, `among ${FIRST}`],
      [{ expires_at: '2099-06-30T00:00:01-04:00' }, expires_at],
      [{ expires_at: null }, expires_at],
    ] as const) {
      const answer = await as(key, 'POST', '/account/api-keys', { ...wanted, ...more });
      expect([more, answer]).toMatchObject([more, beyond]);
      expect(answer.body.detail).toContain(named);
    }
    const made = await as(key, 'POST', '/account/api-keys', wanted);
    expect(made).toMatchObject({ status: 201, body: { taxpayers: [FIRST], scopes: ['read'], expires_at } });
    const successor = await as(key, 'POST', '/account/api-keys', { ...wanted, scopes: ['manage'] });
    expect(await as(successor.body.key, 'POST', '/account/api-keys', wanted)).toMatchObject(beyond);
  });

  it('sees only keys of its environments and taxpayers, and replaces or revokes none with more rights', async () => {
    const own = await newKey({ environments: ['TesteCF'], scopes: ['read', 'manage'], taxpayers: [FIRST] });
    const same = await newKey({ environments: ['TesteCF'], scopes: ['read'], taxpayers: [FIRST] });
    const wider = await newKey({ environments: ['TesteCF'], scopes: ['submit'], taxpayers: [FIRST] });
    const live = await newKey({ environments: ['eCF'], taxpayers: [FIRST] });
    const others = [
      live,
      await newKey({ environments: ['TesteCF', 'CerteCF'], taxpayers: [FIRST] }),
      await newKey({ environments: ['TesteCF'], taxpayers: [FIRST, SECOND] }),
      await newKey({ environments: ['TesteCF'], taxpayers: null }),
    ];
    const listed = await as(own.key, 'GET', '/account/api-keys');
    const ids = listed.body.map(({ id }: { id: string }) => id);
    for (const { id } of [own, same, wider]) expect(ids).toContain(id);
    for (const { id } of others) {
      expect(ids).not.toContain(id);
      const path = `/account/api-keys/${id}`;
      expect(await as(own.key, 'GET', path)).toMatchObject(absent);
      expect(await as(own.key, 'DELETE', path)).toMatchObject(absent);
      expect(await as(own.key, 'PATCH', path, { refuse_warnings: true })).toMatchObject(absent);
      expect(await as(own.key, 'PATCH', path, { refuse_warnings: true })).toMatchObject(absent);
      expect(await as(own.key, 'POST', `${path}/rotate`, {})).toMatchObject(absent);
    }
    const narrow = { refuse_warnings: true };
    expect(await as(own.key, 'DELETE', `/account/api-keys/${wider.id}`)).toMatchObject(beyond);
    expect(await as(own.key, 'PATCH', `/account/api-keys/${wider.id}`, narrow)).toMatchObject(beyond);
    const looser = await as(own.key, 'PATCH', `/account/api-keys/${wider.id}`, { refuse_warnings: false });
    expect(looser).toMatchObject(beyond);
    expect(await as(own.key, 'POST', `/account/api-keys/${wider.id}/rotate`, {})).toMatchObject(beyond);
    await under.admin('DELETE', `/admin/accounts/${account}/api-keys/${live.id}`);
    expect((await as(own.key, 'DELETE', `/account/api-keys/${same.id}`)).status).toBe(204);
    expect((await as(own.key, 'POST', `/account/api-keys/${own.id}/rotate`, { overlap_hours: 0 })).status).toBe(200);
    expect((await as(own.key, 'GET', '/account')).status).toBe(401);
  });

  it('sees and changes only the ranges of its environments and the taxpayers that it serves', async () => {
    const admin = `/admin/accounts/${account}/taxpayers/${FIRST}/ranges`;
    const live = range('eCF', 1, 500);
    await under.admin('PUT', admin, [range('TesteCF', 1, 1000), range('CerteCF', 1, 1000), live]);
    const own = await newKey({ environments: ['TesteCF'], taxpayers: [FIRST] });
    const path = `/account/taxpayers/${FIRST}/ranges`;
    expect((await as(own.key, 'GET', path)).body).toMatchObject([range('TesteCF', 1, 1000)]);
    expect(await as(own.key, 'PUT', path, [range('CerteCF', 1, 1000)])).toMatchObject(beyond);
    const wanted = [range('TesteCF', 1, 2000)];
    expect(await as(own.key, 'PUT', path, wanted)).toMatchObject({ status: 200, body: wanted });
    const all = (await under.admin('GET', admin)).body.map(({ env, to }: { env: string; to: string }) => [env, to]);
    expect(all).toEqual([
      ['CerteCF', 'E310000001000'],
      ['eCF', 'E310000000500'],
      ['TesteCF', 'E310000002000'],
    ]);
    for (const part of ['ranges', 'certificate']) {
      expect(await as(own.key, 'GET', `/account/taxpayers/${SECOND}/${part}`)).toMatchObject(absent);
      const body = part === 'ranges' ? wanted : certificateForm();
      expect(await as(own.key, 'PUT', `/account/taxpayers/${SECOND}/${part}`, body)).toMatchObject(absent);
    }
  });

  it.each(['an administrator', 'a key'])('removes ranges for %s only if the list says so', async (who) => {
    const { id } = (await under.admin('POST', '/admin/accounts', { name: 'Rangos' })).body;
    const rnc = who === 'a key' ? '131000904' : '131000905';
    await under.admin('POST', `/admin/accounts/${id}/taxpayers`, { rnc, name: 'Rangos' });
    const { key } = await newKey({}, id);
    const put = (ranges: object[], query = '') =>
      who === 'a key'
        ? as(key, 'PUT', `/account/taxpayers/${rnc}/ranges${query}`, ranges)
        : under.admin('PUT', `/admin/accounts/${id}/taxpayers/${rnc}/ranges${query}`, ranges);
    const [whole, other] = [range('TesteCF', 1, 1000), range('TesteCF', 1, 300, '32')];
    const taken = async (ranges: object[], query?: string) =>
      expect(await put(ranges, query)).toMatchObject({ status: 200, body: ranges });
    await taken([]);
    await taken([whole, other]);
    // The same numbers, and numbers that are not used, may be arranged anew.
    await taken([range('TesteCF', 1, 100), { ...range('TesteCF', 101, 500), expires: '2030-12-31' }, other]);
    await taken([whole, other]);
    await taken([range('TesteCF', 1, 5000), range('TesteCF', 1, 200, '32')]);
    for (const [ranges, named] of [
      [[whole], 'TesteCF E320000000001 to E320000000200 (100 used)'],
      [[range('TesteCF', 51, 5000), other], 'TesteCF E310000000001 to E310000000050 (50 used)'],
      [[range('TesteCF', 1, 90), range('TesteCF', 96, 200), other], 'TesteCF E310000000091 to E310000000095 (5 used)'],
    ] as const) {
      const answer = await put([...ranges]);
      expect(answer).toMatchObject({ status: 409, body: { code: 'range_in_use' } });
      expect(answer.body.detail).toContain(`${named}.`);
      expect(answer.body.detail).not.toContain('(0 used)');
    }
    const empty = await put([]);
    expect(empty).toMatchObject({ status: 422, body: { detail: [{ loc: ['body'], type: 'empty' }] } });
    expect(empty.body.detail[0].msg).toMatch(/E310000000001 to E310000005000 \(100 used\).*remove=true/);
    expect(await put([], '?remove=yes')).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', 'remove'] }] },
    });
    await taken([whole], '?remove=true');
    await taken([], '?remove=true');
    const { entries } = (await under.admin('GET', `/admin/audit?order=desc&limit=1&action=ranges.put`)).body;
    expect(entries[0].details).toMatchObject({ ranges: [], removed: [whole] });
  });

  it('sees and changes only webhooks of its environments, and none if it may not read every event', async () => {
    const url = 'https://erp.example.do/events';
    const base = `/admin/accounts/${account}/webhooks`;
    const wide = (await under.admin('POST', base, { url })).body.id;
    const ofTest = (await under.admin('POST', base, { url, environments: ['TesteCF'] })).body.id;
    const own = await newKey({ environments: ['TesteCF'] });
    expect((await as(own.key, 'GET', '/account/webhooks')).body).toMatchObject([{ id: ofTest }]);
    expect(await as(own.key, 'POST', '/account/webhooks', { url, environments: SANDBOX })).toMatchObject(beyond);
    expect(await as(own.key, 'POST', '/account/webhooks', { url })).toMatchObject({
      status: 201,
      body: { environments: ['TesteCF'] },
    });
    const limited = await newKey({ environments: ['TesteCF'], taxpayers: [FIRST] });
    const unread = await newKey({ environments: ['TesteCF'], scopes: ['manage'] });
    for (const [method, action, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { active: false }],
      ['DELETE', '', undefined],
      ['POST', '/rotate', undefined],
      ['POST', '/replay', { after: '1-5c0f31aa' }],
      ['POST', '/test', undefined],
    ] as const) {
      expect(await as(own.key, method, `/account/webhooks/${wide}${action}`, body)).toMatchObject(absent);
      for (const { key } of [limited, unread])
        expect(await as(key, method, `/account/webhooks/${ofTest}${action}`, body)).toMatchObject(beyond);
    }
    const webhook = { url, environments: ['TesteCF'] };
    for (const { key } of [limited, unread]) {
      expect(await as(key, 'GET', '/account/webhooks')).toMatchObject(beyond);
      expect(await as(key, 'POST', '/account/webhooks', webhook)).toMatchObject(beyond);
    }
  });

  it('stores certificates and logos as a sandbox key only until its account has a key for eCF', async () => {
    const { id } = (await under.admin('POST', '/admin/accounts', { name: 'Hacia la producción' })).body;
    const rnc = '131000903';
    await under.admin('POST', `/admin/accounts/${id}/taxpayers`, { rnc, name: 'Otra' });
    const path = `/account/taxpayers/${rnc}/certificate`;
    const sandbox = await newKey({}, id);
    expect((await as(sandbox.key, 'PUT', path, certificateForm())).status).toBe(200);
    const logo = `/account/taxpayers/${rnc}/logo`;
    expect((await putLogo(sandbox.key, logo, png(5, 5))).status).toBe(200);
    const live = await newKey({ environments: ['eCF'] }, id);
    expect(await as(sandbox.key, 'PUT', path, certificateForm())).toMatchObject(beyond);
    expect(await putLogo(sandbox.key, logo, png(5, 5))).toMatchObject(beyond);
    expect(await as(sandbox.key, 'DELETE', logo)).toMatchObject(beyond);
    expect((await as(live.key, 'DELETE', logo)).status).toBe(204);
    expect((await as(live.key, 'PUT', path, certificateForm())).status).toBe(200);
    await under.admin('DELETE', `/admin/accounts/${id}/api-keys/${live.id}`);
    expect((await as(sandbox.key, 'PUT', path, certificateForm())).status).toBe(200);
  });

  it('reaches nothing of another account', async () => {
    const other = (await under.admin('POST', '/admin/accounts', { name: 'Ajena' })).body.id;
    const theirs = await newKey({}, other);
    const url = 'https://erp.example.do/events';
    const webhook = (await under.admin('POST', `/admin/accounts/${other}/webhooks`, { url, environments: SANDBOX }))
      .body;
    for (const [method, path, body] of [
      ['GET', `/account/api-keys/${managerId}`, undefined],
      ['DELETE', `/account/api-keys/${managerId}`, undefined],
      ['POST', `/account/api-keys/${managerId}/rotate`, {}],
      ['GET', `/account/taxpayers/${FIRST}/ranges`, undefined],
      ['PUT', `/account/taxpayers/${FIRST}/ranges`, [range('TesteCF', 1, 2)]],
      ['GET', `/account/taxpayers/${FIRST}/certificate`, undefined],
      ['PUT', `/account/taxpayers/${FIRST}/certificate`, certificateForm()],
      ['GET', `/account/taxpayers/${FIRST}/logo`, undefined],
      ['PUT', `/account/taxpayers/${FIRST}/logo`, undefined],
      ['DELETE', `/account/taxpayers/${FIRST}/logo`, undefined],
    ] as const)
      expect([path, await as(theirs.key, method, path, body)]).toMatchObject([path, absent]);
    expect((await as(theirs.key, 'GET', '/account')).body).toMatchObject({ account: { id: other }, taxpayers: [] });
    expect((await as(theirs.key, 'GET', '/account/api-keys')).body).toMatchObject([{ id: theirs.id }]);
    expect((await as(manager, 'GET', '/account/webhooks')).body.map((one: { id: string }) => one.id)).not.toContain(
      webhook.id,
    );
  });

  it('changes nothing once it was revoked, also if its request began before', async () => {
    const url = 'https://erp.example.do/events';
    const before = (await under.admin('GET', `/admin/accounts/${account}/webhooks`)).body;
    for (const [method, path, body] of [
      ['POST', '/account/api-keys', { name: 'tarde', environments: ['TesteCF'], scopes: ['read'] }],
      ['PUT', `/account/taxpayers/${FIRST}/ranges?remove=true`, [range('TesteCF', 1, 9_000)]],
      ['POST', `/account/taxpayers/${FIRST}/runs`, { env: 'CerteCF', reason: 'late' }],
      ['POST', '/account/webhooks', { url, environments: ['TesteCF'] }],
    ] as const) {
      const answer = await revokedMeanwhile(await newKey(), method, path, body);
      expect([path, answer]).toMatchObject([path, { status: 401, body: { code: 'invalid_api_key' } }]);
    }
    const names = (await under.admin('GET', `/admin/accounts/${account}/api-keys`)).body.map(nameOf);
    expect(names).not.toContain('tarde');
    expect((await under.admin('GET', `/admin/accounts/${account}/webhooks`)).body).toEqual(before);
  });

  it('makes no taxpayers, and reaches nothing else of the administration', async () => {
    for (const [method, path] of [
      ['POST', '/account/taxpayers'],
      ['PATCH', `/account/taxpayers/${FIRST}`],
      ['PATCH', '/account'],
      ['GET', '/account/audit'],
      ['GET', `/account/${account}/api-keys`],
      ['GET', '/account/../admin/accounts'],
    ] as const)
      expect([404, 405, 401]).toContain((await as(manager, method, path, method === 'GET' ? undefined : {})).status);
  });
});

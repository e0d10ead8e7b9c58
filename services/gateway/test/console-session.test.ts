import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, type Answer, type GatewayUnderTest, makeAccount, startGateway } from './gateway-under-test.js';

let under: GatewayUnderTest;
let id: string;
let key: string;
let keyId: string;
let now = new Date('2026-05-04T12:00:00Z');
const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

beforeAll(async () => {
  under = await startGateway({}, { clock: () => now });
  ({ id, key, keyId } = await makeAccount(under, '131000001'));
});
afterAll(() => under.stop());

const signIn = (body: object, headers: Record<string, string> = {}) =>
  under.call('POST', '/console/session', {
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const cookieOf = (answer: Answer) => (answer.headers.get('set-cookie') ?? '').split(';')[0] as string;
const withCookie = (cookie: string, method: string, path: string, headers: Record<string, string> = SAME_ORIGIN) =>
  under.call(method, path, { headers: { cookie, ...headers } });

describe('a session of the console', () => {
  it('that an API key began takes the place of the key, and the service sees neither key nor cookie.', async () => {
    const answer = await signIn({ api_key: key });
    expect(answer).toMatchObject({
      status: 200,
      body: { kind: 'account', id: keyId, name: 'tests', role: null, environments: ['TesteCF', 'CerteCF'] },
    });
    expect(answer.headers.get('set-cookie')).toMatch(/^ecf_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(await withCookie(cookieOf(answer), 'GET', '/console/session')).toMatchObject({ status: 200 });
    const called = await withCookie(cookieOf(answer), 'GET', '/obtain_token');
    expect(called).toMatchObject({ status: 200, body: { api_key: null, caller: { account_id: id, key_id: keyId } } });
    expect(await withCookie(cookieOf(answer), 'GET', '/account')).toMatchObject({ status: 200 });
  });

  it('that began on a page over TLS has a cookie for TLS only.', async () => {
    const answer = await signIn({ api_key: key }, { origin: 'https://gateway.example' });
    expect(answer.headers.get('set-cookie')).toContain('; Secure');
  });

  it('ends when the same browser signs in again.', async () => {
    const cookie = cookieOf(await signIn({ api_key: key }));
    await signIn({ api_key: key }, { cookie, ...SAME_ORIGIN });
    expect(await withCookie(cookie, 'GET', '/console/session')).toMatchObject({ status: 401 });
  });

  it('ends everywhere when somebody signs out.', async () => {
    const cookie = cookieOf(await signIn({ api_key: key }));
    const out = await withCookie(cookie, 'DELETE', '/console/session');
    expect(out).toMatchObject({ status: 204 });
    expect(out.headers.get('set-cookie')).toMatch(/^ecf_session=; .*Expires=Thu, 01 Jan 1970/);
    for (const path of ['/console/session', '/account', '/obtain_token'])
      expect(await withCookie(cookie, 'GET', path)).toMatchObject({ status: 401, body: { code: 'session_ended' } });
    expect(await withCookie(cookie, 'DELETE', '/console/session')).toMatchObject({ status: 204 });
  });

  it('ends after eight hours without a request, and each request begins them anew.', async () => {
    const cookie = cookieOf(await signIn({ api_key: key }));
    const later = (hours: number) => {
      now = new Date(now.getTime() + hours * 3_600_000);
    };
    later(7.9);
    expect(await withCookie(cookie, 'GET', '/account')).toMatchObject({ status: 200 });
    later(7.9);
    expect(await withCookie(cookie, 'GET', '/account')).toMatchObject({ status: 200 });
    later(8.1);
    expect(await withCookie(cookie, 'GET', '/account')).toMatchObject({
      status: 401,
      body: { code: 'session_ended' },
    });
  });

  it('ends with its API key.', async () => {
    const made = await under.admin('POST', `/admin/accounts/${id}/api-keys`, {
      name: 'short',
      environments: ['TesteCF'],
    });
    const cookie = cookieOf(await signIn({ api_key: made.body.key }));
    expect(await withCookie(cookie, 'GET', '/account')).toMatchObject({ status: 200 });
    await under.admin('DELETE', `/admin/accounts/${id}/api-keys/${made.body.id}`);
    expect(await withCookie(cookie, 'GET', '/account')).toMatchObject({
      status: 401,
      body: { code: 'invalid_api_key' },
    });
  });

  it.each([
    ['another site', 'GET', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the same site', 'GET', { 'sec-fetch-site': 'same-site' }],
    ['the address bar, with a method that changes something', 'POST', { 'sec-fetch-site': 'none' }],
    ['another origin without TLS', 'POST', { origin: 'http://other.example' }],
    ['no origin, with a method that changes something', 'POST', {}],
  ])('does not count for a request from %s.', async (_from, method, headers: Record<string, string>) => {
    const cookie = cookieOf(await signIn({ api_key: key }));
    const path = method === 'GET' ? '/account' : '/fe_Submit';
    expect(await withCookie(cookie, method, path, headers)).toMatchObject({
      status: 401,
      body: { code: 'invalid_api_key' },
    });
  });

  it.each([
    ['the address bar', 'GET', { 'sec-fetch-site': 'none' }],
    ['a page without TLS', 'POST', {}],
  ])('counts for a request from %s.', async (_from, method, headers: Record<string, string>) => {
    const cookie = cookieOf(await signIn({ api_key: key }));
    const own = method === 'POST' ? { origin: under.url } : headers;
    expect(await withCookie(cookie, method, method === 'GET' ? '/account' : '/fe_Submit', own)).toMatchObject({
      status: 200,
    });
  });

  it('does not count where the request sends a key.', async () => {
    const cookie = cookieOf(await signIn({ api_key: key }));
    const headers = { 'x-api-key': 'ecf_wrong', ...SAME_ORIGIN };
    expect(await withCookie(cookie, 'GET', '/account', headers)).toMatchObject({ status: 401 });
  });
});

describe('a session of an administrator', () => {
  it('that ADMIN_TOKEN began has the role of an owner, and opens nothing of an account.', async () => {
    const answer = await signIn({ admin_token: ADMIN_TOKEN });
    expect(answer).toMatchObject({
      status: 200,
      body: { kind: 'administrator', id: null, name: 'ADMIN_TOKEN', role: 'owner' },
    });
    expect(await withCookie(cookieOf(answer), 'GET', '/admin/accounts')).toMatchObject({ status: 200 });
    expect(await withCookie(cookieOf(answer), 'GET', '/account')).toMatchObject({
      status: 401,
      body: { code: 'invalid_api_key' },
    });
  });

  it('has the role of the administrator, and ends when the administrator is deleted.', async () => {
    const ana = await under.admin('POST', '/admin/administrators', { name: 'Ana', role: 'viewer' });
    const answer = await signIn({ admin_token: ana.body.token });
    expect(answer.body).toMatchObject({ kind: 'administrator', id: ana.body.id, name: 'Ana', role: 'viewer' });
    const cookie = cookieOf(answer);
    expect(await withCookie(cookie, 'GET', '/admin/accounts')).toMatchObject({ status: 200 });
    expect(await withCookie(cookie, 'GET', '/admin/administrators')).toMatchObject({
      status: 403,
      body: { code: 'missing_role' },
    });
    await under.admin('DELETE', `/admin/administrators/${ana.body.id}`);
    expect(await withCookie(cookie, 'GET', '/admin/accounts')).toMatchObject({ status: 401 });
  });

  it('does not exist for the session of an API key.', async () => {
    const cookie = cookieOf(await signIn({ api_key: key }));
    expect(await withCookie(cookie, 'GET', '/admin/accounts')).toMatchObject({
      status: 401,
      body: { code: 'invalid_admin_token' },
    });
  });
});

it('An administrator signs in on the listener of the administration only, where it has one.', async () => {
  const apart = await startGateway({ ADMIN_HOST: '127.0.0.1', ADMIN_PORT: '0' });
  const post = (url: string | null) =>
    fetch(`${url}/console/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ admin_token: ADMIN_TOKEN }),
    });
  expect((await post(apart.url)).status).toBe(401);
  const answer = await post(apart.adminUrl);
  expect(answer.status).toBe(200);
  const cookie = (answer.headers.get('set-cookie') ?? '').split(';')[0] as string;
  const there = await fetch(`${apart.adminUrl}/admin/accounts`, { headers: { cookie, ...SAME_ORIGIN } });
  expect(there.status).toBe(200);
  const here = await apart.call('GET', '/console/session', { headers: { cookie, ...SAME_ORIGIN } });
  expect(here).toMatchObject({ status: 401, body: { code: 'session_ended' } });
  await apart.stop();
});

it('A sender that guesses sessions is refused after too many.', async () => {
  const strict = await startGateway({ SANDBOX: 'false', DEFAULT_ENV: 'TesteCF', TRUSTED_PROXIES: 'loopback' });
  const guess = () => strict.call('GET', '/account', { headers: { cookie: 'ecf_session=guessed', ...SAME_ORIGIN } });
  const answers = await Promise.all(Array.from({ length: 300 }, guess));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
  await strict.stop();
});

it.each([
  [{ api_key: 'ecf_wrong' }, 401, 'invalid_api_key'],
  [{ admin_token: 'wrong' }, 401, 'invalid_admin_token'],
  [{}, 422, 'validation_error'],
  [{ api_key: 'a', admin_token: 'b' }, 422, 'validation_error'],
])('signing in with %j is answered %i %s, without a cookie.', async (body, status, code) => {
  const answer = await signIn(body);
  expect(answer).toMatchObject({ status, body: { code } });
  expect(answer.headers.get('set-cookie')).toBeNull();
});

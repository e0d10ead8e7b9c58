import { HOSTILE } from '@ecf/test-support/hostile-inputs';
import { type SigningCertificate, signXml } from '@ecf/xml-signing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encf, sampleBytes } from './support/documents.js';
import { expired, provider } from './support/senders.js';
import { startWorld, type World } from './support/world.js';

let world: World;
let sequence = 0;
const SEED = '/fe/autenticacion/api/semilla';
const VALIDATE = '/fe/autenticacion/api/validacioncertificado';

beforeAll(async () => {
  world = await startWorld({ settings: { PROVIDER_AUTH: 'required' }, instances: 2 });
});
afterAll(() => world.stop());

async function signedSeed(
  options: { env?: string; certificate?: SigningCertificate; path?: string } = {},
): Promise<string> {
  const response = await fetch(`${world.url()}${options.path ?? SEED}`, { headers: { env: options.env ?? 'TesteCF' } });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/xml; charset=utf-8']);
  const canonical = (await response.text()).replace(/^<\?xml[^>]*\?>/, '');
  return (await signXml({ canonical, output: canonical }, options.certificate ?? provider.certificate)).xml;
}

function validate(xml: string, headers: Record<string, string> = {}, instance = 0): Promise<Response> {
  const form = new FormData();
  form.set('xml', new Blob([xml], { type: 'text/xml' }), 'semilla.xml');
  return fetch(`${world.url(instance)}${VALIDATE}`, {
    method: 'POST',
    body: form,
    headers: { env: 'TesteCF', ...headers },
  });
}

async function token(instance = 0): Promise<string> {
  return (await (await validate(await signedSeed(), {}, instance)).json()).token;
}

describe('the login of a provider', () => {
  it('gives a seed, then a token for its signature, and the token allows a delivery', async () => {
    const answer = await validate(await signedSeed());
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
    const body = await answer.json();
    expect(body).toEqual({
      token: expect.stringMatching(/^eyJ/),
      expira: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      expedido: expect.stringMatching(/^2026-06-23T16:0\d:\d\dZ$/),
    });
    const headers = { authorization: `bearer ${body.token}` };
    const delivered = await world.send(await sampleBytes({ encf: encf(++sequence) }), { headers });
    expect([delivered.status, (await delivered.text()).includes('<Estado>0<')]).toEqual([200, true]);
  });

  it('works at its address in upper or lower case, and answers XML on request', async () => {
    const answer = await validate(await signedSeed({ path: '/FE/Autenticacion/API/Semilla' }), {
      accept: 'application/xml',
    });
    expect(answer.headers.get('content-type')).toBe('application/xml; charset=utf-8');
    expect(await answer.text()).toMatch(
      /^<\?xml version="1\.0" encoding="utf-8"\?><RespuestaAutenticacion><token>eyJ[^<]+<\/token><expira>[^<]+Z<\/expira><expedido>[^<]+Z<\/expedido><\/RespuestaAutenticacion>$/,
    );
  });

  it('begins at one instance and continues at another', async () => {
    const authorization = `Bearer ${await token(1)}`;
    const bytes = await sampleBytes({ encf: encf(++sequence) });
    expect((await world.send(bytes, { headers: { authorization }, instance: 0 })).status).toBe(200);
  });
});

describe('the authentication of providers', () => {
  it('refuses a seed the second time, at another instance too', async () => {
    const seed = await signedSeed();
    expect((await validate(seed)).status).toBe(200);
    const again = await validate(seed, {}, 1);
    expect([again.status, await again.json()]).toMatchObject([400, { code: 'invalid_seed' }]);
  });

  it('refuses a seed whose certificate has expired, and one that was changed', async () => {
    expect((await validate(await signedSeed({ certificate: expired.certificate }))).status).toBe(400);
    expect((await validate((await signedSeed()).replace('<valor>', '<valor>A'))).status).toBe(400);
  });

  it('refuses a seed of another environment', async () => {
    expect((await validate(await signedSeed({ env: 'eCF' }))).status).toBe(400);
  });

  it('refuses each hostile input, and gives a token for a genuine seed afterwards', async () => {
    const certificate = provider.certificate.certificate;
    const genuine = (await sampleBytes({ encf: encf(++sequence) })).toString();
    for (const { name, make, headers = {} } of HOSTILE) {
      const body = Buffer.from(make(genuine, certificate));
      // No seed exceeds 32 KiB, so one of the largest represents them all.
      if (body.length > 1_000_000 && name !== '8 MB of one text') continue;
      const answer = await fetch(`${world.url()}${VALIDATE}`, {
        method: 'POST',
        body: new Uint8Array(body),
        headers: { env: 'TesteCF', 'content-type': 'text/xml', ...headers },
      });
      const { code } = await answer.json();
      const refused = [400, 413, 415, 422].includes(answer.status) && typeof code === 'string';
      expect([name, refused ? 'refused' : answer.status]).toEqual([name, 'refused']);
    }
    expect(await token()).toMatch(/^eyJ/);
  });

  it('answers 422 to a call without a seed', async () => {
    const response = await fetch(`${world.url()}${VALIDATE}`, {
      method: 'POST',
      body: '{}',
      headers: { env: 'TesteCF' },
    });
    expect(response.status).toBe(422);
  });

  it.each([
    ['no token', {}],
    ['a bad one', { authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' }],
    ['another scheme', { authorization: 'Basic dTpw' }],
  ])('answers a document with %s with 401 and says what to do', async (_, headers) => {
    const response = await world.send(await sampleBytes({ encf: encf(++sequence) }), { headers });
    expect([response.status, await response.json()]).toMatchObject([401, { code: 'invalid_provider_token' }]);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('refuses a token of another environment', async () => {
    const headers = { authorization: `Bearer ${await token()}` };
    expect((await world.send(await sampleBytes({ encf: encf(++sequence) }), { headers, env: 'eCF' })).status).toBe(401);
  });

  it('refuses an expired token', async () => {
    const headers = { authorization: `Bearer ${await token()}` };
    world.setTime(new Date('2026-06-23T18:00:00Z'));
    expect((await world.send(await sampleBytes({ encf: encf(++sequence) }), { headers })).status).toBe(401);
  });
});

it('tokens stay valid for their own time at every instance while keys rotate', async () => {
  const start = new Date('2026-06-25T00:00:00Z');
  const at = (minutes: number) => world.setTime(new Date(start.getTime() + minutes * 60_000));
  const deliver = async (bearer: string, instance: number) =>
    (
      await world.send(await sampleBytes({ encf: encf(++sequence) }), {
        headers: { authorization: `Bearer ${bearer}` },
        instance,
      })
    ).status;
  const kid = (bearer: string) => JSON.parse(Buffer.from(bearer.split('.')[0] ?? '', 'base64url').toString()).kid;
  at(0);
  const first = await token(0);
  at(24 * 60 - 1);
  const last = await token(1);
  at(24 * 60 + 1);
  const next = await token(0);
  expect([kid(last) === kid(first), kid(next) === kid(last)]).toEqual([true, false]);
  for (const instance of [0, 1]) {
    expect([await deliver(last, instance), await deliver(next, instance)]).toEqual([200, 200]);
    expect(await deliver(first, instance)).toBe(401);
  }
  at(24 * 60 + 32);
  expect([await deliver(last, 0), await deliver(last, 1)]).toEqual([401, 401]);
  at(48 * 60 + 2);
  await token(1);
  const { rows } = await world.database.query<{ kid: string }>('SELECT kid FROM token_keys');
  expect(rows.map((row) => row.kid)).not.toContain(kid(first));
});

it('a bad token has no effect if tokens are ignored', async () => {
  const open = await startWorld();
  try {
    const headers = { authorization: 'Bearer nonsense' };
    expect((await open.send(await sampleBytes({ encf: encf(1) }), { headers })).status).toBe(200);
  } finally {
    await open.stop();
  }
});

import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Authority } from './support/authority.js';
import { call, multipart } from './support/http.js';
import { certificate, sign } from './support/signing.js';

const secret = Buffer.alloc(32, 7);
let authority: Authority;

beforeAll(async () => {
  authority = await Authority.start({
    randomBytes: (length) => (length === 32 ? secret : Buffer.from(String(Math.random()).padEnd(length, '.'))),
  });
});
afterAll(() => authority.stop());

describe('the seed', () => {
  it('comes over several lines, with seven fractional digits and the local offset', async () => {
    const reply = await authority.call('/TesteCF/Autenticacion/api/Autenticacion/Semilla/');
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toMatch(/^application\/xml/);
    expect(reply.text).toMatch(
      /^<\?xml version="1.0" encoding="utf-8"\?>\n<SemillaModel xmlns:xsi="[^"]+" xmlns:xsd="[^"]+">\n {2}<valor>[A-Za-z0-9+/=]{128}<\/valor>\n {2}<fecha>2026-06-23T17:45:47\.0000000-04:00<\/fecha>\n<\/SemillaModel>$/,
    );
  });

  it('is another each time', async () => {
    const [a, b] = await Promise.all([1, 2].map(() => authority.call('/ecf/autenticacion/api/autenticacion/semilla')));
    expect(a?.text).not.toBe(b?.text);
  });
});

describe('the token', () => {
  it('is a JWT with the documented claims, good for an hour', async () => {
    const reply = await authority.logIn('testecf', await authority.signedSeed('testecf'));
    expect(reply.status).toBe(200);
    const { token, expira, expedido } = reply.json();
    expect({ expira, expedido }).toEqual({ expira: '2026-06-23T22:45:47Z', expedido: '2026-06-23T21:45:47Z' });
    const [header, claims, signature] = token.split('.');
    expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toEqual({
      'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name': '00112345673',
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      nbf: 1782251147,
      exp: 1782251147 + 3600,
      iss: 'DGII.FE',
      aud: 'USUARIOS.DGII.FE',
    });
    const key = createHmac('sha256', secret).update('TesteCF').digest();
    expect(signature).toBe(createHmac('sha256', key).update(`${header}.${claims}`).digest('base64url'));
  });

  it('comes as XML on request', async () => {
    const upload = multipart(await authority.signedSeed('ecf'), 's.xml');
    const reply = await authority.call('/ecf/autenticacion/api/autenticacion/validarsemilla', {
      ...upload,
      headers: { ...upload.headers, Accept: 'application/xml' },
    });
    expect(reply.text).toMatch(
      /^<\?xml version="1.0" encoding="utf-8"\?><RespuestaAutenticacion><token>[\w.-]+<\/token><expira>[^<]+Z<\/expira><expedido>[^<]+Z<\/expedido><\/RespuestaAutenticacion>$/,
    );
  });

  it('is accepted with the word bearer in any case, in its environment only, and not after an hour', async () => {
    const token = await authority.token('testecf');
    const statusOf = async (env: string, authorization?: string) =>
      (
        await authority.call(`/${env}/consultaresultado/api/consultas/estado?trackid=x`, {
          headers: authorization === undefined ? {} : { Authorization: authorization },
        })
      ).status;
    expect(await statusOf('testecf', `bEARER ${token}`)).toBe(200);
    expect(await statusOf('ecf', `Bearer ${token}`)).toBe(401);
    expect(await statusOf('testecf', token)).toBe(401);
    expect(await statusOf('testecf', `Bearer ${token.slice(0, -2)}AA`)).toBe(401);
    expect(await statusOf('testecf', `Bearer ${token.split('.').slice(0, 2).join('.')}.`)).toBe(401);
    expect(await statusOf('testecf', 'Bearer nonsense')).toBe(401);
    expect(await statusOf('testecf')).toBe(401);
    const before = authority.now;
    authority.pass(3_600_000);
    expect(await statusOf('testecf', `Bearer ${token}`)).toBe(401);
    authority.now = before;
  });

  it('is refused with an empty 401', async () => {
    const reply = await authority.call('/testecf/consultaresultado/api/consultas/estado?trackid=x');
    expect(reply.text).toBe('');
    expect(reply.headers['www-authenticate']).toBe('Bearer');
  });
});

describe('login that fails', () => {
  const USED = '"La semilla no es válida o ha expirado."';

  it('accepts each seed once', async () => {
    const xml = await authority.signedSeed('testecf');
    expect((await authority.logIn('testecf', xml)).status).toBe(200);
    const again = await authority.logIn('testecf', xml);
    expect([again.status, again.text]).toEqual([400, USED]);
    expect(again.headers['content-type']).toMatch(/^application\/json/);
  });

  it('accepts no seed of another environment, no invented one, and none after five minutes', async () => {
    expect((await authority.logIn('ecf', await authority.signedSeed('testecf'))).text).toBe(USED);
    const invented = sign(
      '<SemillaModel><valor>abc</valor><fecha>2026-06-23T17:45:47-04:00</fecha></SemillaModel>',
      certificate(),
    );
    expect((await authority.logIn('testecf', invented)).text).toBe(USED);
    const xml = await authority.signedSeed('testecf');
    const before = authority.now;
    authority.pass(300_000);
    expect((await authority.logIn('testecf', xml)).text).toBe(USED);
    authority.now = before;
  });

  it('reports an invalid signature', async () => {
    const xml = await authority.signedSeed('testecf');
    const reply = await authority.logIn('testecf', xml.replace('<valor>', '<valor>x'));
    expect([reply.status, reply.text]).toEqual([400, '"Firma del certificado invalida"']);
    const unsigned = await authority.logIn('testecf', '<SemillaModel><valor>a</valor><fecha>x</fecha></SemillaModel>');
    expect([unsigned.status, unsigned.text]).toEqual([400, '"Firma del certificado invalida"']);
  });

  it('accepts no certificate that has expired or is not yet valid', async () => {
    const expired = certificate('1', { notAfter: new Date('2026-01-01T00:00:00Z') });
    const early = certificate('2', { notBefore: new Date('2027-01-01T00:00:00Z') });
    for (const holder of [expired, early]) {
      const reply = await authority.logIn('testecf', await authority.signedSeed('testecf', holder));
      expect([reply.status, reply.text]).toEqual([400, '"Firma del certificado invalida"']);
    }
  });

  it('reports a holder that is not delegated', async () => {
    const holder = certificate('101000001');
    await authority.control('PUT', 'taxpayers/101000001', { name: 'X', delegates: ['00100000001'] });
    const reply = await authority.logIn('testecf', await authority.signedSeed('testecf', holder));
    expect([reply.status, reply.text]).toEqual([
      400,
      '"El RNC 101000001 del certificado no está delegado para realizar transaciones."',
    ]);
    await authority.control('PUT', 'taxpayers/101000001', { name: 'X', active: false });
    expect((await authority.logIn('testecf', await authority.signedSeed('testecf', holder))).status).toBe(400);
    await authority.control('DELETE', 'taxpayers/101000001');
    expect((await authority.logIn('testecf', await authority.signedSeed('testecf', holder))).status).toBe(200);
  });

  it('answers HTML to a body that is not a document, and a sentence to a body of unknown length', async () => {
    const url = `${authority.url}/testecf/autenticacion/api/autenticacion/validarsemilla`;
    const html = await call(url, { headers: { 'Content-Type': 'multipart/form-data; boundary=b' }, body: 'nonsense' });
    expect([html.status, html.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
    expect((await authority.logIn('testecf', 'not XML')).headers['content-type']).toMatch(/^text\/html/);
    const named = multipart('<a></a>', 'a.xml', 'file');
    expect((await call(url, named)).headers['content-type']).toMatch(/^text\/html/);
    const chunked = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
      body: new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode('--b--'));
          controller.close();
        },
      }),
      duplex: 'half',
    } as RequestInit);
    expect([chunked.status, await chunked.text()]).toEqual([400, '"Multipart cannot be empty"']);
  });
});

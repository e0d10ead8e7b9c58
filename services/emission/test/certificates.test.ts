import { randomUUID } from 'node:crypto';
import { createInProcessBus } from '@ecf/bus';
import { makeEvent } from '@ecf/bus/events';
import type { TaxpayerState } from '@ecf/contracts';
import { createMasterKeys, sealHead } from '@ecf/kit';
import { testKey } from '@ecf/test-support';
import { silentLogger } from '@ecf/test-support/services';
import { fileOfSeveral } from '@ecf/xml-signing/certificate-authority';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createCertificates } from '../src/credentials/certificates.js';
import { sealedRequestCertificates } from '../src/credentials/credentials.postgres.js';
import { BUYER, encf, example, ISSUER } from './support/documents.js';
import { startRefusingAuthority } from './support/refusing-authority.js';
import { type Instance, World } from './support/world.js';

describe('certificates and logins:', () => {
  let world: World;
  let emission: Instance;
  const clock = () => new Date();
  const bus = createInProcessBus({ logger: silentLogger });

  beforeAll(async () => {
    world = await World.create({ overrides: { bus } });
    emission = await world.start();
  });
  afterAll(async () => {
    await world.stop();
    await bus.close();
  });

  /** An event of the approvals service about a delivery. */
  const delivery = (number: string, delivery_status: string, final: boolean) => {
    const document = { env: 'TesteCF', issuer_rnc: ISSUER, encf: number };
    const data = { ...document, buyer_rnc: BUYER, revision: 1, delivery_status, final };
    const draft = {
      topic: 'deliveries.v1',
      type: 'delivery.changed',
      source: 'approvals',
      subject: number,
      key: number,
    };
    return bus.publish([makeEvent({ ...draft, data }, { id: randomUUID(), time: clock() })]);
  };

  const sealed = async () => (await world.database.query('SELECT 1 FROM sealed_certificate')).rowCount;

  it('a new certificate signs the next request', async () => {
    const certificate = world.issue('00300000007');
    world.register(ISSUER, certificate);
    const { body } = await world.submit(emission, example('ecf-31', 1));
    expect(body.status).toBe('Aceptado');
    const der = certificate.pem.replace(/-----[^-]+-----|\s/g, '');
    expect(body.xml).toContain(`<X509Certificate>${der}</X509Certificate>`);
  });

  it('a stored certificate opens for its own account alone, also after it was opened', () => {
    const certificates = createCertificates(createMasterKeys([Buffer.alloc(32, 7)]), clock, () => {
      throw new Error('no file is opened');
    });
    const own = world.taxpayers.get(ISSUER) as TaxpayerState;
    expect(certificates.stored(own).fingerprint).toBe(own.fingerprint);
    const moved = { ...own, account_id: randomUUID() };
    expect(() => certificates.stored(moved)).toThrow(expect.objectContaining({ code: 'certificate_unusable' }));
  });

  it('a certificate sent with the request signs and is kept sealed until the document is decided and delivered', async () => {
    const own = world.issue('00400000006', { password: 'otra clave ñ' });
    world.register(ISSUER, null);
    const quick = await world.start({}, { STATUS_WAIT_MS: 0 });
    const id = await world.fault({ operation: 'consultaresultado', kind: 'processing' });
    const { status, body } = await world.submit(quick, example('ecf-31', 2), { certificate: own });
    expect([status, body.status]).toEqual([200, 'EnProceso']);
    const { rows } = await world.database.query<{ sealed: Buffer }>('SELECT sealed FROM sealed_certificate');
    expect(rows).toHaveLength(1);
    expect(rows[0]?.sealed.includes('BEGIN') || rows[0]?.sealed.includes('privateKey')).toBe(false);
    for (const keys of [
      [9, 7],
      [7, 9],
    ] as const) {
      const masterKeys = createMasterKeys([Buffer.alloc(32, keys[0]), Buffer.alloc(32, keys[1])]);
      const head = sealHead(masterKeys.keyIds[0] as string);
      const values = sealedRequestCertificates(world.database, masterKeys);
      expect(await values.count(head)).toBe(1);
      expect([await values.reseal(head, 10), await values.count(head), await values.reseal(head, 10)]).toEqual([
        1, 0, 0,
      ]);
    }
    await world.clearFaults(id);
    await world.reaches(encf('31', 2), ['accepted']);
    expect(await sealed()).toBe(1);
    const document = { env: 'TesteCF', issuer_rnc: ISSUER, encf: encf('31', 2) } as const;
    const { sealedCertificate } = quick.emission.internal;
    expect(await sealedCertificate(document)).toEqual({ sealed: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/) });
    await delivery(encf('31', 2), 'unacknowledged', false);
    expect(await sealed()).toBe(1);
    await delivery(encf('31', 2), 'delivered', true);
    while ((await sealed()) > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await world.row(encf('31', 2)))?.has_own_certificate).toBe(false);
    expect(await sealedCertificate(document)).toEqual({ sealed: null });
    world.register(ISSUER, world.certificate);
  });

  it('a file with several keys signs with the key for signatures, and a refusal names why each key cannot sign', async () => {
    const clockNow = Date.now();
    const dates = { notBefore: new Date(clockNow - 60_000), notAfter: new Date(clockNow + 86_400_000) };
    const holder = { commonName: 'REPRESENTANTE DE PRUEBA', holderId: '00450000005', password: 'x', ...dates };
    const encryption = world.authority.issue({ ...holder, key: testKey(2), keyUsage: ['keyEncipherment'] });
    const signing = world.authority.issue({ ...holder, key: testKey(0) });
    const file = (...pairs: (typeof signing)[]) => ({ ...signing, p12: fileOfSeveral(pairs, 'x') });
    const { body } = await world.submit(emission, example('ecf-31', 61), { certificate: file(encryption, signing) });
    expect(body.xml).toContain(signing.pem.replace(/-----[^-]+-----|\s/g, ''));
    const expired = world.authority.issue({ ...holder, key: testKey(0), notAfter: new Date(clockNow - 1_000) });
    const refused = await world.submit(emission, example('ecf-31', 62), { certificate: file(encryption, expired) });
    expect(refused).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'certificate'], type: 'no_signing_key' }] },
    });
    expect(refused.body.detail[0].msg).toMatch(/\(1\) .*does not allow signatures.* \(2\) .*expired on/);
  });

  it('a lost document with its own certificate is looked up with that certificate', async () => {
    const own = world.issue('00500000005');
    world.register(ISSUER, null);
    const fresh = await world.start();
    await world.fault({ operation: 'recepcion', kind: 'reset-after', times: 1 });
    const { body } = await world.submit(fresh, example('ecf-31', 3), { certificate: own });
    expect(['EnProceso', 'Aceptado']).toContain(body.status);
    await world.reaches(encf('31', 3), ['accepted']);
    expect((await world.ledger(encf('31', 3))).filter(({ effective }) => effective)).toHaveLength(1);
    world.register(ISSUER, world.certificate);
  });

  it.each([
    ['a wrong password', () => ({ ...world.certificate, password: 'no' }), 'password', 'wrong_password'],
    [
      'a file that is not a certificate',
      () => ({ ...world.certificate, p12: Buffer.from('no soy un certificado') }),
      'certificate',
      'not_a_pkcs12',
    ],
    [
      'an expired certificate',
      () => world.issue('00600000004', { expired: true }),
      'certificate',
      'certificate_expired',
    ],
  ])('%s is refused with 422, and no document is stored', async (_what, certificate, part, type) => {
    const { status, body } = await world.submit(emission, example('ecf-31', 10), { certificate: certificate() });
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { code: 'validation_error', detail: [{ loc: ['body', part], type }] },
    });
    expect(JSON.stringify(body)).not.toContain('secreta');
    expect(await world.row(encf('31', 10))).toBeNull();
    expect(await world.ledger(encf('31', 10))).toEqual([]);
  });

  it.each([
    ['certificate', 'password'],
    ['password', 'certificate'],
  ])('a request with the part %s alone is refused with 422', async (given, missing) => {
    const form = new FormData();
    form.set('data', JSON.stringify(example('ecf-31', 10)));
    form.set(given, given === 'password' ? 'x' : new Blob([new Uint8Array(world.certificate.p12)]));
    const { status, body } = await world.call(emission, 'POST', '/fe_Submit', { body: form });
    expect([status, body.detail[0].loc]).toEqual([422, ['body', missing]]);
  });

  it.each([
    ['missing', 'certificate_missing'],
    ['expired', 'certificate_expired'],
    ['unreadable', 'certificate_unusable'],
  ])('a document whose stored certificate is %s gets 503 before its number is used', async (state, code) => {
    if (state === 'missing') world.register(ISSUER, null);
    if (state === 'expired') world.register(ISSUER, world.issue('00700000003', { expired: true }));
    if (state === 'unreadable')
      world.register(ISSUER, world.issue('00710000002'), { certificate: Buffer.from('x').toString('base64') });
    const { status, body, headers } = await world.submit(emission, example('ecf-31', 11));
    expect([status, body.code, headers.get('retry-after')]).toEqual([503, code, null]);
    expect(await world.row(encf('31', 11))).toBeNull();
    world.register(ISSUER, world.certificate);
    expect((await world.submit(emission, example('ecf-31', 11), { query: '?validate=true' })).body.status).toBe(
      'Validado',
    );
  });

  it('a repeat of a stored document is answered although its certificate is deleted', async () => {
    await world.submit(emission, example('ecf-31', 12));
    world.register(ISSUER, null);
    expect((await world.submit(emission, example('ecf-31', 12))).body.status).toBe('Aceptado');
    world.register(ISSUER, world.certificate);
  });

  it.each([
    ['the login is down', { kind: 'down' }, 503, 'authority_unreachable', true],
    [
      'the login answers HTML',
      { kind: 'http', status: 200, body: '<html>mantenimiento</html>' },
      503,
      'authority_unreachable',
      true,
    ],
    ['the login never answers', { kind: 'timeout' }, 503, 'authority_unreachable', true],
  ] as const)('if %s, a document gets 503 and uses no number', async (what, fault, expected, code, retries) => {
    world.register(ISSUER, world.issue(`0080000000${what.length % 10}`));
    const id = await world.fault({ operation: 'autenticacion', ...fault });
    const { status, body, headers } = await world.submit(emission, example('ecf-31', 13));
    expect([status, body.code, Number(headers.get('retry-after')) > 0]).toEqual([expected, code, retries]);
    expect(await world.row(encf('31', 13))).toBeNull();
    await world.clearFaults(id);
    world.register(ISSUER, world.certificate);
  });

  it('a document whose login the authority refuses gets 401 and uses no number', async () => {
    const authority = await startRefusingAuthority(world.simulator.url, {
      text: 'El RNC 00100000017 del certificado no está delegado para realizar transaciones.',
    });
    const refused = await world.start({}, { AUTHORITY_URL: authority.url });
    for (const certificate of [undefined, world.issue('00810000001')]) {
      const { status, body } = await world.submit(
        refused,
        example('ecf-31', 14),
        certificate === undefined ? {} : { certificate },
      );
      expect([status, body.code]).toEqual([401, 'login_refused']);
      expect(body.detail).toContain('no está delegado');
    }
    expect(await world.row(encf('31', 14))).toBeNull();
    const token = await world.call(refused, 'GET', '/obtain_token');
    expect([token.status, token.body.code]).toEqual([401, 'login_refused']);
    await authority.stop();
  });

  describe('GET /obtain_token', () => {
    const get = (headers: Record<string, string> = {}, identity?: string) =>
      world.call(emission, 'GET', '/obtain_token', { headers, ...(identity === undefined ? {} : { identity }) });

    it('gives a cached token', async () => {
      const first = await get();
      expect(first).toMatchObject({ status: 200, body: { token: expect.any(String), token_type: 'Bearer' } });
      expect(first.body.expires_in).toBe(3_600);
      expect(Date.parse(first.body.expires_at)).toBeGreaterThan(Date.now());
      expect((await get({ 'rnc-issuing': ISSUER })).body.token).toBe(first.body.token);
      expect((await get({ 'rnc-issuing': BUYER })).body.token).not.toBe(first.body.token);
    });

    it('takes the oldest taxpayer with a valid certificate', async () => {
      const buyer = await get({ 'rnc-issuing': BUYER });
      world.register(ISSUER, world.issue('00100000017', { expired: true }), { created_at: '2020-01-01T00:00:00.000Z' });
      expect((await get()).body.token).toBe(buyer.body.token);
      world.register(ISSUER, world.certificate);
    });

    it('answers 404 without a certificate, and for an RNC that does not belong to the account', async () => {
      expect((await get({}, world.identity('TesteCF', 'account-9'))).status).toBe(404);
      expect((await get({ 'rnc-issuing': '131880681' })).body.code).toBe('taxpayer_not_found');
      world.register(BUYER, null);
      expect((await get({ 'rnc-issuing': BUYER })).body.code).toBe('not_found');
    });

    it('answers 422 for a malformed RNC', async () => {
      expect(await get({ 'rnc-issuing': '12-3' })).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['header', 'rnc-issuing'] }] },
      });
    });

    it.each([
      [{ kind: 'http', status: 200, body: '<html></html>' }, 502, 'authority_unreadable'],
      [{ kind: 'down' }, 503, 'authority_unreachable'],
    ])('when the authority does %j, answers %i', async (fault, status, code) => {
      world.register(ISSUER, world.issue(`0090000000${status % 10}`));
      const id = await world.fault({ operation: 'autenticacion', ...fault });
      const answer = await get({ 'rnc-issuing': ISSUER });
      expect([answer.status, answer.body.code]).toEqual([status, code]);
      await world.clearFaults(id);
      world.register(ISSUER, world.certificate);
    });
  });
});

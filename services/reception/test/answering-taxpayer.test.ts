import type { AccountTaxpayers, TaxpayerState } from '@ecf/contracts';
import type { TaxpayerSource } from '@ecf/http';
import { createMasterKeys } from '@ecf/kit';
import { createCertificates } from '@ecf/taxpayer-replica';
import { verifyXml } from '@ecf/xml-signing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { encf, sampleBytes } from './support/documents.js';
import { BUYER, buyer, expired, issue, NOW, OTHER_BUYER, PROVIDER, STRANGER } from './support/senders.js';
import { ACCOUNT, MASTER_KEY, OTHER_ACCOUNT, taxpayer, taxpayerChanged } from './support/taxpayers.js';
import { startWorld, type World } from './support/world.js';

const other = issue({ commonName: 'Other Buyer', holderId: '00500000005' });

/** The answers of the gateway; tests change them and count the queries. */
const gateway = {
  taxpayers: new Map<string, TaxpayerState>(),
  questions: 0,
  broken: false,
  wait: Promise.resolve(),
};
const source: TaxpayerSource = {
  async taxpayer(rnc) {
    gateway.questions++;
    await gateway.wait;
    if (gateway.broken) throw new Error('the gateway does not answer');
    return gateway.taxpayers.get(rnc) ?? null;
  },
  async account(accountId): Promise<AccountTaxpayers> {
    gateway.questions++;
    if (gateway.broken) throw new Error('the gateway does not answer');
    const taxpayers = [...gateway.taxpayers.values()].filter((one) => one.account_id === accountId);
    return { account_id: accountId, revision: Math.max(0, ...taxpayers.map((one) => one.revision)), taxpayers };
  },
};

let world: World;
let sequence = 0;
const next = () => encf(++sequence);

beforeAll(async () => {
  world = await startWorld({ settings: { RECEPTION_SIGNER_RNC: BUYER }, overrides: { source } });
});
afterAll(() => world.stop());
beforeEach(() => {
  Object.assign(gateway, { questions: 0, broken: false, wait: Promise.resolve() });
});

async function said(response: Response) {
  const text = await response.text();
  const value = (name: string) => new RegExp(`<${name}>([^<]*)<`).exec(text)?.[1];
  return {
    status: response.status,
    motive: value('CodigoMotivoNoRecibido') ?? null,
    buyer: value('RNCComprador'),
    signer: response.status === 200 ? verifyXml(Buffer.from(text)).certificate?.fingerprint : null,
  };
}

describe('a buyer that is not a taxpayer here', () => {
  it('gets motive 4, signed by the configured taxpayer, with the buyer as received', async () => {
    const number = next();
    expect(await said(await world.send(await sampleBytes({ encf: number, buyer: STRANGER })))).toEqual({
      status: 200,
      motive: '4',
      buyer: STRANGER,
      signer: buyer.certificate.fingerprint,
    });
    const { rows } = await world.database.query('SELECT * FROM refused_documents WHERE encf = $1', [number]);
    expect(rows).toMatchObject([
      { motive: 4, buyer_rnc: STRANGER, xml_path: expect.stringContaining(`/ecf/${BUYER}/`) },
    ]);
  });

  it('gets motives 1 and 2 before motive 4, from the same signer', async () => {
    const bytes = await sampleBytes({ encf: next(), buyer: STRANGER });
    const broken = bytes.toString().replace('<TipoPago>1', '<TipoPago>x');
    const forged = bytes.toString().replace('<MontoTotal>11430.00', '<MontoTotal>1.00');
    expect(await said(await world.send(broken))).toMatchObject({ motive: '1', signer: buyer.certificate.fingerprint });
    expect(await said(await world.send(forged))).toMatchObject({ motive: '2', signer: buyer.certificate.fingerprint });
  });

  it('gets motive 4 for every repeat: only Estado 0 occupies a number, and the document is kept once', async () => {
    const number = next();
    const bytes = await sampleBytes({ encf: number, buyer: STRANGER });
    for (const body of [bytes, bytes, `${bytes}<!-- once more -->`, `\n${bytes}`])
      expect(await said(await world.send(body))).toMatchObject({ motive: '4' });
    // Its folder has the day.
    world.setTime(new Date(world.now().getTime() + 86_400_000));
    expect(await said(await world.send(bytes))).toMatchObject({ motive: '4' });
    const { rows } = await world.database.query<{ xml_path: string; sha256: string }>(
      'SELECT xml_path, sha256 FROM refused_documents WHERE encf = $1',
      [number],
    );
    expect(rows).toHaveLength(5);
    expect(new Set(rows.map(({ xml_path, sha256 }) => `${xml_path} ${sha256}`)).size).toBe(1);
  });

  it.each([
    ['an inactive taxpayer', { active: false }],
    ['a taxpayer of an inactive account', { account_active: false }],
  ])('may be %s, and is served again when it is active', async (_, state) => {
    const rnc = `1222222${20 + ++sequence}`.slice(0, 9);
    await world.bus.publish([taxpayerChanged(taxpayer({ rnc, certificate: other.certificate, ...state }))]);
    const bytes = await sampleBytes({ encf: next(), buyer: rnc });
    expect(await said(await world.send(bytes))).toMatchObject({ motive: '4', signer: buyer.certificate.fingerprint });
    await world.bus.publish([taxpayerChanged(taxpayer({ rnc, certificate: other.certificate }))]);
    expect(await said(await world.send(bytes))).toMatchObject({ motive: null, signer: other.certificate.fingerprint });
  });

  it('gets motive 3 for a document that was received while the buyer was active: it stays received', async () => {
    const rnc = '111111117';
    await world.bus.publish([taxpayerChanged(taxpayer({ rnc, certificate: other.certificate }))]);
    const number = next();
    const bytes = await sampleBytes({ encf: number, buyer: rnc });
    expect(await said(await world.send(bytes))).toMatchObject({ motive: null });
    await world.bus.publish([taxpayerChanged(taxpayer({ rnc, active: false, certificate: other.certificate }))]);
    expect(await said(await world.send(bytes))).toMatchObject({ motive: '3', signer: buyer.certificate.fingerprint });
  });
});

describe('reception with a gateway', () => {
  it('serves a new buyer immediately, or within two seconds if it was looked up before', async () => {
    const fresh = '144444445';
    gateway.taxpayers.set(fresh, taxpayer({ rnc: fresh, certificate: other.certificate }));
    expect(await said(await world.send(await sampleBytes({ encf: next(), buyer: fresh })))).toMatchObject({
      motive: null,
    });
    const bytes = await sampleBytes({ encf: next(), buyer: OTHER_BUYER });
    expect(await said(await world.send(bytes))).toMatchObject({ motive: '4' });
    gateway.taxpayers.set(
      OTHER_BUYER,
      taxpayer({ rnc: OTHER_BUYER, certificate: other.certificate, account_id: OTHER_ACCOUNT }),
    );
    world.setTime(new Date(world.now().getTime() + 2_000));
    expect(await said(await world.send(bytes))).toMatchObject({ motive: null, signer: other.certificate.fingerprint });
  });

  it('looks up an unknown buyer once in two seconds', async () => {
    const send = async () =>
      (await said(await world.send(await sampleBytes({ encf: next(), buyer: '177777772' })))).motive;
    expect(await Promise.all([send(), send(), send()])).toEqual(['4', '4', '4']);
    expect([await send(), gateway.questions]).toEqual(['4', 1]);
    world.setTime(new Date(world.now().getTime() + 2_000));
    expect([await send(), gateway.questions]).toEqual(['4', 2]);
  });

  it('signs the next answer with a new certificate', async () => {
    const rnc = '133333336';
    gateway.taxpayers.set(rnc, taxpayer({ rnc, certificate: null }));
    const bytes = await sampleBytes({ encf: next(), buyer: rnc });
    expect((await said(await world.send(bytes))).status).toBe(503);
    gateway.taxpayers.set(rnc, taxpayer({ rnc, certificate: other.certificate }));
    expect(await said(await world.send(bytes))).toMatchObject({ motive: null, signer: other.certificate.fingerprint });
  });

  it('does not look up a known active buyer', async () => {
    await said(await world.send(await sampleBytes({ encf: next() })));
    expect(gateway.questions).toBe(0);
  });

  it('answers 503 instead of a wrong motive 4 if the gateway does not answer', async () => {
    gateway.broken = true;
    const number = next();
    const response = await world.send(await sampleBytes({ encf: number, buyer: '188888889' }));
    expect([response.status, response.headers.get('retry-after'), await response.json()]).toMatchObject([
      503,
      '5',
      { code: 'service_unavailable' },
    ]);
    const { rows } = await world.database.query('SELECT 1 FROM refused_documents WHERE encf = $1', [number]);
    expect(rows).toEqual([]);
  });

  it('does not flood the gateway with look-ups of random buyers in strangers’ documents', async () => {
    const bodies = await Promise.all(
      Array.from({ length: 40 }, (_, i) => sampleBytes({ encf: next(), buyer: String(120000000 + i) })),
    );
    const statuses = await Promise.all(bodies.map(async (bytes) => (await world.send(bytes)).status));
    expect(new Set([...statuses, 200, 503])).toEqual(new Set([200, 503]));
    expect(gateway.questions).toBeLessThanOrEqual(40);
    expect(await said(await world.send(await sampleBytes({ encf: next() })))).toMatchObject({ motive: null });
  });

  it('shows an account a taxpayer that it has just registered', async () => {
    const rnc = '122222222';
    const headers = { 'buyer-rnc': rnc, 'start-date': '01-01-2026', 'end-date': '31-12-2026' };
    const path = '/fe/recepcion/api/invoices/count';
    expect((await world.get(path, headers)).status).toBe(404);
    const state = taxpayer({ rnc });
    gateway.taxpayers.set(rnc, state);
    const account = { account_id: ACCOUNT, taxpayers_revision: state.revision };
    expect((await world.get(path, headers, account)).status).toBe(200);
    const asked = gateway.questions;
    expect((await world.get(path, headers, account)).status).toBe(200);
    expect(gateway.questions).toBe(asked);
  });
});

describe('a certificate that cannot sign', () => {
  it.each([
    ['expired', expired.certificate, 'certificate_expired'],
    [
      'not valid yet',
      issue({
        commonName: 'Early',
        holderId: '00600000006',
        notBefore: '2029-01-01T00:00:00Z',
        notAfter: '2031-01-01T00:00:00Z',
      }).certificate,
      'certificate_not_yet_valid',
    ],
  ])('because it is %s causes 503 with Retry-After, and the document is not recorded', async (_, certificate, code) => {
    const rnc = `1233333${30 + ++sequence}`.slice(0, 9);
    await world.bus.publish([taxpayerChanged(taxpayer({ rnc, certificate }))]);
    const number = next();
    const response = await world.send(await sampleBytes({ encf: number, buyer: rnc }));
    expect([response.status, response.headers.get('retry-after'), await response.json()]).toMatchObject([
      503,
      '300',
      { code },
    ]);
    const { rows } = await world.database.query(
      'SELECT id FROM refused_documents WHERE encf = $1 UNION ALL SELECT id FROM received_documents WHERE encf = $1',
      [number],
    );
    expect(rows).toEqual([]);
  });

  it('because it is sealed under another key causes 503', async () => {
    const rnc = '121212121';
    const state = taxpayer({ rnc });
    await world.bus.publish([taxpayerChanged({ ...state, certificate: taxpayer({ rnc: BUYER }).certificate })]);
    const response = await world.send(await sampleBytes({ encf: next(), buyer: rnc, issuer: PROVIDER }));
    expect([response.status, await response.json()]).toMatchObject([503, { code: 'certificate_unusable' }]);
  });
});

it('a sealed certificate opens for its own account alone, also after it was opened', () => {
  const certificates = createCertificates(createMasterKeys([MASTER_KEY]), (problem) => new Error(problem));
  const own = taxpayer();
  expect(certificates.open(own, NOW).fingerprint).toBe(own.fingerprint);
  expect(() => certificates.open({ ...own, account_id: OTHER_ACCOUNT }, NOW)).toThrow('certificate_unusable');
});

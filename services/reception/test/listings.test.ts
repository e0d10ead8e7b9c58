import { randomUUID } from 'node:crypto';
import { makeEvent } from '@ecf/bus/events';
import {
  RECEIVED_COLUMNS,
  RECEPTION_OPERATIONS,
  type ReceptionOperations,
  receivedInvoiceChangedSchema,
} from '@ecf/contracts';
import { createInternalClient, serve } from '@ecf/http';
import { identitiesOf } from '@ecf/test-support/services';
import { until } from '@ecf/test-support/until';
import { type SigningCertificate, signXml } from '@ecf/xml-signing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { approvalDaysLeft } from '../src/listings/approval-deadline.js';
import { encf, sampleBytes } from './support/documents.js';
import { BUYER, forger, NOW, OTHER_BUYER, OTHER_PROVIDER, PROVIDER, provider, STRANGER } from './support/senders.js';
import { ACCOUNT, OTHER_ACCOUNT, taxpayer, taxpayerChanged } from './support/taxpayers.js';
import { startWorld, type World } from './support/world.js';

let world: World;
const FIRST = encf(1);
const SECOND = encf(2);
const SHARED = encf(3);
const REFUSED = encf(4);
let bytes: Buffer;
let competing: Buffer;
let firstAnswer = '';

const signer = (certificate: SigningCertificate) => ({
  subject: certificate.subject,
  serial_number: certificate.serialNumber,
  issuer: certificate.issuer,
  fingerprint: certificate.fingerprint,
  trusted: null,
  known: false,
});

const ALL = { 'buyer-rnc': BUYER, 'start-date': '01-01-2026', 'end-date': '31-12-2026' };

beforeAll(async () => {
  world = await startWorld();
  await world.bus.publish([taxpayerChanged(taxpayer({ rnc: OTHER_BUYER, account_id: OTHER_ACCOUNT }))]);
  bytes = await sampleBytes({ encf: FIRST, total: '100.10' });
  competing = await sampleBytes({ encf: FIRST, total: '1.00', certificate: forger.certificate });
  // 23:30 on 9 June in Santo Domingo is 10 June in UTC.
  world.setTime(new Date('2026-06-10T03:30:00Z'));
  firstAnswer = await (await world.send(bytes)).text();
  await world.send(competing);
  world.setTime(new Date('2026-06-10T04:00:00Z'));
  await world.send(await sampleBytes({ encf: SECOND, total: '0.20' }));
  world.setTime(new Date('2026-06-11T15:00:00Z'));
  await world.send(await sampleBytes({ encf: SHARED, total: '10.00' }));
  await world.send(await sampleBytes({ encf: SHARED, total: '20.00', issuer: OTHER_PROVIDER }));
  await world.send(
    Buffer.from((await sampleBytes({ encf: REFUSED })).toString().replace('<TipoPago>1', '<TipoPago>x')),
  );
  await world.send(await sampleBytes({ encf: FIRST }), { env: 'eCF' });
  await world.send(await sampleBytes({ encf: FIRST, buyer: OTHER_BUYER }));
});
afterAll(() => world.stop());

async function damaged(): Promise<number> {
  return Number(/^ecf_integrity_errors_total (\d+)$/m.exec(await world.metrics.render())?.[1] ?? 0);
}

async function json(path: string, headers: Record<string, string> = {}, account = ACCOUNT) {
  const response = await world.get(path, headers, { account_id: account });
  return { status: response.status, body: await response.json() };
}

it('amounts are numbers, exact to the cent at any size', async () => {
  const number = encf(9_001);
  await world.send(await sampleBytes({ encf: number, buyer: OTHER_BUYER, total: '9007199254740993.37' }));
  const response = await world.get(
    `/fe/recepcion/api/invoices/${number}`,
    { 'buyer-rnc': OTHER_BUYER },
    {
      account_id: OTHER_ACCOUNT,
    },
  );
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(await response.text()).toContain('"total_amount":9007199254740993.37,');
  const all = await world.get(
    '/fe/recepcion/api/invoices/all',
    { ...ALL, 'buyer-rnc': OTHER_BUYER },
    {
      account_id: OTHER_ACCOUNT,
    },
  );
  expect(await all.text()).toContain('"total_amount":9007199254740993.37,');
});

describe('GET /fe/recepcion/api/invoices', () => {
  it('lists what one provider sent, newest first, as the specification shapes it', async () => {
    const { status, body } = await json('/fe/recepcion/api/invoices', { ...ALL, 'provider-rnc': PROVIDER });
    expect(status).toBe(200);
    const { invoices, ...rest } = body;
    expect(rest).toEqual({
      count: 3,
      total: 3,
      provider_rnc: PROVIDER,
      buyer_rnc: BUYER,
      start_date: '01-01-2026',
      end_date: '31-12-2026',
      env: 'TesteCF',
      limit: 200,
      offset: 0,
      next_cursor: null,
    });
    expect(invoices.map((one: { encf: string }) => one.encf)).toEqual([SHARED, SECOND, FIRST]);
    expect(invoices[2]).toEqual({
      id: expect.any(Number),
      encf: FIRST,
      ecf_type: '31',
      date_received: expect.stringMatching(/^2026-06-09T23:30:0\d-04:00$/),
      date_issued: '2026-06-15T00:00:00-04:00',
      total_amount: 100.1,
      provider_rnc: PROVIDER,
      provider_name: 'Comercial Palma Ficticia, SRL',
      buyer_rnc: BUYER,
      xml_storage_path: expect.stringContaining(`TesteCF/ecf/${BUYER}/received/2026/06/${PROVIDER}${FIRST}-`),
      signer: signer(provider.certificate),
      authority_status: 'pending',
      authority_checked_at: null,
      approval_status: 'pending',
      approval_confirmed: false,
      approval_datetime: null,
      warnings: [
        expect.objectContaining({ rule: 'business.signature-time-in-future', severity: 'warning' }),
        expect.objectContaining({ rule: 'business.issue-date-in-future', severity: 'warning' }),
        expect.objectContaining({ rule: 'business.total-amount', severity: 'warning' }),
      ],
      conflicts: [
        {
          id: expect.any(Number),
          sha256: expect.any(String),
          date_received: expect.any(String),
          signer: signer(forger.certificate),
          authority_status: 'pending',
        },
      ],
      conflicts_unkept: [],
      conflicts_total: 1,
    });
  });

  it('takes criteria, sorts and cursors', async () => {
    const numbers = async (path: string, headers: Record<string, string> = ALL) => {
      const { status, body } = await json(`/fe/recepcion/api/invoices${path}`, headers);
      expect([status, body.detail]).toEqual([200, undefined]);
      return { ...body, numbers: body.invoices.map((one: { encf: string }) => one.encf) };
    };
    expect((await numbers('/all?sort=total_amount')).numbers).toEqual([SECOND, SHARED, SHARED, FIRST]);
    expect((await numbers('/all?min_amount=10&max_amount=20&sort=created_at')).numbers).toEqual([SHARED, SHARED]);
    expect((await numbers(`/all?provider_rnc=${OTHER_PROVIDER}&status=PENDING&ecf_type=31`)).numbers).toEqual([SHARED]);
    const first = await numbers('/all?sort=-total_amount&limit=3');
    expect(first).toMatchObject({ count: 3, total: 4, numbers: [FIRST, SHARED, SHARED] });
    const rest = await numbers(`/all?sort=-total_amount&cursor=${first.next_cursor}`);
    expect(rest).toMatchObject({ count: 1, total: 4, numbers: [SECOND], next_cursor: null });
    expect((await numbers('/all?updated_since=2020-01-01T00:00:00-04:00&sort=total_amount')).total).toBe(4);
    const later = new Date(Date.now() + 60_000).toISOString();
    expect((await json(`/fe/recepcion/api/invoices/all?updated_since=${later}`, ALL)).status).toBe(404);
    const provided = { ...ALL, 'provider-rnc': PROVIDER };
    const one = await numbers('?limit=1', provided);
    expect(await numbers(`?limit=1&cursor=${one.next_cursor}`, provided)).toMatchObject({ numbers: [SECOND] });
    for (const [path, headers, name] of [
      [`/all?cursor=${first.next_cursor}`, ALL, 'cursor'],
      [`/all?cursor=${one.next_cursor}`, ALL, 'cursor'],
      [`?cursor=${one.next_cursor}`, { ...ALL, 'provider-rnc': OTHER_PROVIDER }, 'cursor'],
      ['/all?cursor=made-up', ALL, 'cursor'],
      ['/all?sort=provider', ALL, 'sort'],
      ['/all?status=Aceptado', ALL, 'status'],
      ['/all?max_amount=1e9', ALL, 'max_amount'],
      ['/all?updated_since=yesterday', ALL, 'updated_since'],
      ['/all?provider_rnc=1', ALL, 'provider_rnc'],
    ] as const) {
      const { status, body } = await json(`/fe/recepcion/api/invoices${path}`, headers);
      expect([path, status, body.detail?.[0].loc]).toEqual([path, 422, ['query', name]]);
    }
    expect((await json('/fe/recepcion/api/invoices/all?status=approved', ALL)).status).toBe(404);
  });

  it('filters by the Dominican day of receipt', async () => {
    const day = (date: string) => ({ ...ALL, 'provider-rnc': PROVIDER, 'start-date': date, 'end-date': date });
    expect((await json('/fe/recepcion/api/invoices', day('09-06-2026'))).body.invoices).toMatchObject([
      { encf: FIRST },
    ]);
    expect((await json('/fe/recepcion/api/invoices', day('10-06-2026'))).body.invoices).toMatchObject([
      { encf: SECOND },
    ]);
  });

  it('gives pages, and an empty page beyond the end', async () => {
    const headers = { ...ALL, 'provider-rnc': PROVIDER };
    expect((await json('/fe/recepcion/api/invoices?limit=1&offset=1', headers)).body).toMatchObject({
      count: 1,
      total: 3,
      limit: 1,
      offset: 1,
      invoices: [{ encf: SECOND }],
    });
    expect(await json('/fe/recepcion/api/invoices?offset=99', headers)).toMatchObject({
      status: 200,
      body: { count: 0, total: 3, invoices: [] },
    });
  });

  it('answers 404 to an empty result and to an RNC of another account', async () => {
    const never = { ...ALL, 'provider-rnc': PROVIDER, 'start-date': '01-01-2020', 'end-date': '02-01-2020' };
    expect(await json('/fe/recepcion/api/invoices', never)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const foreign = { ...ALL, 'provider-rnc': PROVIDER, 'buyer-rnc': OTHER_BUYER };
    expect(await json('/fe/recepcion/api/invoices', foreign)).toMatchObject({
      status: 404,
      body: { code: 'taxpayer_not_found' },
    });
  });

  it.each([
    [{ 'provider-rnc': '' }, ['header', 'provider-rnc'], 'missing'],
    [{ 'buyer-rnc': '' }, ['header', 'buyer-rnc'], 'missing'],
    [{ 'start-date': '' }, ['header', 'start-date'], 'missing'],
    [{ 'provider-rnc': '12345' }, ['header', 'provider-rnc'], 'rnc'],
    [{ 'provider-rnc': "1' OR '1'='1" }, ['header', 'provider-rnc'], 'rnc'],
    [{ 'end-date': '31-02-2026' }, ['header', 'end-date'], 'date'],
    [{ 'end-date': '2026-12-31' }, ['header', 'end-date'], 'date'],
    [{ 'end-date': '1-1-2026' }, ['header', 'end-date'], 'date'],
  ])('answers 422 to the headers %j', async (change, loc, type) => {
    const { status, body } = await json('/fe/recepcion/api/invoices', { ...ALL, 'provider-rnc': PROVIDER, ...change });
    expect([status, body.code]).toEqual([422, 'validation_error']);
    expect(body.detail).toEqual([{ loc, msg: expect.any(String), type }]);
  });

  it.each(['limit=0', 'limit=1001', 'limit=-1', 'limit=x', 'limit=1&limit=2', 'offset=-1', 'offset=1e3'])(
    'answers 422 to %s',
    async (query) => {
      const { status } = await json(`/fe/recepcion/api/invoices?${query}`, { ...ALL, 'provider-rnc': PROVIDER });
      expect(status).toBe(422);
    },
  );

  it('names several errors in one answer', async () => {
    const { body } = await json('/fe/recepcion/api/invoices?limit=0', {});
    expect(body.detail.map((item: { loc: string[] }) => item.loc[1]).sort()).toEqual([
      'buyer-rnc',
      'end-date',
      'limit',
      'provider-rnc',
      'start-date',
    ]);
  });

  it('answers 400 to reversed days', async () => {
    const reversed = { ...ALL, 'provider-rnc': PROVIDER, 'start-date': '02-01-2026', 'end-date': '01-01-2026' };
    expect(await json('/fe/recepcion/api/invoices', reversed)).toMatchObject({
      status: 400,
      body: { code: 'invalid_parameters' },
    });
  });
});

describe('GET /fe/recepcion/api/invoices/all and /count', () => {
  it('cover every provider, with Estado 0 and in the environment only', async () => {
    const { status, body } = await json('/fe/recepcion/api/invoices/all/', ALL);
    expect(status).toBe(200);
    expect(body).toMatchObject({ count: 4, total: 4, buyer_rnc: BUYER, env: 'TesteCF', limit: 200, offset: 0 });
    expect(body.provider_rnc).toBeUndefined();
    expect(body.invoices.map((one: { encf: string }) => one.encf)).toEqual([SHARED, SHARED, SECOND, FIRST]);
    const production = await json('/fe/recepcion/api/invoices/all', { ...ALL, env: 'eCF' });
    expect(production.body.invoices).toHaveLength(1);
    expect(await json('/fe/recepcion/api/invoices/all', { ...ALL, env: 'CerteCF' })).toMatchObject({ status: 404 });
  });

  it('answer 400 and 422 to reversed days', async () => {
    const reversed = { ...ALL, 'start-date': '02-01-2026', 'end-date': '01-01-2026' };
    expect(await json('/fe/recepcion/api/invoices/all', reversed)).toMatchObject({ status: 400 });
    expect(await json('/fe/recepcion/api/invoices/count', reversed)).toMatchObject({ status: 422 });
  });

  it('give sums that are exact to the cent', async () => {
    expect(await json('/fe/recepcion/api/invoices/count', ALL)).toEqual({
      status: 200,
      body: {
        total_invoices: 4,
        total_amount: '130.30',
        buyer_rnc: BUYER,
        start_date: '01-01-2026',
        end_date: '31-12-2026',
        env: 'TesteCF',
      },
    });
    const never = { ...ALL, 'start-date': '01-01-2020', 'end-date': '02-01-2020' };
    expect((await json('/fe/recepcion/api/invoices/count', never)).body).toMatchObject({
      total_invoices: 0,
      total_amount: '0.00',
    });
    expect(await json('/fe/recepcion/api/invoices/count', { ...ALL, 'buyer-rnc': OTHER_BUYER })).toMatchObject({
      status: 404,
    });
  });

  it('select by the time of receipt, or with period=issued by the date of issue', async () => {
    const [receipt, issue] = ['09-06-2026', '15-06-2026'].map((day) => ({ 'start-date': day, 'end-date': day }));
    const total = async (path: string, days: object | undefined) => {
      const { status, body } = await json(`/fe/recepcion/api/invoices/${path}`, { ...ALL, ...days });
      return status === 404 ? 0 : (body.total_invoices ?? body.total);
    };
    for (const path of ['all', 'count', 'aggregate']) {
      expect([path, await total(`${path}?period=issued`, issue)]).toEqual([path, 4]);
      expect([path, await total(`${path}?period=issued`, receipt)]).toEqual([path, 0]);
      expect([path, await total(`${path}?period=created`, receipt)]).toEqual([path, await total(path, receipt)]);
    }
    expect(await total('count', receipt)).toBeGreaterThan(0);
    const { body } = await json('/fe/recepcion/api/invoices/aggregate?period=issued', { ...ALL, ...issue });
    expect(body.by_month).toMatchObject([{ month: '2026-06', count: 4 }]);
    expect(await json('/fe/recepcion/api/invoices/all?period=x', ALL)).toMatchObject({ status: 422 });
  });

  it('have an aggregate with the sums by month, type, status and provider', async () => {
    const aggregate = (headers: object, query = '') =>
      json(`/fe/recepcion/api/invoices/aggregate${query}`, { ...ALL, ...headers });
    const { status, body } = await aggregate({});
    const sums = { count: 4, total_amount: '130.30' };
    const all = { ...sums, total_itbis: '6520.00' };
    const name = 'Comercial Palma Ficticia, SRL';
    expect([status, body]).toEqual([
      200,
      {
        ...{ buyer_rnc: BUYER, start_date: '01-01-2026', end_date: '31-12-2026', env: 'TesteCF' },
        ...{ total_invoices: 4, counted: 4, total_amount: '130.30', total_itbis: '6520.00' },
        by_month: [{ month: '2026-06', ...all }],
        by_type: [{ ecf_type: '31', ...all }],
        by_status: [{ status: 'pending', ...sums }],
        top_providers: [
          { provider_rnc: PROVIDER, provider_name: name, count: 3, total_amount: '110.30' },
          { provider_rnc: '177777772', provider_name: name, count: 1, total_amount: '20.00' },
        ],
      },
    ]);
    const never = { 'start-date': '01-01-2020', 'end-date': '02-01-2020' };
    expect((await aggregate(never)).body).toMatchObject({ total_amount: '0.00', by_month: [], top_providers: [] });
    expect((await aggregate({}, '?top_providers_limit=1')).body.top_providers).toEqual(body.top_providers.slice(0, 1));
    for (const limit of ['0', '51', 'x'])
      expect((await aggregate({}, `?top_providers_limit=${limit}`)).status).toBe(422);
    expect(await aggregate({ 'buyer-rnc': OTHER_BUYER })).toMatchObject({ status: 404 });
  });

  it('give CSV with every row under the names of JSON, and the sums by type', async () => {
    const csv = (place: string, headers: object = {}) =>
      world.get(
        `/fe/recepcion/api/invoices${place}`,
        { ...ALL, accept: 'text/csv', ...headers },
        { account_id: ACCOUNT },
      );
    const { invoices } = (await json('/fe/recepcion/api/invoices/all', ALL)).body;
    const answer = await csv('/all');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/csv; charset=utf-8; header=present',
    ]);
    const [names = '', ...rows] = (await answer.text()).trimEnd().split('\r\n');
    expect(names).toBe(RECEIVED_COLUMNS.join(','));
    expect(rows.map((row) => row.split(',').slice(0, 3))).toEqual(
      invoices.map(({ id, encf: number, ecf_type }: Record<string, unknown>) => [String(id), number, ecf_type]),
    );
    expect(rows.at(-1)).toContain(',100.10,');
    const ofProvider = await (await csv('/', { 'provider-rnc': PROVIDER })).text();
    expect(ofProvider.trimEnd().split('\r\n')).toHaveLength(4);
    expect(await (await csv('/aggregate')).text()).toBe(
      'ecf_type,count,total_amount,total_itbis\r\n31,4,130.30,6520.00\r\n',
    );
    for (const path of ['/all', '/aggregate'])
      expect([...new Uint8Array(await (await csv(`${path}?bom=true`)).arrayBuffer())].slice(0, 3)).toEqual([
        239, 187, 191,
      ]);
    expect((await csv('/all?limit=10')).status).toBe(422);
    expect((await csv('/all', { 'start-date': '01-01-2020', 'end-date': '02-01-2020' })).status).toBe(404);
  });

  it('count a credit note negative', async () => {
    const count = async () => (await json('/fe/recepcion/api/invoices/count', { ...ALL, env: 'CerteCF' })).body;
    await world.send(await sampleBytes({ encf: encf(5), total: '100.00' }), { env: 'CerteCF' });
    await world.send(await sampleBytes({ type: '34', encf: encf(5, '34'), total: '30.25' }), { env: 'CerteCF' });
    expect(await count()).toMatchObject({ total_invoices: 2, total_amount: '69.75' });
    const { body } = await json('/fe/recepcion/api/invoices/aggregate/', { ...ALL, env: 'CerteCF' });
    expect(body).toMatchObject({ total_invoices: 2, total_amount: '69.75' });
    expect(body.by_type.map((row: Record<string, string>) => [row.ecf_type, row.count, row.total_amount])).toEqual([
      ['31', 1, '100.00'],
      ['34', 1, '-30.25'],
    ]);
  });
});

describe('GET /fe/recepcion/api/invoices/{encf}', () => {
  it('finds one document by its number, in upper or lower case', async () => {
    const found = await json(`/fe/recepcion/api/invoices/${FIRST.toLowerCase()}`, { 'buyer-rnc': BUYER });
    expect(found).toMatchObject({ status: 200, body: { encf: FIRST, total_amount: 100.1 } });
  });

  it('answers 400 if several providers have the number, until one is named', async () => {
    const path = `/fe/recepcion/api/invoices/${SHARED}`;
    expect(await json(path, { 'buyer-rnc': BUYER })).toMatchObject({ status: 400, body: { code: 'ambiguous_encf' } });
    const named = await json(path, { 'buyer-rnc': BUYER, 'provider-rnc': OTHER_PROVIDER });
    expect(named).toMatchObject({ status: 200, body: { provider_rnc: OTHER_PROVIDER, total_amount: 20 } });
  });

  it.each([
    [`/fe/recepcion/api/invoices/${encf(99)}`, BUYER, 404],
    [`/fe/recepcion/api/invoices/${REFUSED}`, BUYER, 404],
    [`/fe/recepcion/api/invoices/${FIRST}`, OTHER_BUYER, 404],
    ['/fe/recepcion/api/invoices/E31', BUYER, 422],
    [`/fe/recepcion/api/invoices/${FIRST}`, '', 422],
  ])('answers %s for the buyer-rnc (%s) with %i', async (path, buyerRnc, status) => {
    expect((await json(path, { 'buyer-rnc': buyerRnc })).status).toBe(status);
  });
});

describe('GET /arecf/{encf}', () => {
  it('gives the exact bytes that the sender got', async () => {
    const response = await world.get(`/arecf/${FIRST}?issuer_rnc=${PROVIDER}`);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/xml; charset=utf-8']);
    expect(await response.text()).toBe(firstAnswer);
  });

  it('gives the latest refusal if no document was received', async () => {
    const text = await (await world.get(`/arecf/${REFUSED}?issuer_rnc=${PROVIDER}`)).text();
    expect(text).toContain('<CodigoMotivoNoRecibido>1</CodigoMotivoNoRecibido>');
  });

  it.each([
    [`/arecf/${FIRST}`, 400, 'invalid_issuer_rnc'],
    [`/arecf/${FIRST}?issuer_rnc=12`, 400, 'invalid_issuer_rnc'],
    ['/arecf/E31?issuer_rnc=199999991', 422, 'validation_error'],
    [`/arecf/${FIRST}?issuer_rnc=${OTHER_PROVIDER}`, 404, 'not_found'],
    [`/arecf/${encf(99)}?issuer_rnc=${PROVIDER}`, 404, 'not_found'],
  ])('answers %s with %i', async (path, status, code) => {
    expect(await json(path)).toMatchObject({ status, body: { code } });
  });

  describe('for several buyers of the account with the same number of one issuer', () => {
    const [HELD, REJECTED] = [encf(21), encf(22)];
    const buyers = [BUYER, STRANGER];
    const answers = new Map<string, string>();
    const of = async (number: string, buyer?: string) => {
      const headers: Record<string, string> = buyer === undefined ? {} : { 'buyer-rnc': buyer };
      return (await world.get(`/arecf/${number}?issuer_rnc=${PROVIDER}`, headers)).text();
    };

    beforeAll(async () => {
      await world.bus.publish([taxpayerChanged(taxpayer({ rnc: STRANGER }))]);
      for (const buyer of buyers) {
        const held = await sampleBytes({ encf: HELD, buyer });
        answers.set(`${HELD} ${buyer}`, await (await world.send(held)).text());
        const faulty = (await sampleBytes({ encf: REJECTED, buyer })).toString().replace('<TipoPago>1', '<TipoPago>x');
        answers.set(`${REJECTED} ${buyer}`, await (await world.send(faulty)).text());
      }
    });

    it('answers 400 until one is named, and then gives its bytes, of refusals too', async () => {
      for (const number of [HELD, REJECTED]) {
        expect(await json(`/arecf/${number}?issuer_rnc=${PROVIDER}`)).toMatchObject({
          status: 400,
          body: { code: 'ambiguous_encf' },
        });
        for (const buyer of buyers) expect(await of(number, buyer)).toBe(answers.get(`${number} ${buyer}`));
      }
    });

    it('gives what one buyer received, although another buyer has a refusal', async () => {
      const number = encf(23);
      const first = await (await world.send(await sampleBytes({ encf: number }))).text();
      const faulty = await sampleBytes({ encf: number, buyer: STRANGER });
      await world.send(faulty.toString().replace('<TipoPago>1', '<TipoPago>x'));
      expect(await of(number)).toBe(first);
      expect(await of(number, STRANGER)).toContain('<CodigoMotivoNoRecibido>1<');
    });

    it('answers 404 to a buyer of another account, and 422 to a malformed one', async () => {
      const path = `/arecf/${FIRST}?issuer_rnc=${PROVIDER}`;
      expect(await json(path, { 'buyer-rnc': OTHER_BUYER })).toMatchObject({
        status: 404,
        body: { code: 'taxpayer_not_found' },
      });
      expect(await json(path, { 'buyer-rnc': '12' })).toMatchObject({
        status: 422,
        body: { detail: [{ loc: ['header', 'buyer-rnc'] }] },
      });
    });
  });

  it.each([
    ['is missing', "arecf_path = 'TesteCF/arecf/gone.xml'"],
    ['was altered', "arecf_sha256 = repeat('0', 64)"],
  ])('never gives out bytes in the store if the file %s, and counts the fault', async (_, change) => {
    const number = encf(change.startsWith('arecf_path') ? 31 : 32);
    await world.send(await sampleBytes({ encf: number }));
    await world.database.query(`UPDATE received_documents SET ${change} WHERE encf = $1`, [number]);
    const before = await damaged();
    expect(await json(`/arecf/${number}?issuer_rnc=${PROVIDER}`)).toMatchObject({
      status: 500,
      body: { code: 'document_damaged' },
    });
    expect(await damaged()).toBe(before + 1);
  });

  it('answers 404 to another account', async () => {
    expect(await json(`/arecf/${SECOND}?issuer_rnc=${PROVIDER}`, {}, OTHER_ACCOUNT)).toMatchObject({ status: 404 });
  });
});

describe('a number that is not E and 12 digits', () => {
  it.each(['X310000000001', 'abcDEF0123456', encf(61).toLowerCase()])(
    'is received with an observation, and found by its text: %s',
    async (odd) => {
      // If the same number in upper case is an eNCF, the query itself is valid.
      const nothing = { status: odd === encf(61).toLowerCase() ? 404 : 422 };
      const sent = await world.send(await sampleBytes({ encf: odd, buyer: OTHER_BUYER }));
      expect(await sent.text()).toContain(`<eNCF>${odd}</eNCF><Estado>0</Estado>`);
      const headers = { 'buyer-rnc': OTHER_BUYER };
      const found = await json(`/fe/recepcion/api/invoices/${odd}`, headers, OTHER_ACCOUNT);
      expect(found).toMatchObject({ status: 200, body: { encf: odd } });
      const unknown = await json(`/fe/recepcion/api/invoices/${odd.slice(0, 12)}Z`, headers, OTHER_ACCOUNT);
      expect(unknown).toMatchObject({ status: 422, body: { detail: [{ loc: ['path', 'encf'], type: 'encf' }] } });
      const arecf = `/arecf/${odd}?issuer_rnc=${PROVIDER}`;
      expect((await world.get(arecf, {}, { account_id: OTHER_ACCOUNT })).status).toBe(200);
      // No other account finds it.
      expect(await json(arecf)).toMatchObject(nothing);
      expect(await json(`/fe/recepcion/api/invoices/${odd}`, headers)).toMatchObject(nothing);
    },
  );
});

describe('an account', () => {
  it('is refused on every route if the call has no identity', async () => {
    for (const path of [`/arecf/${FIRST}?issuer_rnc=${PROVIDER}`, '/fe/recepcion/api/invoices/all']) {
      const response = await fetch(`${world.url()}${path}`, { headers: ALL });
      expect([response.status, (await response.json()).code]).toEqual([401, 'invalid_identity']);
    }
  });

  it('sees the decision about a document, as a change since then', async () => {
    const { rows } = await world.database.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    const since = encodeURIComponent(rows[0]?.now.toISOString() ?? '');
    const changed = () => json(`/fe/recepcion/api/invoices/all?updated_since=${since}`, ALL);
    expect((await changed()).status).toBe(404);
    const data = {
      direction: 'given',
      env: 'TesteCF',
      issuer_rnc: PROVIDER,
      encf: SECOND,
      buyer_rnc: BUYER,
      revision: 1,
      approval_status: 'rejected',
      approval_datetime: '2026-06-12T09:00:00-04:00',
    };
    const event = {
      id: 'c1a0d3d2-0000-4000-8000-000000000001',
      type: 'approval.changed',
      source: 'approvals',
      time: '2026-06-12T13:00:00Z',
    };
    await world.bus.publish([
      { ...event, subject: SECOND, topic: 'approvals.v1', key: `TesteCF:${PROVIDER}:${SECOND}`, data },
    ]);
    const { body } = await json(`/fe/recepcion/api/invoices/${SECOND}`, { 'buyer-rnc': BUYER });
    expect(body).toMatchObject({
      approval_status: 'rejected',
      approval_confirmed: true,
      approval_datetime: '2026-06-12T09:00:00-04:00',
    });
    await until(
      () => world.published.filter((one) => one.data.encf === SECOND),
      (events) => events.at(-1)?.data.approval_status === 'rejected' && events.at(-1)?.data.revision === 2,
    );
    expect((await changed()).body).toMatchObject({
      total: 1,
      invoices: [{ encf: SECOND, approval_status: 'rejected' }],
    });
  });
});

describe('other services', () => {
  let world: World;
  let operations: ReceptionOperations;
  let stop: () => Promise<void>;

  beforeAll(async () => {
    world = await startWorld();
    await world.bus.publish([taxpayerChanged(taxpayer({ rnc: OTHER_BUYER }))]);
    await world.send(await sampleBytes({ encf: encf(1) }));
    await world.send(await sampleBytes({ encf: encf(1), total: '9.00', certificate: forger.certificate }));
    await world.send(await sampleBytes({ encf: encf(1), issuer: OTHER_PROVIDER }));
    await world.send(await sampleBytes({ encf: encf(2), buyer: OTHER_BUYER }));
    const server = await serve((world.instances[0] as World['instances'][0]).app, { host: '127.0.0.1', port: 0 });
    stop = server.stop;
    const clientOf = (service: 'query' | 'approvals') =>
      createInternalClient(RECEPTION_OPERATIONS, {
        url: server.url,
        owner: 'reception',
        identities: identitiesOf(service, () => NOW),
      });
    operations = { ...clientOf('query'), verifyProviderToken: clientOf('approvals').verifyProviderToken };
  });
  afterAll(async () => {
    await stop();
    await world.stop();
  });

  it('query the documents received under a number, with their conflicts', async () => {
    const question = { env: 'TesteCF' as const, buyer_rncs: [BUYER, OTHER_BUYER], encf: encf(1) };
    const { received } = await operations.findReceived({ ...question, issuer_rnc: PROVIDER });
    expect(received).toMatchObject([{ issuer_rnc: PROVIDER, buyer_rnc: BUYER, revision: 2, conflicts: [{}] }]);
    const all = await operations.findReceived({ ...question, issuer_rnc: null });
    expect(all.received.map((one) => one.issuer_rnc).sort()).toEqual([OTHER_PROVIDER, PROVIDER].sort());
    const none = await operations.findReceived({ ...question, issuer_rnc: null, buyer_rncs: [OTHER_BUYER] });
    expect(none.received).toEqual([]);
  });

  it('query all documents, page by page', async () => {
    const first = await operations.pageOfReceived({ after: 0, limit: 2 });
    const second = await operations.pageOfReceived({ after: first.next as number, limit: 2 });
    expect([...first.received, ...second.received].map((one) => one.encf)).toEqual([encf(1), encf(1), encf(2)]);
    expect(second.next).toBeNull();
    for (const one of first.received) expect(receivedInvoiceChangedSchema.parse(one)).toEqual(one);
  });

  it('query the holder of a token', async () => {
    const seed = await (await fetch(`${world.url()}/fe/autenticacion/api/semilla`)).text();
    const canonical = seed.replace(/^<\?xml[^>]*\?>/, '');
    const { xml } = await signXml({ canonical, output: canonical }, provider.certificate);
    const answer = await world.send(xml, { path: '/fe/autenticacion/api/validacioncertificado' });
    const authorization = `Bearer ${(await answer.json()).token}`;
    expect(await operations.verifyProviderToken({ env: 'TesteCF', authorization })).toEqual({ holder: '00100000001' });
    expect(await operations.verifyProviderToken({ env: 'eCF', authorization })).toEqual({ holder: null });
    expect(await operations.verifyProviderToken({ env: 'TesteCF', authorization: null })).toEqual({ holder: null });
  });
});

describe('the days left for an approval', () => {
  const DAY = 86_400_000;
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ settings: { APPROVAL_DEADLINE_DAYS: '15' } });
  });
  afterAll(() => world.stop());

  const daysLater = (days: number) => new Date(NOW.getTime() + days * DAY);
  const shown = async (number: string) =>
    (await (await world.get(`/fe/recepcion/api/invoices/${number}`, { 'buyer-rnc': BUYER })).json()) as {
      approval_status: string;
      approval_days_left: number | null;
    };

  it.each([
    ['2026-06-23T23:59:00-04:00', '2026-06-23T23:59:59-04:00', 15],
    ['2026-06-23T23:59:00-04:00', '2026-06-24T00:00:00-04:00', 14],
    ['2026-06-23T12:00:00-04:00', '2026-07-08T23:59:59-04:00', 0],
    ['2026-06-23T12:00:00-04:00', '2026-07-09T00:00:00-04:00', -1],
  ])('of a document that was received at %s are, at %s: %i', (received, now, left) => {
    const document = { approvalStatus: 'pending', receivedAt: new Date(received) } as const;
    expect(approvalDaysLeft(document, 15, new Date(now))).toBe(left);
    expect(approvalDaysLeft({ ...document, approvalStatus: 'approved' }, 15, new Date(now))).toBeNull();
  });

  it('are shown until it is answered, and the metric counts due documents', async () => {
    const number = encf(1);
    expect((await world.send(await sampleBytes({ encf: number }))).status).toBe(200);
    expect(await shown(number)).toMatchObject({ approval_status: 'pending', approval_days_left: 15 });
    expect(await world.metrics.render()).not.toContain('ecf_reception_approvals_awaited{');
    world.setTime(daysLater(13));
    expect(await shown(number)).toMatchObject({ approval_days_left: 2 });
    expect(await world.metrics.render()).toContain('ecf_reception_approvals_awaited{env="TesteCF",state="due_soon"} 1');
    world.setTime(daysLater(16));
    expect(await shown(number)).toMatchObject({ approval_days_left: -1 });
    expect(await world.metrics.render()).toContain('ecf_reception_approvals_awaited{env="TesteCF",state="overdue"} 1');
    world.setTime(daysLater(18));
    expect(await world.metrics.render()).toContain('ecf_reception_approvals_awaited{env="TesteCF",state="overdue"} 1');
    world.setTime(daysLater(19));
    expect(await world.metrics.render()).not.toContain('ecf_reception_approvals_awaited{');
    const data = {
      direction: 'given',
      env: 'TesteCF',
      issuer_rnc: PROVIDER,
      encf: number,
      buyer_rnc: BUYER,
      revision: 1,
      approval_status: 'approved',
      approval_datetime: NOW.toISOString(),
    };
    const draft = {
      topic: 'approvals.v1',
      type: 'approval.changed',
      source: 'approvals',
      subject: number,
      key: number,
      data,
    };
    await world.bus.publish([makeEvent(draft, { id: randomUUID(), time: NOW })]);
    await until(
      () => shown(number),
      (seen) => seen.approval_status === 'approved',
    );
    expect((await shown(number)).approval_days_left).toBeNull();
    expect(await world.metrics.render()).not.toContain('ecf_reception_approvals_awaited{');
  });
});

import { createHash, randomUUID } from 'node:crypto';
import type { BusEvent } from '@ecf/bus';
import { makeEvent } from '@ecf/bus/events';
import { type ReceivedRefused, TOPICS } from '@ecf/contracts';
import { checkXml, parseXml, readXml } from '@ecf/ecf-xml';
import { until } from '@ecf/test-support/until';
import { verifyXml } from '@ecf/xml-signing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createListings } from '../src/listings/listings.postgres.js';
import { encf, sampleBytes, sampleXml } from './support/documents.js';
import { BUYER, buyer, forger, issue, OTHER_BUYER, PROVIDER, STRANGER } from './support/senders.js';
import { ACCOUNT, taxpayer, taxpayerChanged } from './support/taxpayers.js';
import { startWorld, type World } from './support/world.js';

let world: World;
let sequence = 0;
const next = () => encf(++sequence);

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

interface Acknowledgement {
  Estado: string;
  CodigoMotivoNoRecibido?: string;
  RNCEmisor: string;
  RNCComprador: string;
  eNCF: string;
  FechaHoraAcuseRecibo: string;
}

/** Checks an answer as a strict sender does: status, type, structure, signature; returns its content. */
async function read(response: Response): Promise<Acknowledgement> {
  const text = await response.clone().text();
  expect([response.status, text.slice(0, 300)]).toEqual([200, expect.stringContaining('<ARECF')]);
  expect(response.headers.get('content-type')).toBe('application/xml; charset=utf-8');
  const bytes = Buffer.from(text, 'utf8');
  expect(checkXml(parseXml(bytes)).faults).toEqual([]);
  const { verified, certificate } = verifyXml(bytes);
  expect(certificate?.fingerprint).toBe(buyer.certificate.fingerprint);
  const { ARECF } = readXml(verified as { text: string }) as unknown as {
    ARECF: { DetalleAcusedeRecibo: Acknowledgement };
  };
  return ARECF.DetalleAcusedeRecibo;
}

async function rows(number: string) {
  const received = await world.database.query('SELECT * FROM received_documents WHERE encf = $1 ORDER BY id', [number]);
  const refused = await world.database.query('SELECT * FROM refused_documents WHERE encf = $1 ORDER BY id', [number]);
  return { received: received.rows, refused: refused.rows };
}

describe('a received document that is sent again, written in another way,', () => {
  it('is refused as a repeat and not kept again; the same content of another signer competes', async () => {
    const number = next();
    const xml = await sampleXml({ encf: number });
    expect((await world.send(xml).then(read)).Estado).toBe('0');
    for (const other of [`${xml}<!-- once more -->`, `\n${xml}`, xml.replace('<DetallesItems>', '  <DetallesItems>')])
      expect((await world.send(other).then(read)).CodigoMotivoNoRecibido).toBe('3');
    const resigned = await sampleXml({ encf: number, certificate: forger.certificate });
    expect((await world.send(resigned).then(read)).CodigoMotivoNoRecibido).toBe('3');
    const { refused } = await rows(number);
    expect(refused.map(({ xml_path, conflict_of }) => [xml_path === null, conflict_of === null])).toEqual([
      [true, true],
      [true, true],
      [true, true],
      [false, false],
    ]);
    expect(refused[0]?.reason).toContain('written in another way');
    // Written in another way, the competing one names the bytes that are kept.
    const [, , , competing] = refused;
    await world.send(`${resigned}<!-- once more -->`);
    const again = (await rows(number)).refused.at(-1);
    expect([again?.xml_path, again?.sha256]).toEqual([competing?.xml_path, competing?.sha256]);
  });
});

describe.each([
  ['its buyer', BUYER],
  ['its issuer', PROVIDER],
])('after the start of a certification run of %s,', (_, rnc) => {
  it('a number of the run before is free, and its document is kept', async () => {
    const number = next();
    const first = await sampleXml({ encf: number });
    const second = await sampleXml({ encf: number, certificate: forger.certificate });
    expect((await world.send(first).then(read)).Estado).toBe('0');
    expect((await world.send(second).then(read)).CodigoMotivoNoRecibido).toBe('3');
    const run = 2;
    const data = { env: 'TesteCF', issuer_rnc: rnc, account_id: ACCOUNT, run, started_at: '2026-06-23T13:00:00-04:00' };
    const draft = { topic: TOPICS.runs.name, type: 'run.started', source: 'emission', subject: rnc, key: rnc, data };
    await world.bus.publish([makeEvent(draft, { id: randomUUID(), time: new Date() })]);

    expect((await world.send(second).then(read)).Estado).toBe('0');
    expect((await world.send(second).then(read)).CodigoMotivoNoRecibido).toBe('3');
    const { received, refused } = await rows(number);
    expect(received.map(({ env }) => env)).toEqual([`TesteCF/1/${rnc}`, 'TesteCF']);
    expect(refused.map(({ env }) => env)).toEqual([`TesteCF/1/${rnc}`, 'TesteCF']);
    const unanswered = await createListings(world.database).unanswered(new Date(0), new Date('2099-01-01T00:00:00Z'));
    expect(unanswered.map(({ env }) => env)).toEqual(['TesteCF']);
  });
});

describe('a document for a taxpayer here', () => {
  it.each(['', 'x'])('may be signed by a holder whose long name has characters of two units: %s', async (before) => {
    const { certificate } = issue({ commonName: `${before}${'\u{1F9FE}'.repeat(150)}`, holderId: '00100000001' });
    const [number, other] = [next(), next()];
    const refused = (await sampleXml({ encf: other, certificate })).replace(/<MontoTotal>[^<]*/, '<MontoTotal>1.11');
    const [said, saidOfOther] = await Promise.all([
      world.send(await sampleBytes({ encf: number, certificate })).then(read),
      world.send(refused).then(read),
    ]);
    expect([said.Estado, saidOfOther.CodigoMotivoNoRecibido]).toEqual(['0', '2']);
    const { received } = await rows(number);
    expect(received[0]?.certificate_subject).toMatch(/\u{1F9FE}$/u);
  });

  it('is stored completely, then acknowledged in the same call', async () => {
    const number = next();
    const bytes = await sampleBytes({ encf: number });
    const response = await world.send(bytes);
    const said = await read(response);
    expect(said).toEqual({
      Version: '1.0',
      RNCEmisor: PROVIDER,
      RNCComprador: BUYER,
      eNCF: number,
      Estado: '0',
      FechaHoraAcuseRecibo: expect.stringMatching(/^23-06-2026 12:0\d:\d\d$/),
    });
    expect(response.headers.get('x-request-id')).toMatch(/.+/);
    expect(response.headers.get('x-rejection-reason')).toBeNull();

    const { received } = await rows(number);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({
      env: 'TesteCF',
      xml_sha256: sha256,
      approval_status: 'pending',
      total_amount: '11430.00',
    });
    expect(received[0]?.xml_path).toBe(`TesteCF/ecf/${BUYER}/received/2026/06/${PROVIDER}${number}-${sha256}.xml`);
    const stored = await world.archive.get(received[0]?.xml_path as string, sha256);
    expect(stored.equals(bytes)).toBe(true);
    const acknowledgement = await world.archive.get(
      received[0]?.arecf_path as string,
      received[0]?.arecf_sha256 as string,
    );
    expect(acknowledgement.toString()).toBe(await response.text());

    const [event] = await until(
      () => world.published.filter((one) => one.data.encf === number),
      (events) => events.length > 0,
    );
    expect(event).toMatchObject({
      key: `TesteCF:${PROVIDER}:${number}`,
      data: {
        revision: 1,
        account_id: 'account-1',
        buyer_rnc: BUYER,
        xml_checksum: sha256,
        approval_status: 'pending',
        conflicts: [],
      },
    });
  });

  it.each([
    ['one sender', () => '203.0.113.7'],
    ['as many senders', (i: number) => `198.51.100.${i + 1}`],
  ])('is one document with one answer if it comes fifty times at the same moment from %s', async (_, sender) => {
    const number = next();
    const bytes = await sampleBytes({ encf: number });
    const responses = await Promise.all(Array.from({ length: 50 }, (_, i) => world.send(bytes, { sender: sender(i) })));
    const texts = await Promise.all(responses.map((response) => response.text()));
    const positive = texts.filter((text) => text.includes('<Estado>0</Estado>'));
    const duplicates = texts.filter((text) => text.includes('<CodigoMotivoNoRecibido>3<'));
    expect(positive.length + duplicates.length).toBe(50);
    expect(positive.length).toBeGreaterThan(0);
    expect(new Set(positive).size).toBe(1);
    expect((await rows(number)).received).toHaveLength(1);
    await until(
      () => world.published.filter((one) => one.data.encf === number),
      (events) => events.length === 1,
    );
  });

  it('differs from one with the same number of another environment, provider or buyer', async () => {
    const number = next();
    await world.bus.publish([taxpayerChanged(taxpayer({ rnc: OTHER_BUYER }))]);
    for (const [sample, env] of [
      [{}, 'TesteCF'],
      [{}, 'eCF'],
      [{ issuer: '177777772' }, 'TesteCF'],
      [{ buyer: OTHER_BUYER }, 'TesteCF'],
    ] as const) {
      const response = await world.send(await sampleBytes({ encf: number, ...sample }), { env });
      expect((await response.text()).includes('<Estado>0</Estado>')).toBe(true);
    }
    expect((await rows(number)).received).toHaveLength(4);
  });
});

describe('a document', () => {
  it('that is sent again after the answer left gets motive 3 and is not recorded', async () => {
    const number = next();
    const bytes = await sampleBytes({ encf: number });
    await read(await world.send(bytes));
    const again = await world.send(bytes);
    expect(await read(again)).toMatchObject({ Estado: '1', CodigoMotivoNoRecibido: '3' });
    expect(again.headers.get('x-rejection-reason')).toBe('3 Envio duplicado: this document was received before');
    const { received, refused } = await rows(number);
    expect(received[0]).toMatchObject({ revision: 1 });
    expect(refused).toMatchObject([{ motive: 3, conflict_of: null, xml_path: received[0]?.xml_path }]);
    const [path, sha256] = [refused[0]?.arecf_path as string, refused[0]?.arecf_sha256 as string];
    expect(path).toBe(`TesteCF/arecf/${BUYER}/issued/2026/06/23/${sha256.slice(0, 2)}/${BUYER}${number}-${sha256}.xml`);
  });

  it('with other bytes under the same number gets motive 3, is stored, and is shown as one conflict, however often it comes', async () => {
    const number = next();
    await read(await world.send(await sampleBytes({ encf: number })));
    const other = await sampleBytes({ encf: number, total: '1.00', certificate: forger.certificate });
    for (let i = 0; i < 3; i++) {
      expect(await read(await world.send(other))).toMatchObject({ Estado: '1', CodigoMotivoNoRecibido: '3' });
    }
    const { received, refused } = await rows(number);
    expect(received[0]).toMatchObject({ revision: 2, total_amount: '11430.00' });
    expect(refused.map((row) => row.conflict_of !== null)).toEqual([true, false, false]);
    const kept = await world.archive.get(refused[0]?.xml_path as string, refused[0]?.sha256 as string);
    expect(refused[0]?.xml_path).toContain(`/received/2026/06/23/${String(refused[0]?.sha256).slice(0, 2)}/`);
    expect(kept.equals(other)).toBe(true);
    const events = await until(
      () => world.published.filter((one) => one.data.encf === number),
      (seen) => seen.length === 2,
    );
    expect(events[1]?.data).toMatchObject({
      revision: 2,
      conflicts: [{ certificate_subject: forger.certificate.subject }],
    });
  });

  it('is received although a stranger sent an invalid one under its number', async () => {
    const number = next();
    const genuine = await sampleXml({ encf: number });
    const forged = genuine.replace('<MontoTotal>11430.00', '<MontoTotal>99999.00');
    expect(await read(await world.send(forged))).toMatchObject({ Estado: '1', CodigoMotivoNoRecibido: '2' });
    const broken = genuine.replace('<TipoPago>1', '<TipoPago>x');
    expect(await read(await world.send(broken))).toMatchObject({ Estado: '1', CodigoMotivoNoRecibido: '1' });
    expect(await read(await world.send(genuine))).toMatchObject({ Estado: '0' });
    expect(await read(await world.send(forged))).toMatchObject({ Estado: '1', CodigoMotivoNoRecibido: '2' });
    const { received, refused } = await rows(number);
    expect(received).toHaveLength(1);
    expect(refused.map((row) => row.motive)).toEqual([2, 1, 2]);
  });

  it('that is refused has the reason in a header and in the record', async () => {
    const broken = (await sampleXml({ encf: next() })).replace('<TipoPago>1', '<TipoPago>x');
    const response = await world.send(broken);
    expect(response.headers.get('x-rejection-reason')).toMatch(
      /^1 Error de especificacion: ECF\.Encabezado\.IdDoc\.TipoPago: /,
    );
  });
});

describe('a refusal', () => {
  const events: BusEvent<ReceivedRefused>[] = [];
  const publishedFor = (number: string) => events.filter(({ data }) => data.encf === number).map(({ data }) => data);
  const publishedByNow = async (number: string, count: number) => {
    await until(
      () => publishedFor(number),
      ({ length }) => length >= count,
    );
    await until(
      () => world.database.query('SELECT 1 FROM outbox'),
      ({ rowCount }) => rowCount === 0,
    );
    return publishedFor(number);
  };
  beforeAll(() =>
    world.bus.subscribe({
      topics: ['refusals.v1'],
      group: 'query',
      handler: async (event) => void events.push(event as BusEvent<ReceivedRefused>),
    }),
  );

  it('is published once for each number and reason, without the document', async () => {
    const number = next();
    const genuine = await sampleXml({ encf: number });
    const forged = genuine.replace('<MontoTotal>11430.00', '<MontoTotal>99999.00');
    const broken = genuine.replace('<TipoPago>1', '<TipoPago>x');
    for (const xml of [forged, forged, broken, genuine, forged, genuine, genuine]) await read(await world.send(xml));
    const [first, ...more] = await publishedByNow(number, 3);
    expect(first).toEqual({
      env: 'TesteCF',
      issuer_rnc: PROVIDER,
      encf: number,
      buyer_rnc: BUYER,
      account_id: ACCOUNT,
      ecf_type: '31',
      date_received: expect.stringMatching(/-04:00$/),
      rejection_code: 2,
      rejection_reason: expect.stringMatching(/^2 Error de Firma Digital: /),
      xml_checksum: createHash('sha256').update(forged).digest('hex'),
      arecf_storage_path: expect.stringContaining(number),
      arecf_checksum: expect.any(String),
    });
    expect(more.map(({ rejection_code }) => rejection_code)).toEqual([1, 3]);
    expect((await rows(number)).refused).toHaveLength(6);
  });

  it('of a stranger is published a hundred times a day at most, and refusals of others still are', async () => {
    const [number, other] = [next(), next()];
    const [flooding, later] = [await sampleXml({ encf: number }), await sampleXml({ encf: other })];
    const broken = (n: number) => flooding.replace('<TipoPago>1', `<TipoPago>1</TipoPago><X${n}>1</X${n}><TipoPago>1`);
    const sender = '198.51.100.77';
    for (let n = 0; n < 110; n += 10)
      await Promise.all(Array.from({ length: 10 }, (_, i) => world.send(broken(n + i), { sender })));
    await read(await world.send(later.replace('<TipoPago>1', '<TipoPago>x'), { sender }));
    expect(await publishedByNow(number, 100)).toHaveLength(100);
    expect((await rows(number)).refused).toHaveLength(110);
    expect(publishedFor(other)).toEqual([]);
    const forged = later.replace('<MontoTotal>11430.00', '<MontoTotal>1.00');
    await read(await world.send(forged, { sender: '198.51.100.78' }));
    expect(await publishedByNow(other, 1)).toMatchObject([{ rejection_code: 2 }]);
  });
});

describe('the signer of the answer', () => {
  it('is missing for an unknown buyer if none is configured: the document gets 404 and is not recorded', async () => {
    const number = next();
    const response = await world.send(await sampleBytes({ encf: number, buyer: STRANGER }));
    expect([response.status, await response.json()]).toMatchObject([404, { code: 'taxpayer_not_found' }]);
    expect(await rows(number)).toEqual({ received: [], refused: [] });
  });

  it('needs a certificate: without one the document gets 503 with Retry-After and is not recorded', async () => {
    const number = next();
    const rnc = '144444445';
    await world.bus.publish([taxpayerChanged(taxpayer({ rnc, certificate: null }))]);
    const bytes = await sampleBytes({ encf: number, buyer: rnc });
    const response = await world.send(bytes);
    expect([response.status, await response.json()]).toMatchObject([503, { code: 'certificate_missing' }]);
    expect(response.headers.get('retry-after')).toBe('300');
    expect(await rows(number)).toEqual({ received: [], refused: [] });
    await world.bus.publish([taxpayerChanged(taxpayer({ rnc }))]);
    expect(await read(await world.send(bytes))).toMatchObject({ Estado: '0' });
  });

  it('signs no answer to an unreadable body, which gets 422 with the reason', async () => {
    const response = await world.send('<ECF><Encabezado>');
    expect([response.status, await response.json()]).toMatchObject([
      422,
      {
        code: 'validation_error',
        detail: [{ loc: ['body', 'xml'], type: 'xml.not_well_formed' }],
        request_id: expect.any(String),
      },
    ]);
  });
});

describe('an address in another spelling', () => {
  it.each([
    '/FE/Recepcion/API/ECF',
    '/fe/recepcion/api/ecf/',
    '/testecf/fe/recepcion/api/ecf',
    '/fe/recepci%C3%B3n/api/ecf',
    '/fe/recepci%c3%b3n/api/ecf',
  ])('leads to the reception of documents: %s', async (path) => {
    expect(await read(await world.send(await sampleBytes({ encf: next() }), { path }))).toMatchObject({ Estado: '0' });
  });
});

it('violations of business rules are recorded and never prevent the receipt', async () => {
  const number = next();
  expect(await read(await world.send(await sampleBytes({ encf: number, total: '7777777.00' })))).toMatchObject({
    Estado: '0',
  });
  const { received } = await rows(number);
  expect(
    (received[0] as { observations: { rule: string }[] }).observations.some(({ rule }) => rule.startsWith('business.')),
  ).toBe(true);
});

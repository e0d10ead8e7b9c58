import { checkXml, parseXml, readXml } from '@ecf/ecf-xml';
import { camelCaseRows, type Database, openDatabase } from '@ecf/postgres';
import { beginPost, chunkOf } from '@ecf/test-support/raw-posts';
import { until } from '@ecf/test-support/until';
import { verifyXml } from '@ecf/xml-signing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApprovalStore } from '../src/given/approvals.postgres.js';
import type { Approvals } from '../src/index.js';
import { endingWith } from '../src/sending/endings.js';
import type { Claimed } from '../src/sending/outgoing.js';
import { claimedFrom, createOutgoingStore, type OutgoingRow } from '../src/sending/outgoing.postgres.js';
import {
  AUTHORITY,
  BUYER,
  certificate,
  ISSUER,
  issueCertificate,
  order,
  receivedInvoice,
  STRANGER,
  World,
} from './support/world.js';

let world: World;
beforeAll(async () => {
  world = await World.start();
  await world.list(ISSUER, world.url());
});
afterAll(() => world.stop());

const post = (body: unknown, query = '', options = {}) => world.call('POST', `/acecf/${query}`, body, options);
const events = (encf: string, direction: string) =>
  world.published.filter(({ data }) => data.encf === encf && data.direction === direction).map(({ data }) => data);

async function detail(id: number): Promise<Record<string, string>> {
  const { body, headers } = await world.call('GET', `/acecf/${id}/xml`);
  expect(headers.get('content-type')).toBe('application/xml; charset=utf-8');
  const bytes = Buffer.from(body, 'utf8');
  expect(checkXml(parseXml(bytes)).faults).toEqual([]);
  const { signature, verified, certificate: signer } = verifyXml(bytes);
  expect([signature, signer?.fingerprint]).toEqual(['valid', certificate.fingerprint]);
  // biome-ignore lint/suspicious/noExplicitAny: looked into freely
  return (readXml(verified as never) as any).ACECF.DetalleAprobacionComercial;
}

it.each([
  ['/acecf/', { 'x-account': 'a key' }],
  ['/fe/aprobacioncomercial/api/ecf', {}],
])('refuses a body of one byte per chunk on %s', async (path, headers) => {
  world.accounts.set('a key', { env: 'TesteCF', given: false, account: 'account-1' });
  const all = { 'content-type': 'application/json', ...headers };
  const request = beginPost(`${world.url()}${path}`, all, chunkOf(' ').repeat(20_000));
  expect(await request.answer()).toMatchObject({ status: 400, code: 'bad_request' });
  request.socket.destroy();
});

describe('a document that lost its number', () => {
  /** The authority confirmed another document of the number, and reception gave it the number. */
  async function promote(encf: string, id: number): Promise<void> {
    const promoted = receivedInvoice(encf, {
      id,
      revision: 3,
      authority_status: 'confirmed',
      promoted_at: '2099-06-23T17:50:00-04:00',
    });
    world.received.set(`${ISSUER}|${encf}`, promoted);
    await world.publishReceived(promoted);
  }

  it('a document that loses its number keeps its approval as superseded, and one new approval is allowed', async () => {
    const encf = await world.invoice();
    const first = await post(order(encf));
    expect(first.status).toBe(201);
    await promote(encf, 900_001);
    const shown = async () => (await world.call('GET', `/acecf/${first.body.id}`)).body;
    expect(await until(shown, ({ superseded }) => superseded)).toEqual({ ...first.body, superseded: true });
    const told = await until(
      async () => events(encf, 'given'),
      (all) => all.length === 2,
    );
    expect(told).toMatchObject([
      { revision: 1, approval_status: 'approved' },
      { revision: 2, approval_status: 'pending', approval_datetime: null },
    ]);
    // The decision was replaced, not refused.
    expect(told[1]).not.toHaveProperty('refused_by_authority');
    // The authority has no approval of the new document.
    await world.control('POST', 'reset');
    await world.accept(encf);
    const rejected = { approval_status: 2, rejection_code: 1 };
    const second = await post(order(encf, rejected));
    expect([second.status, second.body.superseded, second.body.issuer_delivery_status]).toEqual([
      201,
      false,
      'refused',
    ]);
    // Later changes of the document come with the same moment.
    await promote(encf, 900_001);
    expect((await post(order(encf))).body.code).toBe('already_answered');
    expect((await world.call('GET', `/acecf/${second.body.id}`)).body.superseded).toBe(false);
    const all = await until(
      () => events(encf, 'given'),
      ({ length }) => length === 4,
    );
    // The issuer has another approval already.
    expect(all.slice(2)).toMatchObject([
      { revision: 3, approval_status: 'rejected' },
      { revision: 4, approval_status: 'rejected', refused_by_issuer: true },
    ]);
    const listed = await world.call('GET', `/acecf/?receiver_rnc=${BUYER}&limit=100`);
    expect(listed.body.filter((one: { encf: string }) => one.encf === encf)).toMatchObject([
      { id: second.body.id, superseded: false },
      { id: first.body.id, superseded: true },
    ]);
  });
});

describe('POST /acecf with the least fields', () => {
  const least = (encf: string, fields: Record<string, unknown> = {}) => ({
    ...{ issuer_rnc: ISSUER, receiver_rnc: BUYER, encf, authority_environment: 'TesteCF', approval_status: 1 },
    ...fields,
  });

  it('an approval takes date and amount from the received document, and the time of the request', async () => {
    const encf = await world.invoice();
    const before = Math.floor(Date.now() / 1_000) * 1_000;
    const { status, body } = await post(least(encf, { approval_status: 2, rejection_code: 1 }));
    expect([status, body]).toMatchObject([
      201,
      { invoice_date_issued: '2026-06-15', invoice_total_amount: '11430.00', version: '1.0', warnings: [] },
    ]);
    const decidedAt = Date.parse(body.approval_datetime);
    expect(decidedAt >= before && decidedAt <= Date.now()).toBe(true);
    expect(body.authority_submission_status).toBe('Aceptado');
  });

  it('an approval without date and amount gets the names of the fields if the document was not received', async () => {
    const { status, body } = await post(least('E310009999970'));
    expect(status).toBe(422);
    expect(body.detail).toMatchObject([
      { loc: ['body', 'invoice_date_issued'], type: 'missing', msg: expect.stringContaining('not received here') },
      { loc: ['body', 'invoice_total_amount'], type: 'missing' },
    ]);
    const known = { invoice_date_issued: '2026-06-15', invoice_total_amount: '118.00' };
    expect((await post(least('E310009999970', known))).status).toBe(201);
  });

  it('a stored approval is sent when the request is repeated with submit_to_authority=true', async () => {
    const encf = await world.invoice();
    const stored = await post(least(encf), '?submit_to_authority=false');
    const sent = await post(least(encf));
    expect([sent.status, sent.body]).toMatchObject([
      201,
      { id: stored.body.id, approval_datetime: stored.body.approval_datetime, authority_submission_status: 'Aceptado' },
    ]);
  });
});

describe('POST /acecf', () => {
  it('an approval is signed, stored and sent to the authority and the issuer, and updates the received invoice', async () => {
    const encf = await world.invoice();
    const id = world.received.get(`${ISSUER}|${encf}`)?.id;
    const { status, body } = await post(order(encf, { ecf_document_id: id }));
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(Number),
        ecf_document_id: id,
        version: '1.0',
        issuer_rnc: ISSUER,
        receiver_rnc: BUYER,
        encf,
        approval_status: 1,
        rejection_code: null,
        rejection_description: null,
        approval_datetime: '2026-06-23T17:45:47-04:00',
        authority_environment: 'TesteCF',
        invoice_date_issued: '2026-06-15',
        invoice_total_amount: '11430.00',
        xml_storage_path: expect.stringMatching(
          new RegExp(`^TesteCF/acecf/${BUYER}/issued/\\d{4}/\\d{2}/${BUYER}${encf}-[0-9a-f]{64}\\.xml$`),
        ),
        xml_checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
        xml_schema_version: '1.0',
        sent_to_authority: true,
        sent_to_authority_at: expect.stringMatching(/-04:00$/),
        authority_submission_status: 'Aceptado',
        authority_response: expect.stringContaining('Aprobada'),
        sent_to_issuer: true,
        sent_to_issuer_at: expect.stringMatching(/-04:00$/),
        issuer_delivery_status: 'delivered',
        issuer_delivery_error: null,
        warnings: [],
        superseded: false,
        created_at: expect.stringMatching(/-04:00$/),
        created_by: 'key-of-the-test',
      },
    ]);
    expect(await detail(body.id)).toEqual({
      Version: '1.0',
      RNCEmisor: ISSUER,
      eNCF: encf,
      FechaEmision: '15-06-2026',
      MontoTotal: '11430.00',
      RNCComprador: BUYER,
      Estado: '1',
      FechaHoraAprobacionComercial: '23-06-2026 17:45:47',
    });
    expect(await world.submissions(encf)).toMatchObject([{ sha256: body.xml_checksum, effective: true }]);
    const [given] = await until(
      () => events(encf, 'given'),
      (seen) => seen.length === 1,
    );
    expect(given).toMatchObject({
      revision: 1,
      approval_status: 'approved',
      approval_datetime: '2026-06-23T17:45:47-04:00',
    });
    const [received] = await until(
      () => events(encf, 'received'),
      (seen) => seen.length === 1,
    );
    expect(received).toMatchObject({ approval_status: 'approved', buyer_rnc: BUYER });
    const rows = await world.database.query(
      'SELECT target, outcome, body FROM approval_exchanges WHERE approval_id = $1 ORDER BY target',
      [body.id],
    );
    expect(rows.rows).toMatchObject([
      { target: 'authority', outcome: 'verdict' },
      { target: 'issuer', outcome: 'verdict' },
    ]);
    // Every call to the authority is measured: the approval, the look-up of its issuer, and the login before.
    const text = await world.metrics.render();
    for (const operation of ['requestSeed', 'validateSeed', 'submitCommercialApproval', 'findInDirectory'])
      expect(text).toContain(
        `ecf_authority_call_seconds_count{operation="${operation}",env="TesteCF",outcome="verdict"}`,
      );
  });

  it.each([
    [{ rejection_code: 1 }, 'Bienes o servicios no recibidos'],
    [{ rejection_code: 2 }, 'Bienes o servicios defectuosos'],
    [{ rejection_code: 3, rejection_description: 'Precio "otro" & más <caro>' }, 'Precio "otro" & más <caro>'],
  ])('gives the reason of a rejection: %j', async (fields, reason) => {
    const encf = await world.invoice();
    const { status, body } = await post(order(encf, { approval_status: 2, ...fields }));
    expect([status, body.authority_submission_status, body.issuer_delivery_status]).toEqual([
      201,
      'Aceptado',
      'delivered',
    ]);
    expect(await detail(body.id)).toMatchObject({ Estado: '2', DetalleMotivoRechazo: reason });
    const state = await world.call('GET', `/fe/aprobacioncomercial/api/invoices/${encf}?issuer_rnc=${ISSUER}`);
    expect(state.body).toEqual({
      encf,
      issuer_rnc: ISSUER,
      buyer_rnc: BUYER,
      approval_status: 'rejected',
      approval_datetime: '2026-06-23T17:45:47-04:00',
      rejection_reason: reason,
      approval_confirmed: false,
      signer: expect.objectContaining({ fingerprint: certificate.fingerprint, known: false }),
    });
  });

  it('a second decision is refused and gets the id of the first', async () => {
    const encf = await world.invoice();
    const first = await post(order(encf));
    for (const again of [order(encf), order(encf, { approval_status: 2, rejection_code: 1 })]) {
      const { status, body } = await post(again);
      expect([status, body]).toMatchObject([
        409,
        { code: 'already_answered', detail: expect.stringContaining(`id ${first.body.id}`) },
      ]);
    }
    expect(await world.submissions(encf)).toHaveLength(1);
  });

  it('fifty concurrent requests make one record', async () => {
    const encf = await world.invoice();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => post(order(encf, i % 2 ? {} : { approval_status: 2, rejection_code: 1 }))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(49).fill(409)]);
    expect(await world.submissions(encf)).toHaveLength(1);
    expect(events(encf, 'given')).toHaveLength(1);
  });

  it('a decision about a document that was not received here is accepted with a warning', async () => {
    const encf = await world.invoice('31', { at: ['authority', 'issued'] });
    const { status, body } = await post(order(encf));
    expect([status, body]).toMatchObject([
      201,
      { warnings: [expect.stringContaining('not received here')], ecf_document_id: null },
    ]);
  });

  it('carriage returns of a reason are signed as line feeds, with a warning', async () => {
    const encf = await world.invoice();
    const reason = { approval_status: 2, rejection_code: 3, rejection_description: 'Faltan dos\r\nsillas\r' };
    const { status, body } = await post(order(encf, reason));
    expect([status, body.warnings]).toEqual([201, [expect.stringContaining('rejection_description holds a carriage')]]);
    expect(await detail(body.id)).toMatchObject({ DetalleMotivoRechazo: 'Faltan dos\nsillas\n' });
  });

  it('a decision that is older than the certificate is accepted with a warning', async () => {
    const rnc = '144444447';
    const day = 24 * 3_600_000;
    const dates = { notBefore: new Date(Date.now() - day), notAfter: new Date(Date.now() + day) };
    await world.register(rnc, { signer: issueCertificate('00400000004', AUTHORITY, dates) });
    const give = async (encf: string, fields: object) =>
      (await post(order(encf, { receiver_rnc: rnc, ...fields }), '?submit_to_authority=false')).body.warnings;
    const older = await give('E310009999991', { approval_datetime: new Date(Date.now() - 2 * day).toISOString() });
    expect(older).toEqual([expect.any(String), expect.stringContaining('older than the certificate')]);
    expect(await give('E310009999992', { approval_datetime: new Date().toISOString() })).toHaveLength(1);
  });

  it('an approval for an issuer without receiver gets no_receiver', async () => {
    await world.list(ISSUER, null);
    const encf = await world.invoice();
    const { body } = await post(order(encf));
    await world.list(ISSUER, world.url());
    expect(body).toMatchObject({
      authority_submission_status: 'Aceptado',
      issuer_delivery_status: 'no_receiver',
      sent_to_issuer: false,
    });
  });
});

describe('a directory entry that is cached for ten minutes', () => {
  it('a cached directory entry without an address for approvals is looked up again', async () => {
    const instance = world.instances.indexOf(await world.addInstance({ DIRECTORY_ENTRY_SECONDS: '600' }));
    const entry = { nombre: 'X', rnc: ISSUER, urlRecepcion: world.url(), urlAceptacion: '' };
    await world.fault({ operation: 'consultadirectorio', kind: 'http', status: 200, body: JSON.stringify([entry]) });
    const give = async () => (await post(order(await world.invoice()), '', { instance })).body.issuer_delivery_status;
    expect(await give()).toBe('no_receiver');
    await world.control('DELETE', 'faults');
    expect(await give()).toBe('delivered');
    await world.end(world.instances[instance] as Approvals);
  });
});

describe('local records', () => {
  it('local records are signed and stored, do not bind, and are sent later with the same bytes', async () => {
    const encf = await world.invoice();
    const local = await post(order(encf), '?submit_to_authority=false');
    expect([local.status, local.body]).toMatchObject([
      201,
      {
        sent_to_authority: false,
        authority_submission_status: null,
        issuer_delivery_status: null,
        sent_to_issuer: false,
      },
    ]);
    expect(await world.submissions(encf)).toEqual([]);
    expect(events(encf, 'given')).toEqual([]);
    expect((await post(order(encf), '?submit_to_authority=false')).body.id).toBe(local.body.id);
    const sent = await post(order(encf), '?submit_to_authority=true');
    expect([sent.status, sent.body]).toMatchObject([
      201,
      { id: local.body.id, authority_submission_status: 'Aceptado', issuer_delivery_status: 'delivered' },
    ]);
    expect(await world.submissions(encf)).toMatchObject([{ sha256: local.body.xml_checksum, effective: true }]);
    expect((await post(order(encf))).status).toBe(409);
  });

  it('a local record may be superseded by another decision', async () => {
    const encf = await world.invoice();
    const local = await post(order(encf), '?submit_to_authority=false');
    const other = await post(order(encf, { approval_status: 2, rejection_code: 2 }));
    expect(other.body.id).not.toBe(local.body.id);
    expect((await post(order(encf))).body.detail).toContain(`id ${other.body.id}`);
    expect((await post(order(encf), '?submit_to_authority=false')).status).toBe(409);
  });

  it('a local record is checked again when it is sent', async () => {
    const encf = await world.invoice();
    await post(order(encf), '?submit_to_authority=false');
    const received = world.received.get(`${ISSUER}|${encf}`);
    world.received.set(`${ISSUER}|${encf}`, { ...received, total_amount: '1.00' } as never);
    expect((await post(order(encf))).status).toBe(422);
    expect(await world.submissions(encf)).toEqual([]);
  });
});

describe('a refused request', () => {
  const rejected = { approval_status: 2, rejection_code: 1 };
  const bad: [string, Record<string, unknown>, string][] = [
    ['a missing reason', { approval_status: 2 }, 'rejection_code'],
    ['the reason of an approval', { rejection_code: 1 }, 'rejection_code'],
    ['code 3 without text', { approval_status: 2, rejection_code: 3 }, 'rejection_description'],
    ['a blank text', { approval_status: 2, rejection_code: 3, rejection_description: '  ' }, 'rejection_description'],
    [
      'a long text',
      { approval_status: 2, rejection_code: 3, rejection_description: 'x'.repeat(251) },
      'rejection_description',
    ],
    [
      'a control character',
      { approval_status: 2, rejection_code: 3, rejection_description: 'a\u0001b' },
      'rejection_description',
    ],
    ['NUL beside code 1', { ...rejected, rejection_description: 'x\u0000y' }, 'rejection_description'],
    [
      'half of a pair beside code 2',
      { ...rejected, rejection_code: 2, rejection_description: 'x\ud800' },
      'rejection_description',
    ],
    ['code 4', { approval_status: 2, rejection_code: 4 }, 'rejection_code'],
    ['status 3', { approval_status: 3 }, 'approval_status'],
    ['status as text', { approval_status: '1' }, 'approval_status'],
    ['an RNC as a number', { issuer_rnc: 133470616 }, 'issuer_rnc'],
    ['an RNC of ten digits', { issuer_rnc: '1234567890' }, 'issuer_rnc'],
    ['an eNCF in lower case', { encf: 'e310000000001' }, 'encf'],
    ['a day that does not exist', { invoice_date_issued: '2026-02-30' }, 'invoice_date_issued'],
    ['another time format', { approval_datetime: '23-06-2026' }, 'approval_datetime'],
    ['a time in the future', { approval_datetime: '2099-01-01T00:00:00-04:00' }, 'approval_datetime'],
    ['three decimals', { invoice_total_amount: '1.234' }, 'invoice_total_amount'],
    ['another environment', { authority_environment: 'testecf' }, 'authority_environment'],
    ['version 2.0', { version: '2.0' }, 'version'],
    ['a field that the service makes', { xml_storage_path: 'x' }, 'xml_storage_path'],
    ['a type without approval', { encf: 'E320000000001' }, 'encf'],
  ];
  it.each(bad)('a request with %s gets 422', async (_name, fields, field) => {
    const { status, body } = await post(order('E310009999999', fields));
    expect(status).toBe(422);
    expect(body.detail.map(({ loc }: { loc: string[] }) => loc.join('.'))).toContain(`body.${field}`);
  });

  it('a rejection without its reason is refused, and the error says which reason is missing', async () => {
    const { body } = await post(order('E310009999999', { approval_status: 2 }));
    const msg = 'A rejection (approval_status 2) needs rejection_code 1, 2 or 3.';
    expect(body.items).toEqual([{ loc: ['body', 'rejection_code'], msg, type: 'missing' }]);
  });

  it('all missing fields are named in one answer', async () => {
    const { status, body } = await post({});
    expect(status).toBe(422);
    const missing = body.detail.map(({ loc }: { loc: string[] }) => loc[1]);
    expect(missing).toEqual(
      expect.arrayContaining(['issuer_rnc', 'receiver_rnc', 'encf', 'approval_status', 'authority_environment']),
    );
  });

  it('a date, amount or id that differs from the received document is refused', async () => {
    const encf = await world.invoice();
    for (const [fields, field] of [
      [{ invoice_date_issued: '2026-06-14' }, 'invoice_date_issued'],
      [{ invoice_total_amount: '11430.01' }, 'invoice_total_amount'],
      [{ ecf_document_id: 999_999 }, 'ecf_document_id'],
    ] as const) {
      const { status, body } = await post(order(encf, fields));
      expect([status, body.detail[0].loc]).toEqual([422, ['body', field]]);
    }
    const unknown = await post(order('E310009999998', { ecf_document_id: 1 }));
    expect(unknown.status).toBe(422);
    expect((await post(order(encf, { invoice_total_amount: '11430.0' }))).status).toBe(201);
  });

  it('invalid JSON, other content, a foreign or inactive taxpayer, and a missing certificate are refused', async () => {
    expect(await world.call('POST', '/acecf', '{')).toMatchObject({
      status: 422,
      body: { code: 'validation_error', detail: [{ loc: ['body'], type: 'invalid_json' }] },
    });
    const twice = JSON.stringify(order('E310009999999')).replace('{', '{"approval_status":2,');
    expect(await world.call('POST', '/acecf', twice)).toMatchObject({
      status: 422,
      body: { code: 'validation_error', detail: [{ loc: ['body'], msg: expect.stringContaining('twice') }] },
    });
    const many = JSON.stringify({ ...order('E310009999999'), notes: new Array(1_000).fill([]) });
    expect(await world.call('POST', '/acecf', many)).toMatchObject({
      status: 422,
      body: {
        code: 'validation_error',
        detail: [{ loc: ['body'], msg: expect.stringContaining('more than 1000 values') }],
      },
    });
    expect((await post(order('E310009999997', { receiver_rnc: STRANGER }))).body.code).toBe('taxpayer_not_found');
    expect((await post(order('E310009999997'), '', { account: 'account-2' })).body.code).toBe('taxpayer_not_found');
    expect((await post(order('E310009999997'), '?submit_to_authority=maybe')).status).toBe(422);
    const rnc = '144444445';
    await world.register(rnc, { active: false });
    expect((await post(order('E310009999997', { receiver_rnc: rnc }))).body.code).toBe('taxpayer_not_found');
    await world.register(rnc, { signer: null });
    expect((await post(order('E310009999997', { receiver_rnc: rnc }))).body.code).toBe('certificate_missing');
  });

  it('an environment is refused if the header contradicts it or the key does not allow it', async () => {
    const encf = await world.invoice();
    expect((await post(order(encf), '', { env: 'CerteCF' })).status).toBe(422);
    const { status, body } = await post(order(encf, { authority_environment: 'eCF' }));
    expect([status, body.code]).toEqual([401, 'environment_not_allowed']);
  });
});

describe('GET /acecf', () => {
  it('approvals are listed newest first, by pages, for their account only', async () => {
    const encf = await world.invoice();
    const { body } = await post(order(encf));
    const list = await world.call('GET', `/acecf/?receiver_rnc=${BUYER}&limit=2`);
    expect(list.body).toHaveLength(2);
    expect(list.body[0]).toEqual(body);
    expect((await world.call('GET', `/acecf?receiver_rnc=${BUYER}&offset=100000`)).body).toEqual([]);
    expect((await world.call('GET', `/acecf?receiver_rnc=${BUYER}`, undefined, { env: 'CerteCF' })).body).toEqual([]);
    expect((await world.call('GET', `/acecf/${body.id}`)).body).toEqual(body);
    expect((await world.call('GET', `/acecf/${body.id}/`, undefined, { env: 'CerteCF' })).status).toBe(404);
    expect((await world.call('GET', `/acecf/${body.id}`, undefined, { account: 'account-2' })).status).toBe(404);
    expect((await world.call('GET', `/acecf?receiver_rnc=${STRANGER}`)).body.code).toBe('taxpayer_not_found');
  });

  it('approvals are listed by issuer and number, and the open ones alone', async () => {
    const listed = async (query: string) =>
      (await world.call('GET', `/acecf?receiver_rnc=${BUYER}&${query}`)).body.map(({ id }: { id: number }) => id);
    const done = (await post(order(await world.invoice()))).body;
    expect(await listed(`issuer_rnc=${ISSUER}&encf=${done.encf.toLowerCase()}`)).toEqual([done.id]);
    expect(await listed(`issuer_rnc=${STRANGER}&encf=${done.encf}`)).toEqual([]);
    expect(await listed(`encf=${done.encf}&open=true`)).toEqual([]);
    await world.list(ISSUER, null);
    const undelivered = (await post(order(await world.invoice()))).body;
    await world.list(ISSUER, world.url());
    expect(await listed(`encf=${undelivered.encf}&open=true`)).toEqual([undelivered.id]);
  });

  it.each([
    '/acecf',
    '/acecf?receiver_rnc=1',
    `/acecf?receiver_rnc=${BUYER}&encf=E31`,
    `/acecf?receiver_rnc=${BUYER}&open=perhaps`,
    `/acecf?receiver_rnc=${BUYER}&limit=0`,
    `/acecf?receiver_rnc=${BUYER}&limit=101`,
    `/acecf?receiver_rnc=${BUYER}&offset=-1`,
    '/acecf/abc',
    '/acecf/abc/xml',
  ])('answers 422 to %s', async (address) => expect((await world.call('GET', address)).status).toBe(422));
  it.each(['/acecf/999999999', '/acecf/999999999/xml'])('the query %s gets 404', async (address) =>
    expect((await world.call('GET', address)).status).toBe(404),
  );
});

describe('a record that is being sent', () => {
  const HOUR = 3_600_000;
  const from = (ms: number) => new Date(Date.now() + ms);
  let database: Database;
  beforeAll(() => {
    database = openDatabase(world.databaseUrl);
  });
  afterAll(() => database.close());

  /** Claims the send of an approval to the issuer for an hour. */
  async function claimed(approvalId: number): Promise<Claimed> {
    const { rows } = await database.query(
      `UPDATE outgoing_documents SET status = 'pending', claim = gen_random_uuid(), due_at = $2
        WHERE approval_id = $1 AND kind = 'issuer' RETURNING *`,
      [approvalId, from(HOUR)],
    );
    return claimedFrom(camelCaseRows<OutgoingRow>(rows)[0] as OutgoingRow);
  }

  it('the result of a send from before a retry counts only if the issuer has the approval', async () => {
    const store = createApprovalStore(database, 72 * HOUR);
    const { id } = (await post(order(await world.invoice()))).body;
    const exchange = { at: new Date(), outcome: 'test', httpStatus: null, contentType: null, body: null };
    const end = async (item: Claimed, status: 'failed' | 'refused' | 'delivered') => {
      await store.conclude(item, endingWith({ status, outcome: status, error: 'too late' }), exchange);
      return (await store.find(id))?.issuer.status;
    };
    const first = await claimed(id);
    await store.retry(id, from(2 * HOUR), null);
    expect([await end(first, 'failed'), await end(first, 'refused')]).toEqual(['pending', 'pending']);
    expect(await end(await claimed(id), 'failed')).toBe('failed');
    expect(await end(first, 'delivered')).toBe('delivered');
  });

  it('leases are renewed in the order of ids', async () => {
    const approvals = [];
    for (const _ of [1, 2]) approvals.push((await post(order(await world.invoice()))).body.id);
    const [second, first] = [await claimed(approvals[1]), await claimed(approvals[0])];
    const locks = 'SELECT id FROM outgoing_documents WHERE id = $1 FOR UPDATE SKIP LOCKED';
    const renewed = await database.transaction(async (tx) => {
      await tx.query(locks, [first.id]);
      const renewing = createOutgoingStore(database, async () => undefined).renew([second, first], from(2 * HOUR));
      await until(
        async () => (await database.query('SELECT 1 FROM pg_locks WHERE NOT granted')).rowCount,
        (count) => count > 0,
      );
      expect((await tx.query(locks, [second.id])).rowCount).toBe(1);
      return { renewing };
    });
    await renewed.renewing;
  });
});

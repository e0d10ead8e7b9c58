import http from 'node:http';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, Client, newAccount, testCertificate, uploadCertificate } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';
import { type Invoice, Numbering, withLines } from '../support/documents/documents.js';
import { until } from '../support/until.js';

const TAXPAYER = { rnc: '101000015', name: 'Ferretería Roble Inventado, SRL' };
const OTHER = { rnc: '101000031', name: 'Panadería Trigo Inventado, SRL' };
const numbers = new Numbering(TAXPAYER);
const deployment = useDeployment();
let client: Client & { accountId: string };

beforeAll(async () => {
  client = await newAccount(deployment.running, TAXPAYER);
});

/** A form with the given parts, in this order. */
function form(...parts: [name: string, content: string | Uint8Array, type?: string][]): FormData {
  const body = new FormData();
  for (const [name, content, type] of parts)
    if (typeof content === 'string' && type === undefined) body.append(name, content);
    else body.append(name, new Blob([content as BlobPart], type === undefined ? {} : { type }), 'data.json');
  return body;
}

const post = (body: BodyInit, headers: Record<string, string> = {}) =>
  client.call('POST', '/fe_Submit', { body, headers });

/** Nothing arrived at the authority, and the number can still be used. */
async function expectUntouched({ invoice, encf }: { invoice: Invoice; encf: string }): Promise<void> {
  expect(await client.ledger(encf)).toEqual([]);
  const good = await client.submit(invoice);
  expect(good.body).toMatchObject({ status: 'Aceptado', encf, sequence_used: true });
  expect(await client.ledger(encf)).toHaveLength(1);
}

const loc = (answer: Answer) => answer.body.detail.map((item: { loc: unknown[] }) => item.loc);

describe('the request', () => {
  it('without the part data, or with two of them, is 422', async () => {
    const one = numbers.next();
    const none = await post(form(['datos', JSON.stringify(one.invoice)]));
    expect(none).toMatchObject({ status: 422, body: { code: 'validation_error' } });
    expect(loc(none)).toEqual([['body', 'data']]);
    const text = JSON.stringify(one.invoice);
    for (const two of [
      form(['data', text], ['data', text]),
      form(['data', text], ['data', text, 'application/json']),
    ]) {
      const answer = await post(two);
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'data'], type: 'repeated' }] } });
    }
    await expectUntouched(one);
  });

  it('may carry data as a field or as a file, with or without a content type', async () => {
    for (const type of [
      'application/json',
      'text/plain',
      'application/octet-stream',
      'application/json; charset=utf-8',
    ]) {
      const { invoice, encf } = numbers.next();
      const answer = await post(form(['data', JSON.stringify(invoice), type]));
      expect(answer.body).toMatchObject({ status: 'Aceptado', encf });
    }
  });

  it('of 20 MB is 413, with and without a stated length', async () => {
    const one = numbers.next();
    const large = new Uint8Array(20 * 1024 * 1024).fill(0x20);
    const stated = await post(form(['data', JSON.stringify(one.invoice)], ['data2', large, 'text/plain']));
    expect(stated).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    const chunks = new Blob([large]).stream() as unknown as BodyInit;
    const streamed = await post(chunks, { 'content-type': 'multipart/form-data; boundary=abc' });
    expect(streamed).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    await expectUntouched(one);
  });

  it('of another content type is 415, a broken body 400', async () => {
    const { invoice } = numbers.next();
    const text = await post(JSON.stringify(invoice), { 'content-type': 'text/plain' });
    expect(text).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } });
    const untyped = await post(new TextEncoder().encode('{}'));
    expect(untyped).toMatchObject({ status: 415 });
    const broken = await post('--abc\r\nContent-Disposition: form-data; name="data"\r\n\r\n{', {
      'content-type': 'multipart/form-data; boundary=abc',
    });
    expect(broken).toMatchObject({ status: 400, body: { code: 'bad_request' } });
    const boundless = await post('x', { 'content-type': 'multipart/form-data' });
    expect(boundless).toMatchObject({ status: 400, body: { code: 'bad_request' } });
  });
});

describe('the part data', () => {
  it('that is not JSON is 400 and names the position', async () => {
    const one = numbers.next();
    const text = JSON.stringify(one.invoice, null, 2).replace('"TipoPago": "1",', '"TipoPago": "1"');
    const line = text.split('\n').findIndex((row) => row.includes('"TablaFormasPago"')) + 1;
    const answer = await client.submit(text);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_json', faults: [] } });
    expect(answer.body.detail).toMatch(new RegExp(`line ${line}, column 9`));
    for (const bad of ['', ' ', '{', 'null', '[]', '"x"', '{"ECF":{}}{}', '{"ECF":NaN}', '<ECF/>'])
      expect((await client.submit(bad)).status).toBe(400);
    await expectUntouched(one);
  });

  it('with another root, a forbidden key, a key twice or 1,000 levels is 400', async () => {
    const one = numbers.next();
    const root = await client.submit({ Factura: one.invoice.ECF });
    expect(root).toMatchObject({ status: 400, body: { code: 'invalid_document' } });
    const both = await client.submit({ ...one.invoice, RFCE: { Encabezado: one.invoice.ECF.Encabezado } });
    expect(both.status).toBe(400);
    const text = JSON.stringify(one.invoice);
    const polluted = await client.submit(text.replace('{"ECF":{', '{"ECF":{"__proto__":{"Version":"9"},'));
    expect(polluted).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
    expect(polluted.body.detail).toMatch(/__proto__.*line 1, column 9/);
    const inherited = await client.submit(text.replace('{"ECF":{', '{"ECF":{"constructor":"x",'));
    expect(inherited.body.faults).toMatchObject([{ path: 'ECF.constructor', rule: 'schema.unknown' }]);
    const twice = await client.submit(text.replace('{"ECF":{', '{"ECF":{"Encabezado":{},'));
    expect(twice).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
    const deep = await client.submit(`{"ECF":${'['.repeat(1_000)}${']'.repeat(1_000)}}`);
    expect(deep).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
    const objects = await client.submit(`${'{"ECF":'.repeat(1_000)}"x"${'}'.repeat(1_000)}`);
    expect(objects).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
    await expectUntouched(one);
  });

  it('in another charset is 400, and no character is replaced', async () => {
    const one = numbers.next('ecf-31', (ecf) => {
      ecf.Encabezado.Comprador.ContactoComprador = 'José Peña';
    });
    const text = JSON.stringify(one.invoice);
    const latin = await post(form(['data', new Uint8Array(Buffer.from(text, 'latin1')), 'application/json']));
    expect(latin).toMatchObject({ status: 400, body: { code: 'not_utf8' } });
    expect(latin.body.detail).toMatch(/line 1, column \d+/);
    const declared = await post(form(['data', text, 'application/json; charset=iso-8859-1']));
    expect(declared).toMatchObject({ status: 400, body: { code: 'not_utf8' } });
    const wide = await post(form(['data', new Uint8Array(Buffer.from(text, 'utf16le')), 'application/json']));
    expect(wide.status).toBe(400);
    await expectUntouched(one);
    const marked = numbers.next();
    const bom = await post(form(['data', `\ufeff${JSON.stringify(marked.invoice)}`]));
    expect(bom.body).toMatchObject({ status: 'Aceptado', encf: marked.encf });
  });

  it('of an unknown type is 400 at TipoeCF', async () => {
    const one = numbers.next();
    const invoice = structuredClone(one.invoice);
    for (const type of ['99', '35', 'x']) {
      invoice.ECF.Encabezado.IdDoc.TipoeCF = type;
      const answer = await client.submit(invoice);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_document' } });
      const [fault] = answer.body.faults;
      expect(fault).toMatchObject({ path: 'ECF.Encabezado.IdDoc.TipoeCF', rule: 'schema.enumeration' });
    }
    delete invoice.ECF.Encabezado.IdDoc.TipoeCF;
    const missing = await client.submit(invoice);
    expect(missing.body.faults[0]).toMatchObject({ path: 'ECF.Encabezado.IdDoc.TipoeCF', rule: 'schema.required' });
    await expectUntouched(one);
  });

  it.each(['ecf-31', 'ecf-32'])('with 0 or 1,001 lines is 400, 1,000 are accepted (%s)', async (example) => {
    const one = numbers.next(example);
    const none = await client.submit(withLines(one.invoice, 0));
    expect(none).toMatchObject({ status: 400, body: { code: 'invalid_document' } });
    expect(none.body.faults.map(({ path }: { path: string }) => path)).toContain('ECF.DetallesItems');
    const many = await client.submit(withLines(one.invoice, 1_001));
    expect(many).toMatchObject({ status: 400, body: { code: 'invalid_document' } });
    expect(many.body.faults).toContainEqual(
      expect.objectContaining({ path: expect.stringMatching(/^ECF\.DetallesItems\.Item/), rule: 'schema.repeat' }),
    );
    expect(await client.ledger(one.encf)).toEqual([]);
    const most = await client.submit(withLines(one.invoice, 1_000));
    expect(most.body).toMatchObject({ status: 'Aceptado', encf: one.encf, warnings: [] });
  });

  it('with several faults names each, with its path, rule and source', async () => {
    const one = numbers.next();
    const invoice = structuredClone(one.invoice);
    invoice.ECF.Encabezado.Emisor.FechaEmision = '2026-06-15';
    invoice.ECF.DetallesItems.Item[1].MontoItem = '1,750';
    invoice.ECF.Sobra = 'x';
    const { status, body } = await client.submit(invoice);
    expect(status).toBe(400);
    expect(body.faults.map(({ path }: { path: string }) => path)).toEqual(
      expect.arrayContaining([
        'ECF.Encabezado.Emisor.FechaEmision',
        'ECF.DetallesItems.Item[2].MontoItem',
        'ECF.Sobra',
      ]),
    );
    await expectUntouched(one);
  });

  it('with an RNC of another account, or an unknown one, is 404', async () => {
    await newAccount(deployment.running, OTHER);
    for (const rnc of [OTHER.rnc, deployment.running.demo.issuer_rnc, '101999999']) {
      const { invoice, encf } = new Numbering({ rnc, name: OTHER.name }).next();
      const answer = await client.submit(invoice);
      expect(answer).toMatchObject({ status: 404, body: { code: 'taxpayer_not_found' } });
      const own = await client.submitWith(invoice, testCertificate(rnc));
      expect(own).toMatchObject({ status: 404, body: { code: 'taxpayer_not_found' } });
      const rows = (await client.control('GET', `/submissions?rnc=${rnc}&encf=${encf}`)).body;
      expect(rows).toEqual([]);
    }
  });
});

describe('the certificate', () => {
  it('that came with the request and is none, expired, not yet valid or locked is 422', async () => {
    const one = numbers.next();
    const good = testCertificate(TAXPAYER.rnc);
    const cases = [
      [{ p12: Buffer.from('no certificate at all'), password: 'x' }, 'certificate', 'not_a_pkcs12'],
      [{ p12: Buffer.from(good.pem), password: 'x' }, 'certificate', 'not_a_pkcs12'],
      [{ p12: good.p12.subarray(0, 900), password: good.password }, 'certificate', 'not_a_pkcs12'],
      [testCertificate(TAXPAYER.rnc, { validFromDays: -30, validToDays: -1 }), 'certificate', 'certificate_expired'],
      [testCertificate(TAXPAYER.rnc, { validFromDays: 1 }), 'certificate', 'certificate_not_yet_valid'],
      [{ p12: good.p12, password: 'equivocada' }, 'password', 'wrong_password'],
    ] as const;
    for (const [file, part, type] of cases) {
      const answer = await client.submitWith(one.invoice, file);
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', part], type }] } });
    }
    const text = JSON.stringify(one.invoice);
    const bytes = new Uint8Array(good.p12);
    const lonely = await post(form(['data', text], ['certificate', bytes, 'application/x-pkcs12']));
    expect(lonely).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'password'] }] } });
    const locked = await post(form(['data', text], ['password', 'x']));
    expect(locked).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'certificate'] }] } });
    await expectUntouched(one);
  });

  it('that came with the request signs, and the stored one stays as it is', async () => {
    const one = numbers.next();
    const file = testCertificate(TAXPAYER.rnc);
    const answer = await client.submitWith(one.invoice, file);
    expect(answer.body).toMatchObject({ status: 'Aceptado' });
    const der = (pem: string) => pem.replace(/-----[^-]+-----|\s/g, '');
    expect(answer.body.xml).toContain(der(file.pem));
    const two = numbers.next();
    expect((await client.submit(two.invoice)).body.xml).not.toContain(der(file.pem));
  });

  it('whose login the authority refuses is 401, before a number is used', async () => {
    const one = numbers.next();
    const holderId = '00200000017';
    await client.control('PUT', `/taxpayers/${holderId}`, { name: 'Sin delegación', active: false });
    const answer = await client.submitWith(one.invoice, testCertificate(TAXPAYER.rnc, { holderId }));
    expect(answer).toMatchObject({ status: 401, body: { code: 'login_refused' } });
    expect(answer.body.detail).toContain('no está delegado');
    await expectUntouched(one);
  });

  it('stored for the taxpayer and missing is 503 without Retry-After; an upload serves the very next request', async () => {
    const fresh = { rnc: '101000058', name: 'Imprenta Papel Inventado, SRL' };
    const newcomer = await newAccount(deployment.running, fresh, { certificate: false });
    const one = new Numbering(fresh).next();
    const answer = await newcomer.submit(one.invoice);
    expect(answer).toMatchObject({ status: 503, body: { code: 'certificate_missing' } });
    expect((await newcomer.submit(one.invoice, {}, '?validate=true')).status).toBe(503);
    const expired = testCertificate(fresh.rnc, { validFromDays: -30, validToDays: -1 });
    const refused = await uploadCertificate(newcomer, newcomer.accountId, fresh.rnc, expired);
    expect(refused).toMatchObject({ status: 422, body: { detail: [{ type: 'certificate_expired' }] } });
    expect((await uploadCertificate(newcomer, newcomer.accountId, fresh.rnc)).status).toBe(200);
    expect((await newcomer.submit(one.invoice)).body).toMatchObject({ status: 'Aceptado', encf: one.encf });
  });
});

describe('a batch', () => {
  const NDJSON = { 'content-type': 'application/x-ndjson' };
  const send = (body: BodyInit, headers: Record<string, string> = {}, by: Client = client) =>
    by.call('POST', '/batches', { body, headers: { ...NDJSON, ...headers } });
  const kept = async () => (await client.call('GET', '/batches')).body.count;

  it('that is compressed, torn, too long or without the scope is refused, and not kept', async () => {
    const one = numbers.next();
    const line = `${JSON.stringify(one.invoice)}\n`;
    const key = { name: 'lee', environments: ['TesteCF'], scopes: ['read', 'cancel'] };
    const made = await client.admin('POST', `/accounts/${client.accountId}/api-keys`, key);
    const reader = new Client(deployment.running, made.body.key);
    const before = await kept();
    for (const [answer, status, code] of [
      [await send(gzipSync(line), { 'content-encoding': 'gzip' }), 415, 'unsupported_media_type'],
      [await send('{}\n'.repeat(10_001)), 400, 'invalid_batch'],
      [await send(`[${line},{"ECF`, { 'content-type': 'application/json' }), 400, 'invalid_batch'],
      [await send(line, {}, reader), 403, 'missing_scope'],
      [await reader.call('POST', '/batches/1/cancel'), 403, 'missing_scope'],
      [await client.call('POST', '/batches/999999999/cancel'), 404, 'not_found'],
    ] as const)
      expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(await kept()).toBe(before);
    await expectUntouched(one);
  });

  it('whose sender leaves half way is not kept, and its idempotency key is free', async () => {
    const some = [numbers.next(), numbers.next()];
    const body = some.map(({ invoice }) => `${JSON.stringify(invoice)}\n`).join('');
    const key = { 'idempotency-key': 'half way' };
    const before = await kept();
    const { hostname, port } = new URL(deployment.running.demo.base_url);
    const headers = { ...NDJSON, ...key, 'x-api-key': client.apiKey, 'content-length': body.length };
    const request = http.request({ hostname, port, method: 'POST', path: '/batches', headers });
    request.on('error', () => undefined);
    await new Promise((resolve) => request.write(body.slice(0, -100), resolve));
    request.destroy();
    expect(await kept()).toBe(before);
    expect((await client.call('GET', '/batches?idempotency_key=half%20way')).body.batches).toEqual([]);
    // Other content under the key, with a line that is torn.
    const sent = await send(`${body}{"ECF": {"Encabezado"`, key);
    expect([sent.status, sent.body.total]).toEqual([202, 3]);
    expect(await send(body, key)).toMatchObject({ status: 409, body: { code: 'idempotency_conflict' } });
    const read = async () => (await client.call('GET', sent.body.status_url)).body;
    expect(await until(read, ({ status }) => status === 'done')).toMatchObject({ accepted: 2, refused: 1 });
    const refused = (await client.call('GET', `${sent.body.status_url}/results?only=refused`)).body.results;
    expect(refused).toMatchObject([{ line: 3, encf: null, error: { status: 400, code: 'invalid_json' } }]);
    for (const { encf } of some) expect(await client.ledger(encf)).toHaveLength(1);
  });
});

describe('a cancellation', () => {
  const range = (from: number, to = from) => ({
    encf_desde: `E31${String(from).padStart(10, '0')}`,
    encf_hasta: `E31${String(to).padStart(10, '0')}`,
  });
  const body = (sequence_ranges: object[], change: object = {}) => ({
    issuer_rnc: TAXPAYER.rnc,
    authority_environment: 'TesteCF',
    detail_lines: [{ ecf_type: '31', sequence_ranges }],
    ...change,
  });
  const cancel = (content: unknown, { headers = {}, query = '' }: { headers?: object; query?: string } = {}) =>
    client.call('POST', `/anecf/${query}`, {
      body:
        typeof content === 'string' || content instanceof Uint8Array ? (content as BodyInit) : JSON.stringify(content),
      headers: { 'content-type': 'application/json', ...headers },
    });
  const kept = async () => (await client.call('GET', `/anecf/?issuer_rnc=${TAXPAYER.rnc}&limit=100`)).body.length;
  const arrived = async () =>
    (await client.control('GET', `/submissions?operation=anulacionrangos&rnc=${TAXPAYER.rnc}`)).body.length;

  it('that is malformed, foreign or hostile is refused, and neither kept nor sent, and blocks no other', async () => {
    const text = JSON.stringify(body([range(700_001)]));
    const cases: [unknown, number, string, Parameters<typeof cancel>[1]?][] = [
      ['', 422, 'validation_error'],
      ['{', 422, 'validation_error'],
      ['null', 422, 'validation_error'],
      ['[]', 422, 'validation_error'],
      ['"x"', 422, 'validation_error'],
      ['7', 422, 'validation_error'],
      [text.replace('{"issuer', '{"issuer_rnc":"101000031","issuer'), 422, 'validation_error'],
      [text.replace('{"issuer', '{"__proto__":{"version":"9"},"issuer'), 422, 'validation_error'],
      [text.replace('{"issuer', '{"constructor":1,"issuer'), 422, 'validation_error'],
      [`${'['.repeat(1_000)}${']'.repeat(1_000)}`, 422, 'validation_error'],
      [new Uint8Array(Buffer.from(text.replace('TesteCF', 'Pe\u00f1a'), 'latin1')), 422, 'validation_error'],
      [text, 415, 'unsupported_media_type', { headers: { 'content-type': 'text/xml' } }],
      [text, 422, 'validation_error', { query: '?submit_to_authority=maybe' }],
      [text, 422, 'validation_error', { headers: { env: 'CerteCF' } }],
      [body([range(700_001)], { authority_environment: 'eCF' }), 401, 'environment_not_allowed'],
      [body([range(700_001)], { issuer_rnc: '101999999' }), 404, 'taxpayer_not_found'],
      [body([range(700_001)], { issuer_rnc: deployment.running.demo.issuer_rnc }), 404, 'taxpayer_not_found'],
      [body([range(700_001)], { cancellation_reason: 'x\u0000' }), 422, 'validation_error'],
      [body([range(700_001)], { cancellation_reason: 'x'.repeat(1_001) }), 422, 'validation_error'],
      [body([{ ...range(700_001), encf_hasta: "E31'; DROP--" }]), 422, 'validation_error'],
      [body([{ encf_desde: 'E3199999999999', encf_hasta: 'E3199999999999' }]), 422, 'validation_error'],
      [body([range(700_002, 700_001)]), 422, 'validation_error'],
      [body(Array.from({ length: 10_001 }, (_, n) => range(700_001 + 2 * n))), 422, 'validation_error'],
      [`${text}${' '.repeat(11 * 1024 * 1024)}`, 413, 'body_too_large'],
    ];
    for (const [content, status, code, options] of cases) {
      const answer = await cancel(content, options);
      const shown = typeof content === 'string' ? content.slice(0, 120) : content;
      expect({ shown, status: answer.status, code: answer.body?.code }).toEqual({ shown, status, code });
      if (status === 422)
        expect(answer.body.detail[0]).toMatchObject({ loc: expect.any(Array), msg: expect.any(String) });
    }
    expect([await kept(), await arrived()]).toEqual([0, 0]);
    expect((await cancel(body([range(700_001)]))).body).toMatchObject({ authority_status: 'Aceptado' });
  });

  it('that is repeated, or arrives six times at the same moment, counts once', async () => {
    const before = await arrived();
    const wanted = body([range(700_100, 700_109)]);
    const all = await Promise.all(Array.from({ length: 6 }, () => cancel(wanted)));
    expect(all.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    const made = all.find(({ status }) => status === 201);
    const again = await cancel(wanted);
    expect(again).toMatchObject({ status: 409, body: { code: 'encf_in_use' } });
    expect(again.body.detail).toContain(`cancellation ${made?.body.id}`);
    expect(await arrived()).toBe(before + 1);
    const local = body([range(700_200, 700_209)]);
    const stored = await Promise.all(
      Array.from({ length: 6 }, () => cancel(local, { query: '?submit_to_authority=false' })),
    );
    expect(new Set(stored.map(({ body: { id } }) => id)).size).toBe(1);
    expect(await arrived()).toBe(before + 1);
  });

  it('of another account is not found, an id that is none is 422', async () => {
    const other = await newAccount(deployment.running, { rnc: '101000082', name: 'Ajena Inventada, SRL' });
    const [one] = (await client.call('GET', `/anecf/?issuer_rnc=${TAXPAYER.rnc}`)).body;
    for (const address of [
      `/anecf/${one.id}`,
      `/anecf/${one.id}/xml`,
      '/anecf/999999',
      `/anecf/?issuer_rnc=${TAXPAYER.rnc}`,
    ])
      expect((await other.call('GET', address)).status).toBe(404);
    for (const address of [
      '/anecf/x',
      '/anecf/-1',
      '/anecf/1e3',
      '/anecf/99999999999999999999',
      '/anecf/x/xml',
      '/anecf/',
    ])
      expect(await client.call('GET', address)).toMatchObject({ status: 422, body: { code: 'validation_error' } });
    for (const query of ['limit=0', 'limit=101', 'offset=-1', 'limit=1&limit=2', 'offset=1e3'])
      expect((await client.call('GET', `/anecf/?issuer_rnc=${TAXPAYER.rnc}&${query}`)).status).toBe(422);
  });
});

describe('an approval', () => {
  const body = (encf: string, change: object = {}) => ({
    issuer_rnc: deployment.running.demo.issuer_rnc,
    receiver_rnc: TAXPAYER.rnc,
    encf,
    approval_status: 1,
    approval_datetime: '2026-06-23T17:45:47-04:00',
    authority_environment: 'TesteCF',
    invoice_date_issued: '2026-06-15',
    invoice_total_amount: '11430.00',
    ...change,
  });
  const give = (content: unknown, { headers = {}, query = '' }: { headers?: object; query?: string } = {}) =>
    client.call('POST', `/acecf/${query}`, {
      body:
        typeof content === 'string' || content instanceof Uint8Array ? (content as BodyInit) : JSON.stringify(content),
      headers: { 'content-type': 'application/json', ...headers },
    });
  const kept = async () => (await client.call('GET', `/acecf/?receiver_rnc=${TAXPAYER.rnc}&limit=100`)).body.length;
  const arrived = async (encf: string) =>
    (await client.control('GET', `/submissions?operation=aprobacioncomercial&encf=${encf}`)).body.length;

  it('that is malformed, foreign or hostile is refused, and neither kept nor sent', async () => {
    const encf = 'E310000800001';
    const text = JSON.stringify(body(encf));
    const reason = (rejection_description: string) =>
      body(encf, { approval_status: 2, rejection_code: 3, rejection_description });
    const cases: [unknown, number, string, Parameters<typeof give>[1]?][] = [
      ['', 422, 'validation_error'],
      ['{', 422, 'validation_error'],
      ['null', 422, 'validation_error'],
      ['[]', 422, 'validation_error'],
      ['7', 422, 'validation_error'],
      [`${'['.repeat(1_000)}${']'.repeat(1_000)}`, 422, 'validation_error'],
      [new Uint8Array(Buffer.from(text.replace('TesteCF', 'Pe\u00f1a'), 'latin1')), 422, 'validation_error'],
      [text, 415, 'unsupported_media_type', { headers: { 'content-type': 'text/xml' } }],
      [text, 422, 'validation_error', { query: '?submit_to_authority=maybe' }],
      [text, 422, 'validation_error', { headers: { env: 'CerteCF' } }],
      [body(encf, { authority_environment: 'eCF' }), 401, 'environment_not_allowed'],
      [body(encf, { receiver_rnc: '101999999' }), 404, 'taxpayer_not_found'],
      [body(encf, { receiver_rnc: deployment.running.demo.buyer_rnc }), 404, 'taxpayer_not_found'],
      [body("E31'; DROP--"), 422, 'validation_error'],
      [body('E320000800001'), 422, 'validation_error'],
      [body(encf, { invoice_total_amount: '1e9' }), 422, 'validation_error'],
      [body(encf, { ecf_document_id: 7 }), 422, 'validation_error'],
      [body(encf, { xml_storage_path: '../../etc/passwd' }), 422, 'validation_error'],
      [reason('x\u0000'), 422, 'validation_error'],
      [reason('\ud800'), 422, 'validation_error'],
      [reason('x'.repeat(251)), 422, 'validation_error'],
      [`${text}${' '.repeat(11 * 1024 * 1024)}`, 413, 'body_too_large'],
    ];
    const seen: unknown[] = [];
    for (const [content, , , options] of cases) {
      const answer = await give(content, options);
      const shown = typeof content === 'string' ? content.slice(0, 120) : content;
      seen.push({ shown, status: answer.status, code: answer.body?.code });
    }
    expect(seen).toEqual(
      cases.map(([content, status, code]) => {
        const shown = typeof content === 'string' ? content.slice(0, 120) : content;
        return { shown, status, code };
      }),
    );
    expect([await kept(), await arrived(encf)]).toEqual([0, 0]);
  });

  it('that is repeated, or arrives six times at the same moment, counts once', async () => {
    const issuer = { rnc: deployment.running.demo.issuer_rnc, name: 'Comercial Palma Ficticia, SRL' };
    const { invoice, encf } = new Numbering(issuer).next('ecf-31', (ecf) => {
      ecf.Encabezado.Comprador.RNCComprador = TAXPAYER.rnc;
    });
    expect((await deployment.demo.submit(invoice)).body.status).toBe('Aceptado');
    const local = await Promise.all(
      Array.from({ length: 6 }, () => give(body(encf), { query: '?submit_to_authority=false' })),
    );
    expect(local.map(({ status }) => status)).toEqual(Array(6).fill(201));
    expect(new Set(local.map(({ body: { id } }) => id)).size).toBe(1);
    expect(await arrived(encf)).toBe(0);
    const sent = await Promise.all(Array.from({ length: 6 }, () => give(body(encf))));
    expect(sent.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    for (const { body: refused } of sent.filter(({ status }) => status === 409))
      expect(refused).toMatchObject({
        code: 'already_answered',
        detail: expect.stringContaining(`${local[0]?.body.id}`),
      });
    expect(await arrived(encf)).toBe(1);
    expect(await kept()).toBe(1);
  });

  it('of another account is not found, an id that is none is 422', async () => {
    const other = await newAccount(deployment.running, { rnc: '101000090', name: 'Otra Inventada, SRL' });
    const [one] = (await client.call('GET', `/acecf/?receiver_rnc=${TAXPAYER.rnc}`)).body;
    for (const address of [
      `/acecf/${one.id}`,
      `/acecf/${one.id}/xml`,
      '/acecf/999999',
      `/acecf/?receiver_rnc=${TAXPAYER.rnc}`,
    ])
      expect((await other.call('GET', address)).status).toBe(404);
    for (const address of [
      '/acecf/x',
      '/acecf/-1',
      '/acecf/1e3',
      '/acecf/99999999999999999999',
      '/acecf/x/xml',
      '/acecf/',
    ])
      expect(await client.call('GET', address)).toMatchObject({ status: 422, body: { code: 'validation_error' } });
    for (const query of ['limit=0', 'limit=101', 'offset=-1', 'limit=1&limit=2', 'offset=1e3'])
      expect((await client.call('GET', `/acecf/?receiver_rnc=${TAXPAYER.rnc}&${query}`)).status).toBe(422);
  });
});

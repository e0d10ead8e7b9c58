import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Client, newAccount, testCertificate, uploadCertificate } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';
import { Numbering, otherContent, signedByCaller } from '../support/documents/documents.js';
import { until } from '../support/until.js';

const ROBLE = { rnc: '101000074', name: 'Muebles Roble Inventado, SRL' };
const CEIBA = { rnc: '101000092', name: 'Transporte Ceiba Inventada, SRL' };
const LATE = { rnc: '101000112', name: 'Farmacia Menta Inventada, SRL' };
const deployment = useDeployment();

const admin = (method: string, path: string, body?: object | FormData) => deployment.demo.admin(method, path, body);
const newId = async () => (await admin('POST', '/accounts', { name: 'Cuenta nueva' })).body.id as string;
/** The fields that a 422 names, as dotted paths. */
const places = (answer: { body: { detail: { loc: unknown[] }[] } }) =>
  answer.body.detail.map(({ loc }) => loc.join('.'));

describe('an account', () => {
  it('is created, listed, shown and deactivated', async () => {
    const created = await admin('POST', '/accounts', { name: 'Muebles Roble' });
    expect(created).toMatchObject({ status: 201, body: { id: expect.any(String), name: 'Muebles Roble' } });
    const { id } = created.body;
    const list = await admin('GET', '/accounts');
    expect(list).toMatchObject({ status: 200 });
    expect(list.body).toContainEqual(expect.objectContaining({ id, name: 'Muebles Roble', active: true }));
    expect(await admin('GET', `/accounts/${id}`)).toMatchObject({ status: 200, body: { id, active: true } });
    expect(await admin('PATCH', `/accounts/${id}`, { active: false })).toMatchObject({ body: { id, active: false } });
    expect(await admin('GET', `/accounts/${id}`)).toMatchObject({ body: { active: false } });
  });

  it('leaves a line of each call in the access log, with the operation and who called', async () => {
    const name = `Cuenta ${Date.now()}`;
    const created = await admin('POST', '/accounts', { name });
    const requestId = created.headers.get('x-request-id');
    const file = path.join(deployment.dataDir, 'logs', 'access.log');
    const lines = async () =>
      fs
        .readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line.includes(`"${requestId}"`));
    const [line = ''] = await until(lines, (found) => found.length === 1);
    expect(JSON.parse(line)).toMatchObject({
      service: 'gateway',
      method: 'POST',
      operation: 'createAccount',
      actor: 'ADMIN_TOKEN',
      status: 201,
    });
    expect(line).not.toContain(name);
    const modes = [file, path.dirname(file)].map((one) => (fs.statSync(one).mode & 0o777).toString(8));
    expect(modes).toEqual(['600', '700']);
  });

  it('that is unknown is 404 everywhere', async () => {
    for (const [method, path, body] of [
      ['GET', ''],
      ['PATCH', '', { active: true }],
      ['GET', '/taxpayers'],
      ['POST', '/taxpayers', ROBLE],
      ['GET', `/taxpayers/${ROBLE.rnc}`],
      ['PATCH', `/taxpayers/${ROBLE.rnc}`, { active: true }],
      ['GET', `/taxpayers/${ROBLE.rnc}/ranges`],
      ['PUT', `/taxpayers/${ROBLE.rnc}/ranges`, []],
      ['GET', `/taxpayers/${ROBLE.rnc}/certificate`],
      ['GET', '/api-keys'],
      ['POST', '/api-keys', { name: 'x', environments: ['TesteCF'] }],
      ['DELETE', '/api-keys/nada'],
    ] as [string, string, object?][])
      for (const id of ['nada', '5f8b2c9e-0000-4000-8000-000000000000', '%00', "'%20OR%201=1"]) {
        const answer = await admin(method, `/accounts/${id}${path}`, body);
        expect([method, path, answer.status]).toEqual([method, path, 404]);
      }
  });

  it('with a bad body is 422 and names the field; a body that is not JSON is 400 or 415', async () => {
    for (const [body, place] of [
      [{}, 'body.name'],
      [{ name: '' }, 'body.name'],
      [{ name: 5 }, 'body.name'],
      [{ name: 'x', id: 'y' }, 'body.id'],
      [{ name: 'x'.repeat(201) }, 'body.name'],
    ] as const) {
      const answer = await admin('POST', '/accounts', body);
      expect(answer).toMatchObject({ status: 422, body: { code: 'validation_error' } });
      expect(places(answer)).toEqual([place]);
    }
    expect((await admin('PATCH', `/accounts/${await newId()}`, { active: 'yes' })).status).toBe(422);
    const bearer = { authorization: `Bearer ${deployment.running.demo.admin_token}` };
    const raw = (body: string | null, type: string) =>
      deployment.demo.call('POST', '/admin/accounts', {
        headers: { ...bearer, 'content-type': type },
        ...(body === null ? {} : { body }),
      });
    expect(await raw('{"name":', 'application/json')).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
    expect(await raw('name=x', 'application/x-www-form-urlencoded')).toMatchObject({ status: 415 });
    expect(await raw(null, 'application/json')).toMatchObject({ status: 422 });
    expect(await raw('"x"', 'application/json')).toMatchObject({ status: 422 });
    expect(await raw('{"name":"x","__proto__":{"active":false}}', 'application/json')).toMatchObject({
      status: 400,
      body: { code: 'invalid_json' },
    });
  });

  it('is not administered without the token', async () => {
    for (const authorization of ['', 'Bearer', 'Bearer nope', `Basic ${deployment.running.demo.admin_token}`]) {
      const answer = await deployment.demo.call('GET', '/admin/accounts', { headers: { authorization } });
      expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_admin_token' } });
    }
    const keyed = await deployment.demo.call('GET', '/admin/accounts');
    expect(keyed.status).toBe(401);
    expect((await admin('DELETE', '/accounts')).status).toBe(405);
    expect((await admin('GET', '/nada')).status).toBe(404);
  });
});

describe('a taxpayer', () => {
  it('is registered, listed and shown; an RNC belongs to one account', async () => {
    const [first, second] = [await newId(), await newId()];
    const created = await admin('POST', `/accounts/${first}/taxpayers`, ROBLE);
    expect(created).toMatchObject({ status: 201, body: ROBLE });
    for (const id of [first, second]) {
      const again = await admin('POST', `/accounts/${id}/taxpayers`, ROBLE);
      expect(again).toMatchObject({ status: 409, body: { code: 'taxpayer_taken' } });
    }
    const list = await admin('GET', `/accounts/${first}/taxpayers`);
    expect(list.body).toEqual([expect.objectContaining({ ...ROBLE, active: true, certificate: null, ranges: [] })]);
    expect((await admin('GET', `/accounts/${second}/taxpayers`)).body).toEqual([]);
    expect((await admin('GET', `/accounts/${first}/taxpayers/${ROBLE.rnc}`)).body).toMatchObject(ROBLE);
    expect((await admin('GET', `/accounts/${second}/taxpayers/${ROBLE.rnc}`)).status).toBe(404);
    expect((await admin('PATCH', `/accounts/${second}/taxpayers/${ROBLE.rnc}`, { active: false })).status).toBe(404);
    expect((await uploadCertificate(deployment.demo, second, ROBLE.rnc)).status).toBe(404);
    for (const rnc of ['', '12345678', '1234567890', 'abcdefghi', 101000074])
      expect((await admin('POST', `/accounts/${second}/taxpayers`, { ...CEIBA, rnc })).status).toBe(422);
  });

  it('that two accounts register at the same moment belongs to one of them', async () => {
    const ids = await Promise.all(Array.from({ length: 4 }, newId));
    const taxpayer = { rnc: '101000139', name: 'Disputado, SRL' };
    const answers = await Promise.all(ids.map((id) => admin('POST', `/accounts/${id}/taxpayers`, taxpayer)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  it('has a certificate that the very next request uses, and never shows it again', async () => {
    const client = await newAccount(deployment.running, LATE, { certificate: false });
    const numbers = new Numbering(LATE);
    expect((await client.submit(numbers.next().invoice)).body.code).toBe('certificate_missing');
    const path = `/accounts/${client.accountId}/taxpayers/${LATE.rnc}/certificate`;
    expect((await admin('GET', path)).status).toBe(404);
    for (let round = 0; round < 3; round += 1) {
      const file = testCertificate(LATE.rnc);
      const uploaded = await uploadCertificate(client, client.accountId, LATE.rnc, file);
      expect(uploaded).toEqual(
        expect.objectContaining({
          status: 200,
          body: {
            subject: expect.stringContaining(LATE.rnc),
            serial_number: expect.any(String),
            not_before: expect.stringMatching(/-04:00$/),
            not_after: expect.stringMatching(/-04:00$/),
            fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/i),
          },
        }),
      );
      const { body } = await client.submit(numbers.next().invoice);
      expect(body.status).toBe('Aceptado');
      expect(body.xml).toContain(file.pem.replace(/-----[^-]+-----|\s/g, ''));
      expect((await admin('GET', path)).body).toEqual(uploaded.body);
    }
    const form = new FormData();
    form.set('password', 'x');
    const lonely = await admin('PUT', path, form);
    expect(lonely).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'certificate'] }] } });
    const good = testCertificate(LATE.rnc);
    for (const [file, part, type] of [
      [{ p12: Buffer.from('nada'), password: 'x' }, 'certificate', 'not_a_pkcs12'],
      [{ p12: good.p12, password: 'equivocada' }, 'password', 'wrong_password'],
      [testCertificate(LATE.rnc, { validFromDays: -9, validToDays: -1 }), 'certificate', 'certificate_expired'],
      [testCertificate(LATE.rnc, { validFromDays: 1 }), 'certificate', 'certificate_not_yet_valid'],
    ] as const) {
      const answer = await uploadCertificate(client, client.accountId, LATE.rnc, file);
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', part], type }] } });
    }
    expect((await admin('PUT', path, { certificate: 'x' })).status).toBe(415);
    expect((await client.submit(numbers.next().invoice)).body.status).toBe('Aceptado');
  });

  it('with registered number ranges submits only numbers within them', async () => {
    const taxpayer = { rnc: '101000155', name: 'Rangos Inventados, SRL' };
    const client = await newAccount(deployment.running, taxpayer);
    const path = `/accounts/${client.accountId}/taxpayers/${taxpayer.rnc}/ranges`;
    const range = { env: 'TesteCF', ecf_type: '31', from: 'E310000000500', to: 'E310000000502', expires: '2028-12-31' };
    for (const [body, place] of [
      [{ ...range, ecf_type: '32' }, 'body.0.from'],
      [{ ...range, from: 'E310000000503' }, 'body.0.to'],
      [{ ...range, env: 'ecf' }, 'body.0.env'],
      [{ ...range, expires: '31-12-2028' }, 'body.0.expires'],
      [{ ...range, to: 'E31x' }, 'body.0.to'],
    ] as const) {
      const answer = await admin('PUT', path, [body]);
      expect(answer.status).toBe(422);
      expect(places(answer)).toContain(place);
    }
    expect((await admin('PUT', path, [range, { ...range, from: 'E310000000502' }])).status).toBe(422);
    expect(await admin('PUT', path, [range])).toMatchObject({ status: 200, body: [range] });
    const left = { next: range.from, remaining: 3 };
    expect((await admin('GET', path)).body).toEqual([{ ...range, ...left }]);
    const numbers = new Numbering(taxpayer);
    const submit = (encf: string, expiry = '31-12-2028') =>
      client.submit(
        numbers.next('ecf-31', (ecf) => {
          Object.assign(ecf.Encabezado.IdDoc, { eNCF: encf, FechaVencimientoSecuencia: expiry });
        }).invoice,
      );
    expect((await submit('E310000000499')).body).toMatchObject({ code: 'invalid_document', faults: [{ code: '75' }] });
    expect((await submit('E310000000500', '31-12-2027')).body).toMatchObject({ faults: [{ code: '145' }] });
    expect((await submit('E310000000500')).body.status).toBe('Aceptado');
    expect((await client.submit(numbers.next('ecf-32').invoice)).body.status).toBe('Aceptado');
    expect((await admin('GET', path)).body).toEqual([{ ...range, next: 'E310000000501', remaining: 2 }]);
    // The others are given to documents without eNCF.
    const open = numbers.next('ecf-31', ({ Encabezado: { IdDoc } }) => {
      Object.assign(IdDoc, { eNCF: '', FechaVencimientoSecuencia: '' });
    }).invoice;
    const keyed = (key: string) => client.submit(open, { 'idempotency-key': key });
    expect((await client.submit(open)).body).toMatchObject({ code: 'idempotency_key_required' });
    for (const key of ['1', '1'])
      expect((await keyed(key)).body).toMatchObject({ encf: 'E310000000501', status: 'Aceptado' });
    expect((await keyed('2')).body.encf).toBe('E310000000502');
    expect(await keyed('3')).toMatchObject({ status: 409, body: { code: 'range_exhausted' } });
    expect((await admin('GET', path)).body).toEqual([{ ...range, next: null, remaining: 0 }]);
    const rest = { ...range, from: 'E310000000501' };
    const lacking = await admin('PUT', path, [rest]);
    expect(lacking).toMatchObject({ status: 409, body: { code: 'range_in_use' } });
    expect(lacking.body.detail).toContain('TesteCF E310000000500 to E310000000500 (1 used)');
    const none = await admin('PUT', path, []);
    expect(none).toMatchObject({ status: 422, body: { detail: [{ loc: ['body'], type: 'empty' }] } });
    expect(none.body.detail[0].msg).toContain('TesteCF E310000000500 to E310000000502 (3 used)');
    expect((await admin('GET', path)).body).toHaveLength(1);
    expect(await admin('PUT', `${path}?remove=true`, [])).toMatchObject({ status: 200, body: [] });
    expect(await admin('PUT', path, [])).toMatchObject({ status: 200, body: [] });
    expect((await submit('E310000000499')).body.status).toBe('Aceptado');
  });

  it('hears once of a range and of a certificate that end', async () => {
    const taxpayer = { rnc: '101000172', name: 'Finales Inventados, SRL' };
    const client = await newAccount(deployment.running, taxpayer, { certificate: false });
    await uploadCertificate(client, client.accountId, taxpayer.rnc, testCertificate(taxpayer.rnc, { validToDays: 20 }));
    const expires = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10);
    const range = { env: 'TesteCF', ecf_type: '31', from: 'E310000000001', to: 'E310000000005', expires };
    await admin('PUT', `/accounts/${client.accountId}/taxpayers/${taxpayer.rnc}/ranges`, [range]);
    const told = async (env = 'TesteCF') => (await client.call('GET', '/events', { headers: { env } })).body.events;
    const about = (type: string) => async () => (await told()).filter((one: { type: string }) => one.type === type);
    const [expiring] = await until(about('range.expiring'), ({ length }) => length > 0);
    const subject = { issuer_rnc: taxpayer.rnc, encf: null };
    expect(expiring).toMatchObject({ subject, data: { ...range, next: range.from, remaining: 5 } });
    const numbers = new Numbering(taxpayer);
    // The caller names the numbers.
    for (let n = 0; n < 5; n += 1) {
      const { invoice } = numbers.next('ecf-31', ({ Encabezado: { IdDoc } }) => {
        IdDoc.eNCF = `E31000000000${n + 1}`;
        IdDoc.FechaVencimientoSecuencia = expires.split('-').reverse().join('-');
      });
      expect((await client.submit(invoice)).body.status).toBe('Aceptado');
    }
    // Notices are published every hour, and when the taxpayer changes.
    const other = { env: 'TesteCF', ecf_type: '32', from: 'E320000000001', to: 'E320000000005', expires: null };
    await admin('PUT', `/accounts/${client.accountId}/taxpayers/${taxpayer.rnc}/ranges`, [range, other]);
    const [low] = await until(about('range.low'), ({ length }) => length > 0);
    expect(low).toMatchObject({ subject, data: { ...range, next: null, remaining: 0 } });
    const all = (await told()).map(({ type }: { type: string }) => type);
    for (const type of ['range.low', 'range.expiring', 'certificate.expiring'])
      expect(all.filter((one: string) => one === type)).toHaveLength(1);
    expect(await told('CerteCF')).toMatchObject([
      { type: 'certificate.expiring', subject, data: { not_after: expect.stringMatching(/-04:00$/) } },
    ]);
  });

  it('that is inactive, or whose account is inactive, submits nothing new until it is active again', async () => {
    const taxpayer = { rnc: '101000171', name: 'Cerrado Inventado, SRL' };
    const client = await newAccount(deployment.running, taxpayer);
    const numbers = new Numbering(taxpayer);
    const done = numbers.next();
    expect((await client.submit(done.invoice)).body.status).toBe('Aceptado');
    const path = `/accounts/${client.accountId}`;
    await admin('PATCH', `${path}/taxpayers/${taxpayer.rnc}`, { active: false });
    expect((await client.submit(numbers.next().invoice)).body.code).toBe('taxpayer_not_found');
    await admin('PATCH', `${path}/taxpayers/${taxpayer.rnc}`, { active: true });
    expect((await client.submit(numbers.next().invoice)).body.status).toBe('Aceptado');
    await admin('PATCH', path, { active: false });
    expect((await client.submit(numbers.next().invoice)).body.code).toBe('invalid_api_key');
    await admin('PATCH', path, { active: true });
    expect((await client.submit(done.invoice)).body.status).toBe('Aceptado');
  });
});

describe('an API key', () => {
  it('is shown once, listed by its first characters, and refused as soon as it is deleted', async () => {
    const taxpayer = { rnc: '101000198', name: 'Llaves Inventadas, SRL' };
    const { accountId } = await newAccount(deployment.running, taxpayer);
    const path = `/accounts/${accountId}/api-keys`;
    const created = await admin('POST', path, { name: 'caja 1', environments: ['TesteCF'] });
    expect(created).toMatchObject({ status: 201, body: { id: expect.any(String), key: expect.any(String) } });
    const { id, key } = created.body;
    const list = await admin('GET', path);
    expect(list.body).toHaveLength(2);
    expect(list.text).not.toContain(key);
    expect((await admin('GET', `${path}/${id}`)).body).toMatchObject({ id, name: 'caja 1', environments: ['TesteCF'] });
    const client = new Client(deployment.running, key);
    const numbers = new Numbering(taxpayer);
    expect((await client.submit(numbers.next().invoice)).status).toBe(200);
    expect((await admin('DELETE', `${path}/${id}`)).status).toBe(204);
    const refused = await Promise.all(Array.from({ length: 5 }, () => client.call('GET', '/obtain_token')));
    for (const answer of refused) expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_api_key' } });
    expect((await admin('DELETE', `${path}/nada`)).status).toBe(404);
    for (const body of [
      { name: 'x' },
      { name: 'x', environments: [] },
      { name: 'x', environments: ['testecf'] },
      { name: 'x', environments: ['eCF', 'eCF'] },
      { environments: ['eCF'] },
    ])
      expect((await admin('POST', path, body)).status).toBe(422);
  });

  it('that refuses warnings has a document with one refused, alone and in a batch, before its number is used', async () => {
    const taxpayer = { rnc: '101000309', name: 'Estricta Inventada, SRL' };
    const client = await newAccount(deployment.running, taxpayer);
    const path = `/accounts/${client.accountId}/api-keys`;
    const made = await admin('POST', path, { name: 'strict', environments: ['TesteCF'], refuse_warnings: true });
    const strict = new Client(deployment.running, made.body.key);
    const numbers = new Numbering(taxpayer);
    const unbalanced = () =>
      numbers.next('ecf-31', ({ Encabezado }) => {
        Encabezado.Totales.MontoTotal = '11437.00';
      }).invoice;

    const alone = unbalanced();
    const refused = await strict.submit(alone);
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_document' } });
    const { faults } = refused.body;
    expect(new Set(faults.map(({ severity }: { severity: string }) => severity))).toEqual(new Set(['warning']));
    expect((await client.submit(alone)).body.warnings).toEqual(faults);

    const send = async (caller: Client, invoices: object[], query = '') => {
      const headers = { 'content-type': 'application/json' };
      const { body } = await caller.call('POST', `/batches${query}`, { headers, body: JSON.stringify(invoices) });
      await until(
        async () => (await caller.call('GET', body.status_url)).body,
        ({ status }) => status === 'done',
      );
      return (await caller.call('GET', `${body.status_url}/results`)).body.results;
    };
    const [clean, odd] = [numbers.next().invoice, unbalanced()];
    expect(await send(strict, [clean, odd])).toMatchObject([
      { status: 'Aceptado', faults: [] },
      { status: null, faults, error: { status: 400, code: 'invalid_document' } },
    ]);
    expect(await send(client, [odd], '?validate=true&warnings=refuse')).toMatchObject([{ status: null, faults }]);
    expect((await admin('PATCH', `${path}/${made.body.id}`, { refuse_warnings: false })).status).toBe(200);
    expect((await strict.submit(odd)).body.warnings).toEqual(faults);
  });

  it('that is deleted, or whose taxpayer is deactivated, stops no batch that was taken', async () => {
    const taxpayer = { rnc: '101000228', name: 'Lotes Inventados, SRL' };
    const { accountId } = await newAccount(deployment.running, taxpayer);
    const path = `/accounts/${accountId}`;
    const newKey = async () =>
      (await admin('POST', `${path}/api-keys`, { name: 'lotes', environments: ['TesteCF'] })).body;
    const [used, other] = [await newKey(), await newKey()];
    const client = new Client(deployment.running, used.key);
    const reader = new Client(deployment.running, other.key);
    const numbers = new Numbering(taxpayer);
    const lines = Array.from({ length: 3 }, () => JSON.stringify(numbers.next().invoice));
    const release = await client.fault({ operation: '*', kind: 'down' });
    const taken = await client.call('POST', '/batches', {
      headers: { 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
    });
    expect(taken.status).toBe(202);
    expect((await admin('DELETE', `${path}/api-keys/${used.id}`)).status).toBe(204);
    expect((await client.call('GET', '/batches')).status).toBe(401);
    await admin('PATCH', `${path}/taxpayers/${taxpayer.rnc}`, { active: false });
    await release();
    const batch = async () => (await reader.call('GET', `/batches/${taken.body.batch_id}`)).body;
    expect(await until(batch, ({ status }) => status === 'done', 90_000)).toMatchObject({ accepted: 3, refused: 0 });
  });

  it('reaches only its taxpayers and its scopes', async () => {
    const mine = { rnc: '101000201', name: 'Caja Limitada Inventada, SRL' };
    const other = { rnc: '101000219', name: 'Caja Ajena Inventada, SRL' };
    const made = await newAccount(deployment.running, mine);
    const path = `/accounts/${made.accountId}`;
    expect((await admin('POST', `${path}/taxpayers`, other)).status).toBe(201);
    const keyWith = async (rights: object) =>
      new Client(
        deployment.running,
        (await admin('POST', `${path}/api-keys`, { name: 'caja', environments: ['TesteCF'], ...rights })).body.key,
      );
    const maker = (await admin('POST', `${path}/api-keys`, { name: 'caja', environments: ['TesteCF'] })).body;
    const whole = new Client(deployment.running, maker.key);
    const limited = await keyWith({ taxpayers: [other.rnc] });
    const reading = await keyWith({ scopes: ['read'] });
    const numbers = new Numbering(mine);
    const { invoice, encf } = numbers.next();
    expect((await limited.submit(invoice)).body.code).toBe('taxpayer_not_found');
    expect(await reading.submit(invoice)).toMatchObject({ status: 403, body: { code: 'missing_scope' } });
    expect((await whole.submit(invoice, { 'x-request-id': 'caja-7' })).body.status).toBe('Aceptado');
    const issuer = { headers: { 'rnc-issuing': mine.rnc } };
    expect((await whole.call('GET', `/invoices/${encf}`, issuer)).body).toMatchObject({
      submitted_by: maker.id,
      request_id: 'caja-7',
    });
    const { track_ids } = (await whole.call('GET', `/trackids/${encf}`, issuer)).body;
    const buyer = { headers: { 'buyer-rnc': mine.rnc, 'start-date': '01-01-2020', 'end-date': '31-12-2099' } };
    for (const [address, headers] of [
      [`/invoices/${encf}`, issuer],
      [`/trackids/${encf}`, issuer],
      [`/${encf}/xml`, {}],
      [`/${encf}/xml?issuer_rnc=${mine.rnc}`, {}],
      [`/invoice-status/${track_ids[0].track_id}`, {}],
      [`/anecf/?issuer_rnc=${mine.rnc}`, {}],
      [`/acecf/?receiver_rnc=${mine.rnc}`, {}],
      [`/received-arecf/?issuer_rnc=${mine.rnc}`, {}],
      ['/fe/recepcion/api/invoices/count', buyer],
      ['/obtain_token', issuer],
    ] as const) {
      expect({ address, status: (await limited.call('GET', address, headers)).status }).toEqual({
        address,
        status: 404,
      });
      expect({ address, status: (await whole.call('GET', address, headers)).status }).toEqual({ address, status: 200 });
    }
  });

  it('is required, and is valid in its own environments', async () => {
    for (const key of ['', 'nope', `${deployment.running.demo.api_key}x`, 'ecf_test_'.padEnd(52, 'A')]) {
      const answer = await new Client(deployment.running, key).call('GET', '/obtain_token');
      expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_api_key' } });
    }
    const sandbox = await deployment.demo.call('GET', '/obtain_token', { headers: { env: 'eCF' } });
    expect(sandbox).toMatchObject({ status: 401, body: { code: 'environment_not_allowed' } });
    for (const env of ['ecf', 'ECF', 'Produccion', '']) {
      const answer = await deployment.demo.call('GET', '/obtain_token', { headers: { env } });
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['header', 'env'] }] } });
    }
  });

  it('of production is valid for eCF alone; environments are separate', async () => {
    const live = await newAccount(deployment.running, CEIBA, { environments: ['eCF'] });
    const test = new Client(
      deployment.running,
      (await admin('POST', `/accounts/${live.accountId}/api-keys`, { name: 't', environments: ['TesteCF', 'CerteCF'] }))
        .body.key,
    );
    const { invoice, encf } = new Numbering(CEIBA).next();
    const absent = await live.submit(invoice);
    expect(absent).toMatchObject({ status: 401, body: { code: 'environment_not_allowed' } });
    const answers = [
      { env: 'TesteCF', segment: 'testecf', answer: await test.submit(invoice) },
      { env: 'CerteCF', segment: 'certecf', answer: await test.submit(otherContent(invoice), { env: 'CerteCF' }) },
      { env: 'eCF', segment: 'ecf', answer: await live.submit(invoice, { env: 'eCF' }) },
    ];
    for (const { segment, answer } of answers) {
      expect(answer.body).toMatchObject({ status: 'Aceptado', encf });
      expect(answer.body.qr_url).toMatch(new RegExp(`^https://ecf\\.dgii\\.gov\\.do/${segment}/`, 'i'));
    }
    const rows = (await test.control('GET', `/submissions?encf=${encf}&rnc=${CEIBA.rnc}`)).body as { env: string }[];
    expect(rows.map(({ env }) => env).sort()).toEqual(['CerteCF', 'TesteCF', 'eCF']);
    expect(new Set(answers.map(({ answer }) => answer.body.trackId)).size).toBe(3);
  });
});

describe('several accounts', () => {
  it('never see or sign for each other, and get 404, never 403', async () => {
    const a = { rnc: '101000211', name: 'Alfa Inventada, SRL' };
    const b = { rnc: '101000236', name: 'Beta Inventada, SRL' };
    const [alfa, beta] = [await newAccount(deployment.running, a), await newAccount(deployment.running, b)];
    const { invoice, encf } = new Numbering(a).next();
    expect((await alfa.submit(invoice)).body.status).toBe('Aceptado');
    const file = testCertificate(a.rnc);
    const other = new Numbering(a).next('ecf-31', (ecf) => {
      ecf.Encabezado.IdDoc.eNCF = 'E310000009999';
    });
    const signed = (await signedByCaller(other.invoice, file)).xml;
    const answers = [
      await beta.submit(invoice),
      await beta.submit(invoice, {}, '?validate=true'),
      await beta.submit(otherContent(invoice)),
      await beta.submitWith(other.invoice, file),
      await beta.submitSigned('/submit_ecf', signed, await beta.token()),
      await beta.call('GET', '/obtain_token', { headers: { 'rnc-issuing': a.rnc } }),
    ];
    for (const answer of answers) expect(answer).toMatchObject({ status: 404, body: { code: 'taxpayer_not_found' } });
    const nobody = await beta.call('GET', '/obtain_token', { headers: { 'rnc-issuing': '101999999' } });
    expect(nobody.body.detail.replace('101999999', a.rnc)).toBe(answers.at(-1)?.body.detail);
    expect(await alfa.ledger(encf, a.rnc)).toHaveLength(1);
    expect(await alfa.ledger('E310000009999')).toEqual([]);
    // Each issuer has its own document under the same number.
    const same = new Numbering(b).next();
    expect(same.encf).toBe(encf);
    expect((await beta.submit(same.invoice)).body).toMatchObject({ status: 'Aceptado', encf });
    expect(await alfa.token()).not.toBe(await beta.token());
  });

  it('change their own settings with a key of the scope manage, and never those of another', async () => {
    const [a, b] = [
      { rnc: '101000244', name: 'Gama Inventada, SRL' },
      { rnc: '101000252', name: 'Delta Inventada, SRL' },
    ];
    const managed = async (taxpayer: typeof a) => {
      const { accountId } = await newAccount(deployment.running, taxpayer, { certificate: false });
      const rights = { name: 'ajustes', environments: ['TesteCF'], scopes: ['submit', 'read', 'manage'] };
      const { id, key } = (await admin('POST', `/accounts/${accountId}/api-keys`, rights)).body;
      const client = new Client(deployment.running, key);
      const json = { 'content-type': 'application/json' };
      const call = (method: string, path: string, body?: object) =>
        client.call(method, `/account${path}`, body === undefined ? {} : { headers: json, body: JSON.stringify(body) });
      const webhook = { url: 'http://127.0.0.1:1/events', environments: ['TesteCF'] };
      return { id, client, call, webhook: (await call('POST', '/webhooks', webhook)).body.id as string };
    };
    const [gamma, delta] = [await managed(a), await managed(b)];
    const { invoice, encf } = new Numbering(a).next();
    expect((await gamma.client.submit(invoice)).body.code).toBe('certificate_missing');
    const file = testCertificate(a.rnc);
    const form = new FormData();
    form.set('certificate', new Blob([new Uint8Array(file.p12)]), 'firma.p12');
    form.set('password', file.password);
    const certificate = `/account/taxpayers/${a.rnc}/certificate`;
    expect((await delta.client.call('PUT', certificate, { body: form })).status).toBe(404);
    expect((await gamma.client.call('PUT', certificate, { body: form })).status).toBe(200);
    const range = { env: 'TesteCF', ecf_type: '31', from: encf, to: 'E310000000999', expires: null };
    const ranges = `/taxpayers/${a.rnc}/ranges`;
    expect((await gamma.call('PUT', ranges, [range])).status).toBe(200);
    const made = await gamma.call('POST', '/api-keys', { name: 'caja', environments: ['TesteCF'], scopes: ['submit'] });
    expect((await new Client(deployment.running, made.body.key).submit(invoice)).body).toMatchObject({
      encf,
      status: 'Aceptado',
    });
    expect(await gamma.call('PUT', ranges, [{ ...range, from: 'E310000000900' }])).toMatchObject({
      status: 409,
      body: { code: 'range_in_use' },
    });

    for (const [method, path, body] of [
      ['GET', ranges],
      ['PUT', ranges, [range]],
      ['PUT', `${ranges}?remove=true`, []],
      ['GET', `/taxpayers/${a.rnc}/certificate`],
      ['GET', `/api-keys/${made.body.id}`],
      ['PATCH', `/api-keys/${made.body.id}`, { refuse_warnings: true }],
      ['DELETE', `/api-keys/${made.body.id}`],
      ['POST', `/api-keys/${made.body.id}/rotate`, {}],
      ['GET', `/webhooks/${gamma.webhook}`],
      ['PATCH', `/webhooks/${gamma.webhook}`, { active: false }],
      ['DELETE', `/webhooks/${gamma.webhook}`],
      ['POST', `/webhooks/${gamma.webhook}/rotate`],
      ['POST', `/webhooks/${gamma.webhook}/replay`, { after: '1-5c0f31aa' }],
      ['POST', `/webhooks/${gamma.webhook}/test`],
    ] as [string, string, object?][])
      expect([path, await delta.call(method, path, body)]).toMatchObject([path, { status: 404 }]);
    expect((await delta.call('GET', '')).body.taxpayers).toMatchObject([{ rnc: b.rnc, ranges: [] }]);
    expect((await delta.call('GET', '/api-keys')).body).not.toContainEqual(expect.objectContaining({ id: gamma.id }));
    expect((await delta.call('GET', '/webhooks')).body).toMatchObject([{ id: delta.webhook }]);
    expect((await gamma.call('GET', '')).body.taxpayers).toMatchObject([
      {
        rnc: a.rnc,
        certificate_not_after: expect.any(String),
        ranges: [{ ...range, remaining: Number(range.to.slice(3)) - Number(encf.slice(3)) }],
      },
    ]);
  });
});

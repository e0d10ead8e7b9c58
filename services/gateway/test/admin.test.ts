import { createHash, randomBytes, randomUUID, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { json } from 'node:stream/consumers';
import { taxpayerStateSchema } from '@ecf/contracts';
import { createMasterKeys, makeSealingKeys, taxpayerCertificate } from '@ecf/kit';
import { createLogger } from '@ecf/kit/telemetry';
import { openDatabase } from '@ecf/postgres';
import { testKey } from '@ecf/test-support';
import { beginPost, chunkOf } from '@ecf/test-support/raw-posts';
import { until } from '@ecf/test-support/until';
import { deserialiseCertificate } from '@ecf/xml-signing';
import { createCertificateAuthority, fileOfSeveral } from '@ecf/xml-signing/certificate-authority';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ADMIN_TOKEN,
  type Answer,
  type GatewayUnderTest,
  MASTER_KEY,
  makeAccount,
  startGateway,
} from './gateway-under-test.js';

const DAY = 24 * 60 * 60 * 1000;
const authority = createCertificateAuthority({ commonName: 'Test authority', key: testKey(1) });
const PASSWORD = 'correct horse battery';

function issue(validFrom: number, validTo: number, rounds = 2048): Buffer {
  const now = Date.now();
  return authority.issue({
    commonName: 'JUANA PEREZ',
    holderId: '00100000009',
    notBefore: new Date(now + validFrom),
    notAfter: new Date(now + validTo),
    password: PASSWORD,
    key: testKey(0),
    rounds,
  }).p12;
}

/** A file with a key for encryption and one for signatures, which expires at `validTo`; the certificate of the latter. */
function twoKeys(validTo: number): { file: Buffer; signing: X509Certificate } {
  const now = Date.now();
  const dates = { notBefore: new Date(now - 2 * DAY), notAfter: new Date(now + validTo) };
  const holder = { commonName: 'JUANA PEREZ', holderId: '00100000009', password: PASSWORD };
  const encryption = authority.issue({
    ...holder,
    notBefore: new Date(now - DAY),
    notAfter: new Date(now + 3 * DAY),
    key: testKey(2),
    keyUsage: ['keyEncipherment'],
  });
  const signing = authority.issue({ ...holder, ...dates, key: testKey(0) });
  return { file: fileOfSeveral([encryption, signing], PASSWORD), signing: new X509Certificate(signing.pem) };
}

/** A file whose derivations have eight million rounds each. */
function costlyFile(): Buffer {
  const file = issue(-DAY, DAY, 33_000);
  const rounds = Buffer.from('02030080e8', 'hex');
  for (let at = file.indexOf(rounds); at >= 0; at = file.indexOf(rounds, at + 1)) file.writeUIntBE(0x7fffff, at + 2, 3);
  return file;
}

function certificateForm(file: Uint8Array | null, password: string | null): FormData {
  const form = new FormData();
  if (file !== null) form.set('certificate', new Blob([new Uint8Array(file)]), 'firma.p12');
  if (password !== null) form.set('password', password);
  return form;
}

let under: GatewayUnderTest;
beforeAll(async () => {
  under = await startGateway();
});
afterAll(() => under.stop());

describe('accounts', () => {
  it('are created, listed, shown and made inactive', async () => {
    const created = await under.admin('POST', '/admin/accounts', { name: '  Ferretería La Económica ' });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ id: expect.any(String), name: 'Ferretería La Económica', active: true });
    expect(created.body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d-04:00$/);
    const { id } = created.body;
    expect((await under.admin('GET', '/admin/accounts')).body).toContainEqual(created.body);
    expect((await under.admin('GET', `/admin/accounts/${id}`)).body).toEqual(created.body);
    const inactive = await under.admin('PATCH', `/admin/accounts/${id}`, { active: false });
    expect(inactive).toMatchObject({ status: 200, body: { id, active: false } });
  });

  it.each([
    [{}, ['body', 'name'], 'missing'],
    [{ name: '' }, ['body', 'name'], 'too_small'],
    [{ name: 'x'.repeat(201) }, ['body', 'name'], 'too_big'],
    [{ name: 7 }, ['body', 'name'], 'type'],
    [{ name: 'a\u0007b' }, ['body', 'name'], 'format'],
    [{ name: 'a\ud800' }, ['body', 'name'], 'value'],
    [{ name: 'x', colour: 'red' }, ['body', 'colour'], 'unknown'],
    [[], ['body'], 'type'],
  ])('refuse %j', async (body, loc, type) => {
    const answer = await under.admin('POST', '/admin/accounts', body);
    expect(answer).toMatchObject({ status: 422, body: { code: 'validation_error', detail: [{ loc, type }] } });
    expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'));
  });

  it('refuse a body that is not JSON, not UTF-8 or of another type', async () => {
    const send = (body: string | Uint8Array, type: string) =>
      under.call('POST', '/admin/accounts', {
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': type },
        body: body as never,
      });
    expect(await send('{"name":', 'application/json')).toMatchObject({ status: 400, body: { code: 'invalid_json' } });
    expect(await send('{"name":"one","name":"other"}', 'application/json')).toMatchObject({
      status: 400,
      body: { code: 'invalid_json', detail: expect.stringContaining('twice') },
    });
    expect(await send(Buffer.from('{"name":"\xf1"}', 'latin1'), 'application/json')).toMatchObject({
      status: 400,
      body: { code: 'not_utf8' },
    });
    expect(await send('name=x', 'application/x-www-form-urlencoded')).toMatchObject({
      status: 415,
      body: { code: 'unsupported_media_type' },
    });
    expect(await send(JSON.stringify({ name: 'x'.repeat(1_100_000) }), 'application/json')).toMatchObject({
      status: 413,
    });
    expect(await send('', 'application/json')).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body'], type: 'missing' }] },
    });
  });

  it.each([
    ['GET', '/admin/accounts/nobody'],
    ['PATCH', '/admin/accounts/nobody'],
    ['GET', '/admin/accounts/nobody/taxpayers'],
    ['POST', '/admin/accounts/nobody/taxpayers'],
    ['GET', '/admin/accounts/nobody/api-keys'],
    ['POST', '/admin/accounts/nobody/api-keys'],
    ['GET', '/admin/accounts/%00'],
    ['GET', '/admin/accounts/nobody/api-keys/x'],
    ['DELETE', '/admin/accounts/nobody/api-keys/x'],
    ['PATCH', '/admin/accounts/nobody/api-keys/x'],
    ['GET', '/admin/accounts/nobody/taxpayers/131000001'],
  ])('that do not exist are 404: %s %s', async (method, path) => {
    const bodies: Record<string, unknown> = { PATCH: { active: true }, POST: { rnc: '131777777', name: 'x' } };
    const ofKeys: Record<string, unknown> = {
      POST: { name: 'k', environments: ['TesteCF'] },
      PATCH: { refuse_warnings: true },
    };
    const body = (path.includes('/api-keys') ? ofKeys : bodies)[method];
    expect(await under.admin(method, path, body)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});

describe('taxpayers', () => {
  it('whose number has a wrong check digit are registered with a warning', async () => {
    const account = (await under.admin('POST', '/admin/accounts', { name: 'Check digits' })).body.id;
    const register = (rnc: string) => under.admin('POST', `/admin/accounts/${account}/taxpayers`, { rnc, name: 'x' });
    const warning = { path: 'rnc', rule: 'business.issuer-check-digit', severity: 'warning' };
    expect(await register('131880600')).toMatchObject({ status: 201, body: { warnings: [warning] } });
    expect(await register('131880681')).toMatchObject({ status: 201, body: { rnc: '131880681', warnings: [] } });
  });

  it('belong to one account of the deployment', async () => {
    const mine = await makeAccount(under, '131000101');
    const other = await makeAccount(under, '131000102');
    const again = await under.admin('POST', `/admin/accounts/${other.id}/taxpayers`, {
      rnc: '131000101',
      name: 'Thief',
    });
    expect(again).toMatchObject({ status: 409, body: { code: 'taxpayer_taken' } });
    const twice = await under.admin('POST', `/admin/accounts/${mine.id}/taxpayers`, { rnc: '131000101', name: 'Same' });
    expect(twice).toMatchObject({ status: 409, body: { code: 'taxpayer_taken' } });
    expect(await under.admin('GET', `/admin/accounts/${other.id}/taxpayers/131000101`)).toMatchObject({ status: 404 });
    const list = await under.admin('GET', `/admin/accounts/${mine.id}/taxpayers`);
    expect(list.body).toMatchObject([
      { rnc: '131000101', name: 'COMERCIAL EL MUELLE SRL', active: true, certificate: null, ranges: [] },
    ]);
    expect((await under.admin('GET', `/admin/accounts/${mine.id}/taxpayers/131000101`)).body).toEqual(list.body[0]);
  });

  it('registered twice at the same moment belong to one account', async () => {
    const account = await under.admin('POST', '/admin/accounts', { name: 'Race' });
    const tries = Array.from({ length: 6 }, () =>
      under.admin('POST', `/admin/accounts/${account.body.id}/taxpayers`, { rnc: '131000103', name: 'Race' }),
    );
    const statuses = (await Promise.all(tries)).map((answer) => answer.status).sort();
    expect(statuses).toEqual([201, 409, 409, 409, 409, 409]);
  });

  it.each(['', '12345678', '1234567890', '13100010A', '١٣١٠٠٠١٠٣'])('refuse the RNC %j', async (rnc) => {
    const account = await under.admin('POST', '/admin/accounts', { name: 'Malformed' });
    const answer = await under.admin('POST', `/admin/accounts/${account.body.id}/taxpayers`, { rnc, name: 'x' });
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'rnc'] }] } });
  });

  it('refuse an RNC as a number, which may have lost leading zeros', async () => {
    const account = await under.admin('POST', '/admin/accounts', { name: 'Numbers' });
    const body = { rnc: 131000104, name: 'x' };
    const answer = await under.admin('POST', `/admin/accounts/${account.body.id}/taxpayers`, body);
    const msg = expect.stringContaining('send it as text: a number loses its leading zeros');
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'rnc'], msg }] } });
  });
});

describe('certificates', () => {
  let id: string;
  const upload = (file: Uint8Array | null, password: string | null, rnc = '131000201'): Promise<Answer> =>
    under.admin('PUT', `/admin/accounts/${id}/taxpayers/${rnc}/certificate`, certificateForm(file, password));
  beforeAll(async () => {
    ({ id } = await makeAccount(under, '131000201'));
  });

  it('are sealed, described, and published with their taxpayer', async () => {
    const before = await under.admin('GET', `/admin/accounts/${id}/taxpayers/131000201/certificate`);
    expect(before).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const answer = await upload(issue(-DAY, DAY), PASSWORD);
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).sort()).toEqual([
      'fingerprint',
      'not_after',
      'not_before',
      'serial_number',
      'subject',
    ]);
    expect(answer.body.subject).toContain('JUANA PEREZ');
    expect((await under.admin('GET', `/admin/accounts/${id}/taxpayers/131000201/certificate`)).body).toEqual(
      answer.body,
    );
    expect((await under.admin('GET', `/admin/accounts/${id}/taxpayers/131000201`)).body.certificate).toEqual(
      answer.body,
    );

    await until(() =>
      under.events.some(
        (event) => event.key === '131000201' && (event.data as { certificate: unknown }).certificate !== null,
      ),
    );
    const state = taxpayerStateSchema.parse(under.events.findLast((event) => event.key === '131000201')?.data);
    expect(state).toMatchObject({
      account_id: id,
      active: true,
      account_active: true,
      fingerprint: answer.body.fingerprint,
    });
    const masterKeys = createMasterKeys([MASTER_KEY]);
    const sealed = Buffer.from(state.certificate ?? '', 'base64');
    const opened = deserialiseCertificate(
      masterKeys.unseal(sealed, taxpayerCertificate({ account_id: id, rnc: '131000201' })),
    );
    expect(opened.fingerprint).toBe(answer.body.fingerprint);
    for (const binding of [
      { account_id: id, rnc: '131000202' },
      { account_id: randomUUID(), rnc: '131000201' },
    ])
      expect(() => masterKeys.unseal(sealed, taxpayerCertificate(binding))).toThrow('belongs to another account');
  });

  it('are replaced by the next one', async () => {
    const first = await upload(issue(-DAY, DAY), PASSWORD);
    const second = await upload(issue(-DAY, 2 * DAY), PASSWORD);
    expect(second.body.fingerprint).not.toBe(first.body.fingerprint);
    expect((await under.admin('GET', `/admin/accounts/${id}/taxpayers/131000201/certificate`)).body).toEqual(
      second.body,
    );
  });

  it('with several keys give the one for signatures', async () => {
    const { file, signing } = twoKeys(DAY);
    const { status, body } = await upload(file, PASSWORD);
    expect([status, body.fingerprint]).toEqual([200, createHash('sha256').update(signing.raw).digest('hex')]);
  });

  it.each([
    ['a wrong password', () => issue(-DAY, DAY), 'wrong', 'password', 'wrong_password'],
    ['an expired one', () => issue(-2 * DAY, -DAY), PASSWORD, 'certificate', 'certificate_expired'],
    ['one of tomorrow', () => issue(DAY, 2 * DAY), PASSWORD, 'certificate', 'certificate_not_yet_valid'],
    ['two keys that cannot sign', () => twoKeys(-DAY).file, PASSWORD, 'certificate', 'no_signing_key'],
    ['a file that is none', () => Buffer.from('%PDF-1.7'), PASSWORD, 'certificate', 'not_a_pkcs12'],
    ['an empty file', () => Buffer.alloc(0), PASSWORD, 'certificate', 'not_a_pkcs12'],
    ['more rounds than are accepted', costlyFile, PASSWORD, 'certificate', 'unsupported_encryption'],
    ['no password', () => issue(-DAY, DAY), null, 'password', 'missing'],
    ['no file', () => null, PASSWORD, 'certificate', 'missing'],
  ])('are refused: %s', async (_what, file, password, part, type) => {
    const answer = await upload(file(), password);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', part], type }] } });
    expect(JSON.stringify(answer.body)).not.toContain(PASSWORD);
  });

  it.each([
    ['without a boundary', 'multipart/form-data', 'x'],
    ['with an empty boundary', 'multipart/form-data; boundary=', 'x'],
    ['with an empty boundary in quotes', 'multipart/form-data; boundary=""', 'x'],
    ['with a boundary that is not closed', 'multipart/form-data; boundary="b', 'x'],
    ['with a boundary that is not ASCII', 'multipart/form-data; boundary=\u00e1', 'x'],
    ['with a boundary of 15,000 characters', `multipart/form-data; boundary=${'b'.repeat(15_000)}`, 'x'],
    ['with a header without an end', 'multipart/form-data; boundary=b', '--b\r\nContent-Disposition\r\n--b--'],
    [
      'with a header of a megabyte',
      'multipart/form-data; boundary=b',
      `--b\r\nContent-Disposition: form-data; name="${'n'.repeat(1_000_000)}"\r\n\r\nx\r\n--b--\r\n`,
    ],
    ['without a body', 'multipart/form-data; boundary=b', ''],
    [
      'cut in the middle',
      'multipart/form-data; boundary=b',
      '--b\r\nContent-Disposition: form-data; name="password"\r\n\r\nx',
    ],
  ])('are refused with 400 in a form %s', async (_how, contentType, body) => {
    const answer = await fetch(`${under.url}/admin/accounts/${id}/taxpayers/131000201/certificate`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': contentType },
      body,
    });
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status: 400,
      body: { code: 'bad_request' },
    });
  });

  it.each([
    ['PUT', '/accounts/{id}/taxpayers/131000201/certificate', 'multipart/form-data; boundary=b'],
    ['POST', '/accounts', 'application/json'],
  ])('refuses a body of one byte per chunk: %s %s', async (method, path, type) => {
    const request = beginPost(
      `${under.url}/admin${path.replace('{id}', id)}`,
      { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': type },
      chunkOf(' ').repeat(20_000),
      method,
    );
    expect(await request.answer()).toMatchObject({ status: 400, code: 'bad_request' });
    request.socket.destroy();
  });

  it('are refused in a form that names an array of four thousand million elements', async () => {
    const parts = ['x[4294967294]', 'x[y]'].map(
      (name) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\nx\r\n`,
    );
    const answer = await fetch(`${under.url}/admin/accounts/${id}/taxpayers/131000201/certificate`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'multipart/form-data; boundary=b' },
      body: `${parts.join('')}--b--\r\n`,
    });
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({
      status: 422,
      body: { code: 'validation_error' },
    });
  });

  it('are refused twice in a form, too large, not as a form, and for another account', async () => {
    const form = certificateForm(issue(-DAY, DAY), PASSWORD);
    form.append('certificate', new Blob(['x']), 'second.p12');
    expect(await under.admin('PUT', `/admin/accounts/${id}/taxpayers/131000201/certificate`, form)).toMatchObject({
      status: 422,
    });
    expect(await upload(Buffer.alloc(2_000_000), PASSWORD)).toMatchObject({
      status: 413,
      body: { code: 'body_too_large' },
    });
    expect(await under.admin('PUT', `/admin/accounts/${id}/taxpayers/131000201/certificate`, {})).toMatchObject({
      status: 415,
    });
    expect(await upload(issue(-DAY, DAY), PASSWORD, '131000101')).toMatchObject({ status: 404 });
  });
});

describe('master keys', () => {
  const DATABASE_RNCS = ['131000801', '131000802'];
  const base64 = (...keys: Buffer[]) => keys.map((key) => key.toString('base64')).join(',');

  it('are replaced while gateways run: refused until all have the newest, then certificates are sealed and published anew', async () => {
    const [old, fresh] = [randomBytes(32), randomBytes(32)];
    const first = await startGateway({ MASTER_KEY: base64(old) });
    const { id } = await makeAccount(first, '131000801');
    await first.admin('POST', `/admin/accounts/${id}/taxpayers`, { rnc: '131000802', name: 'OTRO SRL' });
    const certificate = (rnc: string) => `/admin/accounts/${id}/taxpayers/${rnc}/certificate`;
    const stored = [];
    for (const rnc of DATABASE_RNCS)
      stored.push((await first.admin('PUT', certificate(rnc), certificateForm(issue(-DAY, DAY), PASSWORD))).body);
    const second = await startGateway({ DATABASE_URL: first.config.DATABASE_URL, MASTER_KEY: base64(fresh, old) });
    const [newest] = createMasterKeys([fresh]).keyIds;
    const [oldest] = createMasterKeys([old]).keyIds;

    const state = await second.admin('GET', '/admin/master-keys');
    expect(state.body).toMatchObject({ key_id: newest, services: [{ service: 'gateway', older: 2 }] });
    const keysOf = ({ key_ids }: { key_ids: string[] }) => key_ids.join();
    expect(state.body.services[0].instances.map(keysOf).sort()).toEqual([`${newest},${oldest}`, `${oldest}`].sort());
    const refused = await second.admin('POST', '/admin/master-keys/reseal');
    expect(refused).toMatchObject({ status: 409, body: { code: 'conflict' } });
    const lacking = state.body.services[0].instances.find((one: { key_ids: string[] }) => one.key_ids.length === 1);
    expect(refused.body.detail).toContain(`gateway ${lacking.id}`);
    await first.stop();

    const headersOf = async (role: string) => {
      const { body } = await second.admin('POST', '/admin/administrators', { name: `A ${role}`, role });
      return { authorization: `Bearer ${body.token}` };
    };
    const [viewer, operator] = [await headersOf('viewer'), await headersOf('operator')];
    expect((await second.call('GET', '/admin/master-keys', { headers: viewer })).status).toBe(200);
    expect(await second.call('POST', '/admin/master-keys/reseal', { headers: viewer })).toMatchObject({
      status: 403,
      body: { code: 'missing_role' },
    });
    expect((await second.call('POST', '/admin/master-keys/reseal')).status).toBe(401);

    // Two together, and a new certificate meanwhile.
    const replaced = issue(-DAY, 3 * DAY);
    const [one, other, put] = await Promise.all([
      second.call('POST', '/admin/master-keys/reseal', { headers: operator }),
      second.admin('POST', '/admin/master-keys/reseal'),
      second.admin('PUT', certificate('131000802'), certificateForm(replaced, PASSWORD)),
    ]);
    expect([one.status, other.status, put.status]).toEqual([200, 200, 200]);
    expect((await second.admin('POST', '/admin/master-keys/reseal')).body.services).toMatchObject([{ older: 0 }]);
    expect((await second.admin('GET', certificate('131000802'))).body).toEqual(put.body);
    const { entries } = (await second.admin('GET', '/admin/audit?action=master_key.reseal')).body;
    expect(entries[0]).toMatchObject({ target: '/master-keys', details: { key_id: newest } });
    expect(['A operator', 'ADMIN_TOKEN']).toContain(entries[0].actor);
    // The second gateway first publishes the events that the first one did not publish in time.
    const isPublishedAnew = (rnc: string) => {
      const event = second.events.filter(({ topic, key }) => topic.includes('taxpayers') && key === rnc).at(-1);
      const state = event === undefined ? null : taxpayerStateSchema.parse(event.data);
      if (state === null || !createMasterKeys([fresh]).hasKeyOf(Buffer.from(state.certificate as string, 'base64')))
        return false;
      createMasterKeys([fresh]).unseal(Buffer.from(state.certificate as string, 'base64'), taxpayerCertificate(state));
      return true;
    };
    await until(() => DATABASE_RNCS.every(isPublishedAnew));
    await second.stop();

    const third = await startGateway({ DATABASE_URL: first.config.DATABASE_URL, MASTER_KEY: base64(fresh) });
    expect((await third.admin('GET', certificate('131000801'))).body).toEqual(stored[0]);
    await third.stop();
  });

  it('are not needed by a gateway with SEALING_KEYS that were made from them', async () => {
    const key = randomBytes(32);
    const keys = { MASTER_KEY: '', SEALING_KEYS: makeSealingKeys([key]).gateway };
    const first = await startGateway({ MASTER_KEY: base64(key) });
    const { id } = await makeAccount(first, '131000803');
    const path = `/admin/accounts/${id}/taxpayers/131000803/certificate`;
    const stored = await first.admin('PUT', path, certificateForm(issue(-DAY, DAY), PASSWORD));
    await first.stop();

    const settings = { ...keys, DATABASE_URL: first.config.DATABASE_URL };
    const second = await startGateway(settings);
    const state = await second.admin('POST', '/admin/master-keys/reseal');
    expect(state.body).toMatchObject({ key_id: createMasterKeys([key]).keyIds[0], services: [{ older: 0 }] });
    await second.stop();

    const third = await startGateway(settings);
    expect((await third.admin('GET', path)).body).toEqual(stored.body);
    await third.stop();
    const foreign = { ...settings, SEALING_KEYS: makeSealingKeys([randomBytes(32)]).gateway };
    await expect(startGateway(foreign)).rejects.toThrow('SEALING_KEYS: does not hold a key');
  });
});

describe('number ranges', () => {
  const range = { env: 'TesteCF', ecf_type: '31', from: 'E310000000001', to: 'E310000000100', expires: '2027-12-31' };
  let path: string;
  beforeAll(async () => {
    path = `/admin/accounts/${(await makeAccount(under, '131000301')).id}/taxpayers/131000301/ranges`;
  });

  it('are replaced as a whole and published with their taxpayer', async () => {
    const second = { ...range, env: 'CerteCF', expires: null };
    expect(await under.admin('PUT', path, [range, second])).toMatchObject({ status: 200, body: [range, second] });
    // Only emission has the rest of them, and this deployment does not have it.
    const unknown = { next: null, remaining: null };
    expect((await under.admin('GET', path)).body).toEqual([range, second].map((one) => ({ ...one, ...unknown })));
    await until(() =>
      under.events.some(
        (event) => event.key === '131000301' && (event.data as { ranges: unknown[] }).ranges.length === 2,
      ),
    );
    const { expires: _, ...endless } = range;
    expect((await under.admin('PUT', path, [endless])).body).toEqual([{ ...range, expires: null }]);
    // One may be expired already, and begin where another ends.
    const expired = { ...range, from: 'E310000000101', to: 'E310000000200', expires: '2020-12-31' };
    expect(await under.admin('PUT', path, [expired, range])).toMatchObject({ status: 200, body: [expired, range] });
    expect(await under.admin('PUT', path, [])).toMatchObject({ status: 422, body: { detail: [{ loc: ['body'] }] } });
    expect((await under.admin('PUT', `${path}?remove=true`, [])).body).toEqual([]);
    expect((await under.admin('PUT', path, [])).body).toEqual([]);
  });

  it.each([
    ['not a list', {}, ['body']],
    ['another type', [{ ...range, ecf_type: '32' }], ['body', 0, 'from']],
    ['an unknown type', [{ ...range, ecf_type: '42' }], ['body', 0, 'ecf_type']],
    ['an unknown environment', [{ ...range, env: 'ECF' }], ['body', 0, 'env']],
    ['a short number', [{ ...range, from: 'E31000000001' }], ['body', 0, 'from']],
    ['from zero', [{ ...range, from: 'E310000000000' }], ['body', 0, 'from']],
    ['reversed', [{ ...range, from: range.to, to: range.from }], ['body', 0, 'to']],
    ['an impossible day', [{ ...range, expires: '2027-02-30' }], ['body', 0, 'expires']],
    ['overlapping', [range, { ...range, from: 'E310000000050', to: 'E310000000200' }], ['body', 1]],
    ['a missing end', [{ ...range, to: undefined }], ['body', 0, 'to']],
  ])('are refused: %s', async (_what, body, loc) => {
    const answer = await under.admin('PUT', path, body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail.map((item: { loc: unknown }) => item.loc)).toContainEqual(loc);
  });
});

describe('administrators', () => {
  const as = (token: string, method: string, path: string, body?: unknown) =>
    under.call(method, path, {
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const make = (name: string, role: string, rest: object = {}) =>
    under.admin('POST', '/admin/administrators', { name, role, ...rest });

  it('act by their role, each with a token that is shown once and can be revoked immediately', async () => {
    const { id, keyId } = await makeAccount(under, '131000501');
    const account = `/admin/accounts/${id}`;
    const tokens = new Map<string, string>();
    for (const role of ['viewer', 'operator', 'owner']) {
      const created = await make(`the ${role}`, role);
      expect(created).toMatchObject({ status: 201, body: { token: expect.stringMatching(/^ecf_admin_[\w-]{43}$/) } });
      tokens.set(role, created.body.token);
    }
    const statuses = async (method: string, path: string, body?: unknown) =>
      Promise.all([...tokens.values()].map(async (token) => (await as(token, method, path, body)).status));
    expect(await statuses('GET', `${account}/taxpayers`)).toEqual([200, 200, 200]);
    expect(await statuses('GET', `${account}/api-keys`)).toEqual([200, 200, 200]);
    expect(await statuses('PATCH', account, { active: true })).toEqual([403, 200, 200]);
    expect(await statuses('POST', `${account}/api-keys`, { name: 'k', environments: ['TesteCF'] })).toEqual([
      403, 403, 201,
    ]);
    expect(await statuses('POST', `${account}/api-keys/${keyId}/rotate`, {})).toEqual([403, 403, 200]);
    expect(await statuses('PATCH', `${account}/api-keys/nada`, { refuse_warnings: true })).toEqual([403, 403, 404]);
    expect(await statuses('DELETE', `${account}/api-keys/nada`)).toEqual([403, 403, 404]);
    expect(await statuses('GET', '/admin/administrators')).toEqual([403, 403, 200]);
    expect(await statuses('POST', '/admin/administrators', {})).toEqual([403, 403, 422]);
    // Another case, or an address without a role, is not a way around the roles.
    for (const path of [
      '/ADMIN/administrators',
      '/Admin/Administrators',
      '/admin/ADMINISTRATORS',
      '/admin//administrators',
    ])
      expect(await statuses('POST', path, { name: 'x', role: 'owner' })).toEqual([404, 404, 404]);
    expect(await as(tokens.get('operator') ?? '', 'POST', `${account}/api-keys`, {})).toMatchObject({
      body: { code: 'missing_role', detail: expect.stringContaining('owner') },
    });

    const list = await under.admin('GET', '/admin/administrators');
    const viewer = list.body.find(({ name }: { name: string }) => name === 'the viewer');
    expect(viewer).toEqual({
      id: expect.any(String),
      name: 'the viewer',
      role: 'viewer',
      created_at: expect.any(String),
      expires_at: null,
    });
    expect(JSON.stringify(list.body)).not.toContain(tokens.get('viewer')?.slice(10));
    expect((await under.admin('DELETE', `/admin/administrators/${viewer.id}`)).status).toBe(204);
    expect(await as(tokens.get('viewer') ?? '', 'GET', account)).toMatchObject({
      status: 401,
      body: { code: 'invalid_admin_token' },
    });
    expect((await under.admin('DELETE', `/admin/administrators/${viewer.id}`)).status).toBe(404);
    expect((await under.admin('GET', `/admin/administrators/${viewer.id}`)).status).toBe(404);
  });

  it('change nothing once they are deleted, also if the request began before', async () => {
    const text = JSON.stringify({ name: 'Tarde', role: 'owner' });
    for (const path of ['/admin/administrators', '/admin/accounts']) {
      const { body } = await make(`Eva of ${path.length}`, 'owner');
      const headers = { authorization: `Bearer ${body.token}`, 'content-type': 'application/json' };
      const request = http.request(`${under.url}${path}`, { method: 'POST', headers });
      const answered = once(request, 'response') as Promise<[http.IncomingMessage]>;
      request.write(text.slice(0, 5));
      // Meanwhile the gateway finds who holds the token.
      for (let calls = 0; calls < 5; calls += 1) await under.admin('GET', '/admin/administrators');
      await under.admin('DELETE', `/admin/administrators/${body.id}`);
      request.end(path.endsWith('accounts') ? text.slice(5).replace(',"role":"owner"', '') : text.slice(5));
      const [response] = await answered;
      expect([path, response.statusCode, await json(response)]).toMatchObject([
        path,
        401,
        { code: 'invalid_admin_token' },
      ]);
    }
  });

  it('have their own name and may expire', async () => {
    expect((await make('Ana', 'viewer')).status).toBe(201);
    expect(await make('Ana', 'owner')).toMatchObject({ status: 409, body: { code: 'conflict' } });
    const gone = await make('Rosa', 'viewer');
    await under.admin('DELETE', `/admin/administrators/${gone.body.id}`);
    expect(await make('Rosa', 'owner')).toMatchObject({ status: 409, body: { code: 'conflict' } });
    for (const fault of [
      { role: 'root' },
      { name: 'ADMIN_TOKEN' },
      { name: 'a:b' },
      { expires_at: '2020-01-01T00:00:00Z' },
    ])
      expect(await make('Eva', 'viewer', fault)).toMatchObject({ status: 422 });
    const soon = new Date(Date.now() + 2000).toISOString();
    const { body } = await make('Eva', 'viewer', { expires_at: soon });
    expect((await under.admin('GET', `/admin/administrators/${body.id}`)).body.expires_at).not.toBeNull();
    while ((await as(body.token, 'GET', '/admin/accounts')).status === 200);
    // The database's clock decides; it may differ from this process's by some milliseconds.
    expect(Date.now()).toBeGreaterThan(Date.parse(soon) - 1000);
    expect((await as(body.token, 'GET', '/admin/accounts')).status).toBe(401);
  });

  it('have no name that looks like another', async () => {
    expect((await make('Lupe  Diaz', 'viewer')).status).toBe(201);
    for (const same of [
      'lupe diaz',
      'LUPE DIAZ',
      ' Lupe\u00a0Diaz ',
      '\uff2c\uff55\uff50\uff45 Diaz',
      '\u{1d40b}upe diaz',
    ])
      expect(await make(same, 'owner')).toMatchObject({ status: 409, body: { code: 'conflict' } });
    for (const other of [
      'Lup\u0435 Diaz',
      'Lupe\u200b Diaz',
      'Lupe\u200d Diaz',
      'Lu\u00adpe Diaz',
      'Lupe D\u00edaz',
      'Lupe Di\u0301az',
      'Lupe \u202eDiaz',
      '\ufeffLupe Diaz\u2060',
      'Lupe \u0130',
      'Lupe\tDiaz',
      'Lupe\uff1aDiaz',
      'admin_token',
      '\uff21\uff24\uff2d\uff29\uff2e_TOKEN',
      '\u0301\u0323'.repeat(100),
      '\u247d'.repeat(100),
    ]) {
      const answer = await make(other, 'owner');
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'name'] }] } });
    }
    expect((await make('Lup\u0435', 'owner')).body.detail[0].msg).toContain('printable ASCII');
    const long = '\u0301\u0323'.repeat(250_000);
    expect((await make(long, 'owner')).status).toBe(422);
    const list = await under.admin('GET', '/admin/administrators');
    const names = list.body.map(({ name }: { name: string }) => name);
    expect(names.filter((name: string) => /lup|token/i.test(name.normalize('NFKC')))).toEqual(['Lupe Diaz']);
  });

  it('have their own listener with ADMIN_PORT, and every call has its name and actor in the log', async () => {
    const lines: Record<string, unknown>[] = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const logger = createLogger({ service: 'gateway', destination });
    const apart = await startGateway({ ADMIN_PORT: '0' }, { logger });
    try {
      expect(await apart.admin('GET', '/admin/accounts')).toMatchObject({
        status: 404,
        body: { code: 'unknown_route' },
      });
      expect((await apart.call('GET', '/admin/openapi.json')).status).toBe(404);
      const get = (path: string) =>
        fetch(`${apart.adminUrl}${path}`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
      expect((await get('/admin/accounts')).status).toBe(200);
      expect((await get('/admin/openapi.json')).status).toBe(200);
      expect((await get('/health/live')).status).toBe(200);
      expect((await get('/fe/autenticacion/api/semilla')).status).toBe(404);
      const named = () => lines.find(({ operation }) => operation === 'listAccounts');
      await until(() => named() !== undefined);
      expect(named()).toMatchObject({ actor: 'ADMIN_TOKEN', status: 200 });
    } finally {
      await apart.stop();
    }
  });
});

describe('API keys', () => {
  it('are shown once, listed without their secret, and revoked immediately', async () => {
    const { id, key, keyId } = await makeAccount(under, '131000401');
    expect(key).toMatch(/^ecf_test_[A-Za-z0-9_-]{43}$/);
    const list = await under.admin('GET', `/admin/accounts/${id}/api-keys`);
    expect(list.body).toEqual([
      {
        id: keyId,
        name: 'tests',
        environments: ['TesteCF', 'CerteCF'],
        scopes: ['submit', 'read', 'receive', 'approve', 'cancel'],
        taxpayers: null,
        refuse_warnings: false,
        hint: `${key.slice(0, 12)}…`,
        created_at: expect.any(String),
        expires_at: null,
        last_used_at: null,
        revoked_at: null,
      },
    ]);
    expect(JSON.stringify(list.body)).not.toContain(key.slice(13));
    expect((await under.admin('GET', `/admin/accounts/${id}/api-keys/${keyId}`)).body).toEqual(list.body[0]);

    expect(await under.call('GET', '/obtain_token', { key })).toMatchObject({ status: 200 });
    const used = await under.admin('GET', `/admin/accounts/${id}/api-keys/${keyId}`);
    expect(used.body.last_used_at).toMatch(/^\d{4}-\d\d-\d\dT.*-04:00$/);
    const revoked = await under.admin('DELETE', `/admin/accounts/${id}/api-keys/${keyId}`);
    expect(revoked).toMatchObject({ status: 204, body: '' });
    expect(await under.call('GET', '/obtain_token', { key })).toMatchObject({
      status: 401,
      body: { code: 'invalid_api_key' },
    });
    expect(await under.admin('DELETE', `/admin/accounts/${id}/api-keys/${keyId}`)).toMatchObject({ status: 204 });
    expect((await under.admin('GET', `/admin/accounts/${id}/api-keys/${keyId}`)).body.revoked_at).not.toBeNull();
  });

  it('for production look different', async () => {
    const { key } = await makeAccount(under, '131000402', ['eCF']);
    expect(key).toMatch(/^ecf_live_/);
  });

  it('carry refuse_warnings to the owner of an operation, from the moment of the change, and to their successor', async () => {
    const { id, key, keyId } = await makeAccount(under, '131000405');
    const path = `/admin/accounts/${id}/api-keys`;
    const refuses = async (calling: string) =>
      (await under.call('GET', '/obtain_token', { key: calling })).body.caller.refuse_warnings;
    expect(await refuses(key)).toBeUndefined();
    const changed = await under.admin('PATCH', `${path}/${keyId}`, { refuse_warnings: true });
    expect(changed).toMatchObject({ status: 200, body: { id: keyId, refuse_warnings: true } });
    expect(await refuses(key)).toBe(true);
    const rotated = await under.admin('POST', `${path}/${keyId}/rotate`, {});
    expect(await refuses(rotated.body.key)).toBe(true);
    const made = { name: 'strict', environments: ['TesteCF'], refuse_warnings: true };
    const created = await under.admin('POST', path, made);
    expect(created).toMatchObject({ status: 201, body: { refuse_warnings: true } });
    expect(await refuses(created.body.key)).toBe(true);
    expect((await under.admin('PATCH', `${path}/${keyId}`, { scopes: ['read'] })).status).toBe(422);
  });

  it('have scopes, taxpayers and an expiry, which their successor inherits', async () => {
    const { id } = await makeAccount(under, '131000404');
    const path = `/admin/accounts/${id}/api-keys`;
    const rights = { environments: ['TesteCF'], scopes: ['read', 'submit'], taxpayers: ['131000404'] };
    const created = await under.admin('POST', path, { name: 'erp', ...rights, expires_at: '2099-01-01T00:00:00Z' });
    const shown = { name: 'erp', ...rights, expires_at: '2098-12-31T20:00:00-04:00' };
    expect(created).toMatchObject({ status: 201, body: shown });
    const called = await under.call('GET', '/obtain_token', { key: created.body.key });
    expect(called.body.caller).toMatchObject({
      key_id: created.body.id,
      scopes: ['read', 'submit'],
      taxpayers: ['131000404'],
    });

    const rotated = await under.admin('POST', `${path}/${created.body.id}/rotate`, { overlap_hours: 1 });
    expect(rotated).toMatchObject({ status: 200, body: { id: expect.any(String), key: expect.any(String) } });
    expect((await under.admin('GET', `${path}/${rotated.body.id}`)).body).toMatchObject(shown);
    const old = (await under.admin('GET', `${path}/${created.body.id}`)).body;
    expect(Date.parse(old.expires_at) - Date.now()).toBeLessThanOrEqual(3_600_000);
    for (const key of [created.body.key, rotated.body.key])
      expect(await under.call('GET', '/obtain_token', { key })).toMatchObject({ status: 200 });

    const again = await under.admin('POST', `${path}/${rotated.body.id}/rotate`, { overlap_hours: 0 });
    expect(await under.call('GET', '/obtain_token', { key: rotated.body.key })).toMatchObject({
      status: 401,
      body: { code: 'invalid_api_key' },
    });
    expect(await under.call('GET', '/obtain_token', { key: again.body.key })).toMatchObject({ status: 200 });
    const ended = await under.admin('POST', `${path}/${rotated.body.id}/rotate`, { overlap_hours: 0 });
    expect(ended).toMatchObject({ status: 409, body: { code: 'conflict' } });
    expect(await under.admin('POST', `${path}/nada/rotate`, {})).toMatchObject({ status: 404 });
  });

  it.each([
    [{ environments: ['TesteCF', 'eCF'] }, 'environments'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['write'] }, 'scopes'],
    [{ taxpayers: [] }, 'taxpayers'],
    [{ taxpayers: ['13'] }, 'taxpayers'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ expires_at: '2099-01-01' }, 'expires_at'],
  ])('refuse %j', async (fault, place) => {
    const account = await under.admin('POST', '/admin/accounts', { name: 'Keys' });
    const body = { name: 'k', environments: ['TesteCF'], ...fault };
    const answer = await under.admin('POST', `/admin/accounts/${account.body.id}/api-keys`, body);
    expect(answer).toMatchObject({ status: 422 });
    expect(answer.body.detail[0].loc.slice(0, 2)).toEqual(['body', place]);
  });

  it.each([[[]], [['ECF']], [['TesteCF', 'TesteCF']], ['TesteCF'], [undefined]])(
    'refuse the environments %j',
    async (environments) => {
      const account = await under.admin('POST', '/admin/accounts', { name: 'Keys' });
      const answer = await under.admin('POST', `/admin/accounts/${account.body.id}/api-keys`, {
        name: 'k',
        environments,
      });
      expect(answer).toMatchObject({ status: 422 });
      expect(answer.body.detail[0].loc.slice(0, 2)).toEqual(['body', 'environments']);
    },
  );

  it('of an inactive account are refused until it is active again', async () => {
    const { id, key } = await makeAccount(under, '131000403');
    await under.admin('PATCH', `/admin/accounts/${id}`, { active: false });
    expect(await under.call('GET', '/obtain_token', { key })).toMatchObject({
      status: 401,
      body: { code: 'invalid_api_key' },
    });
    await under.admin('PATCH', `/admin/accounts/${id}`, { active: true });
    expect(await under.call('GET', '/obtain_token', { key })).toMatchObject({ status: 200 });
    await until(() => under.events.filter((event) => event.key === '131000403').length === 3);
    const states = under.events
      .filter((event) => event.key === '131000403')
      .map((event) => taxpayerStateSchema.parse(event.data));
    expect(states.map((state) => state.account_active)).toEqual([true, false, true]);
  });
});

describe('the administration', () => {
  it.each([undefined, 'Bearer wrong', `Basic ${ADMIN_TOKEN}`, `Bearer ${ADMIN_TOKEN}x`, 'Bearer'])(
    'refuses %j',
    async (authorization) => {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      expect(await under.call('GET', '/admin/accounts', { headers })).toMatchObject({
        status: 401,
        body: { code: 'invalid_admin_token' },
      });
    },
  );

  it('does not exist without a token', async () => {
    const without = await startGateway({ ADMIN_TOKEN: '' });
    expect(await without.admin('GET', '/admin/accounts')).toMatchObject({
      status: 404,
      body: { code: 'unknown_route' },
    });
    await without.stop();
  });

  it('answers other methods with 405 and unknown addresses with 404', async () => {
    expect(await under.admin('PUT', '/admin/accounts', {})).toMatchObject({
      status: 405,
      body: { code: 'method_not_allowed' },
    });
    expect((await under.admin('DELETE', '/admin/accounts/x')).headers.get('allow')).toBe('GET, PATCH');
    expect(await under.admin('GET', '/admin/nothing')).toMatchObject({ status: 404, body: { code: 'unknown_route' } });
    expect(await under.admin('GET', '/admin/accounts/')).toMatchObject({ status: 200 });
    expect(await under.admin('GET', '/admin/accounts?limit=1')).toMatchObject({ status: 200, body: [{}] });
    expect(await under.admin('GET', '/admin/accounts?limit=0')).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['query', 'limit'] }] },
    });
  });
});

it('a read-only database is 503; afterwards writes work again', async () => {
  const { DATABASE_URL } = under.config;
  const name = new URL(DATABASE_URL).pathname.slice(1);
  const database = openDatabase(DATABASE_URL, { max: 1 });
  await database.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
  await database.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  const create = () => under.admin('POST', '/admin/accounts', { name: 'Colmado Nuevo' });
  const { status, body } = await create();
  expect([status, body.code]).toEqual([503, 'service_unavailable']);
  await database.query(`ALTER DATABASE "${name}" RESET default_transaction_read_only`);
  await database.close();
  expect((await create()).status).toBe(201);
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Client, newAccount, testCertificate, uploadCertificate } from '../support/client.js';
import { useDeployment } from '../support/deployment/deployment.js';
import {
  indented,
  Numbering,
  otherContent,
  signedByCaller,
  summaryByCaller,
  withLines,
} from '../support/documents/documents.js';
import { until } from '../support/until.js';

const TAXPAYER = { rnc: '101000252', name: 'Firma Propia Inventada, SRL' };
const deployment = useDeployment({
  // Longer than a busy machine may suspend a process.
  AUTHORITY_TIMEOUT_MS: '3000',
  RESEND_AFTER_MS: '200',
  FIRST_RETRY_MS: '100',
  FIRST_QUERY_MS: '100',
  BACKGROUND_IDLE_MS: '250',
});
const numbers = new Numbering(TAXPAYER);
const file = testCertificate(TAXPAYER.rnc);
let client: Client & { accountId: string };
let token: string;

beforeAll(async () => {
  client = await newAccount(deployment.running, TAXPAYER);
  token = await client.token();
});

/** A token in the authority's form that has expired. */
function expiredToken(): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'HS256' })}.${part({ exp: Math.floor(Date.now() / 1_000) - 3_600 })}.c2lnbmF0dXJl`;
}

describe('an authority that reads documents as .NET does', () => {
  const readsStrictly = (strict: boolean) => client.control('PUT', '/signatures', { strict });
  beforeAll(() => readsStrictly(true));
  afterAll(() => readsStrictly(false));

  it('accepts an invoice in JSON with carriage returns and blanks, and the answer names what was written otherwise', async () => {
    const { invoice } = numbers.next('ecf-31', (ecf) => {
      ecf.Encabezado.Emisor.DireccionEmisor = 'Calle Uno 1\r\nEdificio Dos';
      ecf.Encabezado.Comprador.ContactoComprador = ' \t';
    });
    const { body } = await client.until('Aceptado', () => client.submit(invoice));
    expect(body.xml).toContain('<DireccionEmisor>Calle Uno 1\nEdificio Dos</DireccionEmisor>');
    expect(body.warnings).toMatchObject([
      { rule: 'schema.carriage-return', path: 'ECF.Encabezado.Emisor.DireccionEmisor' },
      { rule: 'schema.blanks', path: 'ECF.Encabezado.Comprador.ContactoComprador' },
    ]);
  });

  it('refuses signed XML that holds only with its blanks, of which the first answer warned', async () => {
    const { invoice } = numbers.next();
    const { xml } = await signedByCaller(invoice, file, '20-06-2026 10:00:00', indented);
    const first = await client.submitSigned('/submit_ecf', xml, token);
    expect(first).toMatchObject({ status: 200, body: { warnings: [{ rule: 'signature.blanks', path: 'ECF' }] } });
    const { body } = await client.until('Rechazado', () => client.submitSigned('/submit_ecf', xml, token));
    expect(body.messages).toMatchObject([{ valor: 'Certificado y/o firma inválida.' }]);
  });
});

describe('a number in JSON', () => {
  it('that is an RNC is refused, and the eNCF stays free', async () => {
    const { invoice, encf } = numbers.next('ecf-31', (ecf) => {
      ecf.Encabezado.Comprador.RNCComprador = 120000229;
    });
    const { status, body } = await client.submit(invoice);
    expect([status, body.faults]).toEqual([
      400,
      [expect.objectContaining({ rule: 'schema.text-expected', path: 'ECF.Encabezado.Comprador.RNCComprador' })],
    ]);
    expect(await client.ledger(encf)).toEqual([]);
  });
});

describe('POST /submit_ecf', () => {
  it('forwards the bytes as they came and answers the trackId', async () => {
    const { invoice, encf } = numbers.next();
    const { xml, signatureValue } = await signedByCaller(invoice, file);
    const answer = await client.submitSigned('/submit_ecf', xml, token);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        trackId: expect.any(String),
        messages: [],
        encf,
        security_code: signatureValue.slice(0, 6),
        warnings: [],
      },
    });
    const [row, ...more] = await client.ledger(encf);
    expect(more).toEqual([]);
    expect(row?.track_id).toBe(answer.body.trackId);
    expect(await client.submittedXml(row!)).toBe(xml);
    const again = await client.until('Aceptado', () => client.submitSigned('/submit_ecf', xml, token));
    expect(again.body).toMatchObject({ trackId: answer.body.trackId, sequence_used: true });
    const other = (await signedByCaller(otherContent(invoice), file)).xml;
    const conflict = await client.submitSigned('/submit_ecf', other, token);
    expect(conflict).toMatchObject({ status: 409, body: { code: 'encf_already_used' } });
    expect(await client.ledger(encf)).toHaveLength(1);
  });

  it('many times at the same moment is one submission', async () => {
    const { invoice, encf } = numbers.next();
    const { xml } = await signedByCaller(invoice, file);
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.submitSigned('/submit_ecf', xml, token)));
    const [row, ...more] = await client.ledger(encf);
    expect(more).toEqual([]);
    for (const { status, body } of answers) expect([status, body.trackId]).toEqual([200, row?.track_id]);
  });

  it('without a token is 422; with an expired one, or one that the authority refuses, 401: the number stays free', async () => {
    const { invoice, encf } = numbers.next();
    const { xml } = await signedByCaller(invoice, file);
    const none = await client.call('POST', '/submit_ecf', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ xml }),
    });
    expect(none).toMatchObject({ status: 422, body: { detail: [{ loc: ['header', 'x-token'] }] } });
    for (const bad of [expiredToken(), 'nada', 'a b', `${token}x`]) {
      const answer = await client.submitSigned('/submit_ecf', xml, bad);
      expect(answer).toMatchObject({ status: 401, body: { code: 'invalid_token' } });
    }
    expect(await client.ledger(encf)).toEqual([]);
    const other = (await signedByCaller(otherContent(invoice), file)).xml;
    const good = await client.submitSigned('/submit_ecf', other, token);
    expect(good).toMatchObject({ status: 200, body: { trackId: expect.any(String), encf } });
  });

  it('refuses an invalid signed e-CF with 400, a body without an XmlItem with 422 or 415', async () => {
    const { invoice, encf } = numbers.next();
    const { xml } = await signedByCaller(invoice, file);
    const cases: [string, string, string][] = [
      ['no XML', 'hola', 'invalid_xml'],
      ['cut', xml.slice(0, -20), 'invalid_xml'],
      ['a DOCTYPE', xml.replace('<ECF', '<!DOCTYPE ECF [<!ENTITY a "b">]><ECF'), 'invalid_xml'],
      ['changed after signing', xml.replace('Silla plegable', 'Silla plegada'), 'invalid_xml'],
      ['unsigned', xml.replace(/<Signature .*<\/Signature>/s, ''), 'invalid_xml'],
      ['another document', (await summaryByCaller(numbers.next('ecf-32').invoice, file)).xml, 'invalid_document'],
      ['two roots', `${xml}<ECF/>`, 'invalid_xml'],
      ['a small type 32', (await signedByCaller(numbers.next('ecf-32').invoice, file)).xml, 'wrong_endpoint'],
      ['faults', (await signedByCaller(withLines(invoice, 1_001), file)).xml, 'invalid_document'],
    ];
    for (const [what, body, code] of cases) {
      const answer = await client.submitSigned('/submit_ecf', body, token);
      expect([what, answer.status, answer.body.code]).toEqual([what, 400, code]);
    }
    const headers = { 'content-type': 'application/json', 'x-token': token };
    for (const [body, status] of [
      ['{}', 422],
      ['[]', 422],
      ['null', 422],
      ['{"xml":true}', 422],
      ['{"xml":["<ECF/>"]}', 422],
      ['{"xml":""}', 422],
      ['{"xml":', 400],
      ['', 400],
    ] as const) {
      const answer = await client.call('POST', '/submit_ecf', { headers, body });
      expect([body, answer.status]).toEqual([body, status]);
    }
    const typed = await client.call('POST', '/submit_ecf', {
      headers: { ...headers, 'content-type': 'application/xml' },
      body: xml,
    });
    expect(typed.status).toBe(415);
    expect(await client.ledger(encf)).toEqual([]);
  });

  it('in a dry run answers Validado and leaves nothing', async () => {
    const { invoice, encf } = numbers.next();
    const { xml } = await signedByCaller(invoice, file);
    const dry = () =>
      client.call('POST', '/submit_ecf?validate=true', {
        headers: { 'content-type': 'application/json', 'x-token': token },
        body: JSON.stringify({ xml }),
      });
    expect(await dry()).toMatchObject({ status: 200, body: { status: 'Validado', encf, trackId: null } });
    expect(await client.ledger(encf)).toEqual([]);
    const real = await client.submitSigned(
      '/submit_ecf',
      (await signedByCaller(otherContent(invoice), file)).xml,
      token,
    );
    expect(real.status).toBe(200);
    expect((await dry()).status).toBe(409);
  });

  it.each([
    ['cut before noting', { kind: 'reset' }],
    ['cut after noting', { kind: 'reset-after' }],
    ['silent', { kind: 'timeout-after' }],
    ['answering HTML', { kind: 'http', status: 200, body: '<html>espere</html>' }],
    ['answering an empty 400', { kind: 'http', status: 400, body: '' }],
  ])('while the authority is %s is 408; a repeat of the same bytes gets the trackId', async (_what, fault) => {
    const { invoice, encf } = numbers.next();
    const { xml } = await signedByCaller(invoice, file);
    await client.fault({ operation: 'recepcion', times: 1, ...fault });
    const first = await client.submitSigned('/submit_ecf', xml, token);
    expect(first).toMatchObject({ status: 408, body: { code: 'authority_timeout' } });
    const other = (await signedByCaller(otherContent(invoice), file)).xml;
    const conflict = await client.submitSigned('/submit_ecf', other, token);
    expect(conflict).toMatchObject({ status: 409, body: { code: 'encf_already_used' } });
    const known = await client.until('Aceptado', () => client.submitSigned('/submit_ecf', xml, token));
    const rows = await client.ledger(encf);
    expect(rows.filter(({ effective }) => effective)).toHaveLength(1);
    expect(rows).toHaveLength(1);
    expect(known.body.trackId).toBe(rows[0]?.track_id);
    expect(await client.submittedXml(rows[0]!)).toBe(xml);
  });

  it('in CerteCF, which has no query, a lost document waits for the operator and is not resent', async () => {
    const { invoice, encf } = numbers.next();
    const { xml } = await signedByCaller(invoice, file);
    await client.fault({ operation: 'recepcion', times: 1, kind: 'reset-after' });
    const env = { env: 'CerteCF' };
    const certified = await client.token(env);
    expect((await client.submitSigned('/submit_ecf', xml, certified, env)).status).toBe(408);
    await until(deployment.metrics, (metrics) => /^ecf_alarms_total\{[^}]*kind="no-query"[^}]*\} [1-9]/m.test(metrics));
    expect((await client.submitSigned('/submit_ecf', xml, certified, env)).status).toBe(408);
    expect(await client.ledger(encf)).toHaveLength(1);
  });
});

describe('a taxpayer without a stored certificate', () => {
  it('has its lost document resent only by the next repeat, and an alarm reports it', async () => {
    const taxpayer = { rnc: '101000376', name: 'Sin Llave Inventada, SRL' };
    const keyless = await newAccount(deployment.running, taxpayer, { certificate: false });
    const alarms = (metrics: string) => {
      const rows = metrics.matchAll(/^ecf_alarms_total\{[^}]*kind="no-certificate"[^}]*\} (\d+)/gm);
      return [...rows].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    for (const [example, route, operation] of [
      ['ecf-31', '/submit_ecf', 'recepcion'],
      ['ecf-32', '/submit_fc', 'recepcionfc'],
    ] as const) {
      const { invoice, encf } = new Numbering(taxpayer).next(example);
      const sign = example === 'ecf-31' ? signedByCaller : summaryByCaller;
      const { xml } = await sign(invoice, testCertificate(taxpayer.rnc));
      const before = alarms(await deployment.metrics());
      await client.fault({ operation, times: 1, kind: 'reset' });
      const first = await keyless.submitSigned(route, xml, token);
      expect(first.body.code ?? first.body.status).toBe(example === 'ecf-31' ? 'authority_timeout' : 'EnProceso');
      await until(deployment.metrics, (metrics) => alarms(metrics) > before);
      expect(await client.ledger(encf, taxpayer.rnc)).toEqual([]);
      await client.until('Aceptado', () => keyless.submitSigned(route, xml, token));
      expect(await client.ledger(encf, taxpayer.rnc)).toHaveLength(1);
    }
  });
});

describe('POST /submit_fc', () => {
  it('forwards the summary and answers its verdict; the caller keeps the document', async () => {
    const { invoice, encf } = numbers.next('ecf-32');
    const { xml, securityCode } = await summaryByCaller(invoice, file);
    const answer = await client.submitSigned('/submit_fc', xml, token);
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'Aceptado', messages: [], encf, security_code: securityCode, sequence_used: true },
    });
    expect(answer.body.warnings).toEqual([expect.objectContaining({ path: 'RFCE', message: expect.any(String) })]);
    expect(answer.body).not.toHaveProperty('trackId');
    expect((await client.submitSigned('/submit_fc', xml, token)).body).toEqual(answer.body);
    const [row, ...more] = await client.ledger(encf);
    expect(more).toEqual([]);
    expect(await client.submittedXml(row!)).toBe(xml);
  });

  it('of 250,000.00 and above is 400', async () => {
    for (const total of ['250000.00', '250000.01', '1000000.00']) {
      const { invoice, encf } = numbers.next('ecf-32', (ecf) => {
        const [item] = withLines({ ECF: ecf }, 1).ECF.DetallesItems.Item;
        ecf.Encabezado = withLines({ ECF: ecf }, 1).ECF.Encabezado;
        ecf.Encabezado.Totales = { MontoExento: total, MontoTotal: total };
        ecf.Encabezado.Comprador = { RNCComprador: '188888885', RazonSocialComprador: 'Taller Caoba Imaginario, SRL' };
        ecf.DetallesItems.Item = [{ ...item, PrecioUnitarioItem: `${total}00`, MontoItem: total }];
      });
      const { xml } = await summaryByCaller(invoice, file);
      const answer = await client.submitSigned('/submit_fc', xml, token);
      expect([total, answer.status]).toEqual([total, 400]);
      expect(answer.body.detail).toContain('250,000');
      expect(await client.ledger(encf)).toEqual([]);
    }
  });

  it('without a good token is 401, with another document 400', async () => {
    const { invoice, encf } = numbers.next('ecf-32');
    const { xml } = await summaryByCaller(invoice, file);
    for (const bad of [expiredToken(), 'nada'])
      expect(await client.submitSigned('/submit_fc', xml, bad)).toMatchObject({
        status: 401,
        body: { code: 'invalid_token' },
      });
    const full = (await signedByCaller(invoice, file)).xml;
    expect(await client.submitSigned('/submit_fc', full, token)).toMatchObject({ status: 400 });
    const tampered = xml.replace('<TipoIngresos>01', '<TipoIngresos>02');
    expect(await client.submitSigned('/submit_fc', tampered, token)).toMatchObject({
      status: 400,
      body: { code: 'invalid_xml' },
    });
    expect(await client.ledger(encf)).toEqual([]);
    expect((await client.submitSigned('/submit_fc', xml, token)).body.status).toBe('Aceptado');
  });

  it.each([
    ['cut before noting', { kind: 'reset' }],
    ['cut after noting', { kind: 'reset-after' }],
    ['answering HTML', { kind: 'http', status: 502, body: '<html>Bad Gateway</html>' }],
  ])('while the authority is %s is 200 EnProceso, and comes to its end', async (_what, fault) => {
    const { invoice, encf } = numbers.next('ecf-32');
    const { xml } = await summaryByCaller(invoice, file);
    await client.fault({ operation: 'recepcionfc', times: 1, ...fault });
    const first = await client.submitSigned('/submit_fc', xml, token);
    expect(first).toMatchObject({ status: 200, body: { status: 'EnProceso', sequence_used: null } });
    await client.until('Aceptado', () => client.submitSigned('/submit_fc', xml, token));
    expect((await client.ledger(encf)).map(({ effective }) => effective)).toEqual([true]);
  });
});

describe('GET /obtain_token', () => {
  const ask = (headers: Record<string, string> = {}, by: Client = client) =>
    by.call('GET', '/obtain_token', { headers });

  it('answers a bearer token, the same one until it expires, another for each environment', async () => {
    const first = await ask();
    expect(first).toMatchObject({
      status: 200,
      body: { token: expect.any(String), expires_in: expect.any(Number), token_type: 'Bearer' },
    });
    expect(first.body.expires_in).toBeGreaterThan(3_000);
    expect(first.body.expires_in).toBeLessThanOrEqual(3_600);
    const together = await Promise.all(Array.from({ length: 20 }, () => client.token()));
    expect(new Set(together)).toEqual(new Set([first.body.token]));
    expect(await client.token({ env: 'CerteCF' })).not.toBe(first.body.token);
  });

  it('takes the taxpayer of rnc-issuing, else the oldest one with a valid certificate', async () => {
    const second = { rnc: '101000279', name: 'Segunda Inventada, SRL' };
    await client.admin('POST', `/accounts/${client.accountId}/taxpayers`, second);
    const missing = await ask({ 'rnc-issuing': second.rnc });
    expect(missing).toMatchObject({ status: 404, body: { code: 'not_found' } });
    const holderId = '00300000024';
    await uploadCertificate(client, client.accountId, second.rnc, testCertificate(second.rnc, { holderId }));
    const theirs = await client.token({ 'rnc-issuing': second.rnc });
    expect(Buffer.from(theirs.split('.')[1] ?? '', 'base64url').toString()).toContain(holderId);
    expect(await client.token()).toBe(token);
    expect(await client.token({ 'rnc-issuing': TAXPAYER.rnc })).toBe(token);
    for (const malformed of ['12', 'abcdefghi', '101000279 '.repeat(2)]) {
      const answer = await ask({ 'rnc-issuing': malformed });
      expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['header', 'rnc-issuing'] }] } });
    }
  });

  it('is 404 without any certificate, 401 if the login is refused, 503 if it is down, 502 if it is unreadable', async () => {
    const newcomer = await newAccount(
      deployment.running,
      { rnc: '101000295', name: 'Sin Firma, SRL' },
      { certificate: false },
    );
    expect(await ask({}, newcomer)).toMatchObject({ status: 404, body: { code: 'not_found' } });

    const holderId = '00400000031';
    await client.control('PUT', `/taxpayers/${holderId}`, { name: 'Sin delegación', active: false });
    await uploadCertificate(newcomer, newcomer.accountId, '101000295', testCertificate('101000295', { holderId }));
    const refused = await ask({}, newcomer);
    expect(refused).toMatchObject({ status: 401, body: { code: 'login_refused' } });
    expect(refused.body.detail).toContain('no está delegado');

    await uploadCertificate(newcomer, newcomer.accountId, '101000295', testCertificate('101000295'));
    for (const [fault, status, code] of [
      [{ kind: 'down' }, 503, 'authority_unreachable'],
      [{ kind: 'http', status: 503, body: '<html>mantenimiento</html>' }, 503, 'authority_unreachable'],
      [{ kind: 'http', status: 200, body: '<html>hola</html>' }, 502, 'authority_unreadable'],
      [{ kind: 'http', status: 200, body: '{"token":""}' }, 502, 'authority_unreadable'],
      [{ kind: 'timeout' }, 503, 'authority_unreachable'],
    ] as const) {
      const end = await client.fault({ operation: 'autenticacion', ...fault });
      const answer = await ask({}, newcomer);
      await end();
      expect([fault.kind, answer.status, answer.body.code]).toEqual([fault.kind, status, code]);
    }
    expect((await ask({}, newcomer)).status).toBe(200);
  });
});

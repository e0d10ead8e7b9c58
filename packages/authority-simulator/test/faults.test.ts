import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Authority } from './support/authority.js';
import { ecf, ISSUER, rfce } from './support/documents.js';
import { certificate, sign } from './support/signing.js';

let authority: Authority;
let sequence = 0;
const encf = (type = '31') => `E${type}${String(++sequence).padStart(10, '0')}`;
const invoice = (number = encf()) => sign(ecf({ encf: number }), certificate());

beforeAll(async () => {
  authority = await Authority.start({ random: () => 0.5 });
  await authority.token();
});
afterEach(() => authority.control('DELETE', 'faults'));
afterAll(() => authority.stop());

const rejects = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'answered',
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );

async function post(xml: string, timeoutMs?: number) {
  const boundary = 'B';
  const name = `${ISSUER}${/<eNCF>([^<]+)/.exec(xml)?.[1]}.xml`;
  return authority.call('/testecf/recepcion/api/facturaselectronicas', {
    ...(timeoutMs ? { timeoutMs } : {}),
    headers: {
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
      Authorization: `Bearer ${await authority.token()}`,
    },
    body: `--${boundary}\r\nContent-Disposition: form-data; name="xml"; filename="${name}"\r\n\r\n${xml}\r\n--${boundary}--\r\n`,
  });
}

describe('a fault of the connection', () => {
  it.each([
    ['timeout', 'no answer', 0],
    ['timeout-after', 'no answer', 1],
    ['reset', 'ECONNRESET', 0],
    ['reset-after', 'ECONNRESET', 1],
    ['down', 'ECONNRESET', 0],
  ])('of the kind %s ends the call with %s, and the submission is noted %i times', async (kind, error, noted) => {
    const number = encf();
    await authority.fault({ operation: 'recepcion', kind });
    expect(await rejects(post(invoice(number), 300))).toBe(error);
    const listed = await authority.submissions(`?encf=${number}`);
    expect(listed.map((each) => [each.answered, each.effective])).toEqual(noted ? [[false, true]] : []);
  });

  it('of the kind http gives the status, body and headers of the fault, and notes no submission', async () => {
    const number = encf();
    const body = '<html>Bad Gateway</html>';
    await authority.fault({ operation: '*', kind: 'http', status: 502, body, headers: { 'Retry-After': '7' } });
    const reply = await post(invoice(number));
    expect([reply.status, reply.text, reply.headers['content-type'], reply.headers['retry-after']]).toEqual([
      502,
      body,
      'text/html; charset=utf-8',
      '7',
    ]);
    expect(await authority.submissions(`?encf=${number}`)).toEqual([]);
  });

  it('of the kind http may have an empty body, or one that is JSON', async () => {
    await authority.fault({ operation: 'recepcion', kind: 'http', status: 400, times: 1 });
    const empty = await post(invoice());
    expect([empty.status, empty.text, empty.headers['content-type']]).toEqual([400, '', undefined]);
    await authority.fault({ operation: 'recepcion', kind: 'http', status: 400, body: { a: 1 }, times: 1 });
    expect((await post(invoice())).json()).toEqual({ a: 1 });
  });

  it('of the kind slow notes a submission immediately and answers it later', async () => {
    const number = encf();
    await authority.fault({ operation: 'recepcion', kind: 'slow', delay_ms: 1_000 });
    const reply = post(invoice(number));
    let listed = await authority.submissions(`?encf=${number}`);
    while (listed.length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      listed = await authority.submissions(`?encf=${number}`);
    }
    expect(listed[0].answered).toBe(false);
    expect((await reply).status).toBe(200);
    expect((await authority.submissions(`?encf=${number}`))[0].answered).toBe(true);
  });

  it('of the kind slow gives no answer to a caller that does not wait', async () => {
    const number = encf();
    await authority.fault({ operation: 'recepcion', kind: 'slow', delay_ms: 1_000 });
    expect(await rejects(post(invoice(number), 100))).toBe('no answer');
    // The delay of a later call ends later.
    await post(invoice());
    expect(await authority.submissions(`?encf=${number}`)).toMatchObject([{ answered: false, effective: true }]);
  });
});

describe('a fault', () => {
  it('hits as many calls as its times', async () => {
    const id = await authority.fault({ operation: 'recepcion', kind: 'http', status: 500, times: 2 });
    const statuses = [];
    for (let call = 0; call < 3; call++) statuses.push((await post(invoice())).status);
    expect(statuses).toEqual([500, 500, 200]);
    const listed = (await authority.control('GET', 'faults')).json();
    expect(listed).toMatchObject([{ id, operation: 'recepcion', kind: 'http', times: 0, rate: 1, status: 500 }]);
  });

  it('hits a call with the probability of its rate', async () => {
    await authority.fault({ operation: 'recepcion', kind: 'http', rate: 0.5 });
    expect((await post(invoice())).status).toBe(200);
    await authority.fault({ operation: 'recepcion', kind: 'http', rate: 0.51 });
    expect((await post(invoice())).status).toBe(503);
  });

  it('hits its operation and no other', async () => {
    await authority.fault({ operation: 'consultaresultado', kind: 'http' });
    expect((await post(invoice())).status).toBe(200);
    expect((await authority.get('consultaresultado/api/consultas/estado?trackid=x')).status).toBe(503);
    expect((await authority.get('consultatrackids/api/trackids/consulta')).status).toBe(400);
  });

  it('hits everything but the control interface if its operation is *', async () => {
    await authority.fault({ operation: '*', kind: 'down' });
    expect(await rejects(authority.call('/testecf/consultatimbre?x=1'))).toBe('ECONNRESET');
    expect((await authority.control('GET', 'faults')).status).toBe(200);
  });

  it('lasts until it is deleted', async () => {
    const id = await authority.fault({ operation: 'recepcion', kind: 'http' });
    expect((await post(invoice())).status).toBe(503);
    expect((await authority.control('DELETE', `faults/${id}`)).status).toBe(204);
    expect((await post(invoice())).status).toBe(200);
    expect((await authority.control('DELETE', `faults/${id}`)).status).toBe(404);
  });
});

describe('a fault of the document', () => {
  it('of the kind processing leaves a document in process until the fault is deleted', async () => {
    const id = await authority.fault({ operation: 'recepcion', kind: 'processing', times: 1 });
    const { trackId } = (await post(invoice())).json();
    authority.pass(86_400_000);
    authority.now = new Date('2026-06-23T21:45:47.000Z');
    expect((await authority.result(trackId)).codigo).toBe('3');
    expect(await authority.submissions(`?encf=${(await authority.result(trackId)).encf}`)).toMatchObject([
      { code: '3', status: 'En Proceso' },
    ]);
    await authority.control('DELETE', `faults/${id}`);
    expect((await authority.result(trackId)).codigo).toBe('1');
  });

  it('of the kind processing on the query answers in process while the fault lasts', async () => {
    const { trackId } = (await post(invoice())).json();
    await authority.fault({ operation: 'consultaresultado', kind: 'processing', times: 1 });
    expect((await authority.result(trackId)).codigo).toBe('3');
    expect((await authority.result(trackId)).codigo).toBe('1');
  });

  it('of the kind verdict gives its verdict, which has its effect on the number', async () => {
    const number = encf();
    const verdict = {
      codigo: 2,
      estado: 'Rechazado',
      mensajes: [{ codigo: 1209, valor: 'Este número de secuencia ya ha sido utilizado.' }],
      secuenciaUtilizada: false,
    };
    await authority.fault({ operation: 'recepcion', kind: 'verdict', verdict, times: 1 });
    const { trackId } = (await post(invoice(number))).json();
    expect(await authority.result(trackId)).toMatchObject({ ...verdict, codigo: '2' });
    expect((await post(invoice(number))).status).toBe(200);
    expect((await authority.submissions(`?encf=${number}`)).map((each) => each.effective)).toEqual([false, true]);
  });

  it('of the kind verdict never allows a second document for a number', async () => {
    const number = encf();
    await post(invoice(number));
    await authority.fault({ operation: 'recepcion', kind: 'verdict', verdict: { codigo: '4' }, times: 1 });
    const { trackId } = (await post(invoice(number))).json();
    expect(await authority.result(trackId)).toMatchObject({ codigo: '4', estado: 'Aceptado Condicional' });
    expect((await authority.submissions(`?encf=${number}`)).map((each) => each.effective)).toEqual([true, false]);
  });

  it('of the kind verdict on a query changes that answer only', async () => {
    const number = encf('32');
    await authority.sendSummary(sign(rfce(number, 'AAAAAA'), certificate()));
    await authority.fault({ operation: 'consultarfce', kind: 'verdict', verdict: { codigo: 2 }, times: 1 });
    const query = `consultarfce/api/consultas/consulta?rnc_emisor=${ISSUER}&encf=${number}&cod_seguridad_ecf=AAAAAA`;
    expect((await authority.get(query)).json()).toMatchObject({ codigo: '2', estado: 'Rechazado' });
    expect((await authority.get(query)).json().codigo).toBe('1');
  });

  it('may come together with one of the connection', async () => {
    const number = encf();
    await authority.fault({ operation: 'recepcion', kind: 'reset-after' });
    await authority.fault({ operation: 'recepcion', kind: 'verdict', verdict: { codigo: 4 } });
    expect(await rejects(post(invoice(number)))).toBe('ECONNRESET');
    expect(await authority.submissions(`?encf=${number}`)).toMatchObject([{ code: '4', answered: false }]);
  });
});

describe('the control interface', () => {
  it('gives exact bytes and their sum', async () => {
    const number = encf();
    const xml = `<?xml version="1.0"?>\r\n${invoice(number)}\n`;
    await post(xml);
    const [listed] = await authority.submissions(`?rnc=${ISSUER}&encf=${number.toLowerCase()}&operation=recepcion`);
    expect(listed).toEqual({
      id: expect.any(String),
      operation: 'recepcion',
      env: 'TesteCF',
      rnc: ISSUER,
      encf: number,
      filename: `${ISSUER}${number}.xml`,
      sha256: createHash('sha256').update(xml).digest('hex'),
      received_at: '2026-06-23T17:45:47-04:00',
      track_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      code: '1',
      status: 'Aceptado',
      effective: true,
      answered: true,
    });
    const bytes = await authority.control('GET', `submissions/${listed.id}/xml`);
    expect([bytes.headers['content-type'], bytes.text]).toEqual(['application/xml', xml]);
    expect((await authority.control('GET', 'submissions/999999/xml')).status).toBe(404);
    expect((await authority.control('GET', 'submissions/abc/xml')).status).toBe(404);
  });

  it('lists neither queries nor logins nor refused tokens', async () => {
    const before = (await authority.submissions()).length;
    await authority.get('consultatrackids/api/trackids/consulta');
    await authority.call('/testecf/recepcion/api/facturaselectronicas', { body: 'x' });
    expect((await authority.submissions()).length).toBe(before);
    expect(await authority.submissions('?operation=autenticacion')).toEqual([]);
  });

  it.each([
    ['GET', 'submissions?operation=other', undefined],
    ['POST', 'faults', 'nonsense'],
    ['POST', 'faults', []],
    ['POST', 'faults', null],
    ['POST', 'faults', {}],
    ['POST', 'faults', { operation: 'x', kind: 'reset' }],
    ['POST', 'faults', { operation: '*', kind: 'x' }],
    ['POST', 'faults', { operation: '*', kind: 'reset', times: 0 }],
    ['POST', 'faults', { operation: '*', kind: 'reset', times: '1' }],
    ['POST', 'faults', { operation: '*', kind: 'reset', rate: 2 }],
    ['POST', 'faults', { operation: '*', kind: 'reset', rate: Number.NaN.toString() }],
    ['POST', 'faults', { operation: '*', kind: 'reset', other: 1 }],
    ['POST', 'faults', { operation: '*', kind: 'slow' }],
    ['POST', 'faults', { operation: '*', kind: 'slow', delay_ms: -1 }],
    ['POST', 'faults', { operation: '*', kind: 'http', status: 99 }],
    ['POST', 'faults', { operation: '*', kind: 'http', headers: { 'a\r\nb': 'c' } }],
    ['POST', 'faults', { operation: '*', kind: 'verdict' }],
    ['POST', 'faults', { operation: '*', kind: 'verdict', verdict: [] }],
    ['POST', 'faults', { operation: '*', kind: 'verdict', verdict: {} }],
    ['POST', 'faults', { operation: '*', kind: 'verdict', verdict: { codigo: 2, mensajes: 'x' } }],
    ['POST', 'faults', { operation: '*', kind: 'verdict', verdict: { codigo: 2, mensajes: [1] } }],
    ['POST', 'faults', { operation: '*', kind: 'reset', verdict: { codigo: 2 } }],
    ['POST', 'faults', { operation: 'autenticacion', kind: 'verdict', verdict: { codigo: 2 } }],
    ['POST', 'faults', { operation: 'recepcionfc', kind: 'processing' }],
    ['PUT', 'taxpayers/123', {}],
    ['PUT', 'taxpayers/101672919', { name: 1 }],
    ['PUT', 'taxpayers/101672919', { active: 'yes' }],
    ['PUT', 'taxpayers/101672919', { rnc: '101672918' }],
    ['PUT', 'taxpayers/101672919', { delegates: [1] }],
    ['PUT', 'taxpayers/101672919', { reception_url: 'ftp://x' }],
    ['PUT', 'taxpayers/101672919', { reception_url: 'x' }],
    ['PUT', 'taxpayers/101672919', { ranges: [{ ecf_type: '99', from: 1, to: 2 }] }],
    ['PUT', 'taxpayers/101672919', { ranges: [{ ecf_type: '31', from: 2, to: 1 }] }],
    ['PUT', 'taxpayers/101672919', { ranges: [{ ecf_type: '31', from: 'E320000000001', to: 2 }] }],
    ['PUT', 'taxpayers/101672919', { ranges: [{ ecf_type: '31', from: 1, to: 2, expires: '31-02-2027' }] }],
    ['PUT', 'taxpayers/101672919', { ranges: [{ ecf_type: '31', from: 1, to: 2, env: 'x' }] }],
    ['PUT', 'taxpayers/%E0%A4%A', {}],
  ])('refuses %s %s %j with a sentence', async (method, path, body) => {
    const reply = await authority.control(method, path, body);
    expect(reply.status).toBe(400);
    expect(reply.json()).toEqual({ detail: expect.stringMatching(/^[A-Z_a-z].*\.$/) });
    expect((await authority.control('GET', 'faults')).json()).toEqual([]);
  });

  it('answers 404 and 405 with a sentence', async () => {
    expect((await authority.control('GET', 'other')).status).toBe(404);
    const wrong = await authority.control('PATCH', 'faults');
    expect([wrong.status, wrong.json().detail]).toEqual([405, '/_control/faults takes GET and POST and DELETE.']);
    expect((await authority.control('GET', 'taxpayers/101672919')).status).toBe(404);
  });

  it('registers a taxpayer with all its fields, and removes it', async () => {
    const reply = await authority.control('PUT', 'taxpayers/101672919', {
      name: 'UNO',
      ranges: [{ env: 'eCF', ecf_type: 31, from: 'E310000000001', to: '20', expires: '2027-12-31' }],
      delegates: ['IDCDO-00112345673'],
      approval_url: 'http://127.0.0.1:1/x',
    });
    const stored = {
      rnc: '101672919',
      name: 'UNO',
      active: true,
      electronic: true,
      ranges: [{ env: 'eCF', ecf_type: '31', from: 1, to: 20, expires: '31-12-2027' }],
      delegates: ['00112345673'],
      reception_url: null,
      approval_url: 'http://127.0.0.1:1/x',
      authentication_url: null,
    };
    expect([reply.status, reply.json()]).toEqual([200, stored]);
    expect((await authority.control('GET', 'taxpayers')).json()).toEqual([stored]);
    expect((await authority.control('DELETE', 'taxpayers/101672919')).status).toBe(204);
    expect((await authority.control('DELETE', 'taxpayers/101672919')).status).toBe(404);
  });

  it('forgets documents and faults, not taxpayers', async () => {
    await authority.control('PUT', 'taxpayers/101672919', { name: 'UNO' });
    const number = encf();
    await post(invoice(number));
    await authority.fault({ operation: 'recepcion', kind: 'reset' });
    expect((await authority.control('POST', 'reset')).status).toBe(204);
    expect(await authority.submissions()).toEqual([]);
    expect((await authority.control('GET', 'faults')).json()).toEqual([]);
    expect((await authority.control('GET', 'taxpayers')).json()).toHaveLength(1);
    const { trackId } = (await post(invoice(number))).json();
    expect((await authority.result(trackId)).codigo).toBe('1');
  });
});

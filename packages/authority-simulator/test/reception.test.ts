import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Authority, nameOf } from './support/authority.js';
import { BUYER, ecf, ISSUER } from './support/documents.js';
import { multipart } from './support/http.js';
import { certificate, codeOf, sign } from './support/signing.js';

let authority: Authority;
let sequence = 0;
const encf = (type = '31') => `E${type}${String(++sequence).padStart(10, '0')}`;

beforeAll(async () => {
  authority = await Authority.start();
});
afterAll(() => authority.stop());

const rejection = (code: number, valor: unknown, secuenciaUtilizada: boolean) => ({
  codigo: '2',
  estado: 'Rechazado',
  mensajes: [{ valor, codigo: code }],
  secuenciaUtilizada,
});

describe('reception of e-CF', () => {
  it('gives a trackId, and the result in the words and types of the live service', async () => {
    const number = encf();
    const xml = sign(ecf({ encf: number }), certificate());
    const reply = await authority.post('recepcion/api/facturaselectronicas', xml, nameOf(xml));
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    expect(reply.json()).toEqual({ trackId: expect.stringMatching(/^[0-9a-f-]{36}$/), error: null, mensaje: null });
    const { trackId } = reply.json();
    expect(await authority.result(trackId)).toEqual({
      trackId,
      codigo: '1',
      estado: 'Aceptado',
      rnc: ISSUER,
      encf: number,
      secuenciaUtilizada: true,
      fechaRecepcion: '6/23/2026 5:45:47 PM',
      mensajes: [{ valor: '', codigo: 0 }],
    });
  });

  it('writes both answers as XML on request', async () => {
    const xml = sign(ecf({ encf: encf() }), certificate());
    const accept = { Accept: 'application/xml' };
    const reply = await authority.post('recepcion/api/facturaselectronicas', xml, nameOf(xml), 'testecf', accept);
    const trackId =
      /^<\?xml version="1.0" encoding="utf-8"\?><RespuestaRecepcion><trackId>([^<]+)<\/trackId><\/RespuestaRecepcion>$/.exec(
        reply.text,
      )?.[1];
    const result = await authority.get(`consultaresultado/api/consultas/estado?trackid=${trackId}`, 'testecf', accept);
    expect(result.text).toMatch(
      /<RespuestaConsultaTrackId><trackId>.+<\/trackId><codigo>1<\/codigo><estado>Aceptado<\/estado><rnc>131880738<\/rnc><encf>E31\d+<\/encf><secuenciaUtilizada>true<\/secuenciaUtilizada><fechaRecepcion>[^<]+<\/fechaRecepcion><mensajes><valor><\/valor><codigo>0<\/codigo><\/mensajes><\/RespuestaConsultaTrackId>$/,
    );
  });

  it('takes a signature that holds in either form, and as .NET reads it alone in the strict mode', async () => {
    const blanks = () => ecf({ encf: encf() }).replaceAll('><', '>\n  <');
    const carriage = () => ecf({ encf: encf() }).replace('</RazonSocialEmisor>', '&#xD;\n</RazonSocialEmisor>');
    const indentedAfterwards = async () => {
      const xml = sign(ecf({ encf: encf() }), certificate()).replaceAll('><', '>\n  <');
      return (await authority.result(await authority.send(xml))).codigo;
    };
    const codes = async () => [
      (await authority.check(blanks())).codigo,
      (await authority.check(carriage())).codigo,
      await indentedAfterwards(),
      (await authority.check(ecf({ encf: encf() }))).codigo,
    ];
    expect(await codes()).toEqual(['1', '1', '1', '1']);
    expect((await authority.control('PUT', 'signatures', { strict: true })).status).toBe(204);
    expect((await authority.control('GET', 'signatures')).json()).toEqual({ strict: true });
    expect(await codes()).toEqual(['2', '2', '1', '1']);
    expect(await authority.check(blanks())).toMatchObject(rejection(0, 'Certificado y/o firma inválida.', false));
    expect((await authority.control('PUT', 'signatures', { strict: 'yes' })).status).toBe(400);
    await authority.control('PUT', 'signatures', { strict: false });
    expect((await authority.check(blanks())).codigo).toBe('1');
  });

  it('does not find another trackId, nor one of another environment', async () => {
    const trackId = await authority.send(sign(ecf({ encf: encf() }), certificate()));
    const unknown = { codigo: '0', estado: 'No encontrado', rnc: null, encf: null, mensajes: null };
    expect(await authority.result('00000000-0000-0000-0000-000000000000')).toMatchObject(unknown);
    expect(await authority.result(trackId, 'ecf')).toMatchObject(unknown);
    expect((await authority.result(trackId.toUpperCase())).codigo).toBe('1');
  });

  it('accepts addresses and parameter names in any case', async () => {
    const xml = sign(ecf({ encf: encf() }), certificate());
    const reply = await authority.post('Recepcion/api/FacturasElectronicas', xml, nameOf(xml), 'TesteCF');
    const result = await authority.get(
      `ConsultaResultado/api/Consultas/Estado?TRACKID=${reply.json().trackId}`,
      'TestECF',
    );
    expect(result.json().codigo).toBe('1');
  });

  it('answers a form without the file part xml without a trackId, and another body with an error', async () => {
    const headers = { Authorization: `Bearer ${await authority.token()}` };
    const post = (upload: { headers: Record<string, string>; body: Buffer | string }) =>
      authority.call('/testecf/recepcion/api/facturaselectronicas', {
        ...upload,
        headers: { ...upload.headers, ...headers },
      });
    const other = await post(multipart('<a></a>', 'a.xml', 'archivo'));
    expect([other.status, other.json().trackId]).toEqual([400, null]);
    const broken = await post({ headers: { 'Content-Type': 'multipart/form-data; boundary=b' }, body: 'x' });
    expect([broken.status, broken.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
    expect((await post({ headers: { 'Content-Type': 'application/xml' }, body: '<a></a>' })).status).toBe(415);
  });

  it.each([
    ['unquoted', 'form-data; name=xml; filename=a.xml', 'a.xml'],
    ['in another case', 'Form-Data; NAME="xml"; FileName="a.xml"', 'a.xml'],
    ['extended', 'form-data; name="xml"; filename="a.xml"; filename*=utf-8\'\'%C3%B1.xml', 'ñ.xml'],
    ['with an escaped quote', 'form-data; name="xml"; filename="a\\"b.xml"', 'a"b.xml'],
    ['with a folder', 'form-data; name="xml"; filename="/tmp/ñ.xml"', '/tmp/ñ.xml'],
  ])('reads a file name that is %s, and the exact bytes', async (_, disposition, filename) => {
    const content = '<a>\r\n--b -- --bb\n--b</a>\n';
    const body = `preamble\r\n--a b\r\ncontent-disposition: ${disposition}\r\n\r\n${content}\r\n--a b--\r\nepilogue`;
    const reply = await authority.call('/testecf/recepcion/api/facturaselectronicas', {
      headers: {
        'Content-Type': 'Multipart/Form-Data; charset=utf-8; boundary="a b"',
        Authorization: `Bearer ${await authority.token()}`,
      },
      body,
    });
    expect(reply.status).toBe(200);
    const submission = (await authority.submissions()).at(-1);
    expect(submission).toMatchObject({ filename, track_id: reply.json().trackId });
    expect((await authority.control('GET', `submissions/${submission.id}/xml`)).text).toBe(content);
  });
});

describe('the verdict on form', () => {
  it.each(['x.xml', `${ISSUER}.xml`, 'aprobacionComercial.xml'])('rejects the file name %s', async (filename) => {
    const trackId = await authority.send(sign(ecf({ encf: encf() }), certificate()), 'testecf', filename);
    const expected = rejection(3243, 'La longitud del nombre del archivo no es válida', true);
    expect(await authority.result(trackId)).toMatchObject(expected);
  });

  it('rejects the name of another document', async () => {
    const xml = sign(ecf({ encf: encf() }), certificate());
    const trackId = await authority.send(xml, 'testecf', `${ISSUER}${encf()}.xml`);
    expect((await authority.result(trackId)).mensajes[0].codigo).toBe(3243);
  });

  it('accepts the name of an issuer with a cédula', async () => {
    const xml = sign(ecf({ encf: encf(), issuer: '00112345673' }), certificate());
    expect((await authority.result(await authority.send(xml))).codigo).toBe('1');
  });

  it.each([
    ['no XML', () => 'nonsense'],
    ['a byte order mark', (xml: string) => `\ufeff${xml}`],
    ['a document type', (xml: string) => `<!DOCTYPE ECF>${xml}`],
    ['an empty tag', (xml: string) => xml.replace('<InformacionesAdicionales/>', '')],
    ['a summary', (xml: string) => xml.replaceAll('ECF', 'RFCE')],
  ])('rejects %s with code 1 and leaves the number free', async (what, change) => {
    const number = encf();
    const plain = sign(ecf({ encf: number }), certificate());
    const xml = what === 'an empty tag' ? sign(withEmptyGroup(number), certificate()) : change(plain);
    const trackId = await authority.send(xml, 'testecf', `${ISSUER}${number}.xml`);
    expect(await authority.result(trackId)).toMatchObject(rejection(1, 'El formato del XML no es válido', false));
    expect((await authority.result(await authority.send(plain))).codigo).toBe('1');
  });

  function withEmptyGroup(number: string): string {
    const [before, after] = ecf({ encf: number }).split('<Totales>');
    return `${before}<InformacionesAdicionales></InformacionesAdicionales><Totales>${after}`;
  }

  it.each([
    [
      'foreign child',
      '<Encabezado>',
      '<Encabezado><Foo>1</Foo>',
      /^The element 'Encabezado' has invalid child element 'Foo'/,
    ],
    ['missing child', '<TipoPago>1</TipoPago>', '', /'TipoPago'/],
    [
      'pattern',
      '<TipoIngresos>01<',
      '<TipoIngresos>1<',
      /^The 'TipoIngresos' element is invalid - The value '1' is invalid/,
    ],
  ])('rejects a wrong structure with the sentence of the schema validator: %s', async (_, from, to, sentence) => {
    const answer = await authority.check(ecf({ encf: encf() }).replace(from, to));
    expect(answer).toMatchObject(rejection(3, expect.stringMatching(sentence), false));
  });

  it('rejects a signature that does not hold, and leaves the number free', async () => {
    const number = encf();
    const xml = sign(ecf({ encf: number }), certificate());
    const expected = rejection(0, 'Certificado y/o firma inválida.', false);
    const altered = await authority.send(xml.replace('COMPRADOR DE', 'COMPRADOR  DE'));
    expect(await authority.result(altered)).toMatchObject(expected);
    const expired = certificate('1', { notAfter: new Date('2026-01-01T00:00:00Z') });
    expect(await authority.check(ecf({ encf: number }), 'testecf', expired)).toMatchObject(expected);
    expect((await authority.result(await authority.send(xml))).codigo).toBe('1');
  });

  it('accepts a document that got line breaks after signing', async () => {
    const xml = sign(ecf({ encf: encf() }), certificate()).replace(/></g, '>\n  <');
    expect((await authority.result(await authority.send(xml))).codigo).toBe('1');
  });

  it('accepts a prolog, and text with accents and entities', async () => {
    const unsigned = ecf({ encf: encf() }).replace('COMPRADOR DE PRUEBA', 'PEÑA &amp; HIJOS &lt;SRL&gt;');
    const xml = `<?xml version="1.0" encoding="utf-8"?>\n${sign(unsigned, certificate())}`;
    expect((await authority.result(await authority.send(xml))).codigo).toBe('1');
  });
});

describe('the verdict on issuer and number', () => {
  const register = (rnc: string, taxpayer: unknown) => authority.control('PUT', `taxpayers/${rnc}`, taxpayer);

  it('refuses an issuer that is not active, not electronic, or not delegated to the signer; the number stays free', async () => {
    const issuer = '101672919';
    const number = encf();
    const document = ecf({ encf: number, issuer });
    for (const [taxpayer, text] of [
      [{ active: false }, 'El RNC Emisor no se encuentra activo.'],
      [{ electronic: false }, 'El RNC Emisor del comprobante no corresponde a un emisor electrónico.'],
      [{ delegates: ['1'] }, expect.stringMatching(/delegado autorizado/)],
    ] as const) {
      await register(issuer, { name: 'X', ...taxpayer });
      expect(await authority.check(document)).toMatchObject(rejection(0, text, false));
    }
    await register(issuer, { name: 'X', delegates: ['IDCDO-00112345673'] });
    expect((await authority.check(document)).codigo).toBe('1');
  });

  it('accepts a number once, and reports a repeat without using the number', async () => {
    const document = ecf({ encf: encf() });
    expect((await authority.check(document)).codigo).toBe('1');
    const expected = rejection(1209, 'Este número de secuencia ya ha sido utilizado.', false);
    expect(await authority.check(document)).toMatchObject(expected);
    expect((await authority.check(document, 'ecf')).codigo).toBe('1');
  });

  it('does not take a number that a rejection burned', async () => {
    const number = encf();
    const wrong = await authority.check(
      ecf({ encf: number }).replace('<IndicadorMontoGravado>0</IndicadorMontoGravado>', ''),
    );
    expect(wrong).toMatchObject(
      rejection(176, 'El campo IndicadorMontoGravado del área IdDoc de la sección Encabezado no es válido', true),
    );
    expect((await authority.check(ecf({ encf: number }))).mensajes[0].codigo).toBe(1209);
  });

  it('checks registered ranges: number, expiry as authorised, and expiry in time', async () => {
    const issuer = '101010632';
    await register(issuer, {
      name: 'X',
      ranges: [
        { ecf_type: '31', from: 'E310000000001', to: 'E310000000010', expires: '31-12-2027' },
        { ecf_type: '31', from: 11, to: 20, expires: '2025-12-31', env: 'TesteCF' },
      ],
    });
    const decide = (at: number, expiry: string, env = 'testecf') =>
      authority.check(ecf({ encf: `E31${String(at).padStart(10, '0')}`, issuer, expiry }), env);
    expect((await decide(1, '31-12-2027')).codigo).toBe('1');
    const unauthorised = rejection(75, 'Número de secuencia no autorizada.', false);
    expect(await decide(21, '31-12-2027')).toMatchObject(unauthorised);
    expect(await decide(11, '31-12-2027', 'ecf')).toMatchObject(unauthorised);
    const date = 'Fecha de vencimiento de secuencia inválida.';
    expect(await decide(2, '31-12-2028')).toMatchObject(rejection(145, date, true));
    expect(await decide(11, '31-12-2025')).toMatchObject(rejection(145, date, false));
  });

  it('accepts any expiry if no ranges are registered', async () => {
    expect((await authority.check(ecf({ encf: encf(), expiry: '31-12-2020' }))).codigo).toBe('1');
  });
});

describe('the verdict on content', () => {
  it('accepts conditionally if amounts do not add up, and uses the number', async () => {
    const answer = await authority.check(ecf({ encf: encf(), total: '1190.00' }));
    expect(answer).toMatchObject({ codigo: '4', estado: 'Aceptado Condicional', secuenciaUtilizada: true });
    expect(answer.mensajes).toContainEqual({
      valor: 'El campo MontoTotal del área Totales de la sección Encabezado no es válido',
      codigo: 11105,
    });
  });

  it('refuses a consumer invoice under the limit', async () => {
    const answer = await authority.check(ecf({ encf: encf('32'), buyer: null }));
    expect(answer).toMatchObject({ codigo: '2', secuenciaUtilizada: true });
    expect((await authority.check(ecf({ encf: encf('32'), net: 300_000 }))).codigo).toBe('1');
  });

  it('observes a buyer that is registered as inactive', async () => {
    await authority.control('PUT', 'taxpayers/101555551', { active: false });
    const observed = await authority.check(ecf({ encf: encf(), buyer: '101555551' }));
    expect([observed.codigo, observed.mensajes[0].codigo]).toEqual(['4', 1385]);
    const certification = await authority.check(ecf({ encf: encf(), buyer: '101555551' }), 'certecf');
    expect(certification.mensajes[0]).toMatchObject({ codigo: 0, valor: expect.stringMatching(/RNCComprador/) });
  });

  it('accepts numbers with a wrong check digit', async () => {
    expect((await authority.check(ecf({ encf: encf(), issuer: '999999999', buyer: '888888888' }))).codigo).toBe('1');
  });
});

describe('processing', () => {
  it('shows the verdict after its delay, and decides by the documents that were final at arrival', async () => {
    const slow = await Authority.start({ processingMs: 200 });
    try {
      const invoice = ecf({ encf: encf() });
      const number = /E31\d{10}/.exec(invoice)?.[0] ?? '';
      const trackId = await slow.send(sign(invoice, certificate()));
      expect(await slow.result(trackId)).toMatchObject({
        codigo: '3',
        estado: 'En Proceso',
        mensajes: null,
        encf: number,
      });
      const note = (at: string) =>
        ecf({ encf: at, modifies: { encf: number, date: '10-06-2026', code: '3' }, net: 100 });
      slow.pass(1);
      const early = await slow.send(sign(note(encf('34')), certificate()));
      const repeated = await slow.send(sign(invoice, certificate()));
      slow.pass(198);
      expect((await slow.result(trackId)).codigo).toBe('3');
      slow.pass(1);
      expect((await slow.result(trackId)).codigo).toBe('1');
      expect((await slow.result(early)).codigo).toBe('3');
      const late = await slow.send(sign(note(encf('34')), certificate()));
      slow.pass(300);
      expect((await slow.result(early)).mensajes[0].codigo).toBe(614);
      expect((await slow.result(repeated)).mensajes[0].codigo).toBe(1209);
      expect((await slow.result(late)).codigo).toBe('1');
    } finally {
      await slow.stop();
    }
  });
});

describe('the security code', () => {
  it('is that of the document itself', async () => {
    const number = encf();
    const xml = sign(ecf({ encf: number }), certificate());
    await authority.send(xml);
    const query = `consultaestado/api/consultas/estado?RncEmisor=${ISSUER}&NcfElectronico=${number}&RncComprador=${BUYER}&CodigoSeguridad=${encodeURIComponent(codeOf(xml))}`;
    expect((await authority.get(query)).json()).toMatchObject({ codigo: 1, codigoSeguridad: codeOf(xml) });
  });
});

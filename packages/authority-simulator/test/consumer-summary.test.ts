import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Authority } from './support/authority.js';
import { ecf, ISSUER, rfce } from './support/documents.js';
import { certificate, sign } from './support/signing.js';

let authority: Authority;
let sequence = 0;
const encf = () => `E32${String(++sequence).padStart(10, '0')}`;
const summary = (number: string, code: string, options = {}) => sign(rfce(number, code, options), certificate());

beforeAll(async () => {
  authority = await Authority.start();
});
afterAll(() => authority.stop());

describe('reception of consumer summaries', () => {
  it('answers immediately, with a numeric code and text codes in the messages', async () => {
    const number = encf();
    const reply = await authority.sendSummary(summary(number, 'a+/B12'));
    expect(reply.status).toBe(200);
    expect(reply.json()).toEqual({
      codigo: 1,
      estado: 'Aceptado',
      mensajes: [{ codigo: '0', valor: '' }],
      encf: number,
      secuenciaUtilizada: true,
    });
  });

  it('writes the answer as XML', async () => {
    const xml = summary(encf(), 'abcdef');
    const path = 'recepcionfc/api/recepcion/ecf';
    const name = `${ISSUER}${/E32\d+/.exec(xml)?.[0]}.xml`;
    const reply = await authority.post(path, xml, name, 'certecf', { Accept: 'text/xml' });
    expect(reply.text).toMatch(
      /^<\?xml[^>]+><Respuesta><codigo>1<\/codigo><estado>Aceptado<\/estado><mensajes><codigo>0<\/codigo><valor><\/valor><\/mensajes><encf>E32\d+<\/encf><secuenciaUtilizada>true<\/secuenciaUtilizada><\/Respuesta>$/,
    );
  });

  it('is found by number and code, and by the number alone', async () => {
    const number = encf();
    await authority.sendSummary(summary(number, 'AAAAAA'));
    const same = await authority.sendSummary(summary(number, 'AAAAAA'));
    expect(same.status).toBe(400);
    expect(same.json()).toMatchObject({
      codigo: 2,
      estado: 'Rechazado',
      mensajes: [{ valor: 'La combinación e-NCF y código de seguridad ya han sido utilizados' }],
      secuenciaUtilizada: true,
    });
    const other = (await authority.sendSummary(summary(number, 'BBBBBB'))).json();
    expect(other).toMatchObject({ codigo: 2, mensajes: [{ codigo: '1209' }], secuenciaUtilizada: false });
  });

  it('refuses a combination that it rejected before, and leaves the number to another one', async () => {
    const number = encf();
    const unused = { codigo: 2, mensajes: ['Firma inválida'], secuenciaUtilizada: false };
    await authority.control('POST', 'faults', {
      operation: 'recepcionfc',
      kind: 'verdict',
      times: 1,
      verdict: unused,
    });
    await authority.sendSummary(summary(number, 'AAAAAA'));
    const repeated = (await authority.sendSummary(summary(number, 'AAAAAA'))).json();
    expect(repeated).toMatchObject({
      codigo: 2,
      mensajes: [{ codigo: '75', valor: 'La combinación e-NCF y código de seguridad ya han sido utilizados' }],
      secuenciaUtilizada: false,
    });
    expect((await authority.sendSummary(summary(number, 'BBBBBB'))).json()).toMatchObject({ codigo: 1 });
  });

  it('shares the numbers with full documents, both ways', async () => {
    const [full, short] = [encf(), encf()];
    expect((await authority.check(ecf({ encf: full, net: 300_000 }))).codigo).toBe('1');
    expect((await authority.sendSummary(summary(full, 'AAAAAA'))).json().mensajes[0].codigo).toBe('1209');
    await authority.sendSummary(summary(short, 'AAAAAA'));
    expect((await authority.check(ecf({ encf: short, net: 300_000 }))).mensajes[0].codigo).toBe(1209);
  });

  it('accepts only amounts under the limit', async () => {
    const just = await authority.sendSummary(summary(encf(), 'AAAAAA', { net: 211_864.4 }));
    expect(just.json()).toMatchObject({ codigo: 1 });
    const beyond = await authority.sendSummary(summary(encf(), 'AAAAAA', { net: 211_864.41, total: '250000.00' }));
    expect([beyond.status, beyond.json().codigo, beyond.json().secuenciaUtilizada]).toEqual([400, 2, true]);
  });

  it('accepts conditionally if amounts do not add up', async () => {
    const reply = await authority.sendSummary(summary(encf(), 'AAAAAA', { total: '1200.00' }));
    expect(reply.status).toBe(200);
    expect(reply.json()).toMatchObject({ codigo: 4, estado: 'Aceptado Condicional', mensajes: [{ codigo: '3205' }] });
  });

  it('checks the form as for full documents', async () => {
    const number = encf();
    const xml = summary(number, 'AAAAAA');
    const named = (await authority.sendSummary(xml, 'testecf', 'x.xml')).json();
    expect(named.mensajes[0].codigo).toBe('3243');
    const altered = (await authority.sendSummary(summary(encf(), 'AAAAAA').replace('CONSUMIDOR', 'X'))).json();
    expect(altered).toMatchObject({ codigo: 2, secuenciaUtilizada: false });
    const oneDecimal = (await authority.sendSummary(summary(encf(), 'AAAAAA', { total: '1180.0' }))).json();
    expect(oneDecimal).toMatchObject({ codigo: 2, mensajes: [{ codigo: '3' }], secuenciaUtilizada: false });
  });

  it('accepts numbers outside the ranges conditionally in the sandbox, and nowhere else', async () => {
    const issuer = '101010632';
    await authority.control('PUT', `taxpayers/${issuer}`, { ranges: [{ ecf_type: '32', from: 1, to: 2 }] });
    const send = (env: string) =>
      authority.sendSummary(sign(rfce('E320000000009', 'AAAAAA').replace(ISSUER, issuer), certificate()), env);
    expect((await send('testecf')).json()).toMatchObject({ codigo: 4, mensajes: [{ codigo: '75' }] });
    expect((await send('ecf')).json()).toMatchObject({
      codigo: 2,
      mensajes: [{ codigo: '75' }],
      secuenciaUtilizada: false,
    });
  });

  it('fails temporarily on request, and accepts the same number afterwards', async () => {
    const xml = summary(encf(), 'AAAAAA');
    await authority.fault({
      operation: 'recepcionfc',
      kind: 'verdict',
      times: 1,
      verdict: {
        codigo: 2,
        mensajes: [{ codigo: '004', valor: 'Ha ocurrido un error validando en eCF, favor intentar nueva vez.' }],
        secuenciaUtilizada: false,
      },
    });
    const failed = await authority.sendSummary(xml);
    expect(failed.status).toBe(200);
    expect(failed.json()).toEqual({
      codigo: 2,
      estado: 'Rechazado',
      mensajes: [{ codigo: '004', valor: 'Ha ocurrido un error validando en eCF, favor intentar nueva vez.' }],
      encf: null,
      secuenciaUtilizada: false,
    });
    expect((await authority.sendSummary(xml)).json().codigo).toBe(1);
  });
});

describe('the query for summaries', () => {
  const query = (number: string, code: string) =>
    `consultarfce/api/Consultas/Consulta?RNC_Emisor=${ISSUER}&ENCF=${number}&Cod_Seguridad_eCF=${encodeURIComponent(code)}`;

  it('needs number and code, in every environment', async () => {
    for (const env of ['testecf', 'certecf', 'ecf']) {
      const number = encf();
      await authority.sendSummary(summary(number, 'a+/=b1'), env);
      expect((await authority.get(query(number, 'a+/=b1'), env)).json()).toEqual({
        rnc: ISSUER,
        encf: number,
        secuenciaUtilizada: true,
        codigo: '1',
        estado: 'Aceptado',
        mensajes: [{ valor: '', codigo: 0 }],
      });
      const other = (await authority.get(query(number, 'xxxxxx'), env)).json();
      expect(other).toMatchObject({ codigo: '0', estado: 'No encontrado', mensajes: null });
    }
  });

  it('shows a rejection, and refuses an incomplete question', async () => {
    const number = encf();
    await authority.sendSummary(summary(number, 'AAAAAA', { net: 300_000 }));
    expect((await authority.get(query(number, 'AAAAAA'))).json()).toMatchObject({ codigo: '2', estado: 'Rechazado' });
    const incomplete = await authority.get(`consultarfce/api/consultas/consulta?rnc_emisor=${ISSUER}&encf=${number}`);
    expect([incomplete.status, incomplete.text]).toEqual([400, '"El campo Cod_Seguridad_eCF es requerido."']);
  });

  it('answers the delegates of the issuer only', async () => {
    const number = encf();
    await authority.sendSummary(summary(number, 'AAAAAA'));
    await authority.control('PUT', `taxpayers/${ISSUER}`, { delegates: ['1'] });
    expect((await authority.get(query(number, 'AAAAAA'))).json().codigo).toBe('0');
    await authority.control('DELETE', `taxpayers/${ISSUER}`);
    expect((await authority.get(query(number, 'AAAAAA'))).json().codigo).toBe('1');
  });
});

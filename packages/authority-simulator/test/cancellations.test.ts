import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Authority } from './support/authority.js';
import { anecf, ecf, ISSUER, type Range, rfce } from './support/documents.js';
import { certificate, sign } from './support/signing.js';

let authority: Authority;
const PATH = 'anulacionrangos/api/operaciones/anularrango';
const e = (type: string, sequence: number) => `E${type}${String(sequence).padStart(10, '0')}`;
const range = (type: string, from: number, to = from): Range => [e(type, from), e(type, to)];

beforeAll(async () => {
  authority = await Authority.start();
});
afterAll(() => authority.stop());

const cancel = (unsigned: string, env = 'testecf', filename = 'anulacion.xml') =>
  authority.post(PATH, sign(unsigned, certificate()), filename, env);
const rejected = (mensajes: unknown[]) => ({ rnc: ISSUER, codigo: '2', nombre: 'Rechazada', mensajes });
const DONE = 'Las secuencias fueron anuladas correctamente';

describe('cancellation of numbers', () => {
  it('cancels unused numbers of several types finally', async () => {
    const reply = await cancel(
      anecf([
        ['31', range('31', 1), range('31', 5, 50)],
        ['44', range('44', 10, 46)],
      ]),
    );
    expect(reply.status).toBe(200);
    expect(reply.json()).toEqual({ rnc: ISSUER, codigo: '1', nombre: 'Aceptada', mensajes: [DONE] });
    const used = await authority.check(ecf({ encf: e('31', 50) }));
    expect(used).toMatchObject({ codigo: '2', mensajes: [{ codigo: 75 }], secuenciaUtilizada: true });
    expect((await authority.check(ecf({ encf: e('31', 4) }))).codigo).toBe('1');
    expect((await authority.check(ecf({ encf: e('31', 50) }), 'ecf')).codigo).toBe('1');
  });

  it('leaves out used numbers, and names them', async () => {
    await authority.check(ecf({ encf: e('31', 103) }));
    await authority.check(ecf({ encf: e('31', 107) }));
    const reply = await cancel(anecf([['31', range('31', 101, 108)]]));
    expect(reply.status).toBe(200);
    expect(reply.json().mensajes).toEqual([
      'Las secuencias fueron anuladas correctamente. Con excepción de las secuencias del detalle',
      e('31', 103),
      e('31', 107),
    ]);
    expect((await authority.check(ecf({ encf: e('31', 104) }))).mensajes[0].codigo).toBe(75);
  });

  it('refuses a request with only used numbers', async () => {
    await authority.check(ecf({ encf: e('31', 201) }));
    const reply = await cancel(anecf([['31', range('31', 201)]]));
    expect(reply.status).toBe(400);
    expect(reply.json()).toEqual(
      rejected(['Las secuencias que está intentando anular han sido utilizadas', e('31', 201)]),
    );
  });

  it('refuses cancelled numbers, and numbers that are not authorised', async () => {
    await cancel(anecf([['31', range('31', 300, 310)]]));
    const none = 'No fue posible anular las siguientes secuencias';
    expect((await cancel(anecf([['31', range('31', 302, 305)]]))).json()).toEqual(
      rejected([none, `${e('31', 302)} - ${e('31', 305)}`]),
    );
    await authority.control('PUT', `taxpayers/${ISSUER}`, { ranges: [{ ecf_type: '31', from: 1, to: 400 }] });
    const partly = await cancel(anecf([['31', range('31', 399, 402)]]));
    expect(partly.json().mensajes.slice(1)).toEqual([`${e('31', 401)} - ${e('31', 402)}`]);
    await authority.control('DELETE', `taxpayers/${ISSUER}`);
  });

  it('counts consumer invoices of both ways as used', async () => {
    await authority.sendSummary(sign(rfce(e('32', 1), 'AAAAAA'), certificate()));
    await authority.check(ecf({ encf: e('32', 2), net: 300_000 }));
    expect((await cancel(anecf([['32', range('32', 1, 3)]]))).json().mensajes.slice(1)).toEqual([
      `${e('32', 1)} - ${e('32', 2)}`,
    ]);
  });

  it('accepts a number that was rejected and left free', async () => {
    const trackId = await authority.send(sign(ecf({ encf: e('31', 500) }), certificate()).replace('PRUEBA', 'X'));
    expect((await authority.result(trackId)).secuenciaUtilizada).toBe(false);
    expect((await cancel(anecf([['31', range('31', 500)]]))).json().mensajes).toEqual([DONE]);
  });

  it('accepts a repeated number and wrong counts: no published rule forbids them', async () => {
    const twice = anecf([['31', range('31', 600, 605), range('31', 605, 606)]]);
    expect((await cancel(twice)).json().mensajes).toEqual([DONE]);
    const counts = anecf([['31', range('31', 610)]]).replaceAll(
      /<CantidadeNCFAnulados>1</g,
      '<CantidadeNCFAnulados>2<',
    );
    expect((await cancel(counts)).json().mensajes).toEqual([DONE]);
  });

  it('checks the form first', async () => {
    const good = anecf([['31', range('31', 700)]]);
    const sentence = async (xml: string, filename?: string) =>
      (await cancel(xml, 'testecf', filename)).json().mensajes[0];
    expect(await sentence(good, 'a.txt')).toBe('Tipo de archivo no valido, favor proveer un XML');
    expect(await sentence(anecf([['31', range('31', 700)]], { first: 2 }))).toBe(
      'El campo NoLinea no es válido, no cumple orden secuencial.',
    );
    expect(await sentence(anecf([['31', range('32', 700)]]))).toBe('El tipo de comprobante no es válido');
    expect(await sentence(good.replaceAll(/(<SecuenciaeNCFDesde>E31000000070)0/g, '$19'))).toBe(
      'El valor del campoSecuenciaeNCFDesde es mayor al del campo SecuenciaeNCFHasta',
    );
    const altered = sign(good, certificate()).replace(ISSUER, '101672919');
    expect((await authority.post(PATH, altered, 'a.xml')).json().mensajes).toEqual([
      'La firma del documento no es válida',
    ]);
    const unsigned = await authority.post(PATH, good, 'a.xml');
    expect(unsigned.json()).toMatchObject({ codigo: '2', mensajes: [expect.stringMatching(/Signature|formato/)] });
    await authority.control('PUT', `taxpayers/${ISSUER}`, { delegates: ['1'] });
    expect(await sentence(good)).toMatch(/^El RNC del certificado no está delegado/);
    await authority.control('DELETE', `taxpayers/${ISSUER}`);
    expect(await sentence(good)).toBe(DONE);
  });

  it('is fast for a range of all numbers', async () => {
    const all = await cancel(anecf([['47', [e('47', 1), 'E479999999999']]]));
    expect(all.json().mensajes).toEqual([DONE]);
  });

  it('is listed with the numbers that it cancelled', async () => {
    const listed = await authority.submissions(`?encf=${e('44', 20)}`);
    expect(listed).toMatchObject([
      { operation: 'anulacionrangos', rnc: ISSUER, encf: null, code: '1', effective: true },
    ]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Authority } from './support/authority.js';
import { acecf, BUYER, ecf, ISSUER } from './support/documents.js';
import { multipart } from './support/http.js';
import { certificate, sign } from './support/signing.js';

let authority: Authority;
let sequence = 0;
const encf = (type = '31') => `E${type}${String(++sequence).padStart(10, '0')}`;
const PATH = 'aprobacioncomercial/api/aprobacioncomercial';

beforeAll(async () => {
  authority = await Authority.start();
});
afterAll(() => authority.stop());

const send = (number: string, unsigned: string, { filename = `${BUYER}${number}.xml`, env = 'testecf' } = {}) =>
  authority.post(PATH, sign(unsigned, certificate()), filename, env);

async function invoice(options: Partial<Parameters<typeof ecf>[0]> = {}): Promise<string> {
  const number = options.encf ?? encf();
  await authority.check(ecf({ encf: number, ...options }));
  return number;
}

const refused = (mensaje: unknown) => ({ mensaje: [mensaje], estado: 'Aprobacion Comercial Rechazada.', codigo: '02' });

describe('commercial approvals', () => {
  it('are accepted once for an accepted e-CF', async () => {
    const number = await invoice();
    const reply = await send(number, acecf(number));
    expect(reply.status).toBe(200);
    expect(reply.json()).toEqual({ mensaje: [], estado: 'Aprobación Comercial Aprobada.', codigo: '01' });
    const again = await send(number, acecf(number, { state: '2' }));
    expect(again.status).toBe(400);
    expect(again.json()).toEqual(refused(expect.stringMatching(/ya habia sido cargada y aceptada previamente$/)));
  });

  it('may reject, may have the name of the issuer, and are answered as XML too', async () => {
    const number = await invoice();
    const upload = multipart(sign(acecf(number, { state: '2' }), certificate()), `${ISSUER}${number}.xml`);
    const headers = {
      ...upload.headers,
      Authorization: `bearer ${await authority.token()}`,
      Accept: 'application/xml',
    };
    const reply = await authority.call(`/testecf/${PATH}`, { ...upload, headers });
    expect(reply.text).toMatch(
      /<RespuestaAprobacionComercial><estado>Aprobación Comercial Aprobada\.<\/estado><codigo>01<\/codigo><\/RespuestaAprobacionComercial>$/,
    );
  });

  it('need an e-CF that the authority has accepted, with the same buyer, date and amount', async () => {
    const unknown = encf();
    const none = 'Factura no encontrada para esta Aprobación comercial.';
    expect((await send(unknown, acecf(unknown))).json()).toEqual(refused(none));
    const number = await invoice();
    const invalid = refused('No se encuentra un e-CF válido para esta aprobación comercial');
    for (const other of [{ total: '1180.01' }, { issued: '11-06-2026' }, { buyer: '101672919' }]) {
      const reply = await send(number, acecf(number, other), { filename: `${other.buyer ?? BUYER}${number}.xml` });
      expect(reply.json()).toEqual(invalid);
    }
    const pending = encf();
    const fault = await authority.fault({ operation: 'recepcion', kind: 'processing', times: 1 });
    await invoice({ encf: pending });
    expect((await send(pending, acecf(pending))).json()).toEqual(invalid);
    await authority.control('DELETE', `faults/${fault}`);
    expect((await send(pending, acecf(pending))).status).toBe(200);
  });

  it('are not for types without approval, nor for notes on them', async () => {
    const consumer = await invoice({ encf: encf('32'), net: 300_000 });
    const type = 'Aprobación Comercial no es requerida para este tipo de e-CF';
    expect((await send(consumer, acecf(consumer, { total: '354000.00' }))).json()).toEqual(refused(type));
    const note = encf('34');
    const modifies = { encf: consumer, date: '10-06-2026', code: '3' };
    expect((await authority.check(ecf({ encf: note, net: 100, modifies }))).codigo).toBe('1');
    const referenced = 'Aprobación Comercial no es requerida para el e-CF Referenciado';
    expect((await send(note, acecf(note, { total: '118.00' }))).json()).toEqual(refused(referenced));
  });

  it('are decision by form first', async () => {
    const number = await invoice();
    const structure =
      'La estructura del archivo XML no es válido, favor proveer un XML con una estructura válida, verificar el XSD correspondiente';
    expect((await send(number, acecf(number), { filename: 'a.txt' })).json()).toEqual(
      refused('Tipo de archivo no válido, favor proveer un XML'),
    );
    expect((await send(number, acecf(number), { filename: 'a.xml' })).json()).toEqual(
      refused('La longitud del nombre del archivo no es válida'),
    );
    expect((await send(number, acecf(number, { total: '1180' }))).json()).toEqual(
      refused(expect.stringMatching(/^La estructura.* correspondiente\. The 'MontoTotal' element is invalid/)),
    );
    const named = `${BUYER}${number}.xml`;
    expect((await authority.post(PATH, 'nonsense', named)).json()).toEqual(refused(structure));
    expect((await authority.post(PATH, '', named)).json()).toEqual(refused('Archivo no válido'));
    const altered = sign(acecf(number), certificate()).replace('<Estado>1', '<Estado>2');
    expect(
      (
        await authority.post(
          PATH,
          altered.replace('</Estado>', '</Estado><DetalleMotivoRechazo>x</DetalleMotivoRechazo>'),
          named,
        )
      ).json(),
    ).toEqual(refused('La firma del XML no es válida'));
    await authority.control('PUT', `taxpayers/${BUYER}`, { delegates: ['1'] });
    expect((await send(number, acecf(number))).json()).toEqual(
      refused(`El RNC del certificado no está delegado para realizar transacciones para el RNC: ${BUYER}`),
    );
    await authority.control('DELETE', `taxpayers/${BUYER}`);
    expect((await send(number, acecf(number))).status).toBe(200);
  });

  it('are listed under issuer and buyer, the one that counts marked', async () => {
    const number = await invoice();
    await send(number, acecf(number));
    await send(number, acecf(number));
    const listed = await authority.submissions(`?rnc=${BUYER}&encf=${number}&operation=aprobacioncomercial`);
    expect(listed).toMatchObject([
      {
        rnc: ISSUER,
        encf: number,
        code: '01',
        status: 'Aprobación Comercial Aprobada.',
        effective: true,
        track_id: null,
      },
      { rnc: ISSUER, encf: number, code: '02', status: 'Aprobacion Comercial Rechazada.', effective: false },
    ]);
  });
});

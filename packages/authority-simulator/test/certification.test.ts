import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Authority } from './support/authority.js';
import { acecf, BUYER, ecf, ISSUER } from './support/documents.js';
import { certificate, sign } from './support/signing.js';

const PATH = 'aprobacioncomercial/api/aprobacioncomercial';
let authority: Authority;

beforeEach(async () => {
  authority = await Authority.start({ strictCertification: true });
});
afterEach(() => authority.stop());

/** The documents of `ecf` and `acecf` as a data set states them. */
function tree(xml: string): unknown {
  const read = (text: string): unknown => {
    const children = [...text.matchAll(/<(\w+)[^<>]*>((?:(?!<\1[ >])[\s\S])*?)<\/\1>/g)];
    if (children.length === 0) return text;
    return Object.fromEntries(children.map(([, name, inner]) => [name, read(inner ?? '')]));
  };
  return read(xml);
}

const SET = [ecf({ encf: 'E310000000001' }), ecf({ encf: 'E310000000002' })];
const approval = acecf('E310000000077', { issuer: BUYER, buyer: ISSUER });

const put = (documents: unknown[]) => authority.control('PUT', `certification/${ISSUER}`, documents);
const approve = () => authority.post(PATH, sign(approval, certificate()), `${ISSUER}E310000000077.xml`, 'certecf');

describe('the stricter certification environment', () => {
  it('rejects documents that get an observation elsewhere', async () => {
    const document = ecf({ encf: 'E310000000001', total: '1190.00' });
    expect((await authority.check(document, 'testecf')).codigo).toBe('4');
    expect(await authority.check(document, 'certecf')).toMatchObject({ codigo: '2', secuenciaUtilizada: true });
  });

  it('compares with the data set, text by text, and counts anew after a rejection', async () => {
    expect((await put(SET.map(tree))).json()).toEqual({ documents: 2, accepted: 0, approvals_open: false });
    expect((await authority.check(SET[0] ?? '', 'certecf')).codigo).toBe('1');
    const other = (SET[1] ?? '').replace('<PrecioUnitarioItem>1000.0000<', '<PrecioUnitarioItem>1000.00<');
    expect(await authority.check(other, 'certecf')).toMatchObject({
      codigo: '2',
      mensajes: [
        {
          valor:
            'La propiedad PrecioUnitarioItem no es válida debido a que el valor enviado (1000.00) no coincide con el valor (1000.0000) del conjunto de datos entregados',
          codigo: 0,
        },
      ],
    });
    expect((await authority.control('GET', `certification/${ISSUER}`)).json().accepted).toBe(0);
    expect((await authority.check(other, 'testecf')).codigo).toBe('1');
  });

  it('accepts approvals when all documents are accepted, and compares them too', async () => {
    await put([...SET, approval].map(tree));
    const early = await approve();
    expect([early.status, early.json().mensaje]).toEqual([
      400,
      [`El contribuyente de rnc ${ISSUER} no se encuentra en la etapa de prueba de datos de aprobación comercial`],
    ]);
    for (const document of SET) expect((await authority.check(document, 'certecf')).codigo).toBe('1');
    expect((await approve()).json().codigo).toBe('01');
    expect((await approve()).json().mensaje[0]).toMatch(/aceptada previamente$/);
  });

  it('refuses a set that is none', async () => {
    for (const set of ['nonsense', '{}', '[]', '[{"ECF":{"a":1}}]', '[{"Other":{}}]']) {
      const reply = await authority.control('PUT', `certification/${ISSUER}`, set);
      expect([reply.status, typeof reply.json().detail]).toEqual([400, 'string']);
    }
    expect((await authority.control('GET', `certification/${ISSUER}`)).status).toBe(404);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Authority } from './support/authority.js';
import { ecf, rfce } from './support/documents.js';
import { certificate, sign } from './support/signing.js';

let authority: Authority;
let sequence = 0;
const encf = (type: string) => `E${type}${String(++sequence).padStart(10, '0')}`;

beforeAll(async () => {
  authority = await Authority.start();
});
afterAll(() => authority.stop());

/** An accepted invoice over 1,180.00. */
async function invoice(options: Partial<Parameters<typeof ecf>[0]> = {}): Promise<string> {
  const number = options.encf ?? encf('31');
  expect((await authority.check(ecf({ encf: number, ...options }))).codigo).toBe('1');
  return number;
}

function note(
  type: '33' | '34',
  modified: string,
  options: Partial<Parameters<typeof ecf>[0]> & { code?: string; date?: string; other?: string } = {},
) {
  const { code = '3', date = '10-06-2026', other, ...rest } = options;
  const modifies = { encf: modified, date, code, ...(other ? { other } : {}) };
  return ecf({ encf: encf(type), net: 100, modifies, ...rest });
}

const rejectedWith = (codigo: number, secuenciaUtilizada = true, valor: unknown = expect.anything()) => ({
  codigo: '2',
  mensajes: [{ codigo, valor }],
  secuenciaUtilizada,
});

describe('notes on electronic documents', () => {
  it('are accepted if buyer, date and balance fit', async () => {
    const original = await invoice();
    expect((await authority.check(note('33', original))).codigo).toBe('1');
    expect((await authority.check(note('34', original))).codigo).toBe('1');
  });

  it('need a document that is issued: 614', async () => {
    const text = expect.stringMatching(/^El eNCF modificado no ha sido emitido\. El eNCF E31\d{10} /);
    expect(await authority.check(note('34', encf('31')))).toMatchObject(rejectedWith(614, true, text));
    const refused = encf('31');
    await authority.check(ecf({ encf: refused }).replace('<IndicadorMontoGravado>0</IndicadorMontoGravado>', ''));
    expect(await authority.check(note('33', refused))).toMatchObject(rejectedWith(614));
    const original = await invoice();
    expect(await authority.check(note('34', original, { other: '101672919' }))).toMatchObject(rejectedWith(614));
    expect(await authority.check(note('34', original), 'ecf')).toMatchObject(rejectedWith(614));
  });

  it('may modify a document of a merged taxpayer that they name', async () => {
    const original = await invoice({ issuer: '101672919' });
    expect((await authority.check(note('34', original, { other: '101672919' }))).codigo).toBe('1');
  });

  it('need the same buyer: 615', async () => {
    const original = await invoice();
    for (const [type, word] of [
      ['33', 'débito'],
      ['34', 'crédito'],
    ] as const) {
      const text = expect.stringMatching(new RegExp(`nota de ${word} no es válido, ya que no coincide`));
      const answer = await authority.check(note(type, original, { buyer: '101672919' }));
      expect(answer).toMatchObject(rejectedWith(615, true, text));
    }
  });

  it('need the date of the original: 634', async () => {
    const original = await invoice();
    const text = 'El valor del campo FechaNCFModificado no coincide con la fecha de emisión de comprobante a modificar';
    expect(await authority.check(note('34', original, { date: '09-06-2026' }))).toMatchObject(
      rejectedWith(634, true, text),
    );
  });

  it('give no tax back after thirty days: 156', async () => {
    const at = (day: string, creditNoteIndicator: string, date: string) =>
      authority.check(note('34', original, { issued: day, creditNoteIndicator, date }));
    const original = await invoice({ issued: '01-05-2026' });
    expect(await at('01-06-2026', '0', '01-05-2026')).toMatchObject(rejectedWith(156));
    expect(await at('31-05-2026', '1', '01-05-2026')).toMatchObject(rejectedWith(156));
    expect((await at('31-05-2026', '0', '01-05-2026')).codigo).toBe('1');
    expect((await at('01-06-2026', '1', '01-05-2026')).codigo).toBe('1');
  });

  it('take no more than is left: 615', async () => {
    const original = await invoice();
    expect(await authority.check(note('34', original, { net: 1001 }))).toMatchObject(
      rejectedWith(615, true, expect.stringMatching(/no puede ser mayor al saldo disponible/)),
    );
    expect((await authority.check(note('34', original, { net: 600 }))).codigo).toBe('1');
    expect(await authority.check(note('34', original, { net: 401 }))).toMatchObject(rejectedWith(615));
    expect((await authority.check(note('33', original, { net: 50 }))).codigo).toBe('1');
    expect((await authority.check(note('34', original, { net: 450 }))).codigo).toBe('1');
    expect(await authority.check(note('34', original, { net: 1 }))).toMatchObject(rejectedWith(615));
  });

  it('do not modify notes: 613', async () => {
    const original = await invoice();
    const first = encf('33');
    await authority.check(note('33', original, { encf: first }));
    expect(await authority.check(note('34', first))).toMatchObject(
      rejectedWith(613, true, 'Los comprobantes electrónicos no pueden reemplazarse entre ellos mismos.'),
    );
    expect(await authority.check(note('34', original, { code: '4' }))).toMatchObject(rejectedWith(613));
  });

  it('do not annul by debit: 64, without text, and the number stays free', async () => {
    const original = await invoice();
    const number = encf('33');
    expect(await authority.check(note('33', original, { encf: number, code: '1' }))).toMatchObject(
      rejectedWith(64, false, ''),
    );
    expect((await authority.check(note('33', original, { encf: number }))).codigo).toBe('1');
  });

  it('report everything that is wrong together', async () => {
    const original = await invoice();
    const answer = await authority.check(note('34', original, { net: 5000, date: '01-06-2026', buyer: '101672919' }));
    expect(answer.mensajes.map(({ codigo }: { codigo: number }) => codigo)).toEqual([615, 634, 615]);
  });

  it('modify consumer invoices that were reported by summary', async () => {
    const original = encf('32');
    await authority.sendSummary(sign(rfce(original, 'AAAAAA'), certificate()));
    expect((await authority.check(note('34', original, { buyer: null }))).codigo).toBe('1');
    expect((await authority.check(note('34', original))).codigo).toBe('1');
    expect(await authority.check(note('34', original, { buyer: null, net: 901 }))).toMatchObject(rejectedWith(615));
  });
});

describe('other references', () => {
  it('on paper are accepted unchecked, except for the thirty days', async () => {
    const paper = (indicator: string) =>
      authority.check(note('34', 'B0100000001', { date: '01-01-2026', creditNoteIndicator: indicator }));
    expect((await paper('1')).codigo).toBe('1');
    expect(await paper('0')).toMatchObject(rejectedWith(156));
  });

  it('of an invoice to a consumer invoice need one that was issued', async () => {
    const refer = (to: string) =>
      authority.check(ecf({ encf: encf('31'), modifies: { encf: to, date: '10-06-2026', code: '5' } }));
    expect(await refer(encf('32'))).toMatchObject(rejectedWith(614));
    const original = encf('32');
    await authority.sendSummary(sign(rfce(original, 'AAAAAA'), certificate()));
    expect((await refer(original)).codigo).toBe('1');
  });
});

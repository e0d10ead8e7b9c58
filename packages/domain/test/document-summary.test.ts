import { describe, expect, it } from '@jest/globals';
import { summarise } from '../src/document/document-summary.js';
import { changed, example } from './documents.js';

describe('the summary of a document', () => {
  it('has the fields of a note in records and events', () => {
    const tree = changed(example('ecf-34'), {
      FechaHoraFirma: '20-06-2026 09:05:01',
      'Encabezado.Totales.MontoTotal': '1770.5',
    });
    expect(summarise(tree)).toEqual({
      document: 'ECF',
      encf: 'E340000000001',
      ecf_type: '34',
      issuer_rnc: '199999991',
      issuer_name: 'Comercial Palma Ficticia, SRL',
      buyer_rnc: '188888885',
      buyer_foreign_id: null,
      buyer_name: 'Taller Caoba Imaginario, SRL',
      date_issued: '2026-06-20',
      total_amount: '1770.50',
      total_itbis: '270.00',
      modified_encf: 'E310000000001',
      modification_code: '3',
      signature_datetime: '2026-06-20 09:05:01',
    });
  });

  it('has nulls for absent values', () => {
    expect(summarise(example('ecf-43'))).toMatchObject({
      buyer_rnc: null,
      buyer_name: null,
      total_itbis: '0.00',
      modified_encf: null,
      signature_datetime: null,
    });
    expect(summarise(example('ecf-47'))).toMatchObject({ buyer_rnc: null, buyer_foreign_id: 'IE-555-0123' });
    expect(summarise(example('rfce'))).toMatchObject({ document: 'RFCE', ecf_type: '32', total_amount: '1180.00' });
  });

  it('keeps a name of blanks alone', () => {
    expect(summarise(changed(example('ecf-31'), { 'Encabezado.Emisor.RazonSocialEmisor': '  ' })).issuer_name).toBe(
      '  ',
    );
  });

  it('reads the type as XSD does', () => {
    expect(summarise(changed(example('ecf-31'), { 'Encabezado.IdDoc.TipoeCF': ' +31 ' })).ecf_type).toBe('31');
  });

  it.each([
    [{ 'Encabezado.IdDoc.eNCF': undefined }, /eNCF is missing/],
    [{ 'Encabezado.IdDoc.TipoeCF': '42' }, /not a type/],
    [{ 'Encabezado.Emisor.FechaEmision': '31-02-2026' }, /not a calendar day/],
    [{ 'Encabezado.Totales.MontoTotal': 'x' }, /not an amount/],
  ])('refuses %j', (changes, message) => {
    expect(() => summarise(changed(example('ecf-31'), changes))).toThrow(message);
  });
});

import fs from 'node:fs';
import { json } from '@codemirror/lang-json';
import { EditorState } from '@codemirror/state';
import { checkJson } from '@ecf/engine/check';
import { describe, expect, it } from '@jest/globals';
import { creditDocument, creditNoteFor, fitsTheForm } from '../src/pages/new-invoice/credit-note.js';
import { type Draft, documentOf, emptyDraft, emptyLine, partsOf } from '../src/pages/new-invoice/draft.js';
import { partAt } from '../src/pages/new-invoice/editor/places.js';

const ISSUER = { rnc: '199999991', name: 'Comercial Palma Ficticia, SRL' };
const example = (name: string) =>
  JSON.parse(fs.readFileSync(`${import.meta.dirname}/../../../examples/${name}.json`, 'utf8'));

const draft = (changes: Partial<Draft>): Draft => ({
  ...emptyDraft(),
  issuer: { DireccionEmisor: 'Calle Ejemplo 12' },
  lines: [{ ...emptyLine(), name: 'Silla', price: '1,180', indicator: '1' }],
  ...changes,
});

describe('the document of a form', () => {
  it('is valid without a buyer for a consumer invoice, and takes prices with ITBIS apart.', () => {
    const document = documentOf(draft({ type: '32', taxIncluded: true }), ISSUER, {
      encf: 'E320000000001',
      expires: '',
    });
    expect(checkJson(document)).toMatchObject({ valid: true, faults: [], warnings: [] });
    expect(partsOf(document)).toMatchObject({
      buyer: { RazonSocialComprador: 'Consumidor final' },
      totals: { MontoGravadoTotal: '1000.00', TotalITBIS: '180.00', MontoTotal: '1180.00' },
    });
  });

  it('keeps a number that is not clear as it is typed, so that the check names it.', () => {
    for (const price of ['1,5', 'mil', '1.23456']) {
      const line = { ...emptyLine(), name: 'Silla', price };
      const document = documentOf(draft({ type: '32', lines: [line] }), ISSUER, { encf: 'E320000000001', expires: '' });
      expect(checkJson(document).faults.map(({ path }) => path)).toContain(
        'ECF.DetallesItems.Item[1].PrecioUnitarioItem',
      );
    }
  });
});

describe('a credit note for an invoice', () => {
  const number = { encf: 'E340000000001', expires: '' };

  it('has the lines, discounts and totals of the invoice, and is valid for each code of the form.', () => {
    const invoice = example('ecf-31');
    const note = creditNoteFor(invoice);
    for (const code of ['1', '2', '3']) {
      const document = documentOf({ ...note, reference: { ...note.reference, code } }, ISSUER, number);
      expect(checkJson(document)).toMatchObject({ valid: true, warnings: [] });
      const { MontoTotal } = partsOf(document).totals;
      expect(MontoTotal).toBe(code === '2' ? '0.00' : '11430.00');
    }
  });

  it('keeps what the form does not show, in the editor.', () => {
    const invoice = example('ecf-31');
    invoice.ECF.DetallesItems.Item[0].RecargoMonto = '10.00';
    expect([fitsTheForm(example('ecf-31')), fitsTheForm(invoice)]).toEqual([true, false]);
    const document = creditDocument(invoice, documentOf(creditNoteFor(invoice), ISSUER, number));
    expect(partsOf(document)).toMatchObject({
      idDoc: { TipoeCF: '34' },
      items: [{ RecargoMonto: '10.00' }, {}, {}],
      totals: { MontoTotal: '11430.00' },
      ECF: { InformacionReferencia: { NCFModificado: 'E310000000001', CodigoModificacion: '1' } },
    });
  });
});

describe('the place of a fault in the editor', () => {
  const text =
    '{"ECF": {"Encabezado": {"Version": "1.0"}, "DetallesItems": {"Item": [{"NumeroLinea": "1"}, {"MontoItem": "2"}]}}}';
  const marked = (path: string, doc = text) => {
    const part = partAt(EditorState.create({ doc, extensions: [json()] }), path);
    return doc.slice(part.from, part.to);
  };

  it.each([
    ['ECF.Encabezado.Version', '"Version": "1.0"'],
    ['ECF.DetallesItems.Item[2].MontoItem', '"MontoItem": "2"'],
    ['ECF.DetallesItems.Item[1].NombreItem', '{'],
    ['ECF.Encabezado.IdDoc.TipoeCF', '"Encabezado"'],
    ['RFCE', '{'],
  ])('%s is at %s', (path, part) => expect(marked(path)).toBe(part));

  it('is where the text stops being JSON, if it is not.', () => {
    expect(marked('', '{"ECF": {"Encabezado": x}}')).toBe('x');
  });
});

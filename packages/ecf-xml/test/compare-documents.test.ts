import type { DocumentNode } from '@ecf/domain';
import { describe, expect, it } from '@jest/globals';
import { DOCUMENTS } from '../src/catalogue/documents.js';
import { type ElementRule, schemaOf } from '../src/catalogue/element-rules.js';
import { comparableJson, comparableText, differences, parseDocument, writeXml } from '../src/index.js';

const invoice = (
  changes: { total?: string; quantity?: string; signedAt?: string; name?: string; lines?: number } = {},
) => ({
  ECF: {
    Encabezado: {
      Version: '1.0',
      IdDoc: { TipoeCF: '31', eNCF: 'E310000000001' },
      Emisor: { RNCEmisor: '133470616', RazonSocialEmisor: changes.name ?? 'Palma' },
      Totales: { MontoTotal: changes.total ?? '11430.00' },
    },
    DetallesItems: {
      Item: Array.from({ length: changes.lines ?? 1 }, (_, index) => ({
        NumeroLinea: String(index + 1),
        NombreItem: '1.00',
        CantidadItem: changes.quantity ?? '1',
      })),
    },
    ...(changes.signedAt === undefined ? {} : { FechaHoraFirma: changes.signedAt }),
  },
});
const text = (tree: DocumentNode) => comparableText(writeXml(tree).canonical);
const bytes = (tree: DocumentNode) => Buffer.from(writeXml(tree).output);

describe('comparableText', () => {
  it('is the same for another signing time and for amounts of the same value', () => {
    const first = text(invoice({ signedAt: '26-11-2026 10:00:00' }));
    expect(text(invoice({ signedAt: '26-11-2026 10:00:30' }))).toBe(first);
    expect(text(invoice())).toBe(first);
    expect(text(invoice({ total: '11430.0', quantity: '1.00' }))).toBe(first);
    expect(text(invoice({ total: '0011430', quantity: '+1.' }))).toBe(first);
  });

  it('differs for another amount and for a text that only looks like the same number', () => {
    const first = text(invoice());
    expect(text(invoice({ total: '11430.01' }))).not.toBe(first);
    expect(text(invoice({ name: 'Palma 1.0' }))).not.toBe(text(invoice({ name: 'Palma 1.00' })));
  });

  it('finds every decimal element by its name, which no element of another type has', () => {
    const bases = new Map<string, Set<boolean>>();
    const collect = ({ name, type, children }: ElementRule): void => {
      if (type !== null) bases.set(name, (bases.get(name) ?? new Set()).add(type.base === 'decimal'));
      for (const child of children ?? []) collect(child);
    };
    for (const { id, root } of DOCUMENTS) if (root === 'ECF' || root === 'RFCE') collect(schemaOf(id).root);
    expect([...bases].filter(([, kinds]) => kinds.size > 1).map(([name]) => name)).toEqual([]);
  });
});

describe('differences', () => {
  it('names each element with both values, in the order of the document', () => {
    const stored = bytes(invoice({ signedAt: '26-11-2026 10:00:00' }));
    const sent = bytes(invoice({ total: '11500.00', name: 'Palma & Co', lines: 2, signedAt: '26-11-2026 11:00:00' }));
    expect(differences(stored, sent)).toEqual([
      { path: 'ECF.Encabezado.Emisor.RazonSocialEmisor', stored: 'Palma', sent: 'Palma & Co' },
      { path: 'ECF.Encabezado.Totales.MontoTotal', stored: '11430.00', sent: '11500.00' },
      { path: 'ECF.DetallesItems.Item[2].NumeroLinea', stored: null, sent: '2' },
      { path: 'ECF.DetallesItems.Item[2].NombreItem', stored: null, sent: '1.00' },
      { path: 'ECF.DetallesItems.Item[2].CantidadItem', stored: null, sent: '1' },
    ]);
  });

  it('finds none between documents of the same values, and leaves out ignored elements', () => {
    expect(differences(bytes(invoice({ total: '11430.0' })), bytes(invoice({ quantity: '1.00' })))).toEqual([]);
    const other = invoice();
    other.ECF.Encabezado.IdDoc.eNCF = 'E310000000002';
    expect(differences(bytes(invoice()), bytes(other), ['ECF.Encabezado.IdDoc.eNCF'])).toEqual([]);
    expect(differences(bytes(invoice()), bytes(other))).toHaveLength(1);
  });

  it('finds none in carriage returns and blanks', () => {
    const header = (issuer: DocumentNode) => ({ ECF: { Encabezado: { IdDoc: { TipoeCF: '31' }, Emisor: issuer } } });
    const stored = header({ DireccionEmisor: 'a\r\nb\rc', Sucursal: ' ' });
    expect(differences(bytes(stored), bytes(header({ DireccionEmisor: 'a\nb\nc' })))).toEqual([]);
  });

  it('says so if one document is an e-CF and the other one a summary', () => {
    const summary = { RFCE: { Encabezado: { Version: '1.0' } } };
    expect(differences(bytes(summary), bytes(invoice()))).toEqual([{ path: 'ECF', stored: 'RFCE', sent: 'ECF' }]);
  });
});

describe('comparableJson', () => {
  const text = (json: string) => comparableJson(parseDocument(Buffer.from(json)));

  it('is the same for another signing time, order of keys, absent values, lists of one and amounts of the same value', () => {
    const first = text(
      '{"ECF": {"A": {"MontoTotal": "11430.00", "eNCF": "E31"}, "FechaHoraFirma": "26-11-2026 10:00:00"}}',
    );
    expect(text('{"ECF": {"B": [null, {}], "A": [{"eNCF": "E31", "MontoTotal": 11430.0, "C": " "}]}}')).toBe(first);
    expect(text('{"ECF": {"A": {"MontoTotal": "11430.01", "eNCF": "E31"}}}')).not.toBe(first);
    expect(text('{"ECF": {"A": {"MontoTotal": "11430.00", "eNCF": "E31.0"}}}')).not.toBe(first);
    expect(text('{"A": ["1", "2"]}')).not.toBe(text('{"A": "1,2"}'));
    expect(text('{"A": "1\\r\\n2\\r3"}')).toBe(text('{"A": "1\\n2\\n3"}'));
  });

  it('differs for a number where only text is taken: the text corrects it', () => {
    expect(text('{"ECF": {"RNCComprador": 131880681}}')).not.toBe(text('{"ECF": {"RNCComprador": "131880681"}}'));
    expect(text('{"ECF": {"ITBIS1": 18}}')).toBe(text('{"ECF": {"ITBIS1": "18"}}'));
  });
});

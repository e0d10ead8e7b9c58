import { examineJson } from '@ecf/ecf-xml/json';
import { describe, expect, it } from '@jest/globals';
import { decodeText, problemText, readInvoices, refusedFile, template } from '../src/index.js';

const NOW = new Date('2026-06-20T12:00:00Z');
const ISSUER = '199999991,"Comercial Palma Ficticia, SRL",Calle Ejemplo 12';
const HEADER =
  'reference,TipoeCF,FechaEmision,RNCEmisor,RazonSocialEmisor,DireccionEmisor,RNCComprador,RazonSocialComprador,NombreItem,IndicadorFacturacion,CantidadItem,PrecioUnitarioItem';

/** A file of one consumer invoice for each of the cells for quantity and price. */
const priced = (...cells: readonly string[]) =>
  [HEADER, ...cells.map((cell, index) => `A-${index},32,15-06-2026,${ISSUER},,,Silla,1,${cell}`)].join('\n');

/** The sentences about the problems of a file. */
const problems = (text: string) => readInvoices(text).problems.map(problemText);

const itemsOf = (text: string) =>
  readInvoices(text).invoices.map(({ document }) => (document as never as Ecf).ECF.DetallesItems.Item);

interface Ecf {
  ECF: {
    Encabezado: Record<'IdDoc' | 'Emisor' | 'Totales', Record<string, string>>;
    DetallesItems: { Item: Record<string, string>[] };
  };
}

describe('invoices from CSV', () => {
  it('are those of the template: two that pass every check, one of them with two lines.', () => {
    const issuer = {
      rnc: '199999991',
      name: 'Comercial Palma Ficticia, SRL',
      address: 'Calle Ejemplo 12',
      day: '15-06-2026',
    };
    const { invoices, problems } = readInvoices(decodeText(new TextEncoder().encode(template(issuer))).text);
    expect(problems).toEqual([]);
    expect(invoices.map(({ reference, rows }) => [reference, rows.length])).toEqual([
      ['FACT-1001', 2],
      ['FACT-1002', 1],
    ]);
    const [credit, consumer] = invoices.map(({ document }) => (document as never as Ecf).ECF.Encabezado.Totales);
    expect(credit).toMatchObject({ MontoGravadoTotal: '9500.00', TotalITBIS: '1710.00', MontoTotal: '11210.00' });
    expect(consumer).toMatchObject({ MontoGravadoTotal: '1000.00', TotalITBIS: '180.00', MontoTotal: '1180.00' });
    for (const { document } of invoices) {
      const numbered = JSON.parse(JSON.stringify(document)) as Ecf;
      const { IdDoc } = numbered.ECF.Encabezado;
      Object.assign(IdDoc, { eNCF: `E${IdDoc.TipoeCF}0000000001` });
      if (IdDoc.TipoeCF === '31') Object.assign(IdDoc, { FechaVencimientoSecuencia: '31-12-2028' });
      const { faults, warnings } = examineJson(numbered, { now: NOW });
      expect([...faults, ...warnings]).toEqual([]);
    }
  });

  it('are notes too: the indicator of a credit note follows from the two dates, and a discount has its table.', () => {
    const note = (reference: string, day: string) =>
      `${reference};34;E34000000000${reference};${day};199999991;Palma;Calle 12;188888885;Caoba;Silla;1;2;100;10;E310000000001;15-05-2026;3;Devolución`;
    const header = `${HEADER.replaceAll(',', ';').replace('TipoeCF', 'TipoeCF;eNCF')};DescuentoMonto;NCFModificado;FechaNCFModificado;CodigoModificacion;RazonModificacion`;
    const { invoices } = readInvoices([header, note('1', '14/6/2026'), note('2', '2026-06-15')].join('\r\n'));
    const documents = invoices.map(({ document }) => document as never as Ecf);
    expect(documents.map(({ ECF }) => ECF.Encabezado.IdDoc.IndicadorNotaCredito)).toEqual(['0', '1']);
    expect(documents.map(({ ECF }) => ECF.Encabezado.Emisor.FechaEmision)).toEqual(['14-06-2026', '15-06-2026']);
    expect(documents[0]?.ECF.Encabezado.Totales.MontoTotal).toBe('224.20');
    for (const document of documents) expect(examineJson(document, { now: NOW }).faults).toEqual([]);
  });

  it('are read from what spreadsheets write: UTF-8 with or without a mark, UTF-16, Windows-1252.', () => {
    const text = priced('2,1500.50').replace('Silla', 'Café');
    const latin = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    const wide = new Uint8Array(Uint16Array.from(`\ufeff${text}`, (letter) => letter.charCodeAt(0)).buffer);
    const encoder = new TextEncoder();
    for (const [bytes, encoding] of [
      [encoder.encode(text), 'utf-8'],
      [encoder.encode(`\ufeff${text}`), 'utf-8'],
      [wide, 'utf-16le'],
      [latin, 'windows-1252'],
    ] as const) {
      const decoded = decodeText(bytes);
      expect(decoded.encoding).toBe(encoding);
      expect(itemsOf(decoded.text)[0]?.[0]?.NombreItem).toBe('Café');
    }
  });

  it('have the numbers that the file means, by the decimal mark that it proves.', () => {
    const prices = (...cells: readonly string[]) =>
      itemsOf(priced(...cells.map((cell) => `1,"${cell}"`))).map(([item]) => item?.PrecioUnitarioItem);
    expect(prices('1,234.50', '1,500', 'RD$ 2,000.00')).toEqual(['1234.50', '1500', '2000.00']);
    expect(prices('1.234,50', '1.500', '0,5')).toEqual(['1234.50', '1500', '0.5']);
    expect(prices('1234', '12.5')).toEqual(['1234', '12.5']);
    expect(problems(priced('1,"1,500"', '2,"dos"'))).toEqual([
      'Row 2: PrecioUnitarioItem is "1,500"; write a number such as 1234.50.',
      'Row 3: PrecioUnitarioItem is "dos"; write a number such as 1234.50.',
    ]);
  });

  it('are none where the columns are wrong: missing, unknown and repeated ones are named.', () => {
    expect(problems('reference,TipoeCF,Precio,NombreItem,nombreitem\n1,31,5,a,b')).toEqual([
      'Missing columns: FechaEmision, RNCEmisor, RazonSocialEmisor, DireccionEmisor, IndicadorFacturacion, CantidadItem, PrecioUnitarioItem. Unknown columns: Precio. Repeated columns: NombreItem.',
    ]);
  });

  it.each([
    ['no row', '', 'The file has no invoice.'],
    ['blank rows only', `${HEADER}\n,,,\n`, 'The file has no invoice.'],
    ['a cell too many', `${HEADER}\nA,32,15-06-2026,${ISSUER},,,Silla,1,1,1,5`, 'Row 2 has more cells'],
    ['an open quotation mark', `${HEADER}\nA,32,15-06-2026,"199999991`, 'Row 2 has a quotation mark'],
    ['a row without reference', `${HEADER}\n,32,15-06-2026,${ISSUER},,,Silla,1,1,1`, 'Row 2 has no reference'],
    ['another type', priced('1,1').replace(',32,', ',99,'), 'Row 2: TipoeCF is "99"'],
    ['a day that does not exist', priced('1,1').replace('15-06', '15-16'), 'Row 2: FechaEmision is "15-16-2026"'],
  ])('are none in a file with %s, which is named.', (_problem, text, sentence) => {
    expect(problems(text)[0]).toContain(sentence);
    expect(readInvoices(text).invoices).toEqual([]);
  });

  it('are none where two of them have one reference: the cell that differs is named.', () => {
    const [header, first, second] = priced('1,1', '2,2').split('\n') as [string, string, string];
    const same = second.replace('A-1', 'A-0');
    expect(readInvoices([header, first, same].join('\n')).invoices).toHaveLength(1);
    expect(problems([header, first, same.replace('15-06', '16-06')].join('\n'))).toEqual([
      'Row 3: FechaEmision is "16-06-2026", but "15-06-2026" in row 2 of the same invoice. Leave the cell empty, or give the other invoice its own reference.',
    ]);
  });

  it('can be written back to correct, with what is wrong, and no cell is run as a formula.', () => {
    const text = priced('1,1', '2,2').replaceAll('Silla', '=HYPERLINK(A1)');
    const file = readInvoices(text);
    const refused = refusedFile(file, [{ invoice: file.invoices[1]!, error: '+1 fault' }]);
    expect(refused).toContain("'=HYPERLINK(A1)");
    expect(refused).toContain("'+1 fault");
    const again = readInvoices(decodeText(new TextEncoder().encode(refused)).text);
    expect(again.problems).toEqual([]);
    expect(again.invoices).toMatchObject([{ reference: 'A-1', document: file.invoices[1]!.document }]);
    // A second correction replaces what was wrong.
    const twice = refusedFile(again, [{ invoice: again.invoices[0]!, error: 'other' }]);
    expect(twice.match(/error/g)).toHaveLength(1);
    expect(twice).not.toContain('fault');
  });
});

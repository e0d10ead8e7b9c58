import Papa from 'papaparse';
import { COLUMNS, ERROR_COLUMN } from './columns.js';
import type { CsvFile, CsvInvoice } from './read.js';

/** What an example of the template states. */
export interface TemplateIssuer {
  readonly rnc: string;
  readonly name: string;
  readonly address: string;
  /** The day of issue, `DD-MM-YYYY`. */
  readonly day: string;
}

/** A file with two examples: a tax credit invoice of two lines, and a consumer invoice whose prices include ITBIS. */
export function template({ rnc, name, address, day }: TemplateIssuer): string {
  const issuer = { FechaEmision: day, RNCEmisor: rnc, RazonSocialEmisor: name, DireccionEmisor: address };
  const credit = {
    reference: 'FACT-1001',
    TipoeCF: '31',
    RNCComprador: '188888885',
    RazonSocialComprador: 'Taller Caoba Imaginario, SRL',
    ...issuer,
  };
  return csv(
    COLUMNS.map((column) => column.name),
    [
      row({ ...credit, ...line('Silla plegable', '10', '800.00') }),
      row({ reference: 'FACT-1001', ...line('Transporte', '1', '1500.00'), IndicadorBienoServicio: '2' }),
      row({
        reference: 'FACT-1002',
        TipoeCF: '32',
        ...issuer,
        RazonSocialComprador: 'Consumidor final',
        IndicadorMontoGravado: '1',
        ...line('Lámpara de mesa', '2', '590.00'),
      }),
    ],
  );
}

const line = (NombreItem: string, CantidadItem: string, PrecioUnitarioItem: string) => ({
  NombreItem,
  IndicadorFacturacion: '1',
  CantidadItem,
  PrecioUnitarioItem,
});

const row = (values: Readonly<Record<string, string>>) => COLUMNS.map(({ name }) => values[name] ?? '');

/** Refused invoices as a file to correct: their rows as they were, and what is wrong in an additional column, which is ignored. */
export function refusedFile(
  { header, separator }: Pick<CsvFile, 'header' | 'separator'>,
  refused: readonly { readonly invoice: CsvInvoice; readonly error: string }[],
): string {
  const before = header.map((name) => name.trim().toLowerCase()).indexOf(ERROR_COLUMN);
  const without = (cells: readonly string[]) => cells.slice(0, header.length).filter((_, index) => index !== before);
  return csv(
    [...without(header), ERROR_COLUMN],
    refused.flatMap(({ invoice, error }) =>
      invoice.rows.map(({ cells }, index) => [...padded(without(cells), without(header)), index === 0 ? error : '']),
    ),
    separator,
  );
}

const padded = (cells: readonly string[], header: readonly string[]) => header.map((_, index) => cells[index] ?? '');

const FORMULA = /^[=+@\t\r]|^-(?![\d.,])/;

/** CSV for a spreadsheet: with a byte order mark, and an apostrophe before text that would be run as a formula. */
export function csv(header: readonly string[], rows: readonly (readonly string[])[], separator = ','): string {
  return `\ufeff${Papa.unparse({ fields: [...header], data: rows as string[][] }, { delimiter: separator, escapeFormulae: FORMULA })}\r\n`;
}

import type { DocumentNode } from '@ecf/domain';
import { dateOf, digitsOf, numberOf, provenMark, textOf } from './cells.js';
import { type Column, TYPES } from './columns.js';
import { documentOf, type Values } from './document.js';
import type { Problem } from './problems.js';
import { readTable, type Table } from './table.js';

/** An invoice of a file: one row for each of its lines. */
export interface CsvInvoice {
  /** The caller's own reference, which its rows share. */
  readonly reference: string;
  readonly document: DocumentNode;
  /** The rows of the file, numbered as in a spreadsheet, with their cells as written. */
  readonly rows: Table['rows'];
}

/** What a file holds: its invoices, or the problems because of which none of them should be sent. */
export interface CsvFile {
  readonly separator: string;
  readonly header: readonly string[];
  readonly invoices: readonly CsvInvoice[];
  readonly problems: readonly Problem[];
}

/** A row with its values by the names of the columns; empty cells are absent. */
interface Row {
  readonly source: Table['rows'][number];
  readonly values: Values;
}

/**
 * The invoices of a file in CSV, with their totals. Rows with the same `reference` form one invoice, in the order of the file.
 * Docs/batches.md describes the columns. Values are checked only as far as they have to be read: numbers, days, types.
 */
export function readInvoices(text: string): CsvFile {
  const table = readTable(text);
  const { separator, header } = table;
  if (table.problems.length > 0) return { separator, header, invoices: [], problems: table.problems };
  const problems: Problem[] = [];
  const groups = new Map<string, Row[]>();
  for (const row of rowsOf(table, problems)) {
    const reference = row.values.reference;
    if (reference === undefined) problems.push({ kind: 'reference', row: row.source.number });
    else groups.set(reference, [...(groups.get(reference) ?? []), row]);
  }
  const invoices = [...groups].map(([reference, rows]) => {
    problems.push(...differences(rows, table.columns));
    return {
      reference,
      document: documentOf(
        invoiceValues(rows),
        rows.map(({ values }) => values),
      ),
      rows: rows.map(({ source }) => source),
    };
  });
  return { separator, header, invoices: problems.length === 0 ? invoices : [], problems };
}

function rowsOf({ columns, rows }: Table, problems: Problem[]): Row[] {
  const mark = provenMark(numbersOf({ columns, rows }));
  const read = (column: Column, cell: string, row: number): string | null => {
    const problem = (kind: 'type' | 'number' | 'date') => {
      problems.push({ kind, row, column: column.name, value: cell });
      return null;
    };
    if (column.name === 'TipoeCF' && !TYPES.includes(cell)) return problem('type');
    if (column.kind === 'number') return numberOf(cell, mark) ?? problem('number');
    if (column.kind === 'date') return dateOf(cell) ?? problem('date');
    return column.kind === 'digits' ? digitsOf(cell) : cell;
  };
  return rows.map((source) => {
    const values: Record<string, string> = {};
    columns.forEach((column, index) => {
      const cell = textOf(source.cells[index] ?? '');
      if (column === null || cell === '') return;
      const value = read(column, cell, source.number);
      if (value !== null) values[column.name] = value;
    });
    return { source, values };
  });
}

function* numbersOf({ columns, rows }: Pick<Table, 'columns' | 'rows'>): Iterable<string> {
  for (const { cells } of rows)
    for (const [index, column] of columns.entries()) if (column?.kind === 'number') yield cells[index] ?? '';
}

/** The columns of an invoice, of which later rows may leave cells empty. */
const ofInvoice = (column: Column | null): column is Column => column !== null && column.group !== 'Item';

function differences(rows: readonly Row[], columns: Table['columns']): Problem[] {
  return columns.filter(ofInvoice).flatMap(({ name }) => {
    const first = rows.find(({ values }) => values[name] !== undefined);
    const value = first?.values[name];
    return rows
      .filter(({ values }) => values[name] !== undefined && values[name] !== value)
      .map(({ source, values }) => ({
        kind: 'differs' as const,
        row: source.number,
        column: name,
        value: values[name] as string,
        firstRow: first!.source.number,
        first: value as string,
      }));
  });
}

/** The values of an invoice: of each column the first that its rows state. */
function invoiceValues(rows: readonly Row[]): Values {
  return Object.assign({}, ...rows.map(({ values }) => values).reverse());
}

import Papa from 'papaparse';
import { COLUMNS, type Column, ERROR_COLUMN } from './columns.js';
import type { Problem } from './problems.js';

/** The rows of a file that have content, under its columns. */
export interface Table {
  readonly separator: string;
  /** The first row as written. */
  readonly header: readonly string[];
  /** The column at each place of the row; null for cells that are ignored. */
  readonly columns: readonly (Column | null)[];
  readonly rows: readonly { readonly number: number; readonly cells: readonly string[] }[];
  readonly problems: readonly Problem[];
}

const SEPARATORS = [',', ';', '\t'];

/** Reads CSV with commas, semicolons or tabs between its cells: whichever is most frequent in the first row. */
export function readTable(text: string): Table {
  const separator = separatorOf(text);
  const { data, errors } = Papa.parse<string[]>(text, { delimiter: separator });
  const header = data[0] ?? [];
  const columns = header.map((name) => COLUMNS.find((column) => same(column.name, name)) ?? null);
  const rows = data
    .map((cells, index) => ({ number: index + 1, cells }))
    .filter(({ number, cells }) => number > 1 && hasContent(cells));
  const problems: Problem[] = [
    ...columnProblems(header, columns),
    ...rows
      .filter(({ cells }) => hasContent(cells.slice(header.length)))
      .map(({ number }) => ({ kind: 'cells' as const, row: number })),
    ...errors
      .filter(({ type }) => type === 'Quotes')
      .map(({ row }) => ({ kind: 'quotes' as const, row: (row ?? 0) + 1 })),
  ];
  return { separator, header, columns, rows, problems: rows.length === 0 ? [{ kind: 'empty' }] : problems };
}

function separatorOf(text: string): string {
  const end = text.search(/[\r\n]/);
  const first = end < 0 ? text : text.slice(0, end);
  const count = (separator: string) => first.split(separator).length;
  return SEPARATORS.reduce((best, separator) => (count(separator) > count(best) ? separator : best));
}

function columnProblems(header: readonly string[], columns: readonly (Column | null)[]): Problem[] {
  const known = columns.filter((column) => column !== null);
  const missing = COLUMNS.filter((column) => column.required && !known.includes(column)).map(({ name }) => name);
  const unknown = header
    .filter((name, index) => columns[index] === null && !isIgnored(name))
    .map((name) => name.trim());
  const repeated = COLUMNS.filter((column) => known.filter((one) => one === column).length > 1).map(({ name }) => name);
  return missing.length + unknown.length + repeated.length === 0
    ? []
    : [{ kind: 'columns', missing, unknown, repeated }];
}

const isIgnored = (name: string) => name.trim() === '' || same(ERROR_COLUMN, name);

const same = (name: string, written: string) => name.toLowerCase() === written.trim().toLowerCase();

const hasContent = (cells: readonly string[]) => cells.some((cell) => cell.trim() !== '');

/**
 * Why a file cannot be read as invoices. A row counts as in a spreadsheet, where the first one names the columns.
 *
 * - `empty`: no row has a cell with content below the first one
 * - `columns`: the first row lacks required columns, or has unknown or repeated ones
 * - `cells`: a row has more cells than there are columns, for example because of a decimal comma in a file with commas
 * - `quotes`: a quotation mark is not closed
 * - `reference`: the row does not say to which invoice it belongs
 * - `differs`: the row belongs to an invoice whose first row has another value
 * - `type`, `number`, `date`: the cell is not a type of e-CF from 31 to 34, a number, a day
 */
export type Problem =
  | { readonly kind: 'empty' }
  | {
      readonly kind: 'columns';
      readonly missing: readonly string[];
      readonly unknown: readonly string[];
      readonly repeated: readonly string[];
    }
  | { readonly kind: 'cells' | 'quotes' | 'reference'; readonly row: number }
  | { readonly kind: 'type' | 'number' | 'date'; readonly row: number; readonly column: string; readonly value: string }
  | {
      readonly kind: 'differs';
      readonly row: number;
      readonly column: string;
      readonly value: string;
      readonly firstRow: number;
      readonly first: string;
    };

/** The sentence about a problem in English. */
export function problemText(problem: Problem): string {
  switch (problem.kind) {
    case 'empty':
      return 'The file has no invoice. Its first row names the columns, and each other row is a line of an invoice.';
    case 'columns':
      return [
        ['Missing columns', problem.missing],
        ['Unknown columns', problem.unknown],
        ['Repeated columns', problem.repeated],
      ]
        .filter(([, names]) => names!.length > 0)
        .map(([text, names]) => `${text}: ${(names as string[]).join(', ')}.`)
        .join(' ');
    case 'cells':
      return `Row ${problem.row} has more cells than there are columns. Put text with the separator in quotation marks.`;
    case 'quotes':
      return `Row ${problem.row} has a quotation mark that is not closed.`;
    case 'reference':
      return `Row ${problem.row} has no reference, so its invoice is unknown.`;
    case 'type':
      return `Row ${problem.row}: TipoeCF is "${problem.value}"; it must be 31, 32, 33 or 34.`;
    case 'number':
      return `Row ${problem.row}: ${problem.column} is "${problem.value}"; write a number such as 1234.50.`;
    case 'date':
      return `Row ${problem.row}: ${problem.column} is "${problem.value}"; write a day such as 15-06-2026.`;
    case 'differs':
      return `Row ${problem.row}: ${problem.column} is "${problem.value}", but "${problem.first}" in row ${problem.firstRow} of the same invoice. Leave the cell empty, or give the other invoice its own reference.`;
  }
}

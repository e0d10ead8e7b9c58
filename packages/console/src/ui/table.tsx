import type { ReactNode } from 'react';

/** A column of a table: what stands above it, and the cell of a row. */
export interface Column<T> {
  readonly head: string;
  readonly cell: (row: T) => ReactNode;
  /** True for figures, which stand at the right. */
  readonly amount?: boolean;
}

interface TableProps<T> {
  /** Names the table for screen readers. */
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
  /** True if a click anywhere in a row follows the link in its first cell. */
  opens?: boolean;
}

/** A table whose first column names the rows. On a narrow screen it scrolls by itself. */
export function Table<T>({ caption, columns, rows, rowKey, opens }: TableProps<T>) {
  const side = ({ amount }: Column<T>) => (amount ? 'amount' : undefined);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls a wide table
    <section className="wide" aria-label={caption} tabIndex={0}>
      <table className={opens ? 'opens' : undefined}>
        <caption className="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.head} scope="col" className={side(column)}>
                {column.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map((column, index) =>
                index === 0 ? (
                  <th key={column.head} scope="row">
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.head} className={side(column)}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

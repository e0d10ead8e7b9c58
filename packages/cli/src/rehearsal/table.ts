import { printable, wrapped } from '../output.js';
import type { Opinion } from './opinions.js';
import type { Row } from './rehearsal.js';

const HEADINGS = ['Document', 'eNCF', 'Answer', 'Our rules', 'Simulator', 'Result'];
const INDENT = 4;

const WORDS: Readonly<Record<string, string>> = {
  Aceptado: 'accepted',
  AceptadoCondicional: 'conditional',
  Rechazado: 'rejected',
};

/**
 * The rows as a table. A row that does not agree begins with `!` and is followed by its reasons and by the messages of the
 * authority and the simulator.
 *
 * @param columns width of the terminal
 */
export function table(rows: readonly Row[], columns: number): string {
  const cells = rows.map(cellsOf);
  const widths = HEADINGS.map((heading, column) =>
    Math.max(heading.length, ...cells.map((row) => (row[column] ?? '').length)),
  );
  const line = (mark: string, row: readonly string[]) =>
    `${mark} ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd();
  const lines = [
    line(' ', HEADINGS),
    line(
      ' ',
      widths.map((width) => '-'.repeat(width)),
    ),
  ];
  for (const [index, row] of rows.entries()) {
    lines.push(line(row.result === 'agrees' ? ' ' : '!', cells[index] ?? []));
    if (row.result !== 'agrees') lines.push(...explanation(row, columns));
  }
  return `${lines.join('\n')}\n`;
}

function cellsOf({ document, encf, authority, receipt, rules, simulator, result }: Row): string[] {
  return [
    document,
    encf ?? '-',
    receipt ?? word(authority),
    rules === null ? '-' : rules.valid ? 'valid' : 'faults',
    word(simulator),
    { agrees: 'agrees', differs: 'DIFFERS', 'not compared': 'NO RESULT' }[result],
  ];
}

function word(opinion: Opinion | null): string {
  return opinion === null ? '-' : (WORDS[opinion.status] ?? opinion.status);
}

function explanation({ reasons, authority, rules, simulator }: Row, columns: number): string[] {
  const said = (who: string, opinion: Opinion | null) =>
    (opinion?.messages ?? []).map(({ codigo, valor }) => `${who}: ${codigo === '' ? '' : `${codigo} `}${valor}`);
  const texts = [
    ...reasons,
    ...said('authority', authority),
    ...(rules?.faults ?? []).map(({ path, message }) => `our rules: ${path}: ${message}`),
    ...said('simulator', simulator),
  ];
  return texts.flatMap((text) => wrapped(printable(text), columns, INDENT, INDENT + 2));
}

/** How many rows have each result. */
export function countsOf(rows: readonly Row[]): { agree: number; differ: number; notCompared: number } {
  const count = (result: Row['result']) => rows.filter((row) => row.result === result).length;
  return { agree: count('agrees'), differ: count('differs'), notCompared: count('not compared') };
}

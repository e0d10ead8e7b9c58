import { formatDocumentDate, parseDocumentDate } from '@ecf/domain';

/** A number by its decimal mark, with or without marks between thousands. */
const BY_MARK = {
  '.': /^-?(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?$/,
  ',': /^-?(?:[1-9]\d{0,2}(?:\.\d{3})+|\d+)(?:,\d+)?$/,
} as const;

type Mark = keyof typeof BY_MARK;

const MARKS: readonly Mark[] = ['.', ','];
const LONGEST = 40;

/** The number of a cell by a decimal mark, as documents write it (`1234.50`); null if the cell is not such a number. */
function readBy(mark: Mark, text: string): string | null {
  if (!BY_MARK[mark].test(text)) return null;
  return text.replaceAll(mark === '.' ? ',' : '.', '').replace(',', '.');
}

/** Without blanks and the sign of the currency. */
function bare(cell: string): string {
  return cell
    .slice(0, LONGEST)
    .replace(/\s/g, '')
    .replace(/^RD\$|^\$/, '');
}

/** The decimal mark that the numbers of a file prove, as `12.5` or `1.234,50` do; null if there is none, or there are both. */
export function provenMark(cells: Iterable<string>): Mark | null {
  const proven = new Set<Mark>();
  for (const cell of cells) {
    const possible = MARKS.filter((mark) => readBy(mark, bare(cell)) !== null);
    if (possible.length === 1) proven.add(possible[0] as Mark);
  }
  return proven.size === 1 ? ([...proven][0] as Mark) : null;
}

/**
 * The number of a cell as documents write it; null if it is not one, or could be two, as `1,234` without a proven mark.
 */
export function numberOf(cell: string, proven: Mark | null): string | null {
  const possible = new Set(MARKS.map((mark) => readBy(mark, bare(cell))).filter((number) => number !== null));
  if (possible.size === 1) return [...possible][0] as string;
  return proven === null ? null : readBy(proven, bare(cell));
}

/** A day as documents write it, of `15-06-2026`, `15/6/2026` or `2026-06-15`; null if the cell is not a day. */
export function dateOf(cell: string): string | null {
  const parts = cell.trim().split(/[-/.]/);
  const written = (parts[0]?.length === 4 ? parts.reverse() : parts).join('-');
  const day = parseDocumentDate(written);
  return day === null ? null : formatDocumentDate(day);
}

/** An RNC or cédula without the dashes and blanks between its digits. */
export function digitsOf(cell: string): string {
  return /^[\d\s-]+$/.test(cell) ? cell.replace(/[\s-]/g, '') : cell.trim();
}

/** The text of a cell, without the apostrophe that keeps a spreadsheet from running it as a formula. */
export function textOf(cell: string): string {
  const text = cell.trim();
  return /^'[=+\-@]/.test(text) ? text.slice(1) : text;
}

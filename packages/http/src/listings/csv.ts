import { stringify } from 'csv-stringify/sync';
import type { Request, Response } from 'express';
import { writeChunk } from '../http-app.js';
import { RequestParameters } from '../request-parameters.js';
import type { ListingPlace } from './listing-cursor.js';

/** Rows that one query reads for a listing in CSV. */
export const CSV_PAGE = 500;

interface CsvPage {
  readonly next: ListingPlace | null;
  readonly invoices: readonly object[];
}

const TYPE = 'text/csv; charset=utf-8; header=present';
/** The media types of `Accept` that mean CSV: `text/csv` alone, or with one of its parameters. */
const NAMES = ['text/csv', 'text/csv; charset=utf-8', 'text/csv; header=present', TYPE];

/** Whether the caller wants CSV (RFC 4180) rather than JSON. */
export function wantsCsv(req: Request): boolean {
  return NAMES.includes(String(req.accepts(['application/json', ...NAMES])));
}

/**
 * Writes a whole listing, page by page.
 *
 * @param first the first page, read before the answer begins, so that an error still has its status
 */
export async function sendCsvListing(
  res: Response,
  columns: readonly string[],
  first: CsvPage,
  read: (place: ListingPlace) => Promise<CsvPage>,
): Promise<void> {
  begin(res, columns);
  for (let page = first; !res.destroyed; page = await read(page.next)) {
    if (page.invoices.length > 0) await writeChunk(res, lines(page.invoices, columns));
    if (page.next === null) break;
  }
  res.end();
}

/** Writes rows of sums. */
export function sendCsvRows(res: Response, columns: readonly string[], rows: readonly object[]): void {
  begin(res, columns);
  res.end(lines(rows, columns));
}

/** Spreadsheets take a file that begins with this for UTF-8. */
const BYTE_ORDER_MARK = '\ufeff';

/** Throws 422 for a `bom` that is neither true nor false. */
function begin(res: Response, columns: readonly string[]): void {
  const parameters = new RequestParameters(res.req);
  const byteOrderMark = parameters.flag('bom', false) ? BYTE_ORDER_MARK : '';
  parameters.check();
  res.setHeader('content-type', TYPE);
  res.setHeader('cache-control', 'no-store');
  res.write(byteOrderMark + lines([columns], columns));
}

/** Characters that break a line or a cell in some program. */
const CONTROLS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
/** Characters of no width, which may hide what a cell begins with. */
const INVISIBLE = /\p{Cf}/gu;
/** Where a cell begins in a spreadsheet whose locale splits lines at another separator, and what would be a formula there. */
const FORMULA_BEHIND_SEPARATOR = /([;|][\s"']*)([=+\-@\uff1d\uff0b\uff0d\uff20])/gu;
const NEGATIVE_NUMBER = /^-\d+(?:\.\d+)?$/;

/**
 * Names come from strangers. So a text is one line without invisible characters, and gets an apostrophe wherever a spreadsheet
 * would take it for a formula. A negative number is not a formula, and stays as it is.
 */
function textCell(value: string): string | { value: string; escape_formulas: boolean } {
  if (NEGATIVE_NUMBER.test(value)) return { value, escape_formulas: false };
  return withoutFormulas(value.replace(CONTROLS, ' ').replace(INVISIBLE, '').trim());
}

function withoutFormulas(text: string): string {
  return text.replace(FORMULA_BEHIND_SEPARATOR, "$1'$2");
}

const OPTIONS = {
  record_delimiter: 'windows',
  cast: {
    boolean: (value: boolean) => String(value),
    string: textCell,
    object: (value: object) => withoutFormulas(JSON.stringify(value)),
  },
  escape_formulas: true,
  // Everything but numbers, dates and codes.
  quoted_match: /[^\w.:+-]/,
} as const;

function lines(rows: readonly object[], columns: readonly string[]): string {
  return stringify([...rows], { ...OPTIONS, columns: [...columns] });
}

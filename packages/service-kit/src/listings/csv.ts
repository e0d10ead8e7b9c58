import { stringify } from 'csv-stringify/sync';
import type { Request, Response } from 'express';
import { writeChunk } from '../http/http-app.js';
import type { ListingPlace } from './listing-cursor.js';

/** Rows that are read at once for a listing in CSV. */
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
 * Writes a whole listing, page by page. Names in it come from strangers: one that a spreadsheet would take for a formula gets an
 * apostrophe before it.
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
    if (page.invoices.length > 0) await writeChunk(res, lines(page.invoices, columns, { escape_formulas: true }));
    if (page.next === null) break;
  }
  res.end();
}

/** Writes rows of sums. */
export function sendCsvRows(res: Response, columns: readonly string[], rows: readonly object[]): void {
  begin(res, columns);
  res.end(lines(rows, columns));
}

function begin(res: Response, columns: readonly string[]): void {
  res.setHeader('content-type', TYPE);
  res.setHeader('cache-control', 'no-store');
  res.write(lines([columns], columns));
}

function lines(rows: readonly object[], columns: readonly string[], options = {}): string {
  const cast = { boolean: (value: boolean) => String(value) };
  return stringify([...rows], { columns: [...columns], record_delimiter: 'windows', cast, ...options });
}

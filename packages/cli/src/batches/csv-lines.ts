import { readFile } from 'node:fs/promises';
import { decodeText, problemText, readInvoices } from '@ecf/csv-invoices';
import { UsageError } from '../options.js';

const MOST_PROBLEMS = 20;

/** The invoices of a file in CSV as NDJSON. Throws UsageError with the problems of the file. */
export async function* csvLines(file: string): AsyncGenerator<Uint8Array> {
  const { invoices, problems } = readInvoices(decodeText(await readFile(file)).text);
  if (problems.length > 0) {
    const shown = problems.slice(0, MOST_PROBLEMS).map(problemText);
    const others = problems.length - shown.length;
    throw new UsageError(
      [`${file} cannot be sent:`, ...shown, ...(others > 0 ? [`${others} more.`] : [])].join('\n  '),
    );
  }
  for (const { document, reference } of invoices) yield Buffer.from(`${JSON.stringify({ ...document, reference })}\n`);
}

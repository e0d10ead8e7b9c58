import { createReadStream } from 'node:fs';
import type { Console, ExitCode } from '../command.js';
import { examine, examineJsonText, unreadableDocument, type Verdict } from '../examine.js';
import { type Line, linesOf } from '../input/lines.js';
import { readDocument, unreadable } from '../input/read-document.js';
import type { Options, OptionValues } from '../options.js';
import { wantsJson } from '../output/format.js';
import { Progress } from '../output/progress.js';
import { documentName, faultLines, printable } from '../output/readable.js';
import { RowWriter } from '../output/row-writer.js';
import { UsageError } from '../usage-error.js';

export const options: Options = { 'schema-only': 'switch', json: 'switch', text: 'switch', quiet: 'switch' };

export const help = `ecf check [options] [FILE...|-]

Checks documents: e-CF of all types, RFCE, ACECF, ANECF and ARECF. The root key or element tells which it is.

  FILE           a document as JSON or XML; with the ending .ndjson or .jsonl one JSON document a line
  - or no FILE   standard input, one JSON document a line
  --schema-only  leave the business rules out
  --json         one JSON object a line: {line|file, document, type, encf, valid, faults, warnings}
  --text         readable for people; this is the default on a terminal, --json elsewhere
  --quiet        no progress on standard error

Every line gets exactly one row, in order, counted from 1, a line that is no JSON too. JSON is judged as if it were
signed: FechaHoraFirma and Signature may be missing. Ends with 1 when some document is at fault.

  ecf check invoice.json signed/*.xml
  ecf check --json < invoices.ndjson > verdicts.ndjson
`;

/** More than any document has; a longer line is at fault and is skipped, not kept. */
const LONGEST_LINE = 20 * 1024 * 1024;

type Place = { readonly file?: string; readonly line?: number };

export async function execute(values: OptionValues, files: string[], console: Console): Promise<ExitCode> {
  const json = wantsJson(values, console.stdout);
  const judging = { now: new Date(), schemaOnly: values['schema-only'] === true };
  const writer = new RowWriter(console.stdout);
  const progress = new Progress(console.stderr, values.quiet === true);
  let unreadableFiles = 0;

  const report = async (place: Place, verdict: Verdict): Promise<void> => {
    progress.count(verdict.valid);
    await writer.write(json ? `${JSON.stringify({ ...place, ...verdict })}\n` : readable(place, verdict));
  };
  const checkLines = async (stream: AsyncIterable<Uint8Array>, place: Place): Promise<void> => {
    for await (const lines of linesOf(stream, LONGEST_LINE)) {
      for (const line of lines) await report({ ...place, line: line.number }, judgeLine(line, judging));
      progress.tell();
    }
  };

  for (const file of files.length === 0 ? ['-'] : files) {
    try {
      if (file === '-') await checkLines(console.stdin, {});
      else if (/\.(ndjson|jsonl)$/i.test(file)) await checkLines(chunksOf(file), { file });
      else await report({ file }, examine(await readDocument(file, console.stdin), judging));
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      console.stderr.write(`ecf check: ${error.message}\n`);
      unreadableFiles++;
    }
    progress.tell();
  }
  await writer.flush();
  progress.end();
  if (unreadableFiles > 0) return 2;
  return progress.atFault > 0 ? 1 : 0;
}

function judgeLine({ bytes }: Line, judging: { now: Date; schemaOnly: boolean }): Verdict {
  if (bytes === null) {
    return unreadableDocument(`The line is longer than ${LONGEST_LINE} bytes; no document is.`, 'JSON (RFC 8259)');
  }
  return examineJsonText(bytes, judging);
}

async function* chunksOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file, { highWaterMark: 256 * 1024 }) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw unreadable(file, error);
  }
}

function readable(place: Place, { document, type, encf, valid, faults, warnings }: Verdict): string {
  const line = place.line === undefined ? '' : `line ${place.line}`;
  const where = [place.file, line].filter(Boolean).join(', ');
  const head = `${valid ? 'valid  ' : 'FAULTY '} ${documentName(document, type, encf)}  ${printable(where)}\n`;
  return head + faultLines(faults, 'fault') + faultLines(warnings, 'warning');
}

import { createReadStream } from 'node:fs';
import { BlockChecker } from '../../check/block-checker.js';
import { type CheckedBlock, LONGEST_LINE, row } from '../../check/check-block.js';
import { examine } from '../../check/examine.js';
import type { Console, ExitCode } from '../../command.js';
import { blocksOf } from '../../input/blocks.js';
import { announceTerminal, readDocument, unreadable } from '../../input/read-document.js';
import { type Options, type OptionValues, UsageError } from '../../options.js';
import { Progress, RowWriter, wantsJson } from '../../output.js';

export const options: Options = {
  'schema-only': 'switch',
  strict: 'switch',
  json: 'switch',
  text: 'switch',
  quiet: 'switch',
};

export const help = `ecf check [options] [FILE...|-]

Checks documents: e-CF of all types, RFCE, ACECF, ANECF and ARECF. The root key
or element determines the kind.

Options
  FILE           a document as JSON or XML; with the ending .ndjson or .jsonl
                 one JSON document per line
  - or no FILE   standard input, one JSON document per line
  --schema-only  skip the business rules
  --strict       a warning counts as a fault, as with warnings=refuse at the
                 gateway
  --json         one JSON object per line: {line|file, document, type, encf,
                 valid, faults, warnings}
  --text         for people; the default on a terminal, --json elsewhere
  --quiet        no progress on standard error

Every line gets exactly one row, in order, counted from 1, even if the line is
not JSON. JSON is checked as if it were signed: FechaHoraFirma and Signature may
be missing.

Exit codes
  0  no document has faults
  1  a document has faults
  2  wrong usage, or a file cannot be read

Examples
  ecf check invoice.json signed/*.xml
  ecf check --json < invoices.ndjson > verdicts.ndjson
`;

export async function execute(values: OptionValues, files: string[], console: Console): Promise<ExitCode> {
  const json = wantsJson(values, console.stdout);
  const [schemaOnly, strict] = [values['schema-only'] === true, values.strict === true];
  const style = { now: new Date(), schemaOnly, strict, json };
  const writer = new RowWriter(console.stdout);
  const progress = new Progress(console.stderr, values.quiet === true);
  let unreadableFiles = 0;

  const report = async ({ text, documents, atFault }: CheckedBlock): Promise<void> => {
    progress.add(documents, atFault);
    await writer.write(text);
  };
  for (const file of files.length === 0 ? ['-'] : files) {
    try {
      if (file === '-') {
        announceTerminal(console);
        await checkLines(console.stdin, new BlockChecker(style), report);
      } else if (/\.(ndjson|jsonl)$/i.test(file)) {
        await checkLines(chunksOf(file), new BlockChecker({ ...style, file }), report);
      } else {
        const verdict = examine(await readDocument(file, console), style);
        await report({ text: row({ file }, verdict, json), documents: 1, atFault: verdict.valid ? 0 : 1 });
      }
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      console.stderr.write(`ecf check: ${error.message}\n`);
      unreadableFiles++;
    }
  }
  await writer.flush();
  progress.end();
  if (unreadableFiles > 0) return 2;
  return progress.atFault > 0 ? 1 : 0;
}

/** Checks the lines of a stream on all cores and reports them in their order, with a bounded number in flight. */
async function checkLines(
  stream: AsyncIterable<Uint8Array>,
  checker: BlockChecker,
  report: (checked: CheckedBlock) => Promise<void>,
): Promise<void> {
  const inFlight: Promise<CheckedBlock>[] = [];
  try {
    for await (const block of blocksOf(stream, LONGEST_LINE)) {
      const checked = checker.check(block);
      // It is awaited when its turn has come; until then a failure must not count as unhandled.
      checked.catch(() => {});
      inFlight.push(checked);
      if (inFlight.length > checker.width) await report(await inFlight.shift()!);
    }
    for (const checked of inFlight) await report(await checked);
  } finally {
    await checker.close();
  }
}

async function* chunksOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file, { highWaterMark: 256 * 1024 }) as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw unreadable(file, error);
  }
}

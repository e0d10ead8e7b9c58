import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type BatchBody, type BatchResult, MAX_BATCH_DOCUMENTS } from '@ecf/contracts';
import { ENVIRONMENTS } from '@ecf/domain';
import { type Batches, openBatches } from '../batches/batches.js';
import { csvLines } from '../batches/csv-lines.js';
import { type Part, partsOf } from '../batches/parts.js';
import type { Console, ExitCode } from '../command.js';
import { announceTerminal, onlyFile, unreadable } from '../input/read-document.js';
import { type Options, type OptionValues, UsageError } from '../options.js';

export const options: Options = {
  env: 'value',
  'batch-size': 'value',
  strict: 'switch',
  results: 'value',
  'data-dir': 'value',
};

export const help = `ecf submit FILE|- --env ENV [options]

Submits invoices, one JSON document per line ({"ECF": ...}), any number of them:
one batch after another (POST /batches). Progress goes to standard error. The
results, one JSON object per line in the order of the input, go to standard
output; \`line\` counts the lines that are not empty.

A FILE whose name ends in .csv has one line of an invoice per row, in the
columns of docs/batches.md; \`line\` counts its invoices.

Options
  --env ENV       TesteCF, CerteCF or eCF
  --batch-size N  documents of a batch, 1 to 10000; default 1000
  --strict        a warning refuses its document before a number is used
  --results FILE  writes the results there; an existing file is replaced
  --data-dir D    data folder of a sandbox, for its demo.json; default DATA_DIR,
                  else .data

After an interruption, repeat the command with the same input, --env,
--batch-size and --strict. It sends nothing twice, and its results are complete.
A call whose answer has Retry-After, or is cut off, is repeated for up to 15
minutes; standard error says so. If the first call cannot connect, the command
ends within 30 seconds.

The gateway is ECF_URL with ECF_API_KEY; demo.json supplies what is not set.

Exit codes
  0  the authority accepted all documents
  1  it did not accept some
  2  wrong usage, or the gateway refuses or cannot be reached

Examples
  ecf submit invoices.ndjson --env TesteCF --results results.ndjson
`;

const DEFAULT_SIZE = 1_000;
const NEWLINE = Buffer.from('\n');
const POLL_MS = 1_000;
const REPORT_MS = 5_000;

export async function execute(values: OptionValues, files: string[], console: Console): Promise<ExitCode> {
  const file = onlyFile(files);
  const environment = environmentOf(values.env);
  const size = sizeOf(values['batch-size']);
  const strict = values.strict === true;
  const batches = openBatches(values['data-dir'] as string | undefined, process.env, environment, {
    strict,
    say: (text) => console.stderr.write(`${text}\n`),
  });
  const output = typeof values.results === 'string' ? await openFile(values.results) : toStream(console.stdout);
  if (file === '-') announceTerminal(console);
  const input = inputOf(file, console);
  const report = reporter(console);
  let [part, lines, accepted] = [0, 0, 0];
  try {
    for await (const documents of partsOf(input, size)) {
      part += 1;
      const [first, before] = [lines, accepted];
      const name = `${environment} ${part}${strict ? ' strict' : ''}`;
      for await (const result of submitted(batches, name, documents, (batch) =>
        report(`${first + decided(batch)} documents, ${before + batch.accepted + batch.conditional} accepted`),
      )) {
        lines += 1;
        if (result.status?.startsWith('Aceptado')) accepted += 1;
        await output.write(`${JSON.stringify({ ...result, line: first + result.line })}\n`);
      }
    }
  } catch (error) {
    const { path, syscall } = error as NodeJS.ErrnoException;
    if (path === file || syscall === 'read') throw unreadable(file, error);
    throw error;
  } finally {
    await output.close();
  }
  if (lines === 0) throw new UsageError('the input has no document. Write one JSON document per line.');
  console.stderr.write(`${lines} documents, ${accepted} accepted\n`);
  return accepted === lines ? 0 : 1;
}

function inputOf(file: string, { stdin }: Console): AsyncIterable<Uint8Array> {
  if (file === '-') return stdin;
  return file.toLowerCase().endsWith('.csv') ? csvLines(file) : createReadStream(file);
}

/** Where the results go. */
interface Output {
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

function toStream(stream: NodeJS.WritableStream): Output {
  return {
    async write(text) {
      if (!stream.write(text)) await once(stream, 'drain');
    },
    close: async () => undefined,
  };
}

/** The command ends with 2 if the file cannot be written, also when its disk is full later. */
async function openFile(name: string): Promise<Output> {
  function unwritable(cause: Error): never {
    throw new UsageError(`${name} cannot be written (${cause.message}).`, { cause });
  }
  const file = await open(name, 'w').catch(unwritable);
  return {
    write: (text) => file.appendFile(text).catch(unwritable),
    close: () => file.close(),
  };
}

/** The results of a part, once its batch is decided. */
async function* submitted(
  batches: Batches,
  name: string,
  documents: Part,
  onBatch: (batch: BatchBody) => void,
): AsyncGenerator<BatchResult> {
  if (documents === null) {
    yield TOO_LONG;
    return;
  }
  const ndjson = Buffer.concat(documents.flatMap((line) => [line, NEWLINE]));
  // The key names the part and its content, so that a repeated run finds the batch of the first one. Without --strict it is
  // another batch, because the first one may have refused lines for their warnings.
  const key = createHash('sha256').update(`${name}\n`).update(ndjson).digest('hex');
  const id = await batches.create(`ecf-submit-${key}`, ndjson);
  for (;;) {
    const batch = await batches.read(id);
    onBatch(batch);
    if (batch.pending === 0 && batch.in_process === 0) break;
    await delay(POLL_MS);
  }
  yield* batches.results(id);
}

const TOO_LONG_DETAIL = 'The line is longer than a batch may be; it was not sent.';

/** As the gateway reports a line that is refused. */
const TOO_LONG: BatchResult = {
  line: 1,
  encf: null,
  issuer_rnc: null,
  reference: null,
  status: null,
  code: null,
  track_id: null,
  security_code: null,
  qr_url: null,
  messages: [TOO_LONG_DETAIL],
  faults: [],
  warnings: [],
  sequence_used: null,
  error: { status: 413, code: 'body_too_large', message: TOO_LONG_DETAIL, items: [], detail: TOO_LONG_DETAIL },
};

function decided({ total, pending, in_process }: BatchBody): number {
  return total - pending - in_process;
}

/** Writes a line every five seconds. */
function reporter({ stderr }: Console): (text: string) => void {
  let last = Date.now();
  return (text) => {
    if (Date.now() - last < REPORT_MS) return;
    last = Date.now();
    stderr.write(`${text}\n`);
  };
}

function environmentOf(given: unknown): string {
  const environment = ENVIRONMENTS.find((one) => one === given);
  if (environment === undefined) throw new UsageError(`say the environment: --env ${ENVIRONMENTS.join(', --env ')}.`);
  return environment;
}

function sizeOf(given: unknown): number {
  const size = given === undefined ? DEFAULT_SIZE : Number(given);
  if (!Number.isInteger(size) || size < 1 || size > MAX_BATCH_DOCUMENTS)
    throw new UsageError(`--batch-size is a whole number from 1 to ${MAX_BATCH_DOCUMENTS}.`);
  return size;
}

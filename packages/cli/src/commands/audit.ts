import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { createAuditCheck } from '@ecf/kit';
import type { Console, ExitCode } from '../command.js';
import { type GatewayAdmin, GatewayRefuses, openGatewayAdmin } from '../gateway-admin.js';
import { type Options, type OptionValues, UsageError } from '../options.js';
import { RowWriter, wantsJson } from '../output.js';

export const options: Options = { 'data-dir': 'value', json: 'switch', text: 'switch' };

export const help = `ecf audit export [options]
ecf audit verify [FILE] [options]

The audit log says who did what. Each entry has a hash that covers it and, by
the hash before it, all earlier entries.

Actions
  export  writes all entries, one JSON object per line; needs the role owner
  verify  checks that no entry was changed, is missing or is repeated: of FILE,
          or of the gateway. The last entry of a FILE is compared with the
          gateway, if it can be reached

Options
  --data-dir D  data folder of a sandbox, for its demo.json; default DATA_DIR,
                else .data
  --json        the result of verify as a JSON object; --text is for people, the
                default on a terminal

Calls the gateway of ECF_URL with ADMIN_TOKEN (the token of an administrator is
good too); demo.json supplies what is not set.

Exit codes
  0  the log is whole
  1  an entry was changed, is missing or is repeated
  2  wrong usage, or the gateway cannot be reached or refuses

Examples
  ecf audit export > audit.ndjson
  ecf audit verify audit.ndjson
`;

const PAGE = 1_000;

export async function execute(values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
  const [verb, file, ...rest] = given;
  if (rest.length > 0 || !['export', 'verify'].includes(verb ?? '') || (verb === 'export' && file !== undefined))
    throw new UsageError('say export, or verify and at most one file.');
  const open = () => openGatewayAdmin(values);
  if (verb === 'export') return exportAll(open(), console);
  const json = wantsJson(values, console.stdout);
  const result = file === undefined ? await verified(pages(open())) : await verifiedFile(file, open);
  const { entries, fault, compared } = result;
  const text =
    fault === null
      ? `${entries} entries, whole; ${WORDS[compared]}\n`
      : `${entries} entries are good, then: ${fault}\n`;
  console.stdout.write(json ? `${JSON.stringify({ valid: fault === null, ...result })}\n` : text);
  return fault === null ? 0 : 1;
}

/** Whether the end of the chain was compared with the gateway. */
type Compared = 'gateway' | 'not_reached';
const WORDS: Record<Compared, string> = {
  gateway: 'the gateway has the last one too',
  not_reached: 'not compared with the gateway, which cannot be reached',
};

interface Result {
  /** Entries from the first one on that are good. */
  readonly entries: number;
  readonly fault: string | null;
  readonly compared: Compared;
}

async function exportAll(admin: GatewayAdmin, console: Console): Promise<ExitCode> {
  const writer = new RowWriter(console.stdout);
  for await (const line of admin.lines('/admin/audit')) await writer.write(`${line}\n`);
  await writer.flush();
  return 0;
}

async function verified(values: AsyncIterable<unknown>, check = createAuditCheck()): Promise<Result> {
  for await (const value of values) {
    const fault = check.next(value);
    if (fault !== null) return { entries: check.last()?.seq ?? 0, fault, compared: 'gateway' };
  }
  return { entries: check.last()?.seq ?? 0, fault: null, compared: 'gateway' };
}

async function verifiedFile(file: string, open: () => GatewayAdmin): Promise<Result> {
  const check = createAuditCheck();
  const result = await verified(valuesOf(file), check);
  const last = check.last();
  if (result.fault !== null) return result;
  if (last === null) return { ...result, fault: 'the file has no entry', compared: 'not_reached' };
  let present: { entries: { hash: string }[] };
  try {
    present = (await open().call('GET', `/admin/audit?after=${last.seq - 1}&limit=1`)) as typeof present;
  } catch (error) {
    if (!(error instanceof UsageError) || error instanceof GatewayRefuses) throw error;
    return { ...result, compared: 'not_reached' };
  }
  const [entry] = present.entries;
  if (entry?.hash === last.hash) return result;
  const fault =
    entry === undefined ? `the gateway has no entry ${last.seq}` : `entry ${last.seq} of the gateway differs`;
  return { ...result, fault };
}

async function* pages(admin: GatewayAdmin): AsyncGenerator<unknown> {
  for (let after: number | null = 0; after !== null; ) {
    const page = (await admin.call('GET', `/admin/audit?after=${after}&limit=${PAGE}`)) as {
      entries: unknown[];
      next: number | null;
    };
    yield* page.entries;
    after = page.next;
  }
}

async function* valuesOf(file: string): AsyncGenerator<unknown> {
  const input = createReadStream(file, 'utf8');
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      if (line.trim() === '') continue;
      yield parsed(line);
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === undefined) throw cause;
    throw new UsageError(`${file} cannot be read.`, { cause });
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

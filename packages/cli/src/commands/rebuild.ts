import { setTimeout as delay } from 'node:timers/promises';
import type { Console, ExitCode } from '../command.js';
import { openGatewayAdmin } from '../gateway-admin.js';
import { type Options, type OptionValues, UsageError } from '../options.js';
import { wantsJson } from '../output.js';

export const options: Options = {
  'no-wait': 'switch',
  'data-dir': 'value',
  json: 'switch',
  text: 'switch',
};

export const help = `ecf rebuild query [options]

Rebuilds the read models of the query service: empties them, and fills them with
the present state of all documents, page by page. Until the end, lists, counts
and sums are 503; single documents are answered. If an owner of documents fails
meanwhile, the rebuild is repeated until it succeeds.

Options
  --no-wait     ends when the rebuild has started
  --data-dir D  data folder of a sandbox, for its demo.json; default DATA_DIR,
                else .data
  --json        the result as a JSON object; --text is for people, the default
                on a terminal

Calls the gateway of ECF_URL with ADMIN_TOKEN; demo.json supplies what is not
set.

Exit codes
  0  done or started
  2  wrong usage, the gateway refuses, or another rebuild is running

Examples
  ecf rebuild query
`;

interface State {
  building: boolean;
  started_at: string | null;
  finished_at: string | null;
  documents: number;
  failure: string | null;
}

const ADDRESS = '/admin/rebuilds/query';
const POLL_MS = 500;

export async function execute(values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
  if (given.length !== 1 || given[0] !== 'query') throw new UsageError('say which read models: query.');
  const admin = openGatewayAdmin(values);
  let state = (await admin.call('POST', ADDRESS)) as State;
  let reported = 0;
  while (state.building && values['no-wait'] !== true) {
    await delay(POLL_MS);
    state = (await admin.call('GET', ADDRESS)) as State;
    if (state.building && state.documents > reported) console.stderr.write(`${state.documents} documents\n`);
    if (state.building && state.failure !== null) console.stderr.write(`repeated after a failure: ${state.failure}\n`);
    reported = state.documents;
  }
  console.stdout.write(wantsJson(values, console.stdout) ? `${JSON.stringify(state)}\n` : readable(state));
  return 0;
}

function readable({ building, documents, started_at, finished_at }: State): string {
  if (building) return `in progress since ${started_at}\n`;
  return `${documents} documents, from ${started_at} to ${finished_at}\n`;
}

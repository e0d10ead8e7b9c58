import { setTimeout as delay } from 'node:timers/promises';
import type { Console, ExitCode } from '../command.js';
import { openGatewayAdmin } from '../gateway-admin.js';
import type { Options, OptionValues } from '../options.js';
import { wantsJson } from '../output/format.js';
import { UsageError } from '../usage-error.js';

export const options: Options = {
  'no-wait': 'switch',
  'data-dir': 'value',
  json: 'switch',
  text: 'switch',
};

export const help = `ecf rebuild query [options]

Makes the read models of the query service anew: the owners of the documents tell their present state page by page, while
the present read models answer; then the new ones take their place at once. Whatever goes wrong, the present ones stay.

  --no-wait       ends once it is under way
  --data-dir D    data folder of a sandbox, for its demo.json; default DATA_DIR, else .data
  --json          the end as a JSON object; --text is readable for people, the default on a terminal

Talks to the gateway of ECF_URL with ADMIN_TOKEN; what is not set is taken from demo.json. Ends with 0 when it is done, 1
when it ended without effect, 2 when it was used wrongly, the gateway refuses or another rebuild is under way.

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
const LOOK_MS = 500;

export async function execute(values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
  if (given.length !== 1 || given[0] !== 'query') throw new UsageError('say which read models: query.');
  const admin = openGatewayAdmin(values['data-dir'] as string | undefined, process.env);
  let state = (await admin.call('POST', ADDRESS)) as State;
  let told = 0;
  while (state.building && values['no-wait'] !== true) {
    await delay(LOOK_MS);
    state = (await admin.call('GET', ADDRESS)) as State;
    if (state.building && state.documents > told) console.stderr.write(`${state.documents} documents\n`);
    told = state.documents;
  }
  console.stdout.write(wantsJson(values, console.stdout) ? `${JSON.stringify(state)}\n` : readable(state));
  return state.failure === null ? 0 : 1;
}

function readable({ building, documents, failure, started_at, finished_at }: State): string {
  if (building) return `under way since ${started_at}\n`;
  if (failure !== null) return `ended without effect: ${failure}\n`;
  return `${documents} documents, from ${started_at} to ${finished_at}\n`;
}

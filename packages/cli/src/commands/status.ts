import { setTimeout as delay } from 'node:timers/promises';
import type { DeploymentStateBody } from '@ecf/contracts';
import type { Console, ExitCode } from '../command.js';
import { openGatewayAdmin } from '../gateway-admin.js';
import { type Options, type OptionValues, UsageError } from '../options.js';
import { wantsJson } from '../output.js';
import { overviewOf } from '../status/overview.js';
import { columnsOf } from '../terminal.js';

export const options: Options = { watch: 'switch', 'data-dir': 'value', json: 'switch', text: 'switch' };

export const help = `ecf status [options]

Shows a deployment at a glance: the documents of today by status, the alarms
that fire, the work that waits, the authority, and the services.

Options
  --watch       shows it again every five seconds, until Ctrl-C
  --data-dir D  data folder of a sandbox, for its demo.json; default DATA_DIR,
                else .data
  --json        the state as a JSON object, one per line; --text is for people,
                the default on a terminal

The documents are counted in the read models. An alarm is shown as soon as its
condition holds. Calls the gateway of ECF_URL with ADMIN_TOKEN; demo.json
supplies what is not set.

Exit codes
  0  no alarm fires, and every service answers
  1  an alarm fires, or a service does not answer
  2  wrong usage, or the gateway cannot be reached or refuses

Examples
  ecf status --watch
`;

const REFRESH_MS = 5_000;
/** Moves the cursor of the terminal to its first line, and clears it. */
const CLEAR = '\u001b[H\u001b[2J';

export async function execute(values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
  if (given.length > 0) throw new UsageError('it takes options alone.');
  const json = wantsJson(values, console.stdout);
  const admin = openGatewayAdmin(values);
  for (;;) {
    const state = (await admin.call('GET', '/admin/state')) as DeploymentStateBody;
    const text = json ? `${JSON.stringify(state)}\n` : overviewOf(state, new Date(), columnsOf(console.stdout));
    console.stdout.write(values.watch === true && !json && console.stdout.isTTY ? `${CLEAR}${text}` : text);
    if (values.watch !== true) return state.alarms.length > 0 || state.unreachable.length > 0 ? 1 : 0;
    await delay(REFRESH_MS);
  }
}

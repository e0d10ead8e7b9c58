import type { Console, ExitCode } from '../command.js';
import { type GatewayAdmin, openGatewayAdmin } from '../gateway-admin.js';
import { type Options, type OptionValues, takesOnly, UsageError } from '../options.js';
import { printable, RowWriter, wantsJson } from '../output.js';

export const options: Options = {
  env: 'value',
  status: 'value',
  issuer: 'value',
  buyer: 'value',
  encf: 'value',
  limit: 'value',
  'data-dir': 'value',
  json: 'switch',
  text: 'switch',
};

export const help = `ecf deliveries list [options]
ecf deliveries retry RNC ENCF --env ENV [options]

Lists deliveries of accepted e-CF to their buyers' receivers, and repeats one.

Actions
  list   lists the deliveries, newest first
  retry  repeats one immediately, with a new deadline; never one that its buyer
         acknowledged

Options
  --env ENV     list: only this environment; retry: TesteCF, CerteCF or eCF,
                required
  --status S    not_required, no_receiver, pending, delivered, refused,
                unacknowledged or failed
  --issuer RNC  only this issuer
  --buyer RNC   only this buyer
  --encf ENCF   only this number
  --limit N     most rows; default 100
  --data-dir D  data folder of a sandbox, for its demo.json; default DATA_DIR,
                else .data
  --json        one JSON object per line; --text is for people, the default on a
                terminal

Calls the gateway of ECF_URL with ADMIN_TOKEN; demo.json supplies what is not
set.

Exit codes
  0  done
  2  wrong usage or the gateway refuses

Examples
  ecf deliveries list --status failed
  ecf deliveries retry 131000001 E310000000001 --env eCF
`;

interface Row {
  id: number;
  env: string;
  issuer_rnc: string;
  encf: string;
  buyer_rnc: string;
  delivery_status: string;
  tries: number;
  last_error: string | null;
  due_at: string | null;
}

const MOST_A_PAGE = 1_000;

export async function execute(values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
  const [verb, ...rest] = given;
  const json = wantsJson(values, console.stdout);
  const show = (row: Row) => (json ? `${JSON.stringify(row)}\n` : readable(row));
  const writer = new RowWriter(console.stdout);
  if (verb === 'list' && rest.length === 0) {
    takesOnly('list', ['env', 'status', 'issuer', 'buyer', 'encf', 'limit'], values);
    const limit = count(values.limit);
    const admin = openGatewayAdmin(values);
    for await (const row of rows(admin, values, limit)) await writer.write(show(row));
  } else if (verb === 'retry' && rest.length === 2) {
    takesOnly('retry', ['env'], values);
    if (values.env === undefined) throw new UsageError('retry needs --env.');
    const [issuer_rnc, encf] = rest;
    const admin = openGatewayAdmin(values);
    const body = { env: values.env, issuer_rnc, encf };
    await writer.write(show((await admin.call('POST', '/admin/deliveries/retry', body)) as Row));
  } else throw new UsageError('say list, or retry with an RNC and an eNCF.');
  await writer.flush();
  return 0;
}

async function* rows(admin: GatewayAdmin, values: OptionValues, limit: number): AsyncGenerator<Row> {
  const { env, status, issuer: issuer_rnc, buyer: buyer_rnc, encf } = values;
  const filter = Object.entries({ env, status, issuer_rnc, buyer_rnc, encf }).filter(
    ([, value]) => value !== undefined,
  );
  let left = limit;
  let before: number | null = null;
  do {
    const query = new URLSearchParams(filter as [string, string][]);
    query.set('limit', String(Math.min(left, MOST_A_PAGE)));
    if (before !== null) query.set('before', String(before));
    const page = (await admin.call('GET', `/admin/deliveries?${query}`)) as { deliveries: Row[]; next: number | null };
    yield* page.deliveries;
    left -= page.deliveries.length;
    before = page.next;
  } while (before !== null && left > 0);
}

function count(given: string | boolean | undefined): number {
  if (given === undefined) return 100;
  const limit = Number(given);
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= 1_000_000))
    throw new UsageError('--limit is a whole number from 1 to 1000000.');
  return limit;
}

function readable({ env, issuer_rnc, encf, buyer_rnc, delivery_status, tries, last_error, due_at }: Row): string {
  const again = due_at === null ? '' : `  again ${due_at}`;
  const why = last_error === null ? '' : `  ${printable(last_error)}`;
  const tried = `${tries} ${tries === 1 ? 'try' : 'tries'}`;
  return `${delivery_status.padEnd(14)}  ${env}  ${issuer_rnc}  ${encf}  to ${buyer_rnc}  ${tried}${again}${why}\n`;
}

import type { Console, ExitCode } from '../command.js';
import { openGatewayAdmin } from '../gateway-admin.js';
import { isId, listOrSettle, type Settleable } from '../list-or-settle.js';
import { type Options, type OptionValues, takesOnly, UsageError } from '../options.js';
import { printable, RowWriter, wantsJson } from '../output.js';

export const options: Options = {
  env: 'value',
  issuer: 'value',
  settled: 'switch',
  undelivered: 'switch',
  accepted: 'switch',
  rejected: 'switch',
  note: 'value',
  'data-dir': 'value',
  json: 'switch',
  text: 'switch',
};

export const help = `ecf approvals list [options]
ecf approvals settle ID (--accepted | --rejected) --note TEXT [options]
ecf approvals retry ID [options]

Lists our commercial approvals (ACECF) that the authority has not decided, and
records the outcome of one. The service sends them again by itself. Settle one
if the authority's answers cannot be read and its portal shows the result. The
service sends to issuers for APPROVAL_ISSUER_HOURS; retry one that did not
arrive once its issuer can receive it.

Actions
  list    lists the undecided approvals, oldest first
  settle  records the outcome: nothing more goes to the authority, and no later
          answer changes it
  retry   sends one to its issuer immediately, with a new deadline; never one
          that its issuer has

Outcome, for settle
  --accepted   the authority has this approval
  --rejected   it does not have it: the e-CF is pending again, and a new
               decision is possible
  --note TEXT  who found out what; kept with the approval, required

Options
  --settled      list: records that a person settled, with the note
  --undelivered  list: records that did not reach their issuer (no_receiver,
                 refused, failed)
  --env ENV      list: only this environment
  --issuer RNC   list: only e-CF of this issuer
  --data-dir D   data folder of a sandbox, for its demo.json; default DATA_DIR,
                 else .data
  --json         one JSON object per line; --text is for people, the default on
                 a terminal

Calls the gateway of ECF_URL with ADMIN_TOKEN; demo.json supplies what is not
set.

Exit codes
  0  done
  2  wrong usage or the gateway refuses (also if there is nothing to settle or
     to send)

Examples
  ecf approvals list
  ecf approvals settle 7 --accepted --note 'in the portal, 21-11-2026, M. Pena'
  ecf approvals list --undelivered
  ecf approvals retry 7
`;

interface Row {
  id: number;
  env: string;
  issuer_rnc: string;
  receiver_rnc: string;
  encf: string;
  approval_status: 1 | 2;
  authority_submission_status: string | null;
  tries: number;
  authority_response: string | null;
  issuer_delivery_status: string | null;
  issuer_delivery_error: string | null;
  submitted_at: string;
  note: string | null;
}

export function execute(values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
  return given[0] === 'retry' ? retry(values, given, console) : listOrSettle(SETTLEABLE, values, given, console);
}

async function retry(values: OptionValues, [, id = '', ...rest]: string[], console: Console): Promise<ExitCode> {
  if (!isId(id) || rest.length > 0) throw new UsageError('retry takes the id of an approval.');
  takesOnly('retry', [], values);
  const admin = openGatewayAdmin(values);
  const row = (await admin.call('POST', '/admin/approvals/retry', { id: Number(id) })) as Row;
  const writer = new RowWriter(console.stdout);
  await writer.write(wantsJson(values, console.stdout) ? `${JSON.stringify(row)}\n` : readable(row));
  await writer.flush();
  return 0;
}

const SETTLEABLE: Settleable<Row> = {
  one: 'an approval',
  choices: '--accepted or --rejected',
  none: 'neither',
  list: { path: '/admin/approvals/undecided', rows: 'approvals' },
  settlePath: '/admin/approvals/settle',
  options: { list: ['env', 'issuer', 'settled', 'undelivered'], settle: ['accepted', 'rejected', 'note'] },
  narrowed,
  settlement: settlementOf,
  readable,
};

function narrowed({ settled, undelivered }: OptionValues): Record<string, string> {
  if (undelivered !== true) return {};
  if (settled === true) throw new UsageError('say one of --settled and --undelivered.');
  return { undelivered: 'true' };
}

function settlementOf({ accepted, rejected, note }: OptionValues) {
  if (accepted === undefined && rejected === undefined) return null;
  if (accepted !== undefined && rejected !== undefined) throw new UsageError('say one of --accepted and --rejected.');
  if (note === undefined) throw new UsageError('settle needs --note: what was found out, and by whom.');
  return { outcome: accepted === undefined ? 'rejected' : 'accepted', note };
}

function readable(row: Row): string {
  const decision = row.approval_status === 1 ? 'approves' : 'rejects';
  const said = row.note ?? row.authority_response;
  const words = said === null ? '' : `  ${printable(said)}`;
  const { issuer_delivery_status: status, issuer_delivery_error: fault } = row;
  const issuer = status === null ? '' : `  issuer: ${status}${fault === null ? '' : `, ${printable(fault)}`}`;
  const tried = `${row.tries} ${row.tries === 1 ? 'try' : 'tries'}`;
  return `${String(row.id).padStart(6)}  ${row.env}  ${row.receiver_rnc} ${decision} ${row.encf} of ${row.issuer_rnc}  ${row.authority_submission_status}  ${tried} since ${row.submitted_at}${words}${issuer}\n`;
}

import type { Console, ExitCode } from '../command.js';
import { listOrSettle, type Settleable } from '../list-or-settle.js';
import type { Options, OptionValues } from '../options.js';
import { printable } from '../output/readable.js';
import { UsageError } from '../usage-error.js';

export const options: Options = {
  env: 'value',
  issuer: 'value',
  settled: 'switch',
  accepted: 'switch',
  rejected: 'switch',
  note: 'value',
  'data-dir': 'value',
  json: 'switch',
  text: 'switch',
};

export const help = `ecf approvals list [options]
ecf approvals settle ID (--accepted | --rejected) --note TEXT [options]

Commercial approvals (ACECF) of ours that the authority has not decided about, and a person's word about one. They are sent
again by themselves; settle one where the authority answers what cannot be read, and its portal shows what it has.

  list      tells which the authority has not decided about, oldest first
  settle    ends it: nothing goes to the authority any more, and no later answer changes it

  --accepted       the authority has this approval
  --rejected       it does not have it: the e-CF is pending again, and a new decision may be taken
  --note TEXT      what was found out and by whom; kept with the approval, required

  --settled        list: those that a person settled, with the note
  --env ENV        list: of this environment alone
  --issuer RNC     list: about e-CF of this issuer alone
  --data-dir D     data folder of a sandbox, for its demo.json; default DATA_DIR, else .data
  --json           one JSON object a line; --text is readable for people, the default on a terminal

Talks to the gateway of ECF_URL with ADMIN_TOKEN; what is not set is taken from demo.json. Ends with 0 when it is done, 2
when it was used wrongly or the gateway refuses (also where there is nothing to settle by hand).

  ecf approvals list
  ecf approvals settle 7 --accepted --note 'shown by the portal, 21-11-2026, M. Pena'
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
  submitted_at: string;
  note: string | null;
}

export function execute(values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
  return listOrSettle(SETTLEABLE, values, given, console);
}

const SETTLEABLE: Settleable<Row> = {
  one: 'an approval',
  choices: '--accepted or --rejected',
  none: 'neither',
  list: { path: '/admin/approvals/undecided', rows: 'approvals' },
  settlePath: '/admin/approvals/settle',
  settlement: settlementOf,
  readable,
};

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
  const tried = `${row.tries} ${row.tries === 1 ? 'try' : 'tries'}`;
  return `${String(row.id).padStart(6)}  ${row.env}  ${row.receiver_rnc} ${decision} ${row.encf} of ${row.issuer_rnc}  ${row.authority_submission_status}  ${tried} since ${row.submitted_at}${words}\n`;
}

import type { Console, ExitCode } from '../command.js';
import { listOrSettle, type Settleable } from '../list-or-settle.js';
import { type Options, type OptionValues, UsageError } from '../options.js';
import { printable } from '../output.js';

export const options: Options = {
  env: 'value',
  issuer: 'value',
  settled: 'switch',
  accepted: 'switch',
  rejected: 'switch',
  refused: 'value',
  note: 'value',
  'data-dir': 'value',
  json: 'switch',
  text: 'switch',
};

export const help = `ecf cancellations list [options]
ecf cancellations settle ID (--accepted | --rejected | --refused NUMBERS)
    --note TEXT [options]

Lists cancellations (ANECF) whose outcome the gateway cannot find out, and
records the outcome of one. Look in the authority's portal first. The numbers
stay blocked until then.

Actions
  list    lists the cancellations with an alarm, and the alarm
  settle  records the outcome: the alarm ends, and nothing more is sent

Outcome, for settle
  --accepted     the authority annulled all numbers
  --rejected     it annulled no number: all are free again
  --refused N,N  it annulled all but these, which are free again: numbers and
                 ranges (E310000000001-E310000000005)
  --note TEXT    who found out what; kept with the cancellation, required

Options
  --settled     list: cancellations that a person settled, with the note
  --env ENV     list: only this environment
  --issuer RNC  list: only this issuer
  --data-dir D  data folder of a sandbox, for its demo.json; default DATA_DIR,
                else .data
  --json        one JSON object per line; --text is for people, the default on a
                terminal

Calls the gateway of ECF_URL with ADMIN_TOKEN; demo.json supplies what is not
set.

Exit codes
  0  done
  2  wrong usage or the gateway refuses (also if there is nothing to settle by
     hand)

Examples
  ecf cancellations list
  ecf cancellations settle 7 --accepted \\
    --note 'annulled by the portal, 21-11-2026, M. Pena'
`;

interface Row {
  id: number;
  env: string;
  issuer_rnc: string;
  authority_status: string;
  alarm: string | null;
  numbers: string;
  created_at: string;
  note: string | null;
}

export function execute(values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
  return listOrSettle(SETTLEABLE, values, given, console);
}

const SETTLEABLE: Settleable<Row> = {
  one: 'a cancellation',
  choices: '--accepted, --rejected or --refused',
  none: 'none of them',
  list: { path: '/admin/cancellations/doubtful', rows: 'cancellations' },
  settlePath: '/admin/cancellations/settle',
  options: { list: ['env', 'issuer', 'settled'], settle: ['accepted', 'rejected', 'refused', 'note'] },
  settlement: settlementOf,
  readable,
};

function settlementOf({ accepted, rejected, refused, note }: OptionValues) {
  const given = [accepted, rejected, refused].filter((value) => value !== undefined);
  if (given.length === 0) return null;
  if (given.length > 1) throw new UsageError('say one of --accepted, --rejected and --refused.');
  if (note === undefined) throw new UsageError('settle needs --note: what was found out, and by whom.');
  if (refused === undefined) return { outcome: accepted === true ? 'accepted' : 'rejected', note };
  const ranges = String(refused)
    .split(',')
    .map((part) => {
      const [first = '', last = first] = part.trim().split('-');
      return { encf_desde: first.trim(), encf_hasta: last.trim() };
    });
  return { outcome: 'partial', refused: ranges, note };
}

function readable({ id, env, issuer_rnc, authority_status, alarm, numbers, created_at, note }: Row): string {
  const why = note === null ? '' : `  ${printable(note)}`;
  return `${String(id).padStart(6)}  ${env}  ${issuer_rnc}  ${authority_status}  ${alarm ?? 'settled'}  ${numbers}  of ${created_at}${why}\n`;
}

import type { Console, ExitCode } from '../command.js';
import { openGatewayAdmin, rowsOf } from '../gateway-admin.js';
import { type Options, type OptionValues, takesOnly, UsageError } from '../options.js';
import { RowWriter, wantsJson } from '../output.js';

export const options: Options = {
  env: 'value',
  issuer: 'value',
  adopt: 'value',
  resend: 'switch',
  run: 'value',
  'data-dir': 'value',
  json: 'switch',
  text: 'switch',
};

export const help = `ecf resolve list [options]
ecf resolve RNC ENCF --env ENV (--adopt TRACKID | --resend) [options]

Lists documents that need a person, and records the outcome of one that the
gateway cannot query (an e-CF in CerteCF whose answer was lost). Look the number
up at the authority first.

Actions
  list        lists the documents with an alarm, and the alarm
  --adopt ID  the authority has it under this trackId; the gateway confirms that
              with the authority first
  --resend    the authority does not have it: the gateway sends the very same
              bytes again

Options
  --env ENV     list: only this environment; else TesteCF, CerteCF or eCF,
                required
  --issuer RNC  list: only this issuer
  --run N       the certification run of the document, as the list states it;
                default the present one
  --data-dir D  data folder of a sandbox, for its demo.json; default DATA_DIR,
                else .data
  --json        one JSON object per line; --text is for people, the default on a
                terminal

Calls the gateway of ECF_URL with ADMIN_TOKEN; demo.json supplies what is not
set.

Exit codes
  0  done
  1  no document was adopted or sent again because the document moved on
     meanwhile
  2  wrong usage or the gateway refuses (also if there is nothing to resolve by
     hand)

Examples
  ecf resolve list --env CerteCF
  ecf resolve 131000001 E310000000001 --env CerteCF \\
    --adopt 2f6c8a3e-5f0b-4e1c-9a57-1d2f3b4c5d6e
`;

interface Alarmed {
  env: string;
  issuer_rnc: string;
  encf: string;
  run: number;
  state: string;
  alarm: string;
  committed_at: string;
}

interface Resolved {
  env: string;
  issuer_rnc: string;
  encf: string;
  state: string;
  status: string;
  track_id: string | null;
  adopted: boolean;
  resent: boolean;
}

export async function execute(values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
  const decision = decisionOf(values);
  const [issuer_rnc, encf, ...rest] = given;
  const listing = issuer_rnc === 'list' && encf === undefined;
  if (listing === (decision !== null) || (!listing && (encf === undefined || rest.length > 0)))
    throw new UsageError('say list, or an RNC and an eNCF with either --adopt or --resend.');
  takesOnly(listing ? 'list' : 'a decision', listing ? ['env', 'issuer'] : ['env', 'run', 'adopt', 'resend'], values);
  if (!listing && values.env === undefined) throw new UsageError('a decision needs --env.');
  const json = wantsJson(values, console.stdout);
  const admin = openGatewayAdmin(values);
  const writer = new RowWriter(console.stdout);
  const line = (row: object, text: string) => writer.write(json ? `${JSON.stringify(row)}\n` : text);
  if (listing) {
    const pages = { limit: '1000' };
    for await (const row of rowsOf<Alarmed>(admin, '/admin/documents/alarmed', 'documents', values, pages))
      await line(
        row,
        `${row.alarm.padEnd(14)}  ${row.env}  ${row.issuer_rnc}  ${row.encf}  ${row.env === 'eCF' ? '' : `run ${row.run}  `}${row.state}  since ${row.committed_at}\n`,
      );
  } else {
    const run = values.run === undefined ? {} : { run: Number(values.run) };
    const body = { env: values.env, issuer_rnc, encf, ...run, ...decision };
    const row = (await admin.call('POST', '/admin/documents/resolve', body)) as Resolved;
    const outcome = outcomeOf(row);
    await line(
      row,
      `${row.env}  ${row.issuer_rnc}  ${row.encf}  ${row.status}  ${row.track_id ?? 'no trackId'}  ${outcome}\n`,
    );
    await writer.flush();
    return row.adopted || row.resent ? 0 : 1;
  }
  await writer.flush();
  return 0;
}

function outcomeOf({ adopted, resent }: Resolved): string {
  if (adopted) return 'trackId adopted';
  return resent ? 'sent again' : 'the trackId was not adopted: another document took the number meanwhile';
}

function decisionOf({ adopt, resend }: OptionValues) {
  if (adopt !== undefined && resend === true) throw new UsageError('say either --adopt or --resend.');
  if (adopt !== undefined) return { action: 'adopt', track_id: adopt } as const;
  return resend === true ? ({ action: 'resend' } as const) : null;
}

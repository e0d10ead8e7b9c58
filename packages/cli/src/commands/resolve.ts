import type { Console, ExitCode } from '../command.js';
import { openGatewayAdmin, rowsOf } from '../gateway-admin.js';
import { type Options, type OptionValues, takesOnly } from '../options.js';
import { wantsJson } from '../output/format.js';
import { RowWriter } from '../output/row-writer.js';
import { UsageError } from '../usage-error.js';

export const options: Options = {
  env: 'value',
  issuer: 'value',
  adopt: 'value',
  resend: 'switch',
  'data-dir': 'value',
  json: 'switch',
  text: 'switch',
};

export const help = `ecf resolve list [options]
ecf resolve RNC ENCF --env ENV (--adopt TRACKID | --resend) [options]

Documents that do not go on by themselves, and a person's decision about one whose outcome nobody can ask for (an e-CF in
CerteCF whose answer was lost). Find out at the authority first what became of the number.

  list            tells which documents an alarm stands on, and which alarm
  --adopt ID      the authority has it: it goes on under this trackId, once the authority has said that it is its own
  --resend        the authority does not have it: the very same bytes go out again

  --env ENV       list: of this environment alone; else TesteCF, CerteCF or eCF, required
  --issuer RNC    list: of this issuer alone
  --data-dir D    data folder of a sandbox, for its demo.json; default DATA_DIR, else .data
  --json          one JSON object a line; --text is readable for people, the default on a terminal

Talks to the gateway of ECF_URL with ADMIN_TOKEN; what is not set is taken from demo.json. Ends with 0 when it is done, 2
when it was used wrongly or the gateway refuses (also where there is nothing to resolve by hand).

  ecf resolve list --env CerteCF
  ecf resolve 131000001 E310000000001 --env CerteCF --adopt 2f6c8a3e-5f0b-4e1c-9a57-1d2f3b4c5d6e
`;

interface Alarmed {
  env: string;
  issuer_rnc: string;
  encf: string;
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
}

export async function execute(values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
  const decision = decisionOf(values);
  const [issuer_rnc, encf, ...rest] = given;
  const listing = issuer_rnc === 'list' && encf === undefined;
  if (listing === (decision !== null) || (!listing && (encf === undefined || rest.length > 0)))
    throw new UsageError('say list, or an RNC and an eNCF with either --adopt or --resend.');
  takesOnly(listing ? 'list' : 'a decision', listing ? ['env', 'issuer'] : ['env', 'adopt', 'resend'], values);
  if (!listing && values.env === undefined) throw new UsageError('a decision needs --env.');
  const json = wantsJson(values, console.stdout);
  const admin = openGatewayAdmin(values['data-dir'] as string | undefined, process.env);
  const writer = new RowWriter(console.stdout);
  const line = (row: object, text: string) => writer.write(json ? `${JSON.stringify(row)}\n` : text);
  if (listing) {
    const pages = { limit: '1000' };
    for await (const row of rowsOf<Alarmed>(admin, '/admin/documents/alarmed', 'documents', values, pages))
      await line(
        row,
        `${row.alarm.padEnd(14)}  ${row.env}  ${row.issuer_rnc}  ${row.encf}  ${row.state}  since ${row.committed_at}\n`,
      );
  } else {
    const body = { env: values.env, issuer_rnc, encf, ...decision };
    const row = (await admin.call('POST', '/admin/documents/resolve', body)) as Resolved;
    await line(row, `${row.env}  ${row.issuer_rnc}  ${row.encf}  ${row.status}  ${row.track_id ?? 'no trackId'}\n`);
  }
  await writer.flush();
  return 0;
}

function decisionOf({ adopt, resend }: OptionValues) {
  if (adopt !== undefined && resend === true) throw new UsageError('say either --adopt or --resend.');
  if (adopt !== undefined) return { action: 'adopt', track_id: adopt } as const;
  return resend === true ? ({ action: 'resend' } as const) : null;
}

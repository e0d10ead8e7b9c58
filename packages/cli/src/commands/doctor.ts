import type { Console, ExitCode } from '../command.js';
import { OPTIONAL_CHECKS } from '../doctor/finding.js';
import { page } from '../doctor/page.js';
import { type Options, type OptionValues, UsageError } from '../options.js';
import { wantsJson } from '../output.js';
import { columnsOf } from '../terminal.js';

export const options: Options = {
  backup: 'value',
  'data-dir': 'value',
  json: 'switch',
  text: 'switch',
  without: 'value',
};

export const help = `ecf doctor [options]

Checks a deployment, whether its gateway runs or not, and says what to do about
each fault: settings, certificates, clocks, connections, versions, disk, lag and
the age of the newest backup.

It reads the settings of the environment as the services do (DATABASE_URL,
KAFKA_BROKERS, REDIS_URL, S3_ENDPOINT and so on), so run it where these are set,
with ECF_URL and ADMIN_TOKEN. For a sandbox it needs only the data folder: the
demo.json there has both. It changes no data.

Options
  --backup DIR  folder of the backup, whose age is checked
  --data-dir D  data folder of a deployment on this machine; default DATA_DIR,
                else .data
  --without L   checks that cannot be made from here and are not required,
                separated by commas: gateway, services, postgresql, archive,
                authority, backups
  --json        the findings as a JSON object; --text is for people, the default
                on a terminal

In the text, "!" is a fault, followed by what to do; "?" could not be checked,
followed by what the check needs; "-" is not used here, or was left out.

Exit codes
  0  there is nothing to do
  1  there is a fault, or a check could not be made
  2  wrong usage

Examples
  ecf doctor --backup /backups
  ecf doctor --backup /backups --without archive
`;

export async function execute(values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
  if (given.length > 0) throw new UsageError('it takes options alone.');
  const json = wantsJson(values, console.stdout);
  // Its clients of the other servers are loaded for the checks alone, not for the help.
  const { examine } = await import('../doctor/examine.js');
  const findings = await examine({
    env: process.env,
    dataDir: String(values['data-dir'] ?? (process.env.DATA_DIR || '.data')),
    backup: values.backup as string | undefined,
    without: namesOf(values.without),
    now: new Date(),
  });
  console.stdout.write(json ? `${JSON.stringify({ findings })}\n` : page(findings, columnsOf(console.stdout)));
  return findings.some(({ state }) => state === 'fault' || state === 'unchecked') ? 1 : 0;
}

/** @throws UsageError if one of them is not an optional check */
function namesOf(list: unknown): string[] {
  const names = String(list ?? '')
    .split(',')
    .filter(Boolean);
  const unknown = names.find((name) => !(OPTIONAL_CHECKS as readonly string[]).includes(name));
  if (unknown === undefined) return names;
  throw new UsageError(`--without does not take "${unknown}"; it takes ${OPTIONAL_CHECKS.join(', ')}.`);
}

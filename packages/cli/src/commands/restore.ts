import { backupOf, documentCounter, settingsOf } from '../backup/backup-folder.js';
import type { Console, ExitCode } from '../command.js';
import { type Options, type OptionValues, takesOnly, UsageError } from '../options.js';
import { wantsJson } from '../output.js';
import { ownVersion } from '../version.js';

export const options: Options = {
  'data-dir': 'value',
  at: 'value',
  services: 'value',
  json: 'switch',
  text: 'switch',
};

export const help = `ecf restore DIR [options]
ecf restore record --at TIME [--services LIST]

Restores the backup in DIR, made by ecf backup, into an empty data folder or
into empty databases. Nothing of the deployment may run. The backup is verified
first. Start the deployment afterwards, with the same MASTER_KEY. A restore that
was interrupted can be repeated.

record tells the services that their databases were restored with PostgreSQL's
own means. Run it before they start.

Options
  --at TIME     with record: the time whose state the databases have, as in
                2026-11-27T20:00:00-04:00
  --services L  with record: the services whose databases were restored, with
                commas, as in emission,status-poller; default all; none if only
                Kafka lost events
  --data-dir D  data folder of the deployment to be, with PostgreSQL and XML in
                it; default DATA_DIR, else .data
  --json        the result as JSON; --text is for people, the default on a
                terminal

MASTER_KEY has the master key of the deployment; a sandbox has it in its data
folder. Without --data-dir, settings name the other places, as for the services:
  DATABASE_URL            the server for the databases of all services
  EMISSION_DATABASE_URL   the database of one service, and so on for each
  S3_ENDPOINT, S3_...     the bucket for the XML

Exit codes
  0  restored, or recorded
  1  a file of the backup is missing or altered, so it was not restored
  2  wrong usage, the target has data, MASTER_KEY does not open the backup, a
     newer version made it; with record: a service runs

Examples
  ecf restore /mnt/backup/ecf --data-dir /var/lib/ecf
  ecf restore record --at 2026-11-27T20:00:00-04:00 --services emission
`;

export async function execute(values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
  if (given.length === 1 && given[0] === 'record') return record(values, console);
  takesOnly('restore', [], values);
  const [folder, ...rest] = given;
  if (folder === undefined || rest.length > 0) throw new UsageError('name one folder, as in ecf restore DIR.');
  const json = wantsJson(values, console.stdout);
  const { manifest, documents, faults } = await backupOf(folder, ({ restoreBackup }) =>
    restoreBackup(folder, {
      env: settingsOf(values, process.env),
      version: ownVersion(),
      onFault: async ({ problem, path }) => {
        console.stderr.write(`${problem.padEnd(7)}  ${path}\n`);
      },
      onDocument: documentCounter(console.stderr),
    }),
  );
  const { taken_at, missing } = manifest;
  const text =
    faults > 0
      ? `the backup of ${taken_at} has ${faults} faults and was not restored\n`
      : `restored the state of ${taken_at} with ${documents - missing.length} documents; start the deployment now\n`;
  console.stdout.write(
    json
      ? `${JSON.stringify({ restored: faults === 0, taken_at, documents, faults, missing: missing.length })}\n`
      : text,
  );
  return faults > 0 ? 1 : 0;
}

async function record({ at, services: list, ...values }: OptionValues, console: Console): Promise<ExitCode> {
  const isTime = typeof at === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]{5,12}(Z|[+-]\d\d:\d\d)$/.test(at);
  const backupAt = new Date(isTime ? at : Number.NaN);
  if (Number.isNaN(backupAt.getTime()))
    throw new UsageError('record needs --at with a date, a time and its offset, as in 2026-11-27T20:00:00-04:00.');
  const services = typeof list !== 'string' ? undefined : list === 'none' ? [] : list.split(',');
  const env = settingsOf(values, process.env);
  const recorded = await backupOf('record', ({ recordRestores }) => recordRestores({ env, services, backupAt }));
  const row = { recorded: true, at: backupAt.toISOString(), services: recorded };
  console.stdout.write(
    wantsJson(values, console.stdout)
      ? `${JSON.stringify(row)}\n`
      : `recorded the state of ${row.at} for ${recorded.join(', ') || 'Kafka'}; start the services now\n`,
  );
  return 0;
}

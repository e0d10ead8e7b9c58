import { backupOf, documentCounter, settingsOf } from '../backup/backup-folder.js';
import type { Console, ExitCode } from '../command.js';
import { type Options, type OptionValues, UsageError } from '../options.js';
import { wantsJson } from '../output.js';
import { ownVersion } from '../version.js';

export const options: Options = { 'data-dir': 'value', json: 'switch', text: 'switch' };

export const help = `ecf restore DIR [options]

Restores the backup in DIR, made by ecf backup, into an empty data folder or
into empty databases. Nothing of the deployment may run. The backup is verified
first. Start the deployment afterwards, with the same MASTER_KEY.

Options
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
  0  restored
  1  a file of the backup is missing or altered, so it was not restored
  2  wrong usage, the target has data, MASTER_KEY does not open the backup, or
     a newer version made it

Examples
  ecf restore /mnt/backup/ecf --data-dir /var/lib/ecf
`;

export async function execute(values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
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

import { backupOf, type Damage, documentCounter, settingsOf } from '../backup/backup-folder.js';
import type { Console, ExitCode } from '../command.js';
import { type Options, type OptionValues, UsageError } from '../options.js';
import { wantsJson } from '../output.js';
import { ownVersion } from '../version.js';

export const options: Options = { 'data-dir': 'value', json: 'switch', text: 'switch' };

export const help = `ecf backup DIR [options]
ecf backup verify DIR [options]

Copies a running deployment to the folder DIR: the databases of all services as
of one moment, and the XML that they name. Repeated with the same DIR, it copies
new XML only; the earlier backup counts until the new one is complete.
MASTER_KEY is not in it: keep it elsewhere, because no backup opens without it.

verify reads every file of DIR and compares its checksum. It needs no database.

Options
  --data-dir D  data folder of a deployment with PostgreSQL and XML in it;
                default DATA_DIR, else .data
  --json        the result as JSON; --text is for people, the default on a
                terminal

Without --data-dir, settings name the other places, as for the services:
  DATABASE_URL            the server with the databases of all services
  EMISSION_DATABASE_URL   the database of one service, and so on for each
  S3_ENDPOINT, S3_...     the bucket with the XML

Exit codes
  0  the backup is complete; with verify: also, no file is missing or altered
  1  the archive lacks documents that the databases name, and so does the
     backup; with verify: also, a file is missing or altered
  2  wrong usage, or a database, the archive or DIR cannot be used

Examples
  ecf backup /mnt/backup/ecf
  ecf backup verify /mnt/backup/ecf
`;

export async function execute(values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
  const verify = given[0] === 'verify' && given.length > 1;
  const [folder, ...rest] = verify ? given.slice(1) : given;
  if (folder === undefined || folder === 'verify' || rest.length > 0)
    throw new UsageError('name one folder, as in ecf backup DIR or ecf backup verify DIR.');
  const json = wantsJson(values, console.stdout);
  return verify ? verifyFolder(folder, json, console) : backUp(folder, values, json, console);
}

async function backUp(folder: string, values: OptionValues, json: boolean, console: Console): Promise<ExitCode> {
  const made = await backupOf(folder, ({ makeBackup }) =>
    makeBackup(folder, {
      env: settingsOf(values, process.env),
      version: ownVersion(),
      onDocument: documentCounter(console.stderr),
    }),
  );
  const { takenAt, rows, documents, copied, missing } = made;
  const row = { taken_at: takenAt.toISOString(), rows, documents, copied, missing: missing.length };
  for (const path of missing) console.stderr.write(`missing  ${path} in the archive\n`);
  console.stdout.write(
    json
      ? `${JSON.stringify(row)}\n`
      : `backup of ${row.taken_at}: ${rows} rows, ${documents} documents, ${copied} of them new, ${missing.length} missing in the archive\n`,
  );
  return missing.length > 0 ? 1 : 0;
}

async function verifyFolder(folder: string, json: boolean, console: Console): Promise<ExitCode> {
  const report = async (fault: Damage) => {
    console.stderr.write(`${fault.problem.padEnd(7)}  ${fault.path}\n`);
  };
  const { manifest, files, documents, faults } = await backupOf(folder, ({ verifyBackup }) =>
    verifyBackup(folder, ownVersion(), report),
  );
  const { taken_at, missing } = manifest;
  const text = `backup of ${taken_at}: ${files} files of databases, ${documents} documents, ${missing.length} of them missing in the archive, ${faults} faults\n`;
  console.stdout.write(
    json ? `${JSON.stringify({ taken_at, files, documents, faults, missing: missing.length })}\n` : text,
  );
  return faults > 0 || missing.length > 0 ? 1 : 0;
}

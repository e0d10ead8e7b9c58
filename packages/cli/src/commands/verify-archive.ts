import { existsSync } from 'node:fs';
import { openXmlStore, readArchiveSettings, type XmlStore } from '@ecf/archive';
import { ConfigError } from '@ecf/kit';
import { type Finding, verifyArchive } from '../archive/verify.js';
import type { Console, ExitCode } from '../command.js';
import { openGatewayAdmin } from '../gateway-admin.js';
import { type Options, type OptionValues, UsageError } from '../options.js';
import { RowWriter, wantsJson } from '../output.js';

export const options: Options = { recent: 'value', 'data-dir': 'value', json: 'switch', text: 'switch' };

export const help = `ecf verify-archive [options]

Compares the stored XML with the databases of the services. It reads each object
that a row names and compares the checksum:

  missing  a row names it, but it does not exist
  altered  its bytes are not the stored bytes
  unknown  it exists, but no row names it; this is not a fault

Documents that wait in a database for the archive count as pending; that is not
a fault either.

Options
  --recent S    objects of the last S seconds are never unknown; default 300
  --data-dir D  data folder of a deployment whose XML is in files; default
                DATA_DIR, else .data
  --json        one JSON object per line; --text is for people, the default on a
                terminal

With S3_ENDPOINT (and the other S3_ settings of the services) and no folder, the
command reads the bucket, otherwise the folder. Calls the gateway of ECF_URL
with ADMIN_TOKEN; demo.json supplies what is not set.

Exit codes
  0  no document is missing or altered
  1  a document is missing or altered
  2  wrong usage, or the gateway or the storage cannot be reached

Examples
  ecf verify-archive --json
`;

export async function execute(values: OptionValues, given: string[], console: Console): Promise<ExitCode> {
  if (given.length > 0) throw new UsageError('it takes options alone.');
  const recent = Number(values.recent ?? 300);
  if (!(Number.isInteger(recent) && recent >= 0)) throw new UsageError('--recent is a whole number of seconds.');
  const json = wantsJson(values, console.stdout);
  const folder = values['data-dir'] as string | undefined;
  const admin = openGatewayAdmin(values);
  const store = openArchive(folder, process.env);
  const writer = new RowWriter(console.stdout);
  const report = (finding: Finding) => writer.write(json ? `${JSON.stringify(finding)}\n` : readable(finding));
  try {
    const verified = await verifyArchive(admin, store, new Date(Date.now() - recent * 1_000), report);
    const { documents, missing, altered, unknown, pending } = verified;
    await writer.flush();
    console.stderr.write(
      `${documents} documents in the databases: ${missing} missing, ${altered} altered, ${pending} pending; ${unknown} unknown objects\n`,
    );
    return missing + altered > 0 ? 1 : 0;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`the storage cannot be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function openArchive(folder: string | undefined, env: NodeJS.ProcessEnv): XmlStore {
  const given = folder === undefined ? env : { ...env, DATA_DIR: folder, S3_ENDPOINT: undefined };
  try {
    const settings = readArchiveSettings(given);
    if (settings.S3_ENDPOINT === undefined && !existsSync(settings.DATA_DIR))
      throw new UsageError(
        `the data folder ${settings.DATA_DIR} does not exist; name it with --data-dir, or set S3_ENDPOINT.`,
      );
    return openXmlStore(settings, { readOnly: true });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UsageError(error.problems.map(({ variable, message }) => `${variable} ${message}`).join('; '), {
      cause: error,
    });
  }
}

function readable({ problem, path, service }: Finding): string {
  return `${problem.padEnd(7)}  ${path}${service === null ? '' : `  of ${service}`}\n`;
}

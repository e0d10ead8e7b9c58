import { existsSync } from 'node:fs';
import path from 'node:path';
import { freeOnDisk } from '@ecf/archive';
import { runningPostgresUrl } from '@ecf/deployment/postgres';
import { type GatewayAdmin, openGatewayAdmin, readDemo } from '../gateway-admin.js';
import { type OptionValues, UsageError } from '../options.js';
import { gibibytes } from '../terminal.js';
import { ownVersion } from '../version.js';
import { checkBackup } from './backup.js';
import { checkCertificateFiles, checkTaxpayers, checkTls } from './certificates.js';
import { checkDatabases } from './databases.js';
import { type Finding, fault, ok, unchecked, withoutChecks } from './finding.js';
import { checkDeployment, checkHealth } from './gateway.js';
import { checkArchive, checkAuthority, checkKafka, checkRedis } from './servers.js';
import { checkSettings } from './settings.js';

/** Free bytes of the disk of DATA_DIR below which there is something to do. */
const LOW_DISK_BYTES = 2 ** 30;
const OLDEST_NODE = [20, 19] as const;

export interface DoctorInput {
  readonly env: NodeJS.ProcessEnv;
  readonly dataDir: string;
  /** Folder of backups. */
  readonly backup: string | undefined;
  /** Checks that are not required: names of OPTIONAL_CHECKS. */
  readonly without: readonly string[];
  readonly now: Date;
}

/**
 * Makes every check that settings and data folder allow, whether the gateway runs or not. Without SANDBOX, a deployment is a
 * sandbox if its data folder has a demo.json.
 */
export async function examine({ env, dataDir, backup, without, now }: DoctorInput): Promise<Finding[]> {
  const demo = readDemo(dataDir);
  const SANDBOX = env.SANDBOX || String(demo.base_url !== undefined);
  const { settings, findings } = checkSettings({ ...env, DATA_DIR: dataDir, SANDBOX });
  const url = env.ECF_URL || demo.base_url;
  const server = env.DATABASE_URL
    ? settings.DATABASE_URL
    : (runningPostgresUrl(path.join(dataDir, 'postgres'), 'ecf') ?? undefined);
  const authority = settings.AUTHORITY_URL ?? demo.authority_url;
  const isOnMachine = existsSync(dataDir);
  const found = await Promise.all([
    checkCertificateFiles(settings, now),
    ...(url === undefined
      ? [unchecked('connections', 'gateway', 'set ECF_URL, or name its data folder')]
      : [checkHealth(url), checkTls(url, now)]),
    adminFindings(env, dataDir, now),
    server === undefined
      ? unchecked('connections', 'PostgreSQL', 'DATABASE_URL is not set, and no embedded server runs')
      : checkDatabases(server),
    checkKafka(settings),
    checkRedis(settings),
    isOnMachine || settings.S3_ENDPOINT !== undefined
      ? checkArchive(settings)
      : unchecked('connections', 'archive', 'set S3_ENDPOINT, or name the data folder'),
    authority === undefined && settings.SANDBOX
      ? unchecked('connections', 'authority', 'the simulator of the sandbox does not run')
      : checkAuthority(settings, authority),
    ownSoftware(),
    isOnMachine ? disk(dataDir) : [],
    backup === undefined
      ? unchecked('backups', 'newest', 'name the folder of the backup with --backup')
      : checkBackup(backup, now),
  ]);
  return withoutChecks(distinct([...findings, ...found.flat()]), without);
}

/** What needs the token of an administrator. */
async function adminFindings(env: NodeJS.ProcessEnv, dataDir: string, now: Date): Promise<Finding[]> {
  let admin: GatewayAdmin;
  try {
    admin = openGatewayAdmin({ 'data-dir': dataDir } satisfies OptionValues);
  } catch {
    return [unchecked('connections', 'services', 'set ECF_URL and ADMIN_TOKEN')];
  }
  try {
    return [...(await checkDeployment(admin)), ...(await checkTaxpayers(admin, now))];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const remedy = `Start the gateway, or correct ECF_URL and ADMIN_TOKEN${env.ADMIN_TOKEN ? '' : ' (none is set)'}.`;
    return [fault('connections', 'administration', error.message, remedy)];
  }
}

function ownSoftware(): Finding[] {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  const isOld = major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]);
  return [
    ok('versions', 'this command', ownVersion()),
    isOld
      ? fault('versions', 'Node here', node, `Install Node ${OLDEST_NODE.join('.')} or newer.`)
      : ok('versions', 'Node here', node),
  ];
}

async function disk(folder: string): Promise<Finding> {
  const free = await freeOnDisk(folder);
  if (free >= LOW_DISK_BYTES) return ok('disk', 'data folder', `${gibibytes(free)} free`);
  return fault('disk', 'data folder', `${gibibytes(free)} free`, 'Make room on the disk of DATA_DIR, or enlarge it.');
}

/** The gateway and the database report the same version of PostgreSQL. */
function distinct(findings: readonly Finding[]): Finding[] {
  return [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()];
}

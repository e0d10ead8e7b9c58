import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { EmbeddedPostgresError } from './postgres-binaries.js';
import type { PostgresUser } from './postgres-user.js';
import { isAlive } from './postmaster.js';

/** The superuser of the cluster. */
export const USER = 'ecf';

/** Notes this process as the one that runs the cluster: two programs on one would stop each other's server. */
export function claimCluster(dataDir: string): void {
  const file = `${dataDir}.owner`;
  const me = `${process.pid} ${processStart(process.pid)}`;
  const owner = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  const [pid, started] = owner.split(' ');
  const living = owner !== '' && owner !== me && isAlive(Number(pid)) && processStart(Number(pid)) === started;
  if (living)
    throw new EmbeddedPostgresError(
      `${dataDir} is in use by the running process ${pid}; stop it first, or choose another DATA_DIR.`,
    );
  writeFileSync(file, `${me}\n`);
}

/** Start time of a process, which distinguishes it from another with the same number; empty if the system has none. */
function processStart(pid: number): string {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return line.slice(line.lastIndexOf(')') + 2).split(' ')[19] ?? '-';
  } catch {
    return '-';
  }
}

/** The superuser's password, made on first use, in a file of mode 0600 beside the cluster. */
export function clusterPassword(dataDir: string): string {
  const file = `${dataDir}.password`;
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' });
  return readFileSync(file, 'utf8').trim();
}

/** Makes the cluster beside its place and renames it there, so that an interrupted attempt leaves no half of one. */
export async function makeCluster(
  dataDir: string,
  user: PostgresUser,
  initdb: string,
  options: { user: string; password: string; durable: boolean },
): Promise<void> {
  const fresh = `${dataDir}.new`;
  const passwordFile = `${dataDir}.init`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { mode: 0o700 });
  writeFileSync(passwordFile, options.password, { mode: 0o600 });
  if (user.owner !== null)
    for (const target of [fresh, passwordFile]) chownSync(target, user.owner.uid, user.owner.gid);
  const args = [
    '-D',
    fresh,
    '-U',
    options.user,
    '--auth=scram-sha-256',
    `--pwfile=${passwordFile}`,
    '--encoding=UTF8',
    '--locale=C.UTF-8',
  ];
  try {
    await runInitdb(user, initdb, [...args, ...syncing(options.durable)], fresh);
    renameSync(fresh, dataDir);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

/** One sync of the file system takes half the time of a thousand of single files. */
function syncing(durable: boolean): string[] {
  if (!durable) return ['--no-sync'];
  return process.platform === 'linux' ? ['--sync-method=syncfs'] : [];
}

function runInitdb(user: PostgresUser, initdb: string, args: string[], home: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const command = user.command(initdb, args);
    const child = spawn(command.file, command.args, {
      ...command.options,
      cwd: home,
      env: postgresEnvironment(home),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let words = '';
    child.stdout.on('data', (chunk) => (words += chunk));
    child.stderr.on('data', (chunk) => (words += chunk));
    child.on('error', (cause) =>
      reject(new EmbeddedPostgresError(`initdb cannot be started: ${cause.message}`, { cause })),
    );
    child.on('exit', (code) => {
      if (code === 0) resolve();
      else
        reject(
          new EmbeddedPostgresError(
            `The database cluster could not be made (initdb ended with ${code}): ${words.trim().slice(-1500)}`,
          ),
        );
    });
  });
}

/** Environment of PostgreSQL's programs; it has none of our settings. */
export function postgresEnvironment(home: string): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: home, LC_ALL: 'C.UTF-8', TZ: 'UTC' };
}

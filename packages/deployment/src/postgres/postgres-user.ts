import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { EmbeddedPostgresError } from './postgres-binaries.js';

/** The user that runs PostgreSQL's programs, and the command for it. */
export interface PostgresUser {
  /** Owner of the written files; null for the own user. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  /** The command that starts a program with its arguments. */
  command(program: string, args: readonly string[]): PostgresCommand;
}

export interface PostgresCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: { readonly uid?: number; readonly gid?: number };
}

/** PostgreSQL refuses to run as root; as root it is started under this user (nobody) without changing the system. */
const NOBODY = 65_534;
/**
 * Capabilities that let a user enter folders of others. The first allows only reading; containers often have only the
 * second.
 */
const PASSING = ['dac_read_search', 'dac_override'];

/**
 * The present user; for root the owner of an existing cluster, else the user nobody. This user may lack access to the folder
 * of the cluster or the programs, as in a checkout under /root. Then `setpriv` (util-linux) gives it the capability.
 *
 * @throws EmbeddedPostgresError that names the folder which it may not enter, and the remedy
 */
export function postgresUser(dataDir: string, program: string, givePassage = passageOf): PostgresUser {
  if (process.getuid?.() !== 0) return { owner: null, command: (file, args) => ({ file, args, options: {} }) };
  const owner = ownerOf(dataDir);
  const closed = closedTo(owner.uid, program) ?? closedTo(owner.uid, dataDir);
  if (closed === null) return { owner, command: (file, args) => ({ file, args, options: owner }) };
  const passage = givePassage(owner);
  if (passage === null)
    throw new EmbeddedPostgresError(
      `PostgreSQL does not run as root, so it is started as user ${owner.uid}, who may not enter ${closed}. ` +
        `Run as an ordinary user, move the checkout (or DATA_DIR, where that is in it) elsewhere, or allow passage with: chmod o+x ${closed}`,
    );
  return { owner, command: (file, args) => ({ file: 'setpriv', args: [...passage, file, ...args], options: {} }) };
}

function ownerOf(dataDir: string): { uid: number; gid: number } {
  const nobody = { uid: NOBODY, gid: NOBODY };
  if (!existsSync(dataDir)) return nobody;
  const { uid, gid } = statSync(dataDir);
  return uid === 0 ? nobody : { uid, gid };
}

/** The first folder on the way that the user may not enter; null if there is none. */
function closedTo(user: number, target: string): string | null {
  for (let folder = path.dirname(path.resolve(target)); ; folder = path.dirname(folder)) {
    const { mode, uid } = statSync(folder);
    if ((mode & 0o001) === 0 && (uid !== user || (mode & 0o100) === 0)) return folder;
    if (folder === path.dirname(folder)) return null;
  }
}

/** Arguments of `setpriv` that let a program run as the user and enter every folder; null if that is not possible. */
function passageOf({ uid, gid }: { uid: number; gid: number }): string[] | null {
  for (const right of PASSING) {
    const args = ['--securebits', '+no_setuid_fixup', '--reuid', `${uid}`, '--regid', `${gid}`, '--clear-groups'];
    args.push('--inh-caps', `+${right}`, '--ambient-caps', `+${right}`);
    if (spawnSync('setpriv', [...args, 'true']).status === 0) return args;
  }
  return null;
}

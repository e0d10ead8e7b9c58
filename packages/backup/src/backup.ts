import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { type DocumentReader, openXmlStore, readArchiveSettings, syncFolder } from '@ecf/archive';
import { SERVICE_NAMES, type ServiceName } from '@ecf/contracts';
import type pg from 'pg';
import { BackupError } from './backup-error.js';
import { copyNewDocuments } from './documents.js';
import { connect, dumpDatabase, migrationsOf, takeSnapshot } from './dump-database.js';
import { type Manifest, readManifest, writeManifest } from './manifest.js';
import { type Environment, presentDatabases } from './places.js';
import { sealingKeyIds } from './sealed-values.js';

export interface BackupOptions {
  /** Settings of the deployment: `DATA_DIR`, `DATABASE_URL`, `S3_ENDPOINT` and so on. */
  readonly env: Environment;
  /** Version of this program. */
  readonly version: string;
  /** Called for each document that is copied. */
  readonly onDocument?: () => void;
}

export interface BackupMade {
  readonly takenAt: Date;
  /** Rows in all databases. */
  readonly rows: number;
  /** Documents that the databases name, and those of them that earlier backups in the folder lacked. */
  readonly documents: number;
  readonly copied: number;
  /** Paths that the archive does not have, or has with other bytes. */
  readonly missing: readonly string[];
}

/** Any fixed number: the lock belongs to a database, so two backups of one deployment exclude each other. */
const BACKUP_LOCK = 3_626_001;

/**
 * Copies the databases and then the documents of a running deployment to a folder. All databases are read as of one moment. A
 * document leaves its database when the archive has it, so the copy of the databases and the later copy of the archive miss
 * none. The manifest is written last: until then the earlier backup in the folder counts.
 *
 * @throws BackupError if the folder, a database or the archive cannot be used
 */
export async function makeBackup(
  root: string,
  { env, version, onDocument = () => {} }: BackupOptions,
): Promise<BackupMade> {
  const urls = presentDatabases(env);
  const archive = openXmlStore(readArchiveSettings(env), { readOnly: true });
  await mkdir(root, { recursive: true, mode: 0o700 });
  const clients: Partial<Record<ServiceName, pg.Client>> = {};
  try {
    for (const service of SERVICE_NAMES) clients[service] = await connect(service, urls[service]);
    const { gateway } = clients as Record<ServiceName, pg.Client>;
    await lock(gateway);
    const deployment = (await migrationsOf('gateway', gateway))[0]?.id as string;
    await requireFolderOf(deployment, root, version);
    await removeUnnamed(root, version);
    const { backup, copied, missing } = await writeBackup(root, clients as Record<ServiceName, pg.Client>, archive, {
      deployment,
      version,
      onDocument,
    }).catch(async (error) => {
      // A disk that is full is not filled further by each try.
      await lock(gateway)
        .then(() => removeUnnamed(root, version))
        .catch(() => undefined);
      throw error;
    });
    await removeUnnamed(root, version);
    const databases = Object.values(backup.databases);
    return {
      takenAt: new Date(backup.taken_at),
      rows: databases.flatMap(({ tables }) => tables).reduce((sum, { rows }) => sum + rows, 0),
      documents: databases.reduce((sum, { documents }) => sum + (documents?.count ?? 0), 0),
      copied,
      missing,
    };
  } finally {
    await Promise.all(Object.values(clients).map((client) => client.end()));
  }
}

async function writeBackup(
  root: string,
  clients: Record<ServiceName, pg.Client>,
  archive: DocumentReader,
  { deployment, version, onDocument }: { deployment: string; version: string; onDocument: () => void },
) {
  const backup = await dumpAll(root, clients);
  const { copied, missing } = await copyNewDocuments(root, backup, archive, onDocument);
  // A lost session lost the lock too, and another backup may have removed what this one wrote.
  await lock(clients.gateway);
  await writeManifest(root, { format: 1, product_version: version, deployment, ...backup, missing });
  return { backup, copied, missing };
}

async function lock(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [BACKUP_LOCK]);
  if (!rows[0]?.locked) throw new BackupError('another backup of this deployment is being made; wait until it ends.');
}

async function requireFolderOf(deployment: string, root: string, version: string): Promise<void> {
  const present = await readManifest(root, version);
  if (present !== null && present.deployment !== deployment)
    throw new BackupError(`${root} has the backup of another deployment; name another folder.`);
}

/** All snapshots are taken before the first table is read, and each ends when its own database is written. */
async function dumpAll(
  root: string,
  clients: Record<ServiceName, pg.Client>,
): Promise<Pick<Manifest, 'taken_at' | 'folder' | 'key_ids' | 'databases'>> {
  const snapshots = await Promise.all(Object.values(clients).map(takeSnapshot));
  const takenAt = new Date(Math.min(...snapshots.map((snapshot) => snapshot.takenAt.getTime()))).toISOString();
  const folder = `databases-${takenAt.replaceAll(':', '')}-${randomBytes(3).toString('hex')}`;
  await mkdir(path.join(root, folder), { mode: 0o700 });
  const keyIds = await sealingKeyIds(clients);
  const dumps = SERVICE_NAMES.map(
    async (service) => [service, await dumpDatabase(root, folder, service, clients[service])] as const,
  );
  const dumped = await Promise.all(dumps).catch(async (error) => {
    // So that none writes to the folder any more.
    await Promise.allSettled(dumps);
    throw error;
  });
  await syncFolder(path.join(root, folder));
  return {
    taken_at: takenAt,
    folder,
    key_ids: keyIds,
    databases: Object.fromEntries(dumped) as Manifest['databases'],
  };
}

/** Removes the databases of earlier backups and of interrupted ones: all that the manifest does not name. */
async function removeUnnamed(root: string, version: string): Promise<void> {
  const present = await readManifest(root, version);
  for (const name of await readdir(root))
    if (name.startsWith('databases-') && name !== present?.folder) await rm(path.join(root, name), { recursive: true });
}

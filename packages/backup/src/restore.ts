import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { XmlStore } from '@ecf/archive';
import { SERVICE_NAMES, type ServiceName } from '@ecf/contracts';
import { createMasterKeys, readMasterKeys } from '@ecf/kit';
import type pg from 'pg';
import { BackupError } from './backup-error.js';
import { documentNames, forEachDocument, openDocuments } from './documents.js';
import { connect } from './dump-database.js';
import { beginRestore, contentOf, endRestore, isRestoredTo, loadDatabase } from './load-database.js';
import type { Manifest } from './manifest.js';
import { dataFolder, type Environment } from './places.js';
import { openTarget } from './restore-target.js';
import { type BackupFault, type Verified, verifyBackup } from './verify.js';

export interface RestoreOptions {
  /** Settings of the deployment to be: `DATA_DIR`, `DATABASE_URL`, `S3_ENDPOINT`, `MASTER_KEY` and so on. */
  readonly env: Environment;
  readonly version: string;
  readonly onFault: (fault: BackupFault) => Promise<void>;
  /** Called for each document that is restored. */
  readonly onDocument?: () => void;
}

/**
 * Verifies a backup and restores it into empty databases and the archive; nothing may run there. The databases are committed one after
 * the other, so each is marked until all are: services do not start meanwhile, and an interrupted restore can be repeated. A backup
 * with faults is not restored.
 *
 * @throws BackupError if the target has data, or the master key is missing
 */
export async function restoreBackup(root: string, options: RestoreOptions): Promise<Verified> {
  const { env, version, onFault, onDocument = () => {} } = options;
  const verified = await verifyBackup(root, version, onFault);
  if (verified.faults > 0) return verified;
  const { manifest } = verified;
  requireMasterKeys(manifest.key_ids, env);
  const target = await openTarget(env);
  const clients: Partial<Record<ServiceName, pg.Client>> = {};
  try {
    for (const service of SERVICE_NAMES) clients[service] = await connect(service, target.urls[service]);
    const databases = clients as Record<ServiceName, pg.Client>;
    const isLoaded = await wereLoaded(databases, manifest);
    await restoreDocuments(root, manifest, target.archive, onDocument);
    if (!isLoaded) await loadAll(root, manifest, databases);
    for (const service of SERVICE_NAMES) await endRestore(databases[service]);
    await endAll(clients);
    await target.finish();
    return verified;
  } finally {
    await endAll(clients);
    await target.close();
  }
}

function requireMasterKeys(needed: readonly string[], env: Environment): void {
  const keys = readMasterKeys({ MASTER_KEY: env.MASTER_KEY || sandboxKey(dataFolder(env)) }) ?? [];
  const [first, ...others] = keys;
  const present = first === undefined ? [] : createMasterKeys([first, ...others]).keyIds;
  const missing = needed.filter((id) => !present.includes(id));
  if (missing.length === 0) return;
  throw new BackupError(
    `the backup has values sealed under the master key ${missing.join(' and ')}; ` +
      (present.length === 0
        ? 'set MASTER_KEY to it.'
        : `MASTER_KEY is ${present.join(' and ')}. Add the missing key to it.`),
  );
}

/** The master key that a sandbox made for itself. */
function sandboxKey(folder: string): string | undefined {
  try {
    return JSON.parse(readFileSync(path.join(folder, 'secrets.json'), 'utf8')).masterKey;
  } catch {
    return undefined;
  }
}

async function restoreDocuments(
  root: string,
  manifest: Manifest,
  archive: XmlStore,
  onDocument: () => void,
): Promise<void> {
  const copies = await openDocuments(root, { readOnly: true });
  const missing = new Set(manifest.missing);
  await forEachDocument(documentNames(root, manifest), async ({ path: name, sha256 }) => {
    if (missing.has(name)) return;
    await archive.put(name, await copies.get(name, sha256), sha256);
    onDocument();
  });
}

/**
 * True if an interrupted restore of the same backup has committed all databases, so that only marks remain; false if the databases
 * can be loaded.
 *
 * @throws BackupError if a database has other tables
 */
async function wereLoaded(clients: Record<ServiceName, pg.Client>, { taken_at }: Manifest): Promise<boolean> {
  const unmarked: ServiceName[] = [];
  for (const service of SERVICE_NAMES) if ((await contentOf(clients[service])) === 'tables') unmarked.push(service);
  const [first] = unmarked;
  if (first === undefined) return false;
  // The first mark is removed after the last commit.
  let isLoaded = unmarked.length < SERVICE_NAMES.length;
  for (const service of SERVICE_NAMES) isLoaded &&= await isRestoredTo(clients[service], taken_at);
  if (isLoaded) return true;
  throw new BackupError(`the database of ${first} has tables already. Restore into empty databases.`);
}

async function loadAll(root: string, manifest: Manifest, clients: Record<ServiceName, pg.Client>): Promise<void> {
  for (const service of SERVICE_NAMES) await beginRestore(clients[service]);
  await Promise.all(
    SERVICE_NAMES.map((service) =>
      loadDatabase(clients[service], root, manifest.databases[service], manifest.taken_at),
    ),
  );
  for (const service of SERVICE_NAMES) await clients[service].query('COMMIT');
}

async function endAll(clients: Partial<Record<ServiceName, pg.Client>>): Promise<void> {
  const open = Object.values(clients);
  for (const service of SERVICE_NAMES) delete clients[service];
  await Promise.all(open.map((client) => client.end()));
}

import { XmlStoreError } from '@ecf/archive';
import { BackupError } from './backup-error.js';
import { documentNames, forEachDocument, openDocuments } from './documents.js';
import { stateOf } from './files.js';
import { filesOf, type Manifest, readManifest } from './manifest.js';

/** A file of a backup that cannot be used. */
export interface BackupFault {
  readonly problem: 'missing' | 'altered';
  /** Path in the folder of the backup. */
  readonly path: string;
}

export interface Verified {
  readonly manifest: Manifest;
  /** Files of the databases. */
  readonly files: number;
  readonly documents: number;
  readonly faults: number;
}

/**
 * Reads every file of a backup and compares its checksum. Documents that the archive lacked already when the backup was made are
 * not faults.
 *
 * @throws BackupError if the folder has no backup that this version can read
 */
export async function verifyBackup(
  root: string,
  version: string,
  report: (fault: BackupFault) => Promise<void>,
): Promise<Verified> {
  const manifest = await readManifest(root, version);
  if (manifest === null) throw new BackupError(`${root} has no backup: it lacks manifest.json.`);
  let faults = 0;
  const found = async (fault: BackupFault) => {
    faults += 1;
    await report(fault);
  };
  const files = filesOf(manifest);
  for (const file of files) {
    const state = await stateOf(root, file);
    if (state !== 'good') await found({ problem: state, path: file.path });
  }
  let documents = 0;
  // Lists that are damaged name nothing reliably.
  if (faults === 0)
    documents = await verifyDocuments(root, manifest, (problem, name) => found({ problem, path: `xml/${name}` }));
  return { manifest, files: files.length, documents, faults };
}

async function verifyDocuments(
  root: string,
  manifest: Manifest,
  found: (problem: BackupFault['problem'], name: string) => Promise<void>,
): Promise<number> {
  const copies = await openDocuments(root, { readOnly: true });
  const known = new Set(manifest.missing);
  let documents = 0;
  await forEachDocument(documentNames(root, manifest), async ({ path, sha256 }) => {
    documents += 1;
    if (known.has(path)) return;
    try {
      await copies.get(path, sha256);
    } catch (error) {
      if (!(error instanceof XmlStoreError && (error.code === 'missing' || error.code === 'altered'))) throw error;
      await found(error.code, path);
    }
  });
  return documents;
}

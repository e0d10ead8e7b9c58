import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { type DocumentReader, isIntegrityError, openFileXmlStore, type XmlStore } from '@ecf/archive';
import { compressedLines } from './files.js';
import type { Manifest } from './manifest.js';

/** A document that a database names. */
export interface DocumentName {
  readonly path: string;
  readonly sha256: string;
}

const AT_ONCE = 16;
/** Folder of the documents in a backup, laid out as the archive in files. */
const FOLDER = 'xml';

/** The documents of a backup, as an archive in files. */
export async function openDocuments(root: string, options: { readOnly: boolean }): Promise<XmlStore> {
  const folder = path.join(root, FOLDER);
  // Only the owner enters it, also where the folder of the backup is open to others.
  if (!options.readOnly) await mkdir(folder, { recursive: true, mode: 0o700 });
  return openFileXmlStore(folder, options);
}

/** The documents that the databases of a backup name. */
export async function* documentNames(
  root: string,
  { databases }: Pick<Manifest, 'databases'>,
): AsyncGenerator<DocumentName> {
  for (const { documents } of Object.values(databases)) {
    if (documents === null) continue;
    for await (const line of compressedLines(root, documents.file)) {
      const [name, sha256] = line.split('\t');
      yield { path: name as string, sha256: sha256 as string };
    }
  }
}

/** Handles each document, several at the same time. */
export async function forEachDocument(
  names: AsyncGenerator<DocumentName>,
  handle: (document: DocumentName) => Promise<void>,
): Promise<void> {
  const worker = async () => {
    for await (const document of names) await handle(document);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/**
 * Copies the documents that the backup lacks; a document never changes. Returns the paths that the archive does not have, or has
 * with other bytes.
 */
export async function copyNewDocuments(
  root: string,
  backup: Pick<Manifest, 'databases'>,
  archive: DocumentReader,
  onCopied: () => void,
): Promise<{ copied: number; missing: string[] }> {
  const copies = await openDocuments(root, { readOnly: false });
  const missing: string[] = [];
  let copied = 0;
  await forEachDocument(documentNames(root, backup), async ({ path: name, sha256 }) => {
    if (existsSync(path.join(root, FOLDER, name))) return;
    try {
      await copies.put(name, await archive.get(name, sha256), sha256);
      copied += 1;
      onCopied();
    } catch (error) {
      if (!isIntegrityError(error)) throw error;
      missing.push(name);
    }
  });
  return { copied, missing: missing.sort() };
}

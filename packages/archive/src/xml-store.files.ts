import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, link, open, opendir, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { createFolderSync } from './folder-sync.js';
import { checkedBytes, checkXmlPath, type StoredObject, sha256Of, type XmlStore, XmlStoreError } from './xml-store.js';

/** Folder of files that are being written. */
const INCOMING = '.incoming';
const STALE_MS = 24 * 60 * 60 * 1000;

/**
 * Files under a folder. Bytes are written to a temporary file, synced, and then linked to their path. So a path either does
 * not exist or has the whole document.
 *
 * @param readOnly opens it for reading: it creates and removes no file, and `put` rejects
 */
export async function openFileXmlStore(root: string, { readOnly = false } = {}): Promise<XmlStore> {
  const incoming = path.join(root, INCOMING);
  const folders = createFolderSync(root);
  if (!readOnly) {
    await folders.make(incoming);
    await removeStale(incoming);
  }

  /** False if the path exists. */
  async function linkNew(file: string, bytes: Uint8Array): Promise<boolean> {
    const temporary = path.join(incoming, randomUUID());
    try {
      // If the archive is not mounted, this fails before any folder is created in its place.
      await writeSynced(temporary, bytes);
      await folders.make(path.dirname(file));
      await link(temporary, file);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') return false;
      // A folder below the root was removed; the next attempt makes it again.
      if (code === 'ENOENT') folders.forget();
      throw error;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  return {
    async put(relative, bytes, known) {
      checkXmlPath(relative);
      if (readOnly) throw new XmlStoreError('unavailable', 'This archive was opened for reading only.');
      const file = path.join(root, relative);
      const checksum = known ?? sha256Of(bytes);
      if (!(await linkNew(file, bytes)) && sha256Of(await readFile(file)) !== checksum)
        throw new XmlStoreError(
          'exists',
          `Another document is stored under ${relative}; stored documents are never overwritten.`,
        );
      await folders.sync(path.dirname(file));
      return { checksum };
    },
    async get(relative, checksum) {
      checkXmlPath(relative);
      try {
        return checkedBytes(relative, await readFile(path.join(root, relative)), checksum);
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
        throw new XmlStoreError('missing', `There is no document under ${relative}.`, { cause });
      }
    },
    ready: () => access(incoming, constants.R_OK | constants.W_OK),
    list: (prefix = '') => storedUnder(root, prefix.slice(0, Math.max(0, prefix.lastIndexOf('/'))), prefix),
  };
}

async function writeSynced(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o640);
  try {
    await handle.writeFile(bytes);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

/** Folder by folder, so that memory holds one entry of each level. */
async function* storedUnder(root: string, relative: string, prefix: string): AsyncGenerator<StoredObject> {
  const folder = await opendir(path.join(root, relative)).catch((error: NodeJS.ErrnoException) => {
    // A folder that no document needed yet. The root itself is always there.
    if (error.code === 'ENOENT' && relative !== '') return null;
    throw error;
  });
  for await (const entry of folder ?? []) {
    const name = relative === '' ? entry.name : `${relative}/${entry.name}`;
    if (!name.startsWith(prefix)) continue;
    if (entry.isDirectory()) {
      if (!entry.name.startsWith('.')) yield* storedUnder(root, name, prefix);
    } else yield { path: name, storedAt: (await stat(path.join(root, name))).mtime };
  }
}

/** Removes temporary files of killed processes. Files of the last day may belong to a running process. */
async function removeStale(incoming: string): Promise<void> {
  const oldest = Date.now() - STALE_MS;
  for (const name of await readdir(incoming)) {
    const file = path.join(incoming, name);
    const info = await stat(file).catch(() => null);
    if (info !== null && info.mtimeMs < oldest) await rm(file, { force: true });
  }
}

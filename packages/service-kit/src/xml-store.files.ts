import { createHash, randomUUID } from 'node:crypto';
import { link, open, readdir, readFile, rm, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { createFolderSync } from './folder-sync.js';
import { checkXmlPath, type XmlStore, XmlStoreError } from './xml-store.js';

const INCOMING = '.incoming';
const STALE_MS = 24 * 60 * 60 * 1000;

/**
 * Files under a folder. Bytes are written and synced under a temporary name and then linked to their path, so that a path
 * either does not exist or holds the whole document; the folder's entry is synced too before `put` resolves.
 */
export async function openFileXmlStore(root: string): Promise<XmlStore> {
  const incoming = path.join(root, INCOMING);
  const folders = createFolderSync(root);
  await folders.make(incoming);
  await removeStale(incoming);

  return {
    async put(relative, bytes) {
      checkXmlPath(relative);
      const checksum = sha256(bytes);
      const target = path.join(root, relative);
      const temporary = path.join(incoming, randomUUID());
      await writeSynced(temporary, bytes);
      try {
        await folders.make(path.dirname(target));
        await link(temporary, target);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        const present = sha256(await readFile(target));
        if (present !== checksum)
          throw new XmlStoreError(
            'exists',
            `Another document stands under ${relative}; stored documents are never overwritten.`,
          );
      } finally {
        await unlink(temporary);
      }
      await folders.sync(path.dirname(target));
      return { checksum };
    },
    async get(relative, checksum) {
      checkXmlPath(relative);
      let bytes: Buffer;
      try {
        bytes = await readFile(path.join(root, relative));
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
        throw new XmlStoreError('missing', `There is no document under ${relative}.`, { cause });
      }
      if (checksum !== undefined && sha256(bytes) !== checksum)
        throw new XmlStoreError('altered', `The document under ${relative} is not the one that was stored.`);
      return bytes;
    },
  };
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
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

/** Temporary files of a process that was killed; those of the last day may belong to one that still runs. */
async function removeStale(incoming: string): Promise<void> {
  const oldest = Date.now() - STALE_MS;
  for (const name of await readdir(incoming)) {
    const file = path.join(incoming, name);
    const info = await stat(file).catch(() => null);
    if (info !== null && info.mtimeMs < oldest) await rm(file, { force: true });
  }
}

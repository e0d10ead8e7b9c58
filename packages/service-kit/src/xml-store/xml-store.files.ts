import { constants } from 'node:fs';
import { access, opendir, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { createFolderSync } from './folder-sync.js';
import { INCOMING, JOURNAL } from './journal/archive-folder.js';
import { sha256Of } from './journal/archive-journal.js';
import { archiveWriter } from './journal/archive-writer.js';
import { checkXmlPath, type StoredObject, type XmlStore, XmlStoreError } from './xml-store.js';

const STALE_MS = 24 * 60 * 60 * 1000;

/**
 * Files under a folder. Bytes are written under a temporary name and then linked to their path, so that a path either does not
 * exist or holds the whole document; `put` resolves once a journal beside them is on the disk, out of which they are written
 * again after a power cut ({@link file://./archive-folder.ts}).
 *
 * @param readOnly opened to look at what is there: nothing is made, mended or removed, and nothing can be stored
 * @param idleMs milliseconds without a document after which the journal is cleared; by default when that costs least
 */
export async function openFileXmlStore(
  root: string,
  { idleMs, readOnly = false }: { idleMs?: number; readOnly?: boolean } = {},
): Promise<XmlStore> {
  const incoming = path.join(root, INCOMING);
  const journal = path.join(root, JOURNAL);
  const folders = createFolderSync(root);
  if (!readOnly) {
    await folders.make(incoming);
    await removeStale(incoming);
  }
  const writer = archiveWriter(path.resolve(root), idleMs);
  // What cannot be made good yet, on a full disk or one that takes no writes, keeps nobody from reading the rest.
  let failure = readOnly ? null : await recovered();

  async function recovered(): Promise<unknown> {
    const segments = await readdir(journal).catch(() => []);
    return segments.length === 0
      ? null
      : writer.recover().then(
          () => null,
          (error: unknown) => error,
        );
  }

  return {
    async put(relative, bytes, known) {
      checkXmlPath(relative);
      if (readOnly) throw new XmlStoreError('unavailable', 'This archive was opened for reading alone.');
      const checksum = known ?? sha256Of(bytes);
      await writer.store({ path: relative, bytes, sha256: checksum });
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
      if (checksum !== undefined && sha256Of(bytes) !== checksum)
        throw new XmlStoreError('altered', `The document under ${relative} is not the one that was stored.`);
      return bytes;
    },
    async ready() {
      await access(incoming, constants.R_OK | constants.W_OK);
      if (failure !== null) failure = await recovered();
      if (failure !== null) throw failure;
    },
    list: () => storedUnder(root, ''),
  };
}

/** Folder by folder, so that no more than one entry of each level is held. */
async function* storedUnder(root: string, relative: string): AsyncGenerator<StoredObject> {
  for await (const entry of await opendir(path.join(root, relative))) {
    const name = relative === '' ? entry.name : `${relative}/${entry.name}`;
    if (entry.isDirectory()) {
      if (!entry.name.startsWith('.')) yield* storedUnder(root, name);
    } else yield { path: name, storedAt: (await stat(path.join(root, name))).mtime };
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

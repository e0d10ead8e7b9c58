import { createHash, randomUUID } from 'node:crypto';
import { close, constants, fdatasync, link as linkFile, open, unlink as unlinkFile, write } from 'node:fs';
import { access, opendir, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { createFolderSync } from './folder-sync.js';
import { checkXmlPath, type StoredObject, type XmlStore, XmlStoreError } from './xml-store.js';

const link = promisify(linkFile);
const unlink = promisify(unlinkFile);

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
    async put(relative, bytes, known) {
      checkXmlPath(relative);
      const checksum = known ?? sha256(bytes);
      const target = path.join(root, relative);
      const temporary = path.join(incoming, randomUUID());
      try {
        await writeSynced(temporary, bytes);
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
        // Also where the disk is full: it must not be filled by what it had no room for.
        await unlinkIfThere(temporary);
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
    ready: () => access(incoming, constants.R_OK | constants.W_OK),
    list: () => storedUnder(root, ''),
  };
}

/** Folder by folder, so that no more than one entry of each level is held. */
async function* storedUnder(root: string, relative: string): AsyncGenerator<StoredObject> {
  for await (const entry of await opendir(path.join(root, relative))) {
    const name = relative === '' ? entry.name : `${relative}/${entry.name}`;
    if (entry.isDirectory()) {
      if (name !== INCOMING) yield* storedUnder(root, name);
    } else yield { path: name, storedAt: (await stat(path.join(root, name))).mtime };
  }
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function unlinkIfThere(file: string): Promise<void> {
  await unlink(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
}

/** Where the system has it, a write returns once the bytes are on disk, which saves a call of the thread pool. */
const SYNCED = constants.O_DSYNC ?? 0;
const NEW_FILE = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | SYNCED;

/** Callbacks, not file handles: this stands in the way of every document, and they cost half the processor time. */
function writeSynced(file: string, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    open(file, NEW_FILE, 0o640, (failed, fd) => {
      if (failed) return reject(failed);
      const end = (error?: Error | null) =>
        close(fd, (notClosed) => ((error ?? notClosed) ? reject(error ?? notClosed) : resolve()));
      const writeFrom = (offset: number): void => {
        write(fd, bytes, offset, bytes.length - offset, null, (error, written) => {
          if (error) end(error);
          else if (offset + written < bytes.length) writeFrom(offset + written);
          else if (SYNCED === 0) fdatasync(fd, end);
          else end();
        });
      };
      writeFrom(0);
    });
  });
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

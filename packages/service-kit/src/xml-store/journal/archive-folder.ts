import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isStorageFull } from '../../postgres/storage-full.js';
import { createFolderSync } from '../folder-sync.js';
import { XmlStoreError } from '../xml-store.js';
import { isSynced, isTorn, readIfThere, removeIfThere, syncFile, writeAll } from './archive-files.js';
import { type ArchivedDocument, readJournal, sha256Of } from './archive-journal.js';
import { type ArchiveSegmentsOptions, createArchiveSegments, type WrittenSegment } from './archive-segments.js';

/** Folders of an archive that hold no documents: what is being written, and the journal. */
export const INCOMING = '.incoming';
export const JOURNAL = '.journal';

/** The folder of an archive, written by one at a time. */
export interface ArchiveFolder {
  /** Stores documents; resolves once those that could be outlive a power cut, with null or the failure of each. */
  store(documents: readonly ArchivedDocument[]): Promise<(Error | null)[]>;
  /** Brings the files of everything stored so far to the disk, after which the journal is not needed and removed. */
  settle(): Promise<void>;
  /**
   * Makes good what a power cut left of documents that processes now gone have stored. Rejects with the first thing that could not
   * be done, once all else is; what could not stays in the journal.
   */
  recover(): Promise<void>;
}

/**
 * Milliseconds after which what was written is on the disk by itself, as Linux is set by default: to make sure of it takes a
 * third of the processor time then that it takes at once.
 */
export const WRITTEN_BACK_MS = 45_000;
/** A segment that nobody has written to for so long belongs to nobody; clocks of machines that share a folder may differ. */
const ABANDONED_MS = 10 * 60_000;

/**
 * Documents as files, of which a journal answers for the latest: those that are stored together are written without waiting
 * for the disk, and then at once, as one piece, to a segment of the journal, which is synced; after that they get their paths. One
 * file after the other on the disk would take the file system a commit of its own for each. What a power cut takes of the files is
 * written again from the journal when an archive is opened.
 */
export function createArchiveFolder(root: string, options: ArchiveSegmentsOptions = {}): ArchiveFolder {
  const { now = Date.now } = options;
  const folders = createFolderSync(root);
  const at = (relative: string) => path.join(root, relative);
  const segments = createArchiveSegments(at(JOURNAL), folders, options);
  let settling: Promise<void> = Promise.resolve();

  /** Not durable by itself. */
  function writeTemporary(bytes: Uint8Array): string {
    const file = path.join(at(INCOMING), randomUUID());
    try {
      const fd = fs.openSync(file, 'wx', 0o640);
      try {
        writeAll(fd, [bytes], 0);
      } finally {
        fs.closeSync(fd);
      }
      return file;
    } catch (error) {
      // Also where the disk is full: it must not be filled by what it had no room for.
      removeIfThere(file);
      throw error;
    }
  }

  /** Gives what is written its path. */
  async function place(temporary: string, { path: relative, sha256 }: ArchivedDocument): Promise<void> {
    try {
      await folders.make(path.dirname(at(relative)));
      fs.linkSync(temporary, at(relative));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (checksumAt(relative) !== sha256) throw another(relative);
    }
  }

  /** Null where there is no file. */
  function checksumAt(relative: string): string | null {
    const present = readIfThere(at(relative));
    return present === null ? null : sha256Of(present);
  }

  /** Puts a document in the place of what a disk has made of it. */
  async function replace(document: ArchivedDocument): Promise<void> {
    const temporary = writeTemporary(document.bytes);
    try {
      syncFile(temporary);
      // Also where the folder was taken away since it was made.
      fs.mkdirSync(path.dirname(at(document.path)), { recursive: true });
      fs.renameSync(temporary, at(document.path));
    } finally {
      removeIfThere(temporary);
    }
  }

  /** Documents come meanwhile, and wait for one file at most. */
  async function syncFiles(segment: WrittenSegment): Promise<void> {
    for (const relative of segment.paths) {
      if (!segment.doubtful.has(relative) && !isSynced(at(relative))) segment.doubtful.add(relative);
      await nextTurn();
    }
    if (segment.doubtful.size > 0) {
      for (const document of readJournal(readIfThere(segment.file) ?? Buffer.alloc(0)))
        if (segment.doubtful.has(document.path)) await replace(document);
    }
    await syncFolders(segment.paths);
  }

  async function syncFolders(paths: Iterable<string>): Promise<void> {
    for (const folder of new Set([...paths].map((relative) => path.dirname(at(relative)))))
      if (fs.existsSync(folder)) await folders.sync(folder);
  }

  /** One after the other; what fails stays in the journal, is tried again with the next, and rejects once the others are done. */
  function settleClosed(before: number): Promise<void> {
    settling = settling
      .catch(() => undefined)
      .then(async () => {
        let failure: unknown = null;
        for (const segment of segments.closedUntil(before)) {
          try {
            await syncFiles(segment);
            segments.remove(segment);
          } catch (error) {
            failure ??= error;
          }
        }
        if (failure !== null) throw failure;
      });
    return settling;
  }

  function settleInBackground(before: number): void {
    if (segments.closedUntil(before).length > 0) void settleClosed(before).catch(() => undefined);
  }

  /** Of the documents that may be stored their temporary files, null of those that are there; errors of the others. */
  function prepare(documents: readonly ArchivedDocument[]): (string | null | Error)[] {
    const first = new Map<string, ArchivedDocument>();
    return documents.map((document) => {
      try {
        const same = first.get(document.path);
        const present = same === undefined ? checksumAt(document.path) : same.sha256;
        if (present !== null && present !== document.sha256) return another(document.path);
        // Where it fails, the next one that asks for the path tries for itself.
        const temporary = present === null ? writeTemporary(document.bytes) : null;
        first.set(document.path, document);
        return temporary;
      } catch (error) {
        return asError(error);
      }
    });
  }

  return {
    async store(documents) {
      settleInBackground(now() - WRITTEN_BACK_MS);
      const prepared = prepare(documents);
      try {
        const fine = documents.filter((_, index) => !(prepared[index] instanceof Error));
        const failure = fine.length === 0 ? null : await segments.append(fine).then(() => null, asError);
        const outcomes: (Error | null)[] = [];
        /** By path, for those of the batch that ask for the same one. */
        const placed = new Map<string, Error | null>();
        for (const [index, each] of prepared.entries()) {
          const document = documents[index] as ArchivedDocument;
          if (typeof each === 'string' && failure === null)
            placed.set(document.path, await place(each, document).then(() => null, asError));
          outcomes.push(each instanceof Error ? each : (failure ?? placed.get(document.path) ?? null));
        }
        if (outcomes.some((each) => each !== null && isStorageFull(each))) {
          // The room that the journal takes is given back at once.
          segments.close();
          settleInBackground(Number.POSITIVE_INFINITY);
        }
        return outcomes;
      } finally {
        for (const each of prepared) if (typeof each === 'string') removeIfThere(each);
      }
    },
    settle() {
      segments.close();
      return settleClosed(Number.POSITIVE_INFINITY);
    },
    async recover() {
      let failure: unknown = null;
      for (const name of await readdir(at(JOURNAL))) {
        try {
          await recoverSegment(path.join(at(JOURNAL), name));
        } catch (error) {
          failure ??= error;
        }
      }
      if (failure !== null) throw failure;
    },
  };

  async function recoverSegment(file: string): Promise<void> {
    const found = await readSegment(file);
    if (found === null) return;
    const paths = new Set<string>();
    let isWhole = true;
    for (const document of readJournal(found.bytes)) {
      paths.add(document.path);
      const present = readIfThere(at(document.path));
      if (present !== null && sha256Of(present) === document.sha256) continue;
      if (present === null || isTorn(present, document.bytes)) await replace(document);
      // Whoever reads it is told that it was altered, and here is what it was.
      else isWhole = false;
    }
    // What may have an owner stays, and answers for its documents on.
    if (!isWhole || now() - found.writtenAt < ABANDONED_MS) return;
    await syncFiles({ file, paths, doubtful: new Set() });
    if ((await stat(file)).mtimeMs === found.writtenAt) removeIfThere(file);
  }
}

function another(relative: string): XmlStoreError {
  return new XmlStoreError(
    'exists',
    `Another document stands under ${relative}; stored documents are never overwritten.`,
  );
}

/** Null where its owner has removed it meanwhile, and of what is no file. */
async function readSegment(file: string): Promise<{ bytes: Buffer; writtenAt: number } | null> {
  try {
    const found = await stat(file);
    return found.isFile() ? { bytes: await readFile(file), writtenAt: found.mtimeMs } : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ArchivedDocument, journalEntries, readJournal, sha256Of } from './archive-journal.js';
import { createFolderSync } from './folder-sync.js';
import { XmlStoreError } from './xml-store.js';

/** Folders of an archive that hold no documents: what is being written, and the journal. */
export const INCOMING = '.incoming';
export const JOURNAL = '.journal';

/** The folder of an archive, written by one at a time. */
export interface ArchiveFolder {
  /** Stores documents; resolves once those that could be outlive a power cut, with null or the failure of each. */
  store(documents: readonly ArchivedDocument[]): Promise<(Error | null)[]>;
  /** Brings the files of everything stored so far to the disk, after which the journal is not needed and removed. */
  settle(): Promise<void>;
  /** Makes good what a power cut left of documents that processes now gone have stored. */
  recover(): Promise<void>;
}

export interface ArchiveFolderOptions {
  /** Bytes after which a segment of the journal is closed. */
  readonly segmentBytes?: number;
  /** Milliseconds after which a segment is closed. */
  readonly segmentMs?: number;
  readonly now?: () => number;
}

interface Segment {
  readonly file: string;
  readonly fd: number;
  readonly begun: number;
  readonly paths: string[];
  bytes: number;
  closed: number;
}

const SEGMENT_BYTES = 16 * 1024 * 1024;
const SEGMENT_MS = 30_000;
/**
 * Milliseconds after which what was written is on the disk by itself, as Linux is set by default: to make sure of it takes a
 * third of the processor time then that it takes at once.
 */
export const WRITTEN_BACK_MS = 45_000;
/** A segment that nobody has written to for so long belongs to nobody; clocks of machines that share a folder may differ. */
const ABANDONED_MS = 10 * 60_000;

/**
 * Documents as files, of which a journal answers for the latest: those that are stored together are written without waiting
 * for the disk, and then at once, as one piece, to a segment of the journal, which is synced. One file after the other on
 * the disk would take the file system a commit of its own for each. What a power cut takes of the files is written again from the
 * journal when an archive is opened.
 */
export function createArchiveFolder(root: string, options: ArchiveFolderOptions = {}): ArchiveFolder {
  const { segmentBytes = SEGMENT_BYTES, segmentMs = SEGMENT_MS, now = Date.now } = options;
  const folders = createFolderSync(root);
  let current: Segment | null = null;
  let closed: Segment[] = [];
  let settling: Promise<void> = Promise.resolve();

  async function begin(): Promise<Segment> {
    const folder = path.join(root, JOURNAL);
    await folders.make(folder);
    const file = path.join(folder, randomUUID());
    const fd = fs.openSync(file, 'wx', 0o640);
    await folders.sync(folder);
    return { file, fd, begun: now(), paths: [], bytes: 0, closed: 0 };
  }

  function close(segment: Segment): void {
    fs.closeSync(segment.fd);
    closed.push(Object.assign(segment, { closed: now() }));
    current = null;
  }

  function cutTo(segment: Segment): void {
    try {
      fs.ftruncateSync(segment.fd, segment.bytes);
    } catch {
      close(segment);
    }
  }

  async function append(documents: readonly ArchivedDocument[]): Promise<void> {
    current ??= await begin();
    const segment = current;
    try {
      const written = writeAll(segment.fd, journalEntries(documents), segment.bytes);
      fs.fdatasyncSync(segment.fd);
      segment.bytes += written;
    } catch (error) {
      // What stands half written would hide all that follows it.
      cutTo(segment);
      throw error;
    }
    for (const { path: place } of documents) segment.paths.push(place);
    if (segment.bytes >= segmentBytes || now() - segment.begun >= segmentMs) close(segment);
  }

  /** Not durable by itself; throws `exists` where another document stands there. */
  async function place({ path: relative, bytes, sha256 }: ArchivedDocument): Promise<void> {
    const target = path.join(root, relative);
    const temporary = path.join(root, INCOMING, randomUUID());
    try {
      writeNew(temporary, bytes);
      await folders.make(path.dirname(target));
      fs.linkSync(temporary, target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const present = fs.readFileSync(target);
      if (sha256Of(present) === sha256) return;
      if (!isTorn(present, bytes))
        throw new XmlStoreError(
          'exists',
          `Another document stands under ${relative}; stored documents are never overwritten.`,
        );
      fs.renameSync(temporary, target);
    } finally {
      // Also where the disk is full: it must not be filled by what it had no room for.
      removeIfThere(temporary);
    }
  }

  /** Waits for the disk. Files that were taken away since are nobody's concern here. */
  async function syncFiles(paths: readonly string[]): Promise<void> {
    for (const relative of paths) {
      syncFile(path.join(root, relative));
      // Documents that come meanwhile wait for one file at most.
      await nextTurn();
    }
    for (const folder of new Set(paths.map((relative) => path.dirname(path.join(root, relative)))))
      if (fs.existsSync(folder)) await folders.sync(folder);
  }

  /** One after the other; what fails is tried again with the next, and stays in the journal until then. */
  function settleClosed(before: number): Promise<void> {
    settling = settling
      .catch(() => undefined)
      .then(async () => {
        for (const segment of closed.filter((each) => each.closed <= before)) {
          await syncFiles(segment.paths);
          removeIfThere(segment.file);
          closed = closed.filter((each) => each !== segment);
        }
      });
    return settling;
  }

  return {
    async store(documents) {
      const failures: (Error | null)[] = [];
      for (const document of documents) failures.push(await place(document).then(() => null, asError));
      const placed = documents.filter((_, index) => failures[index] === null);
      if (placed.length === 0) return failures;
      const failure = await append(placed).then(() => null, asError);
      if (closed.length > 0) void settleClosed(now() - WRITTEN_BACK_MS).catch(() => undefined);
      return failures.map((each) => each ?? failure);
    },
    settle() {
      if (current !== null) close(current);
      return settleClosed(Number.POSITIVE_INFINITY);
    },
    async recover() {
      const folder = path.join(root, JOURNAL);
      for (const name of await readdir(folder)) {
        const file = path.join(folder, name);
        const found = await readSegment(file);
        if (found === null) continue;
        const paths: string[] = [];
        for (const document of readJournal(found.bytes)) {
          if (!isStored(document)) await place(document).catch(unlessAnother);
          paths.push(document.path);
        }
        // What may have an owner stays, and answers for its documents on.
        if (now() - found.writtenAt < ABANDONED_MS) continue;
        await syncFiles(paths);
        removeIfThere(file);
      }
    },
  };

  function isStored({ path: relative, sha256 }: ArchivedDocument): boolean {
    try {
      return sha256Of(fs.readFileSync(path.join(root, relative))) === sha256;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  }
}

/** A document that somebody has put in the place of another is told when it is read; the archive opens all the same. */
function unlessAnother(error: unknown): void {
  if (!(error instanceof XmlStoreError && error.code === 'exists')) throw error;
}

function removeIfThere(file: string): void {
  try {
    fs.unlinkSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Null where its owner has removed it meanwhile. */
async function readSegment(file: string): Promise<{ bytes: Buffer; writtenAt: number } | null> {
  try {
    const { mtimeMs } = await stat(file);
    return { bytes: await readFile(file), writtenAt: mtimeMs };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Holds nothing but what reached the disk of the document: its beginning, or zeros in place of the rest. No document has a NUL. */
function isTorn(present: Uint8Array, bytes: Uint8Array): boolean {
  return present.length <= bytes.length && present.every((byte, index) => byte === 0 || byte === bytes[index]);
}

function writeNew(file: string, bytes: Uint8Array): void {
  const fd = fs.openSync(file, 'wx', 0o640);
  try {
    writeAll(fd, [bytes], 0);
  } finally {
    fs.closeSync(fd);
  }
}

/** Writes all of the parts at a place of the file; how many bytes that was. */
function writeAll(fd: number, parts: readonly Uint8Array[], position: number): number {
  const whole = parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
  for (let written = 0; written < whole.length; )
    written += fs.writeSync(fd, whole, written, whole.length - written, position + written);
  return whole.length;
}

function syncFile(file: string): void {
  let fd: number;
  try {
    fd = fs.openSync(file, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  try {
    fs.fdatasyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

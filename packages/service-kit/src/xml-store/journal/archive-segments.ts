import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { FolderSync } from '../folder-sync.js';
import { removeIfThere, writeAll } from './archive-files.js';
import { type ArchivedDocument, journalEntries } from './archive-journal.js';

export interface ArchiveSegmentsOptions {
  /** Bytes after which a segment is closed. */
  readonly segmentBytes?: number;
  /** Milliseconds after which a segment is closed. */
  readonly segmentMs?: number;
  readonly now?: () => number;
}

/** A segment whose documents are known. */
export interface WrittenSegment {
  readonly file: string;
  /** Of its documents. */
  readonly paths: Set<string>;
  /** Of these the ones that could not be synced: the system may have forgotten what it could not write, and call the next sync a success. */
  readonly doubtful: Set<string>;
}

interface Segment extends WrittenSegment {
  readonly fd: number;
  readonly begun: number;
  bytes: number;
  closed: number;
}

/** The segments of the journal that one process writes. */
export interface ArchiveSegments {
  /** Resolves once the documents are on the disk at the end of the present segment, all of them or none. */
  append(documents: readonly ArchivedDocument[]): Promise<void>;
  /** Closes the present segment, if there is one. */
  close(): void;
  /** Those that were closed by that time, in milliseconds since 1970. */
  closedUntil(time: number): readonly WrittenSegment[];
  /** Removes a closed one. */
  remove(segment: WrittenSegment): void;
}

const SEGMENT_BYTES = 16 * 1024 * 1024;
const SEGMENT_MS = 30_000;

/** @param folder that the segments stand in; made where it is missing */
export function createArchiveSegments(
  folder: string,
  folders: FolderSync,
  options: ArchiveSegmentsOptions,
): ArchiveSegments {
  const { segmentBytes = SEGMENT_BYTES, segmentMs = SEGMENT_MS, now = Date.now } = options;
  let current: Segment | null = null;
  let closed: Segment[] = [];

  async function begin(): Promise<Segment> {
    await folders.make(folder);
    const file = path.join(folder, randomUUID());
    const fd = fs.openSync(file, 'wx', 0o640);
    try {
      await folders.sync(folder);
    } catch (error) {
      fs.closeSync(fd);
      removeIfThere(file);
      throw error;
    }
    return { file, fd, begun: now(), paths: new Set(), doubtful: new Set(), bytes: 0, closed: 0 };
  }

  function end(segment: Segment): void {
    current = null;
    closed.push(Object.assign(segment, { closed: now() }));
    fs.closeSync(segment.fd);
  }

  async function append(documents: readonly ArchivedDocument[]): Promise<void> {
    current ??= await begin();
    const segment = current;
    try {
      segment.bytes += writeAll(segment.fd, journalEntries(documents), segment.bytes);
    } catch (error) {
      // What stands half written would hide all that follows it.
      cutTo(segment);
      throw error;
    }
    try {
      fs.fdatasyncSync(segment.fd);
    } catch (error) {
      end(segment);
      throw error;
    }
    if (fs.fstatSync(segment.fd).nlink === 0) {
      // Another process took it for abandoned, as after a sleep of the whole machine; what stands in it that one has seen to.
      end(segment);
      return append(documents);
    }
    for (const { path: relative } of documents) segment.paths.add(relative);
    if (segment.bytes >= segmentBytes || now() - segment.begun >= segmentMs) end(segment);
  }

  function cutTo(segment: Segment): void {
    try {
      fs.ftruncateSync(segment.fd, segment.bytes);
    } catch {
      end(segment);
    }
  }

  return {
    append,
    close() {
      if (current !== null) end(current);
    },
    closedUntil: (time) => closed.filter((each) => each.closed <= time),
    remove(segment) {
      removeIfThere(segment.file);
      closed = closed.filter((each) => each !== segment);
    },
  };
}

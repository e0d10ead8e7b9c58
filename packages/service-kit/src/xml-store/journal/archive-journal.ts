import { createHash } from 'node:crypto';
import { checkXmlPath, XmlStoreError } from '../xml-store.js';

/** A document of an archive. */
export interface ArchivedDocument {
  /** Relative to the archive, with `/`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes, lower-case hex. */
  readonly sha256: string;
}

const HEAD = /^([0-9a-f]{64}) (\d{1,10}) (\S{1,512})$/;
const LONGEST_HEAD = 64 + 1 + 10 + 1 + 512;
const NEW_LINE = 0x0a;

/** Documents as a segment of the journal holds them: `<sha256> <bytes> <path>`, a line feed, the document, a line feed. */
export function journalEntries(documents: readonly ArchivedDocument[]): Uint8Array[] {
  return documents.flatMap(({ path, bytes, sha256 }) => [
    Buffer.from(`${sha256} ${bytes.length} ${path}\n`),
    bytes,
    Buffer.of(NEW_LINE),
  ]);
}

/** The documents of a segment up to the first that is not whole: what was being written when the power went was confirmed to nobody. */
export function* readJournal(segment: Buffer): Generator<ArchivedDocument> {
  for (let offset = 0; offset < segment.length; ) {
    const end = segment.subarray(0, offset + LONGEST_HEAD + 1).indexOf(NEW_LINE, offset);
    const head = end < 0 ? null : HEAD.exec(segment.toString('latin1', offset, end));
    if (head === null) return;
    const [, sha256, length, path] = head as unknown as [string, string, string, string];
    const begin = end + 1;
    const bytes = segment.subarray(begin, begin + Number(length));
    offset = begin + Number(length) + 1;
    if (segment[offset - 1] !== NEW_LINE || !isPath(path) || sha256Of(bytes) !== sha256) return;
    yield { path, bytes, sha256 };
  }
}

/** SHA-256 in lower-case hex. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function isPath(path: string): boolean {
  try {
    checkXmlPath(path);
    return true;
  } catch (error) {
    if (error instanceof XmlStoreError) return false;
    throw error;
  }
}

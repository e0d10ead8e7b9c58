import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { MAX_BATCH_BYTES } from '@ecf/contracts';
import { JoinedChunks, readPieces } from '@ecf/http';
import { ApiError } from '@ecf/kit';
import type { ReceivedBody } from './receive-batch.js';

export type BatchFormat = 'ndjson' | 'json';

/**
 * The documents of a body, read piece by piece: one on each line, or the elements of a JSON array. A document over
 * `maxDocumentBytes` is null. Each document is parsed later, so a fault in one does not refuse the others. 413 over
 * 100 MiB; 400 if the body does not arrive completely, or is not an array.
 */
export function readBatchBody(req: IncomingMessage, format: BatchFormat, maxDocumentBytes: number): ReceivedBody {
  const hash = createHash('sha256');
  const { pieces, hold } = readPieces(req, { maxBytes: MAX_BATCH_BYTES, tooLarge: batchTooLarge });
  const splitter = format === 'ndjson' ? createLineSplitter(maxDocumentBytes) : createArraySplitter(maxDocumentBytes);
  /** Bytes of the documents that were yielded and are not stored yet. */
  let yielded = 0;
  function* counted(found: Iterable<Buffer | null>): Generator<Buffer | null> {
    for (const document of found) {
      yielded += document?.length ?? 0;
      hold(yielded + splitter.held());
      yield document;
    }
    hold(yielded + splitter.held());
  }
  async function* documents(): AsyncGenerator<Buffer | null> {
    for await (const piece of pieces) {
      hash.update(piece);
      yield* counted(splitter.push(piece));
    }
    yield* counted(splitter.end());
  }
  return {
    documents: documents(),
    release: () => {
      yielded = 0;
    },
    sha256: () => hash.copy().digest('hex'),
  };
}

function batchTooLarge(max: number): ApiError {
  return new ApiError(
    413,
    'body_too_large',
    `A batch has at most ${max} bytes; send the documents as several batches. This batch was not stored.`,
  );
}

/** Cuts a body into documents. */
interface Splitter {
  push(chunk: Buffer): Iterable<Buffer | null>;
  end(): Iterable<Buffer | null>;
  /** Bytes of the document that has begun. */
  held(): number;
}

/** Collects the pieces of one document, and drops all of them beyond `max` bytes. */
function createCollector(max: number) {
  let pieces = new JoinedChunks();
  let length = 0;
  return {
    add(piece: Buffer): void {
      length += piece.length;
      if (length > max) pieces = new JoinedChunks();
      else if (piece.length > 0) pieces.add(piece);
    },
    isEmpty: () => length === 0,
    held: () => pieces.length,
    /** The document; undefined if it consists of blanks only, or of a byte order mark only. */
    take(): Buffer | null | undefined {
      const document = length > max ? null : pieces.join();
      pieces = new JoinedChunks();
      length = 0;
      return document !== null && isBlank(withoutByteOrderMark(document)) ? undefined : document;
    },
  };
}

const NEWLINE = 0x0a;

/** Empty lines, and blanks before a document, are passed over byte by byte: a body may consist of them. */
function createLineSplitter(max: number): Splitter {
  const collector = createCollector(max);
  function* taken(): Generator<Buffer | null> {
    const document = collector.take();
    if (document !== undefined) yield document;
  }
  return {
    *push(chunk) {
      for (let from = 0; from < chunk.length; ) {
        if (collector.isEmpty() && isBlankByte(chunk[from] as number)) {
          from += 1;
          continue;
        }
        const at = chunk.indexOf(NEWLINE, from);
        const end = at < 0 ? chunk.length : at;
        collector.add(chunk.subarray(from, end));
        from = end + 1;
        if (at >= 0) yield* taken();
      }
    },
    end: taken,
    held: collector.held,
  };
}

const [QUOTE, BACKSLASH, COMMA, OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\,[]{}');

const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/**
 * Finds the elements of an array by brackets and strings. Whether an element is JSON is seen when it is parsed. Blanks before an
 * element are passed over, so an array may consist of them.
 */
function createArraySplitter(max: number): Splitter {
  const collector = createCollector(max);
  const scan = createScanner();
  let position: 'before' | 'inside' | 'after' = 'before';
  let elements = 0;

  function* element(isLast: boolean): Generator<Buffer | null> {
    const document = collector.take();
    if (document === undefined) {
      if (isLast && elements === 0) return;
      throw notAnArray('an element is empty');
    }
    elements += 1;
    yield document;
  }

  /** Index behind the opening bracket, or behind the chunk. */
  function opened(chunk: Buffer): number {
    const at = chunk.findIndex((byte) => !isBlankByte(byte) && !BYTE_ORDER_MARK.includes(byte));
    if (at < 0) return chunk.length;
    if (chunk[at] !== OPEN_ARRAY) throw notAnArray('it begins with other text');
    position = 'inside';
    return at + 1;
  }

  return {
    *push(chunk) {
      let from = position === 'before' ? opened(chunk) : 0;
      while (position === 'inside' && from < chunk.length) {
        if (collector.isEmpty() && isBlankByte(chunk[from] as number)) {
          from += 1;
          continue;
        }
        const at = scan(chunk, from);
        collector.add(chunk.subarray(from, at));
        from = at + 1;
        if (at === chunk.length) return;
        const isLast = chunk[at] === CLOSE_ARRAY;
        if (isLast) position = 'after';
        yield* element(isLast);
      }
      if (position === 'after' && !isBlank(chunk.subarray(from))) throw notAnArray('it ends with other text');
    },
    // biome-ignore lint/correctness/useYield: the last element ends with the bracket
    *end() {
      if (position !== 'after') throw notAnArray('it ends before its last bracket');
    },
    held: collector.held,
  };
}

/**
 * Finds the comma or bracket that ends an element: its index, or the length of the chunk. The next call continues in the
 * next chunk.
 */
function createScanner(): (chunk: Buffer, from: number) => number {
  let depth = 0;
  let inString = false;
  let escaped = false;

  function insideString(byte: number): void {
    if (escaped) escaped = false;
    else if (byte === BACKSLASH) escaped = true;
    else inString = byte !== QUOTE;
  }

  return (chunk, from) => {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (inString) insideString(byte);
      else if (byte === QUOTE) inString = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth += 1;
      else if (depth > 0) depth -= byte === CLOSE_OBJECT || byte === CLOSE_ARRAY ? 1 : 0;
      else if (byte === COMMA || byte === CLOSE_ARRAY) return at;
    }
    return chunk.length;
  };
}

function notAnArray(why: string): ApiError {
  return new ApiError(
    400,
    'invalid_batch',
    `The body is not a JSON array of documents: ${why}. No document was kept; send [{"ECF": …}, …], or one document per line as application/x-ndjson.`,
  );
}

function isBlankByte(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function withoutByteOrderMark(bytes: Buffer): Buffer {
  return bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? bytes.subarray(3) : bytes;
}

function isBlank(bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at += 1) if (!isBlankByte(bytes[at] as number)) return false;
  return true;
}

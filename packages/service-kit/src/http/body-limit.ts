import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { ApiError } from './errors.js';

/** What is still read and dropped of a body that is too large, so that the caller gets to read the answer. */
const DRAIN = 64 * 1024 * 1024;

/** Bytes that a chunk has on average, beyond those that may be tiny. */
const LEAST_CHUNK = 64;

/**
 * Chunks of a body that may be of a few bytes, as each costs processor time: far more than a sender makes that writes a document
 * line by line.
 */
const TINY_CHUNKS = 16_384;

/**
 * Refuses bodies over `max` bytes with 413, by their Content-Length at once, others as soon as they pass the limit.
 * The body itself stays unread for whoever reads it later, and uncopied where its chunks are not gathered.
 *
 * @param chunks `few`, where strangers are faced: small chunks are handed on gathered, and a body in too many of them is 400
 */
export function limitBody(max: number, chunks: 'any' | 'few' = 'any'): RequestHandler {
  return (req, res, next) => {
    const declared = Number(req.headers['content-length'] ?? Number.NaN);
    if (declared > max) {
      if (declared > max + DRAIN) res.shouldKeepAlive = false;
      return next(tooLarge(max));
    }
    if (Number.isNaN(declared) && req.headers['transfer-encoding'] !== undefined) {
      if (chunks === 'few') gatherChunks(req);
      countChunks(req, { max, few: chunks === 'few' }, next);
    }
    next();
  };
}

/**
 * Counts in `push`, before the bytes are buffered: a data listener would set the stream flowing. Whoever reads the body
 * when it passes a limit is told that it was aborted; the rest is dropped, and a part is never taken for the whole.
 */
function countChunks(
  req: IncomingMessage,
  { max, few }: { max: number; few: boolean },
  refuse: (error: ApiError) => void,
): void {
  const push = req.push;
  let [seen, chunks, refused] = [0, 0, false];
  req.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    if (chunk === null) return push.call(req, chunk, encoding);
    seen += chunk.length;
    chunks += 1;
    if (!refused) {
      const problem = seen > max ? tooLarge(max) : few ? tooManyTinyChunks(chunks, seen) : null;
      if (problem === null) return push.call(req, chunk, encoding);
      refused = true;
      refuse(problem);
      req.unpipe();
      req.emit('aborted');
    }
    if (seen > max + DRAIN) req.socket.destroy();
    return true;
  };
}

/** Bytes that are gathered at most, and a chunk that is handed on as it is. */
const GATHERED = 16 * 1024;
const LARGE_CHUNK = 4 * 1024;

/** Puts small chunks of a body together, for one turn of the event loop at most: what is done for each of them is done once. */
function gatherChunks(req: IncomingMessage): void {
  const { push, _read: read } = req;
  let room: Buffer | null = null;
  let held = 0;
  // Whoever hands over the next chunk has to hear that a gathered one found the stream full, until that wants more.
  let full = false;
  req._read = (size) => {
    full = false;
    read.call(req, size);
  };
  const flush = () => {
    if (room === null || held === 0) return;
    // A copy, as long as what came: whoever keeps it keeps no room beside it.
    const gathered = Buffer.from(room.subarray(0, held));
    held = 0;
    full = !push.call(req, gathered);
  };
  req.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    if (chunk === null || chunk.length >= LARGE_CHUNK) {
      flush();
      full = !push.call(req, chunk, encoding);
      return !full;
    }
    if (held + chunk.length > GATHERED) flush();
    room ??= Buffer.allocUnsafeSlow(GATHERED);
    if (held === 0) setImmediate(flush);
    chunk.copy(room, held);
    held += chunk.length;
    return !full;
  };
}

/** What to answer where a body comes in more than 16,384 chunks that have less than 64 bytes on average; null else. */
export function tooManyTinyChunks(chunks: number, bytes: number): ApiError | null {
  if (chunks <= TINY_CHUNKS || bytes >= chunks * LEAST_CHUNK) return null;
  const message = `The body comes in more than ${TINY_CHUNKS} chunks of a few bytes; send larger ones.`;
  return new ApiError(400, 'bad_request', message, { headers: { connection: 'close' } });
}

function tooLarge(max: number): ApiError {
  return new ApiError(
    413,
    'body_too_large',
    `The body is larger than ${max} bytes; send less, or have MAX_BODY_BYTES raised.`,
  );
}

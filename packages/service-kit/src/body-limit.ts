import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { ApiError } from './errors.js';

/** What is still read and dropped of a body that is too large, so that the caller gets to read the answer. */
const DRAIN = 64 * 1024 * 1024;

/**
 * Refuses bodies over `max` bytes with 413, by their Content-Length at once, others as soon as they pass the limit.
 * The body itself stays unread and uncopied for whoever reads it later.
 */
export function limitBody(max: number): RequestHandler {
  return (req, res, next) => {
    const declared = Number(req.headers['content-length'] ?? Number.NaN);
    if (declared > max) {
      if (declared > max + DRAIN) res.shouldKeepAlive = false;
      throw tooLarge(max);
    }
    if (Number.isNaN(declared) && req.headers['transfer-encoding'] !== undefined)
      countChunks(req, max, () => next(tooLarge(max)));
    next();
  };
}

/**
 * Counts in `push`, before the bytes are buffered: a data listener would set the stream flowing. Whoever reads the body
 * when it passes the limit is told that it was aborted; the rest is dropped, and a part is never taken for the whole.
 */
function countChunks(req: IncomingMessage, max: number, refuse: () => void): void {
  const push = req.push;
  let seen = 0;
  req.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    if (chunk === null) return push.call(req, chunk, encoding);
    const within = seen <= max;
    seen += chunk.length;
    if (seen <= max) return push.call(req, chunk, encoding);
    if (within) {
      refuse();
      req.unpipe();
      req.emit('aborted');
    }
    if (seen > max + DRAIN) req.socket.destroy();
    return true;
  };
}

function tooLarge(max: number): ApiError {
  return new ApiError(
    413,
    'body_too_large',
    `The body is larger than ${max} bytes; send less, or have MAX_BODY_BYTES raised.`,
  );
}

import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { ApiError } from './errors.js';

const MAX_BODY_BYTES = Symbol('ecf.max-body-bytes');
type Limited = IncomingMessage & { [MAX_BODY_BYTES]?: number };

/**
 * Refuses a body whose Content-Length is over `max` with 413. A body without one is counted by its reader.
 * @param tooLarge makes the error, where `max` is not MAX_BODY_BYTES
 */
export function limitBody(max: number, tooLarge: (max: number) => ApiError = bodyTooLarge): RequestHandler {
  return (req, _res, next) => {
    const limited = req as Limited;
    // A gateway of the same process may have set a smaller bound.
    limited[MAX_BODY_BYTES] = Math.min(max, limited[MAX_BODY_BYTES] ?? max);
    next(Number(req.headers['content-length']) > max ? tooLarge(max) : undefined);
  };
}

/** The bound that {@link limitBody} set, for the reader of the body. */
export function maxBodyBytesOf(req: IncomingMessage): number {
  return (req as Limited)[MAX_BODY_BYTES] ?? 0;
}

export function bodyTooLarge(max: number): ApiError {
  return new ApiError(
    413,
    'body_too_large',
    `The body is larger than ${max} bytes; send less, or have MAX_BODY_BYTES raised.`,
  );
}

/** The error where the operation sets the limit, not the deployment. */
export function operationBodyTooLarge(max: number): ApiError {
  return new ApiError(
    413,
    'body_too_large',
    `The body is larger than ${max} bytes, the limit of this operation; send less.`,
  );
}

/** Bytes that a chunk has on average, beyond those that may be tiny. */
const LEAST_CHUNK = 64;
const TINY_CHUNKS = 16_384;

/** The answer to a body in more than 16,384 chunks that have less than 64 bytes on average; null else. */
export function tooManyTinyChunks(chunks: number, bytes: number): ApiError | null {
  if (chunks <= TINY_CHUNKS || bytes >= chunks * LEAST_CHUNK) return null;
  const message = `The body comes in more than ${TINY_CHUNKS} chunks of a few bytes; send larger ones.`;
  return new ApiError(400, 'bad_request', message);
}

import type { IncomingMessage } from 'node:http';
import { ApiError } from '@ecf/kit';
import type { RequestHandler } from 'express';

/** The bound of a body in bytes, and the error for a larger one. */
export interface BodyBound {
  readonly max: number;
  readonly tooLarge: (max: number) => ApiError;
}

const BOUND = Symbol('ecf.body-bound');
type Limited = IncomingMessage & { [BOUND]?: BodyBound };

/**
 * Refuses a body whose Content-Length is over `max` with 413. A body without one is counted by its reader.
 * @param tooLarge makes the error, where `max` is not MAX_BODY_BYTES
 */
export function limitBody(max: number, tooLarge: (max: number) => ApiError = bodyTooLarge): RequestHandler {
  return (req, _res, next) => {
    // A gateway of the same process may have set a smaller bound.
    (req as Limited)[BOUND] = boundOf(req, { max, tooLarge });
    next(Number(req.headers['content-length']) > max ? tooLarge(max) : undefined);
  };
}

/** The smaller one of the bound that {@link limitBody} set and another; of equal ones the other. */
export function boundOf(req: IncomingMessage, other: BodyBound): BodyBound {
  const set = (req as Limited)[BOUND];
  return set === undefined || other.max <= set.max ? other : set;
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

/** Least average bytes of a chunk, once a body has more than {@link TINY_CHUNKS} chunks. */
const LEAST_CHUNK = 64;
const TINY_CHUNKS = 16_384;

/** The answer to a body in more than 16,384 chunks that have less than 64 bytes on average; null else. */
export function tooManyTinyChunks(chunks: number, bytes: number): ApiError | null {
  if (chunks <= TINY_CHUNKS || bytes >= chunks * LEAST_CHUNK) return null;
  const message = `The body comes in more than ${TINY_CHUNKS} chunks of a few bytes; send larger ones.`;
  return new ApiError(400, 'bad_request', message);
}

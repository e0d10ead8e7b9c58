import { isUtf8 } from 'node:buffer';
import express, { type Request, type RequestHandler } from 'express';
import { ApiError } from './errors.js';

/**
 * Reads a JSON body into `req.body`: content type application/json (415 otherwise), UTF-8 without replacement (400
 * `not_utf8`), well-formed (400 `invalid_json`, with the parser's words). No body at all leaves undefined.
 */
export function jsonBody(limit: number): RequestHandler[] {
  return [requireJson, express.raw({ type: () => true, limit, inflate: false }), parse];
}

const requireJson: RequestHandler = (req, _res, next) => {
  if (req.is('application/json') === false)
    throw new ApiError(415, 'unsupported_media_type', 'Send the body as application/json.');
  next();
};

const parse: RequestHandler = (req: Request, _res, next) => {
  const bytes: unknown = req.body;
  req.body = Buffer.isBuffer(bytes) && bytes.length > 0 ? parseBytes(bytes) : undefined;
  next();
};

function parseBytes(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new ApiError(400, 'not_utf8', 'The body is not UTF-8; nothing is guessed or replaced.');
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new ApiError(400, 'invalid_json', `The body is not JSON: ${(cause as Error).message}.`, { cause });
  }
}

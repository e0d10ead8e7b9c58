import { isUtf8 } from 'node:buffer';
import { ApiError, InvalidRequest } from '@ecf/kit';
import type { RequestHandler } from 'express';
import { readBody } from './read-body.js';

/** Makes the value of a body's bytes, which are UTF-8; what it throws names what is wrong with the text. */
export type ParseJson = (bytes: Buffer) => unknown;

/** The error for a body that is not JSON, or not UTF-8. */
export type UnreadableJson = (code: 'invalid_json' | 'not_utf8', message: string, cause?: unknown) => Error;

/** 400 with its code. */
const badRequest: UnreadableJson = (code, message, cause) => new ApiError(400, code, message, { cause });

/** 422 about the body, for operations that answer every fault of the body so. */
export const unreadableIsInvalid: UnreadableJson = (code, message, cause) =>
  new InvalidRequest([{ loc: ['body'], msg: message, type: code }], { cause });

/**
 * Reads a JSON body into `req.body`. Errors: 415 for a content type other than application/json, 400 `not_utf8`, 400
 * `invalid_json` with the parser's message. Without a body it stays undefined.
 *
 * @param parseJson a stricter parser for bodies of callers; by default, between services, the last of equal keys counts
 * @param unreadable what to answer instead of 400
 */
export function jsonBody(
  limit: number,
  parseJson: ParseJson = usual,
  unreadable: UnreadableJson = badRequest,
): RequestHandler {
  return async (req, _res, next) => {
    if (req.is('application/json') === false)
      throw new ApiError(415, 'unsupported_media_type', 'Send the body as application/json.');
    const bytes = await readBody(req, { maxBytes: limit });
    req.body = bytes.length > 0 ? parseBytes(bytes, parseJson, unreadable) : undefined;
    next();
  };
}

const usual: ParseJson = (bytes) => JSON.parse(bytes.toString('utf8'));

function parseBytes(bytes: Buffer, parseJson: ParseJson, unreadable: UnreadableJson): unknown {
  if (!isUtf8(bytes))
    throw unreadable('not_utf8', 'The body is not UTF-8. Send UTF-8; no characters are guessed or replaced.');
  try {
    return parseJson(bytes);
  } catch (cause) {
    const reason = (cause as Error).message.replace(/\.$/, '');
    throw unreadable('invalid_json', `The body is not JSON that can be read: ${reason}.`, cause);
  }
}

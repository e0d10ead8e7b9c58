import { ApiError, InvalidRequest } from '@ecf/kit';
import { StoredBytesUsed } from './stored-bytes-quota.js';
import { XmlPartError } from './xml-part.js';

/** Turns the errors of this package into answers; other errors pass unchanged. */
export function toIngressAnswer(error: unknown): unknown {
  if (error instanceof XmlPartError) return unreadableXml(error.problem, error.message, error);
  if (!(error instanceof StoredBytesUsed)) return error;
  const headers = { 'retry-after': String(error.retryAfterSeconds) };
  return new ApiError(429, 'daily_bytes_used', error.message, { headers, cause: error });
}

/** The answer 422 to a body from which no document can be read. */
export function unreadableXml(type: string, msg: string, cause: unknown): InvalidRequest {
  return new InvalidRequest([{ loc: ['body', 'xml'], msg, type }], { cause });
}

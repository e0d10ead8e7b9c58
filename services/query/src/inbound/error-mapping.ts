import { errorCodeEntry } from '@ecf/contracts';
import { ApiError, InvalidRequest } from '@ecf/service-kit/errors';
import type { ErrorRequestHandler } from 'express';
import { QueryError } from '../core/errors.js';

/** Turns this service's errors into the public ones; everything else passes on. */
export const mapErrors: ErrorRequestHandler = (error, _req, _res, next) => {
  next(error instanceof QueryError ? toApiError(error) : error);
};

function toApiError(error: QueryError): ApiError {
  const { code, message, retryAfterSeconds } = error;
  const cause = error.cause ?? error;
  if (code === 'service_not_in_environment')
    return new InvalidRequest([{ loc: ['header', 'env'], msg: message, type: code }], { code, cause });
  return new ApiError(errorCodeEntry(code).status, code, message, {
    cause,
    ...(retryAfterSeconds === null ? {} : { headers: { 'retry-after': String(retryAfterSeconds) } }),
  });
}

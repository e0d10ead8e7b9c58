import { errorBody, errorCodeEntry } from '@ecf/contracts';
import { toApiError as toSharedApiError } from '@ecf/http';
import { ApiError, InvalidRequest } from '@ecf/kit';
import { isStorageFull } from '@ecf/postgres';
import type { ErrorRequestHandler } from 'express';
import type { PublicError } from './batches/process-line.js';
import { CommitUnconfirmed, EmissionError, StoreUnavailable } from './errors.js';

/** Turns errors of this service into public errors. Other errors pass unchanged. */
export const mapErrors: ErrorRequestHandler = (error, _req, _res, next) => {
  next(toApiError(error));
};

/** The answer of a submission endpoint to an error, for documents whose caller waits for no answer. */
export function publicError(error: unknown): PublicError {
  const refused = toSharedApiError(toApiError(error));
  const seconds = Number(refused.headers['retry-after']);
  const { code, detail, messages, faults } = errorBody(refused, '');
  return {
    status: refused.status,
    code,
    detail,
    messages,
    faults,
    retryAfterSeconds: Number.isFinite(seconds) ? seconds : null,
  };
}

/** The public error for an error of this service. Other errors are returned unchanged. */
export function toApiError(error: unknown): unknown {
  if (error instanceof CommitUnconfirmed) {
    return new ApiError(503, 'commit_unconfirmed', error.publicMessage, { cause: error });
  }
  if (error instanceof StoreUnavailable && error.refused) {
    const full = isStorageFull(error);
    const why = full ? 'The disk of the database is full' : 'The database refuses to store at present';
    return new ApiError(
      503,
      full ? 'storage_full' : 'service_unavailable',
      `${why}; this call stored no document and used no number. Repeat the same request unchanged later.`,
      { cause: error },
    );
  }
  if (error instanceof StoreUnavailable) {
    return new ApiError(
      503,
      'service_unavailable',
      'The database of this service cannot be reached; this call used no number. Repeat the same request unchanged after Retry-After.',
      { cause: error },
    );
  }
  if (!(error instanceof EmissionError)) return error;
  if (error.items !== null) return new InvalidRequest(error.items, { cause: error, code: error.code });
  const { status } = errorCodeEntry(error.code);
  return new ApiError(status, error.code, error.message, {
    cause: error.cause ?? error,
    faults: error.faults,
    ...(error.retryAfterSeconds === null ? {} : { headers: { 'retry-after': String(error.retryAfterSeconds) } }),
  });
}

/** An operation for other services, whose errors are public errors over HTTP and in the same process. */
export function withPublicErrors<Request, Result>(
  work: (request: Request) => Promise<Result>,
): (request: Request) => Promise<Result> {
  return async (request) => {
    try {
      return await work(request);
    } catch (error) {
      throw toApiError(error);
    }
  };
}

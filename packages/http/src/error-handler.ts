import { isIntegrityError, XmlStoreError } from '@ecf/archive';
import { errorBody } from '@ecf/contracts';
import { ApiError, InvalidRequest } from '@ecf/kit';
import type { Logger } from '@ecf/kit/telemetry';
import { isDatabaseUnavailable, isStorageFull } from '@ecf/postgres';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { requestIdOf, requestNames } from './request-id.js';

/**
 * Turns any thrown value into the error that the caller sees. An unknown one becomes 500 `internal_error` without its
 * message.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const shape = error as { type?: unknown; code?: unknown; status?: unknown; name?: unknown; message?: unknown };
  if (shape?.type === 'entity.too.large' || shape?.code === 'LIMIT_FILE_SIZE' || shape?.code === 'LIMIT_FIELD_VALUE')
    return new ApiError(413, 'body_too_large', 'The body is larger than this service accepts; send less.', {
      cause: error,
    });
  if (shape?.type === 'entity.parse.failed')
    return new ApiError(400, 'invalid_json', `The body is not JSON: ${String(shape.message)}`, { cause: error });
  if (shape?.type === 'charset.unsupported' || shape?.type === 'encoding.unsupported')
    return new ApiError(415, 'unsupported_media_type', 'Send UTF-8 without content encoding.', { cause: error });
  if (shape?.name === 'MulterError')
    return new InvalidRequest([{ loc: ['body'], msg: String(shape.message), type: 'multipart' }], { cause: error });
  if (error instanceof URIError || (shape?.status === 400 && typeof shape.type !== 'string'))
    return new ApiError(400, 'bad_request', 'The address cannot be decoded; percent-encode it as UTF-8.', {
      cause: error,
    });
  if (isStorageFull(error))
    return new ApiError(503, 'storage_full', 'The disk of this service is full; repeat later.', {
      cause: error,
    });
  if (isDatabaseUnavailable(error))
    return new ApiError(503, 'service_unavailable', 'The database of this service cannot be reached; repeat shortly.', {
      cause: error,
    });
  if (error instanceof XmlStoreError && error.code === 'unavailable')
    return new ApiError(503, 'service_unavailable', 'The storage of documents cannot be reached; repeat shortly.', {
      cause: error,
    });
  if (isIntegrityError(error))
    return new ApiError(
      500,
      'document_damaged',
      error.code === 'missing'
        ? 'The stored document is missing from the archive; the operators are alarmed.'
        : 'The stored document has been altered, so it is not returned; the operators are alarmed.',
      { cause: error },
    );
  return new ApiError(500, 'internal_error', 'An unexpected failure; report the request_id to the operator.', {
    cause: error,
  });
}

/** The last handler of every app: writes the error body and logs failures of the server. It never shows a stack. */
export function errorHandler(logger: Logger): ErrorRequestHandler {
  return (thrown, req, res, _next) => {
    if (res.writableEnded) return;
    const error = toApiError(thrown);
    if (error.status >= 500)
      logger.error({ err: error.cause ?? error, code: error.code, ...requestNames(req) }, error.message);
    if (res.headersSent) {
      res.destroy();
      return;
    }
    for (const [name, value] of Object.entries(error.headers)) res.setHeader(name, value);
    res.status(error.status).json(errorBody(error, requestIdOf(req)));
  };
}

/** Answers 404 `unknown_route` where no route matched. */
export const unknownRoute: RequestHandler = (req) => {
  throw new ApiError(
    404,
    'unknown_route',
    `No operation is ${req.method} ${req.path}; /openapi.json lists all of them.`,
  );
};

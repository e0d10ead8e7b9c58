import { errorCodeEntry } from '@ecf/contracts';
import { toApiError } from '@ecf/http';
import { ApiError, InvalidRequest } from '@ecf/kit';
import { toIngressAnswer, unreadableXml, XmlPartError } from '@ecf/public-ingress';
import type { ErrorRequestHandler } from 'express';
import { ApprovalsError, FieldsRefused, UnreadableApproval } from './errors.js';

/** Turns this service's errors into the public ones; everything else passes on. */
export const mapErrors: ErrorRequestHandler = (error, _req, _res, next) => next(toAnswer(error));

/** Every error becomes an answer here. */
export function toAnswer(error: unknown): unknown {
  if (error instanceof UnreadableApproval) return unreadableXml(error.kind, error.message, error);
  if (error instanceof FieldsRefused) return new InvalidRequest(error.items, { cause: error });
  if (!(error instanceof ApprovalsError)) return toIngressAnswer(error);
  const { code, message, retryAfterSeconds } = error;
  return new ApiError(errorCodeEntry(code).status, code, message, {
    cause: error.cause ?? error,
    headers: {
      ...(retryAfterSeconds === null ? {} : { 'retry-after': String(retryAfterSeconds) }),
      ...(code === 'invalid_provider_token' ? { 'www-authenticate': 'Bearer' } : {}),
    },
  });
}

/** A short stable name of the refusal, for metrics and logs. */
export function refusalKind(error: unknown): string {
  if (error instanceof XmlPartError) return error.problem;
  if (error instanceof UnreadableApproval) return error.kind;
  return error instanceof ApprovalsError ? error.code : toApiError(toAnswer(error)).code;
}

import { toApiError } from '@ecf/http';
import { ApiError } from '@ecf/kit';
import { toIngressAnswer, unreadableXml, XmlPartError } from '@ecf/public-ingress';
import type { ErrorRequestHandler } from 'express';
import { ReceptionError } from './errors.js';

/** Seconds after which the receiver may have a usable certificate. */
const CERTIFICATE_RETRY = '300';

/** Turns this service's errors into the public ones; everything else passes on. */
export const mapErrors: ErrorRequestHandler = (error, _req, _res, next) => next(toAnswer(error));

/** The one place where an error becomes an answer; other errors pass unchanged. */
export function toAnswer(error: unknown): unknown {
  if (!(error instanceof ReceptionError)) return toIngressAnswer(error);
  const { code, message } = error;
  const options = { cause: error };
  switch (code) {
    case 'unreadable_document':
      return unreadableXml(error.kind, message, error);
    case 'buyer_not_served':
      return new ApiError(404, 'taxpayer_not_found', message, options);
    case 'certificate_missing':
    case 'certificate_expired':
    case 'certificate_not_yet_valid':
    case 'certificate_unusable':
      return new ApiError(503, code, message, { ...options, headers: { 'retry-after': CERTIFICATE_RETRY } });
    case 'seed_refused':
      return new ApiError(400, 'invalid_seed', message, options);
    case 'token_refused':
      return new ApiError(401, 'invalid_provider_token', message, {
        ...options,
        headers: { 'www-authenticate': 'Bearer' },
      });
    case 'unavailable':
      return new ApiError(503, 'service_unavailable', message, options);
    case 'overloaded':
      return new ApiError(503, 'overloaded', message, options);
    case 'ambiguous':
      return new ApiError(400, 'ambiguous_encf', message, options);
    case 'not_printable':
      return new ApiError(409, 'not_printable', message, options);
    case 'not_found':
      return new ApiError(404, error.kind === 'taxpayer' ? 'taxpayer_not_found' : 'not_found', message, options);
  }
}

/** A short stable name of the refusal, for metrics and logs. */
export function refusalKind(error: unknown): string {
  if (error instanceof XmlPartError) return error.problem;
  if (error instanceof ReceptionError) return error.kind;
  return toApiError(toAnswer(error)).code;
}

import {
  errorCodeEntry,
  MASTER_KEY_OPERATIONS,
  type MasterKeyOperations,
  QUERY_OPERATIONS,
  type QueryOperations,
  WEBHOOK_OPERATIONS,
  type WebhookOperations,
} from '@ecf/contracts';
import { createServiceApp, internalOperationRoutes, type ServiceAppOptions, type ServiceRoute } from '@ecf/http';
import { ApiError, InvalidRequest } from '@ecf/kit';
import type { ErrorRequestHandler, Express } from 'express';
import { type CustomerParts, customerHandlers } from './customers.http.js';
import { QueryError } from './errors.js';

/**
 * The routes of customers. `QUERY_OPERATIONS` lists the internal operations. A slash at the end does not count. Literal paths
 * come before `:encf`.
 */
function routeTable(parts: CustomerParts): readonly ServiceRoute[] {
  const answer = customerHandlers(parts);
  return [
    ['get', '/events', 'account', answer.events],
    ['get', '/invoices', 'account', answer.list],
    ['get', '/invoices/count', 'account', answer.count],
    ['get', '/invoices/aggregate', 'account', answer.aggregate],
    ['get', '/invoices/:encf', 'account', answer.one],
    ['get', '/invoices/:encf/document', 'account', answer.document],
    ['get', '/invoices/:encf/pdf', 'account', answer.pdf],
    ['get', '/invoices/:encf/qr.svg', 'account', answer.qrSvg],
    ['get', '/invoices/:encf/qr.png', 'account', answer.qrPng],
    ['get', '/trackids/:encf', 'account', answer.trackIds],
    ['get', '/trackids/:encf/raw', 'account', answer.rawAnswers],
    ['get', '/query-consumption-invoice', 'account', answer.consumption],
    ['get', '/directory/taxpayers', 'account', answer.directory],
    ['get', '/directory/taxpayers/:rnc', 'account', answer.directoryEntry],
    ['get', '/monitoring/status', 'account', answer.monitoring],
    ['get', '/:encf/xml', 'account', answer.xml],
  ];
}

export interface QueryHttpOptions extends Omit<ServiceAppOptions, 'maxBodyBytes'> {
  readonly internal: QueryOperations;
  readonly webhooks: WebhookOperations;
  readonly masterKeys: MasterKeyOperations;
}

const MAX_BODY_BYTES = 1_048_576;

/** The service's express app. */
export function createQueryApp(parts: CustomerParts, options: QueryHttpOptions): Express {
  return createServiceApp(
    { ...options, maxBodyBytes: MAX_BODY_BYTES },
    {
      routes: routeTable(parts),
      internal: [
        internalOperationRoutes(QUERY_OPERATIONS, options.internal, options.identities),
        internalOperationRoutes(WEBHOOK_OPERATIONS, options.webhooks, options.identities),
        internalOperationRoutes(MASTER_KEY_OPERATIONS, options.masterKeys, options.identities),
      ],
      mapErrors,
    },
  );
}

/** Turns this service's errors into public ones. Other errors pass unchanged. */
const mapErrors: ErrorRequestHandler = (error, _req, _res, next) => {
  next(error instanceof QueryError ? toApiError(error) : error);
};

function toApiError(error: QueryError): ApiError {
  const { code, message, retryAfterSeconds } = error;
  const cause = error.cause ?? error;
  if (code === 'service_not_in_environment')
    return new InvalidRequest([{ loc: ['header', 'env'], msg: message, type: code }], { code, cause });
  if (code === 'unknown_event')
    return new InvalidRequest([{ loc: ['query', 'after'], msg: message, type: code }], { code, cause });
  return new ApiError(errorCodeEntry(code).status, code, message, {
    cause,
    ...(retryAfterSeconds === null ? {} : { headers: { 'retry-after': String(retryAfterSeconds) } }),
  });
}

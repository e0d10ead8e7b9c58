import { QUERY_OPERATIONS, type QueryOperations } from '@ecf/contracts';
import { createServiceApp, type ServiceAppOptions, type ServiceRoute } from '@ecf/service-kit/http';
import { internalOperationRoutes } from '@ecf/service-kit/internal';
import type { Express } from 'express';
import { type CustomerParts, customerHandlers } from './customers.js';
import { mapErrors } from './error-mapping.js';

/**
 * Every route of the service, all of them GET and for customers; beside them the questions of other services
 * (`QUERY_OPERATIONS`). A slash at the end does not count. Literal paths stand before `:encf`.
 */
function routeTable(parts: CustomerParts): readonly ServiceRoute[] {
  const answer = customerHandlers(parts);
  return [
    ['get', '/invoices', 'account', answer.list],
    ['get', '/invoices/count', 'account', answer.count],
    ['get', '/invoices/aggregate', 'account', answer.aggregate],
    ['get', '/invoices/:encf', 'account', answer.one],
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
}

const MAX_BODY_BYTES = 1_048_576;

/** The service's express app. */
export function createQueryApp(parts: CustomerParts, options: QueryHttpOptions): Express {
  return createServiceApp(
    { ...options, maxBodyBytes: MAX_BODY_BYTES },
    {
      routes: routeTable(parts),
      internal: [internalOperationRoutes(QUERY_OPERATIONS, options.internal, options)],
      mapErrors,
    },
  );
}

import { QUERY_OPERATIONS, type QueryOperations } from '@ecf/contracts';
import {
  createHttpApp,
  healthRoutes,
  internalOperationRoutes,
  type Logger,
  type Readiness,
  requireIdentity,
} from '@ecf/service-kit';
import type { Express, Request, Response } from 'express';
import { type CustomerParts, customerHandlers } from './customers.js';
import { mapErrors } from './error-mapping.js';

type Route = readonly [path: string, handler: (req: Request, res: Response) => Promise<void>];

/**
 * Every route of the service, all of them GET and for customers; beside them the questions of other services
 * (`QUERY_OPERATIONS`). A slash at the end does not count. Literal paths stand before `:encf`.
 */
function routeTable(parts: CustomerParts): readonly Route[] {
  const answer = customerHandlers(parts);
  return [
    ['/invoices', answer.list],
    ['/invoices/count', answer.count],
    ['/invoices/aggregate', answer.aggregate],
    ['/invoices/:encf', answer.one],
    ['/trackids/:encf', answer.trackIds],
    ['/trackids/:encf/raw', answer.rawAnswers],
    ['/query-consumption-invoice', answer.consumption],
    ['/directory/taxpayers', answer.directory],
    ['/directory/taxpayers/:rnc', answer.directoryEntry],
    ['/monitoring/status', answer.monitoring],
    ['/:encf/xml', answer.xml],
  ];
}

export interface QueryHttpOptions {
  readonly logger: Logger;
  readonly identityKey: Uint8Array;
  readonly clock: () => Date;
  readonly ready: () => Promise<Readiness>;
  readonly internal: QueryOperations;
}

const MAX_BODY_BYTES = 1_048_576;

/** The service's express app. Every route but health needs an identity signed by the gateway. */
export function createQueryApp(parts: CustomerParts, options: QueryHttpOptions): Express {
  return createHttpApp({
    logger: options.logger,
    maxBodyBytes: MAX_BODY_BYTES,
    routes(app) {
      app.use(healthRoutes(options.ready));
      const guard = requireIdentity({ key: options.identityKey, clock: options.clock, kinds: ['account'] });
      for (const [path, handler] of routeTable(parts)) app.get(path, guard, handler);
      app.use(internalOperationRoutes(QUERY_OPERATIONS, options.internal, options));
      app.use(mapErrors);
    },
  });
}

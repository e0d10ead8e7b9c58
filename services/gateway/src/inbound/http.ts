import type { IncomingMessage, RequestListener } from 'node:http';
import { assignRequestId, createExpressApp, errorHandler, requestProblem, unknownRoute } from '@ecf/service-kit/http';
import type { Readiness } from '@ecf/service-kit/service';
import type { Logger, Metrics } from '@ecf/service-kit/telemetry';
import type { Express, Request, RequestHandler, Response } from 'express';
import type { TaxpayerStates } from '../core/ports.js';
import { pathAndQuery } from '../core/request-target.js';
import { accessLog, securityHeaders } from './access-log.js';
import { type AdminOptions, adminRoutes } from './admin.js';
import { docsRoutes } from './docs-page.js';
import { type EdgeOptions, edge, limitSender, noteSender } from './edge.js';
import { internalRoutes } from './internal.js';
import { ownRoutes } from './own-routes.js';

export interface GatewayAppOptions {
  edge: EdgeOptions;
  /** Null where no ADMIN_TOKEN is configured: then `/admin` does not exist. */
  admin: Omit<AdminOptions, 'clock' | 'senderOf'> | null;
  states: TaxpayerStates;
  ready: () => Promise<Readiness>;
  version: string;
  logger: Logger;
  metrics: Metrics;
  clock: () => Date;
}

/** Probes, which have to be answered in any flood, and the doors of those who prove who they are; `/admin` limits who does not. */
const UNLIMITED = /^\/(?:health|internal|admin(?!\/openapi\.json))(?:\/|$)/;

/**
 * | Address | Where |
 * |---|---|
 * | every operation of the interface (`contracts/src/http/operations.ts`) | `edge.ts`: key, environment, limits, then its owner |
 * | `GET /`, `GET /errors`, `GET /health/live`, `GET /health/ready` | `own-routes.ts` |
 * | `GET /openapi.json`, `GET /docs`, `GET /docs/{file}`, `GET /admin/openapi.json` | `docs-page.ts` |
 * | `GET /internal/accounts/{id}/taxpayers`, `GET /internal/taxpayers/{rnc}` | `internal.ts`: for services |
 * | `/admin/...` | `admin.ts`: accounts, taxpayers, certificates, ranges, keys |
 *
 * What the gateway answers itself, also that there is no such address, counts towards the rate of its sender.
 *
 * Operations pass here without express, and meet that of their owner alone.
 */
export function createGatewayApp(options: GatewayAppOptions): RequestListener {
  const { logger, metrics } = options;
  const refusals = new WeakMap<IncomingMessage, unknown>();
  const limited = limitSender(options.edge);
  const app = createOwnApp(options, limited, refusals);
  const log = accessLog(logger, metrics);
  const operations = edge(options.edge);
  return (request, response) => {
    const [req, res] = [request as Request, response as Response];
    const other = (error?: unknown): void => {
      if (error !== undefined) refusals.set(req, error);
      app(req, res);
    };
    try {
      assignRequestId(req, res);
      req.url = pathAndQuery(req.url);
      log(req, res, goOn);
      securityHeaders(req, res, goOn);
      const problem = requestProblem(req);
      if (problem === null) return operations(req, res, other);
      // Whether a body follows is not known.
      res.shouldKeepAlive = false;
      limited(req, res, () => other(problem));
    } catch (error) {
      other(error);
    }
  };
}

function goOn(): void {}

/** What no service owns, and the answer to whatever was refused. */
function createOwnApp(
  options: GatewayAppOptions,
  limited: RequestHandler,
  refusals: WeakMap<IncomingMessage, unknown>,
): Express {
  const { logger, clock } = options;
  const app = createExpressApp();
  app.use((req, _res, next) => next(refusals.get(req)));
  app.use((req, res, next) => (UNLIMITED.test(req.path) ? next() : limited(req, res, next)));
  app.use(ownRoutes({ version: options.version, ready: options.ready }));
  app.use(docsRoutes({ admin: options.admin !== null }));
  app.use(internalRoutes({ states: options.states, identityKey: options.edge.identityKey, clock }));
  if (options.admin !== null)
    app.use('/admin', adminRoutes({ ...options.admin, clock, senderOf: (req) => noteSender(options.edge, req) }));
  app.use(unknownRoute, errorHandler(logger));
  return app;
}

import {
  assignRequestId,
  type BodiesInFlight,
  countBodies,
  createExpressApp,
  errorHandler,
  type Readiness,
  requestProblem,
  unknownRoute,
} from '@ecf/http';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { Express, RequestHandler } from 'express';
import { accessLog, securityHeaders } from './access-log.http.js';
import { docsRoutes } from './docs-page.http.js';
import { type EdgeOptions, edge, findSender, limitSender } from './edge.http.js';
import { guideRoutes } from './guide.http.js';
import { ownRoutes } from './own-routes.js';
import { watchSenders } from './proxy-warning.http.js';

export interface GatewayAppOptions {
  edge: EdgeOptions;
  /** Routes for other services. */
  internal: RequestHandler;
  /** `/console/...`. */
  console: RequestHandler[];
  /** Routes below `/admin`. Null without ADMIN_TOKEN, and if `/admin` has another listener: then it does not exist here. */
  admin: RequestHandler | null;
  ready: () => Promise<Readiness>;
  bodies: BodiesInFlight;
  version: string;
  /** Whether a simulator answers as the authority. */
  simulated: boolean;
  logger: Logger;
  /** Writes the access log. */
  accesses: Logger;
  metrics: Metrics;
  clock: () => Date;
}

/** Probes are answered under any load. Callers of `/internal` and `/admin` are authenticated, and `/admin` limits failures. */
const UNLIMITED = /^\/(?:health|internal|admin(?!\/openapi\.json))(?:\/|$)/;

/**
 * | Address | Where |
 * |---|---|
 * | every operation of the interface (`contracts/src/api`) | `edge.http.ts`: key, limits, identity, owner |
 * | `/account/...` | `accounts/routes.ts`, behind `edge.http.ts`: certificates, logos, ranges, keys, webhooks |
 * | `GET /`, `GET /errors`, `GET /health/live`, `GET /health/ready` | `own-routes.ts` |
 * | `GET /openapi.json`, `GET /schemas/{type}.json`, `GET /docs`, `GET /docs/{file}`, `GET /admin/openapi.json` | `docs-page.http.ts` |
 * | `GET /docs/guide/...` | `guide.http.ts`: the site of the documentation |
 * | `/console/...` | `console/`: the web application and its session |
 * | `GET /internal/accounts/{id}/taxpayers`, `GET /internal/taxpayers/{rnc}`, `.../logo` | `accounts/taxpayer-states.http.ts`: for services |
 * | `/admin/...` | `operations/routes.ts`: accounts, taxpayers, the settings of `accounts/routes.ts` |
 */
export function createGatewayApp(options: GatewayAppOptions): Express {
  const app = createExactApp();
  begin(app, options);
  app.use(edge(options.edge));
  limitSenders(app, options);
  ownPart(app, options);
  app.use(options.internal);
  end(app, options);
  return app;
}

/** The app of a listener for `/admin` alone, beside the gateway's own routes. */
export function createAdminApp(options: GatewayAppOptions): Express {
  const app = createExactApp();
  begin(app, options);
  limitSenders(app, options);
  ownPart(app, options);
  end(app, options);
  return app;
}

/** Paths match in their own case only, as in the tables of operations that decide about roles. */
function createExactApp(): Express {
  return createExpressApp().enable('case sensitive routing');
}

function begin(app: Express, options: GatewayAppOptions): void {
  const { accesses, bodies, clock, edge, logger, metrics } = options;
  app.use(readRequest, findSender(edge.trustedProxies), accessLog(accesses, metrics), watchSenders(logger, clock));
  app.use(securityHeaders, checkRequest, countBodies(bodies));
}

function limitSenders(app: Express, { edge: { perSender } }: GatewayAppOptions): void {
  const limited = limitSender(perSender);
  app.use((req, res, next) => (UNLIMITED.test(req.path) ? next() : limited(req, res, next)));
}

function ownPart(app: Express, { version, simulated, ready, admin, console }: GatewayAppOptions): void {
  app.use(ownRoutes({ version, simulated, ready }));
  app.use(guideRoutes(), docsRoutes({ admin: admin !== null }));
  app.use(console);
}

function end(app: Express, { admin, logger }: GatewayAppOptions): void {
  if (admin !== null) app.use('/admin', admin);
  app.use(unknownRoute, errorHandler(logger));
}

const readRequest: RequestHandler = (req, res, next) => {
  assignRequestId(req, res);
  req.url = pathAndQuery(req.url);
  next();
};

const checkRequest: RequestHandler = (req, _res, next) => next(requestProblem(req) ?? undefined);

const SCHEME_AND_HOST = /^https?:\/\/[^/?#]*/i;

/**
 * Path and query of a request's target. Proxies send the absolute form, which a server has to accept; its host has no
 * effect here. Source: RFC 9112 section 3.2.2.
 */
function pathAndQuery(target: string): string {
  if (target.startsWith('/')) return target;
  const rest = target.replace(SCHEME_AND_HOST, '');
  return rest === target || rest.startsWith('/') ? rest : `/${rest}`;
}

import {
  assignRequestId,
  type BodiesInFlight,
  countBodies,
  createExpressApp,
  errorHandler,
  requestProblem,
  unknownRoute,
} from '@ecf/service-kit/http';
import type { Identities } from '@ecf/service-kit/security';
import type { Readiness } from '@ecf/service-kit/service';
import type { Logger, Metrics } from '@ecf/service-kit/telemetry';
import type { Express, RequestHandler } from 'express';
import type { TaxpayerStates } from '../core/ports.js';
import { accessLog, securityHeaders } from './access-log.js';
import { type AccountSettingOptions, accountOwner } from './account/routes.js';
import type { OperationOwners } from './admin/operation.js';
import { type AdminOptions, adminRoutes } from './admin/routes.js';
import { docsRoutes } from './docs-page.js';
import { type EdgeOptions, edge, findSender, limitSender } from './edge.js';
import { internalRoutes } from './internal.js';
import { ownRoutes } from './own-routes.js';
import { watchSenders } from './proxy-warning.js';

export interface GatewayAppOptions {
  edge: EdgeOptions;
  settings: Omit<AccountSettingOptions, 'clock' | 'owners'>;
  /** The services that have a part of what is administered. */
  owners: OperationOwners;
  /** Beside `settings`. Null without ADMIN_TOKEN, and where `/admin` has another listener: then it does not exist here. */
  admin: Omit<AdminOptions, keyof AccountSettingOptions> | null;
  states: TaxpayerStates;
  ready: () => Promise<Readiness>;
  identities: Identities;
  bodies: BodiesInFlight;
  version: string;
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
 * | every operation of the interface (`contracts/src/http/operations.ts`) | `edge.ts`: key, limits, identity, owner |
 * | `/account/...` | `account/routes.ts`, behind `edge.ts`: certificates, ranges, keys, webhooks |
 * | `GET /`, `GET /errors`, `GET /health/live`, `GET /health/ready` | `own-routes.ts` |
 * | `GET /openapi.json`, `GET /docs`, `GET /docs/{file}`, `GET /admin/openapi.json` | `docs-page.ts` |
 * | `GET /internal/accounts/{id}/taxpayers`, `GET /internal/taxpayers/{rnc}` | `internal.ts`: for services |
 * | `/admin/...` | `admin/routes.ts`: accounts, taxpayers, the settings of `account/routes.ts` |
 */
export function createGatewayApp(options: GatewayAppOptions): Express {
  const app = createExactApp();
  begin(app, options);
  const account = accountOwner({ ...options.settings, owners: options.owners, clock: options.clock });
  app.use(edge({ ...options.edge, upstreams: { ...options.edge.upstreams, gateway: account } }));
  limitSenders(app, options);
  ownPart(app, options);
  app.use(internalRoutes({ states: options.states, identities: options.identities }));
  adminPart(app, options);
  app.use(unknownRoute, errorHandler(options.logger));
  return app;
}

/** The app of a listener for `/admin` alone, beside the gateway's own routes. */
export function createAdminApp(options: GatewayAppOptions): Express {
  const app = createExactApp();
  begin(app, options);
  limitSenders(app, options);
  ownPart(app, options);
  adminPart(app, options);
  app.use(unknownRoute, errorHandler(options.logger));
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

function ownPart(app: Express, { version, ready, admin }: GatewayAppOptions): void {
  app.use(ownRoutes({ version, ready }));
  app.use(docsRoutes({ admin: admin !== null }));
}

function adminPart(app: Express, { admin, settings, owners, clock }: GatewayAppOptions): void {
  if (admin !== null) app.use('/admin', adminRoutes({ ...settings, ...admin, owners, clock }));
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

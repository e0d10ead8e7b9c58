import { STATE_OPERATIONS, type StateOperations } from '@ecf/contracts';
import type { Logger } from '@ecf/kit/telemetry';
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response, Router } from 'express';
import { type BodiesInFlight, holdingBody } from './body/bodies-in-flight.js';
import { healthRoutes, type Readiness } from './health.js';
import { createHttpApp } from './http-app.js';
import { type Caller, type Identities, requireIdentity } from './identity/identity.js';
import { internalOperationRoutes } from './internal/internal-operations.js';

type Handler = (req: Request, res: Response) => void | Promise<void>;

/** The callers of a route: `public` = everybody, `account` = a customer with its key. Handlers are called in their order. */
export type ServiceRoute = readonly [
  method: 'get' | 'post',
  path: string,
  caller: Exclude<Caller['kind'], 'service'>,
  ...handlers: readonly (Handler | RequestHandler)[],
];

export interface ServiceAppOptions {
  readonly logger: Logger;
  readonly identities: Identities;
  readonly maxBodyBytes: number;
  /** The bodies in flight of this process. */
  readonly bodies: BodiesInFlight;
  readonly ready: () => Promise<Readiness>;
  /** The internal operations of every service. */
  readonly state: StateOperations;
}

export interface ServiceAppRoutes {
  /** Changes the address of a request before the routes see it. */
  readonly readdress?: RequestHandler;
  /** Paths are compared without case and with or without a slash at the end; the first match is used. */
  readonly routes: readonly ServiceRoute[];
  /** Its other internal operations. */
  readonly internal: readonly Router[];
  /** Turns errors of the service into answers. */
  readonly mapErrors: ErrorRequestHandler;
}

/** The app of a service behind the gateway. Every route but health needs an identity that the gateway signed. */
export function createServiceApp(options: ServiceAppOptions, parts: ServiceAppRoutes): Express {
  return createHttpApp({
    logger: options.logger,
    maxBodyBytes: options.maxBodyBytes,
    bodies: options.bodies,
    routes(app) {
      app.use(healthRoutes(options.ready));
      if (parts.readdress !== undefined) app.use(parts.readdress);
      for (const [method, path, caller, ...handlers] of parts.routes) {
        const guard = requireIdentity(options.identities, [caller]);
        const before = handlers.slice(0, -1) as RequestHandler[];
        app[method](path, guard, ...before, holdingBody(handlers.at(-1) as Handler));
      }
      for (const router of parts.internal) app.use(router);
      app.use(internalOperationRoutes(STATE_OPERATIONS, options.state, options.identities));
      app.use(parts.mapErrors);
    },
  });
}

import { ENVIRONMENTS } from '@ecf/domain';
import { healthRoutes, type Readiness } from '@ecf/http';
import { errorCatalogue } from '@ecf/kit';
import express from 'express';
import { otherMethods } from './other-methods.js';

/** `GET /`, `GET /errors`, `GET /health/live`, `GET /health/ready`. */
export function ownRoutes(options: {
  version: string;
  /** Whether a simulator answers as the authority. */
  simulated: boolean;
  ready: () => Promise<Readiness>;
}): express.Router {
  const routes = express.Router({ caseSensitive: true });
  routes
    .route('/')
    .get((_req, res) => {
      res.json({
        name: 'ecf-gateway',
        version: options.version,
        interface_version: '3.0',
        environments: ENVIRONMENTS,
        authority: options.simulated ? 'simulated' : 'official',
        openapi: '/openapi.json',
        docs: '/docs',
        errors: '/errors',
        health: { live: '/health/live', ready: '/health/ready' },
      });
    })
    .all(otherMethods('GET', 'HEAD'));
  routes
    .route('/errors')
    .get((_req, res) => {
      res.json(errorCatalogue());
    })
    .all(otherMethods('GET', 'HEAD'));
  // Express answers OPTIONS itself; here it is refused like every other missing method.
  routes.options(['/health/live', '/health/ready'], otherMethods('GET', 'HEAD'));
  routes.use(healthRoutes(options.ready));
  routes.all(['/health/live', '/health/ready'], otherMethods('GET', 'HEAD'));
  return routes;
}

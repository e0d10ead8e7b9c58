import { TAXPAYER_SOURCE_CALLERS } from '@ecf/contracts';
import { type Identities, requireService } from '@ecf/http/identity';
import { ApiError } from '@ecf/kit';
import express from 'express';
import { otherMethods } from '../edge/other-methods.js';
import type { TaxpayerStates } from './ports.js';

/**
 * `GET /internal/accounts/{id}/taxpayers` and `GET /internal/taxpayers/{rnc}`: for services whose event has not arrived yet.
 * `GET /internal/taxpayers/{rnc}/logo`: the picture, which is too large for an event.
 */
export function taxpayerStateRoutes(states: TaxpayerStates, identities: Identities): express.Router {
  const routes = express.Router({ caseSensitive: true });
  routes.use('/internal', requireService(identities, TAXPAYER_SOURCE_CALLERS));
  routes
    .route('/internal/accounts/:id/taxpayers')
    .get(async (req, res) => {
      const account = await states.account(req.params.id);
      if (account === null) throw new ApiError(404, 'not_found', 'There is no such account.');
      res.json(account);
    })
    .all(otherMethods('GET'));
  routes
    .route('/internal/taxpayers/:rnc')
    .get(async (req, res) => {
      const taxpayer = await states.taxpayer(req.params.rnc);
      if (taxpayer === null) throw new ApiError(404, 'not_found', 'There is no such taxpayer.');
      res.json(taxpayer);
    })
    .all(otherMethods('GET'));
  routes
    .route('/internal/taxpayers/:rnc/logo')
    .get(async (req, res) => {
      const logo = await states.logo(req.params.rnc);
      if (logo === null) throw new ApiError(404, 'not_found', 'This taxpayer has no logo.');
      res.setHeader('content-type', logo.contentType);
      res.end(logo.bytes);
    })
    .all(otherMethods('GET'));
  return routes;
}

import { newRunSchema, type ResolutionOperations } from '@ecf/contracts';
import { validate } from '@ecf/service-kit/http';
import express, { type Request, type Response } from 'express';
import { requireOwnEnvironments } from '../../core/own-rights.js';
import type { AccountStore } from '../../core/ports.js';
import { type Acting, accountId, found, json, managerOf, rnc } from '../admin/input.js';
import { present } from '../admin/operation.js';
import { otherMethods } from '../own-routes.js';

export interface RunRouteOptions {
  store: Pick<AccountStore, 'findTaxpayer'>;
  /** Emission; null if it is not part of the deployment. */
  emission: Pick<ResolutionOperations, 'startRun'> | null;
  acting: Acting;
}

/** POST  …/taxpayers/{rnc}/runs: a certification run of the taxpayer begins. */
export function runRoutes(base: string, { store, emission, acting }: RunRouteOptions): express.Router {
  const routes = express.Router({ caseSensitive: true });
  routes
    .route(`${base}/taxpayers/:rnc/runs`)
    .post(json, async (req: Request, res: Response) => {
      const wanted = validate(newRunSchema, req.body, 'body');
      requireOwnEnvironments(managerOf(res), [wanted.env]);
      const account_id = accountId(req, res);
      const taxpayer = found(await store.findTaxpayer(account_id, rnc(req, res)), 'taxpayer');
      const run = { ...wanted, account_id, issuer_rnc: taxpayer.rnc };
      res.status(201).json(await acting(req, res, (by) => present(emission, 'emission').startRun({ ...run, by })));
    })
    .all(otherMethods('POST'));
  return routes;
}

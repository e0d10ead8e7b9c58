import { newRunSchema, type ResolutionOperations } from '@ecf/contracts';
import { validate } from '@ecf/http';
import express, { type Request, type Response } from 'express';
import { requireOwnEnvironments } from '../access/own-rights.js';
import type { Acting } from '../audit/acting.http.js';
import { accountId, found, json, managerOf, rnc } from '../edge/input.http.js';
import { otherMethods } from '../edge/other-methods.js';
import { present } from '../operations/ports.js';
import type { TaxpayerStore } from './ports.js';

export interface RunRouteOptions {
  taxpayers: Pick<TaxpayerStore, 'find'>;
  /** Emission; null if it is not part of the deployment. */
  emission: Pick<ResolutionOperations, 'startRun'> | null;
  acting: Acting;
}

/** POST  …/taxpayers/{rnc}/runs: a certification run of the taxpayer begins. */
export function runRoutes(base: string, { taxpayers, emission, acting }: RunRouteOptions): express.Router {
  const routes = express.Router({ caseSensitive: true });
  routes
    .route(`${base}/taxpayers/:rnc/runs`)
    .post(json, async (req: Request, res: Response) => {
      const wanted = validate(newRunSchema, req.body, 'body');
      requireOwnEnvironments(managerOf(res), [wanted.env]);
      const account_id = accountId(req, res);
      const taxpayer = found(await taxpayers.find(account_id, rnc(req, res)), 'taxpayer');
      const run = { ...wanted, account_id, issuer_rnc: taxpayer.rnc };
      res.status(201).json(await acting(req, res, (by) => present(emission, 'emission').startRun({ ...run, by })));
    })
    .all(otherMethods('POST'));
  return routes;
}

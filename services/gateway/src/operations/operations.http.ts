import {
  ARCHIVING_SERVICES,
  alarmedFilterSchema,
  doubtfulFilterSchema,
  resolutionSchema,
  settlementSchema,
  storedFilesQuerySchema,
} from '@ecf/contracts';
import { validate } from '@ecf/http';
import { ApiError } from '@ecf/kit';
import express, { type Request, type Response } from 'express';
import type { Acting, Recorded } from '../audit/acting.http.js';
import { json } from '../edge/input.http.js';
import { otherMethods } from '../edge/other-methods.js';
import { present, type ServiceOperations } from './ports.js';

/**
 * GET /admin/documents/alarmed: documents that wait for a person, by `env` and `issuer_rnc`.
 * POST /admin/documents/resolve `{env, issuer_rnc, encf, action, track_id}`: a person's decision about one.
 * GET /admin/cancellations/doubtful: cancellations that wait for a person, or settled (`settled=true`).
 * POST /admin/cancellations/settle `{id, outcome, refused, note}`: a person's finding about one.
 * POST, GET /admin/rebuilds/query: rebuilds the read models; shows the progress.
 * GET /admin/archive/{service}: the XML files that a service has stored, page by page.
 */
export function adminOperation(
  { resolution, readModels, archive }: Pick<ServiceOperations, 'resolution' | 'readModels' | 'archive'>,
  acting: Acting,
  recorded: Recorded,
): express.Router {
  const routes = express.Router({ caseSensitive: true });
  routes
    .route('/documents/alarmed')
    .get(async (req: Request, res: Response) => {
      res.json(await present(resolution, 'emission').listAlarmed(validate(alarmedFilterSchema, req.query, 'query')));
    })
    .all(otherMethods('GET'));
  routes
    .route('/documents/resolve')
    .post(json, async (req: Request, res: Response) => {
      const wanted = validate(resolutionSchema, req.body, 'body');
      const owner = present(resolution, 'emission');
      res.json(await acting(req, res, (by) => owner.resolveDocument({ ...wanted, by })));
    })
    .all(otherMethods('POST'));
  routes
    .route('/cancellations/doubtful')
    .get(async (req: Request, res: Response) => {
      res.json(await present(resolution, 'emission').listDoubtful(validate(doubtfulFilterSchema, req.query, 'query')));
    })
    .all(otherMethods('GET'));
  routes
    .route('/cancellations/settle')
    .post(json, async (req: Request, res: Response) => {
      const wanted = validate(settlementSchema, req.body, 'body');
      const owner = present(resolution, 'emission');
      res.json(await acting(req, res, (by) => owner.settleCancellation({ ...wanted, by })));
    })
    .all(otherMethods('POST'));
  routes
    .route('/rebuilds/query')
    .post(async (req: Request, res: Response) => {
      const owner = present(readModels, 'query');
      const act = { action: 'read_models.rebuild', target: '/rebuilds/query', details: {} };
      res.json(await recorded(req, res, act, () => owner.startRebuild({})));
    })
    .get(async (_req: Request, res: Response) => {
      res.json(await present(readModels, 'query').rebuildState({}));
    })
    .all(otherMethods('GET', 'POST'));
  routes
    .route('/archive/:service')
    .get(async (req: Request, res: Response) => {
      const name = ARCHIVING_SERVICES.find((each) => each === req.params.service);
      if (name === undefined)
        throw new ApiError(
          404,
          'not_found',
          `The services that keep XML are ${ARCHIVING_SERVICES.join(', ')}; name one of them.`,
        );
      const question = validate(storedFilesQuerySchema, req.query, 'query');
      res.json(await present(archive[name] ?? null, name).pageOfStoredFiles(question));
    })
    .all(otherMethods('GET'));
  return routes;
}

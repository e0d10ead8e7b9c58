import {
  ARCHIVING_SERVICES,
  type ArchiveOperations,
  type ArchivingService,
  alarmedFilterSchema,
  doubtfulFilterSchema,
  type QueryOperations,
  type ResolutionOperations,
  resolutionSchema,
  settlementSchema,
  storedFilesQuerySchema,
} from '@ecf/contracts';
import { ApiError } from '@ecf/service-kit/errors';
import { validate } from '@ecf/service-kit/http';
import express, { type Request, type Response } from 'express';
import { otherMethods } from '../own-routes.js';
import { json, type RecordAct } from './input.js';

/** Operations of the owners of documents for operators; null if a service is not part of the deployment. */
export interface OperationOwners {
  readonly resolution: ResolutionOperations | null;
  readonly readModels: QueryOperations | null;
  readonly archive: Readonly<Partial<Record<ArchivingService, ArchiveOperations>>>;
}

/**
 * GET /admin/documents/alarmed: documents that wait for a person, by `env` and `issuer_rnc`.
 * POST /admin/documents/resolve `{env, issuer_rnc, encf, action, track_id}`: a person's decision about one.
 * GET /admin/cancellations/doubtful: cancellations that wait for a person, or settled (`settled=true`).
 * POST /admin/cancellations/settle `{id, outcome, refused, note}`: a person's finding about one.
 * POST, GET /admin/rebuilds/query: rebuilds the read models; shows the progress.
 * GET /admin/archive/{service}: the XML files that a service has stored, page by page.
 */
export function adminOperation(
  { resolution, readModels, archive }: OperationOwners,
  record: RecordAct,
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
      const { env, issuer_rnc, encf, ...details } = validate(resolutionSchema, req.body, 'body');
      const resolved = await present(resolution, 'emission').resolveDocument({ env, issuer_rnc, encf, ...details });
      const target = `/documents/${env}/${issuer_rnc}/${encf}`;
      const { adopted, resent } = resolved;
      await record(req, res, { action: 'document.resolve', target, details: { ...details, adopted, resent } });
      res.json(resolved);
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
      const { id, ...details } = validate(settlementSchema, req.body, 'body');
      const settled = await present(resolution, 'emission').settleCancellation({ id, ...details });
      await record(req, res, { action: 'cancellation.settle', target: `/cancellations/${id}`, details });
      res.json(settled);
    })
    .all(otherMethods('POST'));
  routes
    .route('/rebuilds/query')
    .post(async (req: Request, res: Response) => {
      const state = await present(readModels, 'query').startRebuild({});
      await record(req, res, { action: 'read_models.rebuild', target: '/rebuilds/query', details: {} });
      res.json(state);
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
        throw new ApiError(404, 'not_found', `XML is kept by ${ARCHIVING_SERVICES.join(', ')}, by nobody else.`);
      const question = validate(storedFilesQuerySchema, req.query, 'query');
      res.json(await present(archive[name] ?? null, name).pageOfStoredFiles(question));
    })
    .all(otherMethods('GET'));
  return routes;
}

function present<T>(owner: T | null, name: string): T {
  if (owner === null)
    throw new ApiError(503, 'service_unavailable', `The service ${name} is not part of this deployment.`);
  return owner;
}

import { callerSignal, RequestParameters, readBody, sendDocument, sendObject, writeChunk } from '@ecf/service-kit/http';
import { effectiveEnvironment, identityOf } from '@ecf/service-kit/security';
import { accountCaller } from '@ecf/taxpayer-replica';
import type { Request, Response } from 'express';
import { requireJson } from '../issue/submission-form.http.js';
import type { CancelNumbers } from './cancel-numbers.js';
import { cancellationBody } from './cancellation-body.js';
import type { CancellationDocuments } from './ports.js';
import type { CancellationQuery, QueryCancellations } from './query-cancellations.js';

/** Use cases behind the routes of cancellations. */
export interface Cancellations {
  readonly cancel: CancelNumbers;
  readonly query: QueryCancellations;
  readonly documents: Pick<CancellationDocuments, 'read'>;
}

/** `POST /anecf/` */
export async function createCancellation(
  { cancel, documents }: Cancellations,
  req: Request,
  res: Response,
): Promise<void> {
  const parameters = new RequestParameters(req);
  const submit = parameters.flag('submit_to_authority', true);
  parameters.check();
  requireJson(req.headers['content-type']);
  const identity = identityOf(req);
  const request = await documents.read(await readBody(req));
  const env = effectiveEnvironment(identity, request.env);
  const order = { caller: accountCaller(identity), request: { ...request, env }, submit, signal: callerSignal(res) };
  const cancellation = await cancel(order);
  res.status(201).json(cancellationBody(cancellation));
}

/** `GET /anecf/`: writes record by record, because one may have a hundred thousand ranges. */
export async function listCancellations({ query }: Cancellations, req: Request, res: Response): Promise<void> {
  const parameters = new RequestParameters(req);
  const filter = { issuerRnc: parameters.rnc('issuer_rnc'), ...parameters.page() };
  parameters.check();
  const identity = identityOf(req);
  const found = await query.list({ caller: accountCaller(identity), env: identity.env, ...filter });
  const rows = found[Symbol.asyncIterator]();
  // Reads the first record before the answer begins, so that an unavailable database still changes the status.
  let row = await rows.next();
  res.type('application/json');
  res.write('[');
  for (let first = true; row.done !== true; row = await rows.next(), first = false) {
    await writeChunk(res, `${first ? '' : ','}${JSON.stringify(cancellationBody(row.value))}`);
    if (res.destroyed) return;
  }
  res.end(']');
}

/** `GET /anecf/{submission_id}` */
export async function findCancellation({ query }: Cancellations, req: Request, res: Response): Promise<void> {
  sendObject(req, res, cancellationBody(await query.one(questionOf(req))));
}

/** `GET /anecf/{submission_id}/xml` */
export async function cancellationXml({ query }: Cancellations, req: Request, res: Response): Promise<void> {
  sendDocument(req, res, await query.xml(questionOf(req)));
}

/** Ids are unique in the deployment. Without the header env, every environment of the key is searched. */
function questionOf(req: Request): CancellationQuery {
  const parameters = new RequestParameters(req);
  const id = parameters.id('submission_id');
  parameters.check();
  const identity = identityOf(req);
  const environments = identity.env_given ? [identity.env] : identity.environments;
  return { caller: accountCaller(identity), environments, id };
}

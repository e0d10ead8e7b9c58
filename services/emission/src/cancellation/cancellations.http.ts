import type { DocumentReader } from '@ecf/archive';
import { mayActFor } from '@ecf/contracts';
import {
  callerSignal,
  limitBody,
  RequestParameters,
  readBody,
  type ServiceRoute,
  sendDocument,
  sendObject,
  writeChunk,
} from '@ecf/http';
import { effectiveEnvironment, identityOf } from '@ecf/http/identity';
import { accountCaller } from '@ecf/taxpayer-replica';
import type { Request, Response } from 'express';
import type { Taxpayers } from '../credentials/taxpayers.js';
import { EmissionError } from '../errors.js';
import { requireJson } from '../issue/submission-form.http.js';
import type { CancelNumbers } from './cancel-numbers.js';
import type { Cancellation } from './cancellation.js';
import { cancellationBody } from './cancellation-body.js';
import type { CancellationDocuments, CancellationStore } from './ports.js';

/** What the routes of cancellations use. */
export interface Cancellations {
  readonly cancel: CancelNumbers;
  readonly documents: Pick<CancellationDocuments, 'read'>;
  readonly cancellations: Pick<CancellationStore, 'find' | 'list'>;
  readonly taxpayers: Pick<Taxpayers, 'list'>;
  readonly archive: DocumentReader;
}

/** The routes of cancellations; `maxBodyBytes`: the largest request. */
export function cancellationRoutes(cancellations: Cancellations, maxBodyBytes: number): readonly ServiceRoute[] {
  const answering = (handler: typeof createCancellation) => (req: Request, res: Response) =>
    handler(cancellations, req, res);
  return [
    ['post', '/anecf', 'account', limitBody(maxBodyBytes), answering(createCancellation)],
    ['get', '/anecf', 'account', answering(listCancellations)],
    ['get', '/anecf/:submission_id', 'account', answering(findCancellation)],
    ['get', '/anecf/:submission_id/xml', 'account', answering(cancellationXml)],
  ];
}

/** `POST /anecf/` */
async function createCancellation({ cancel, documents }: Cancellations, req: Request, res: Response): Promise<void> {
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

/** `GET /anecf/`: newest first, written record by record, because one may have a hundred thousand ranges. */
async function listCancellations(
  { cancellations, taxpayers }: Cancellations,
  req: Request,
  res: Response,
): Promise<void> {
  const parameters = new RequestParameters(req);
  const filter = { issuerRnc: parameters.rnc('issuer_rnc'), ...parameters.page() };
  parameters.check();
  const identity = identityOf(req);
  const own = await taxpayers.list(accountCaller(identity));
  if (!own.some(({ rnc }) => rnc === filter.issuerRnc))
    throw new EmissionError('taxpayer_not_found', `${filter.issuerRnc} is not a taxpayer of this account.`);
  const found = cancellations.list({ env: identity.env, ...filter })[Symbol.asyncIterator]();
  // Reads the first record before the answer begins, so that an unavailable database still changes the status.
  let next = await found.next();
  res.type('application/json');
  res.write('[');
  for (let first = true; next.done !== true; next = await found.next(), first = false) {
    await writeChunk(res, `${first ? '' : ','}${JSON.stringify(cancellationBody(next.value))}`);
    if (res.destroyed) return;
  }
  res.end(']');
}

/** `GET /anecf/{submission_id}` */
async function findCancellation({ cancellations }: Cancellations, req: Request, res: Response): Promise<void> {
  sendObject(req, res, cancellationBody(await requested(cancellations, req)));
}

/** `GET /anecf/{submission_id}/xml`: the signed bytes. */
async function cancellationXml({ cancellations, archive }: Cancellations, req: Request, res: Response): Promise<void> {
  const { xmlPath, xmlSha256 } = await requested(cancellations, req);
  sendDocument(req, res, await archive.get(xmlPath, xmlSha256));
}

/**
 * The cancellation of the path. Ids are unique in the deployment. Without the header env, every environment of the key is
 * searched. Cancellations of other accounts do not exist for the caller (404).
 */
async function requested({ find }: Pick<CancellationStore, 'find'>, req: Request): Promise<Cancellation> {
  const parameters = new RequestParameters(req);
  const id = parameters.id('submission_id');
  parameters.check();
  const identity = identityOf(req);
  const caller = accountCaller(identity);
  const environments = identity.env_given ? [identity.env] : identity.environments;
  const found = await find(id);
  const visible = found !== null && found.accountId === caller.accountId && mayActFor(caller, found.issuerRnc);
  if (visible && environments.includes(found.env)) return found;
  throw new EmissionError('not_found', `There is no cancellation ${id} of this account.`);
}

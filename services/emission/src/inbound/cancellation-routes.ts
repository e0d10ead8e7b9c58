import { once } from 'node:events';
import { isRnc } from '@ecf/domain';
import { effectiveEnvironment, type Identity, InvalidRequest, identityOf } from '@ecf/service-kit';
import type { Request, Response } from 'express';
import type { CancelNumbers } from '../core/cancellation/cancel-numbers.js';
import { cancellationBody } from '../core/cancellation/cancellation-body.js';
import type { CancellationQuestion, QueryCancellations } from '../core/cancellation/query-cancellations.js';
import { readCancellationRequest } from '../core/cancellation/request.js';
import { parsed, readBody } from './body.js';
import { callerOf } from './caller.js';
import { requireJson } from './submission-form.js';

/** The service's side of the cancellations. */
export interface Cancellations {
  readonly cancel: CancelNumbers;
  readonly query: QueryCancellations;
}

const MOST_ROWS = 2_147_483_647;

/** `POST /anecf/` */
export async function createCancellation({ cancel }: Cancellations, req: Request, res: Response): Promise<void> {
  const submit = flag(req, 'submit_to_authority', true);
  requireJson(req.headers['content-type']);
  const request = readCancellationRequest(parsed(await readBody(req, res)));
  const identity = identityOf(req);
  const env = effectiveEnvironment(identity, request.env);
  const cancellation = await cancel({ caller: callerOf(identity), request: { ...request, env }, submit });
  res.status(201).json(cancellationBody(cancellation));
}

/** `GET /anecf/`: written record by record, since one may hold a hundred thousand ranges. */
export async function listCancellations({ query }: Cancellations, req: Request, res: Response): Promise<void> {
  const issuerRnc = text(req, 'issuer_rnc');
  if (issuerRnc === null) throw refused('issuer_rnc', 'issuer_rnc is required', 'missing');
  if (!isRnc(issuerRnc)) throw refused('issuer_rnc', 'an RNC has 9 or 11 digits', 'rnc');
  const limit = integer(req, 'limit', 1, 100, 10);
  const offset = integer(req, 'offset', 0, MOST_ROWS, 0);
  const identity = identityOf(req);
  const found = await query.list({ caller: callerOf(identity), env: identity.env, issuerRnc, limit, offset });
  const rows = found[Symbol.asyncIterator]();
  // The first one before the answer begins: a database that is away is still told by the status.
  let row = await rows.next();
  res.type('application/json');
  res.write('[');
  for (let first = true; row.done !== true; row = await rows.next(), first = false) {
    if (!res.write(`${first ? '' : ','}${JSON.stringify(cancellationBody(row.value))}`) && !res.destroyed)
      await Promise.race([once(res, 'drain'), once(res, 'close')]);
    if (res.destroyed) return;
  }
  res.end(']');
}

/** `GET /anecf/{submission_id}` */
export async function findCancellation({ query }: Cancellations, req: Request, res: Response): Promise<void> {
  res.json(cancellationBody(await query.one(questionOf(req))));
}

/** `GET /anecf/{submission_id}/xml` */
export async function cancellationXml({ query }: Cancellations, req: Request, res: Response): Promise<void> {
  const bytes = await query.xml(questionOf(req));
  res.setHeader('content-type', 'application/xml; charset=utf-8');
  res.setHeader('x-content-type-options', 'nosniff');
  res.end(bytes);
}

/** Ids are unique in the deployment: without the header env any environment of the key may hold it. */
function questionOf(req: Request): CancellationQuestion {
  const id = String(req.params.submission_id ?? '');
  if (!/^\d{1,15}$/.test(id))
    throw new InvalidRequest([
      { loc: ['path', 'submission_id'], msg: 'submission_id is a whole number', type: 'integer' },
    ]);
  const identity: Identity = identityOf(req);
  const environments = identity.env_given ? [identity.env] : identity.environments;
  return { caller: callerOf(identity), environments, id: Number(id) };
}

/** A parameter of the query; one that is given twice counts as malformed. */
function text(req: Request, name: string): string | null {
  const value = req.query[name];
  if (value === undefined || value === '') return null;
  return typeof value === 'string' ? value : '\u0000';
}

function integer(req: Request, name: string, least: number, most: number, preset: number): number {
  const given = text(req, name);
  const value = given === null ? preset : /^\d{1,10}$/.test(given) ? Number(given) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw refused(name, `${name} is a whole number from ${least} to ${most}`, 'integer');
}

function flag(req: Request, name: string, preset: boolean): boolean {
  const given = text(req, name)?.toLowerCase() ?? String(preset);
  if (given === 'true' || given === 'false') return given === 'true';
  throw refused(name, `${name} is true or false`, 'boolean');
}

function refused(name: string, msg: string, type: string): InvalidRequest {
  return new InvalidRequest([{ loc: ['query', name], msg, type }]);
}

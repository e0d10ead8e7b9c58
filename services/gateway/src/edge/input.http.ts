import { pageQuerySchema } from '@ecf/contracts';
import { isRnc } from '@ecf/domain';
import { parseJson } from '@ecf/ecf-xml';
import { jsonBody, validate } from '@ecf/http';
import { ApiError, InvalidRequest } from '@ecf/kit';
import type { Request, RequestHandler, Response } from 'express';
import { seesTaxpayer } from '../access/own-rights.js';
import type { KeyHolder } from '../access/ports.js';
import { callOf } from './edge.http.js';
import type { Page } from './ports.js';

/** Reads a JSON body of the administration, by the rules of all JSON bodies: a duplicate key is refused. */
export const json: RequestHandler = jsonBody(1_048_576, (body) => parseJson(body, Number));

/** The API key that changes settings of its account; null for an administrator. */
export function managerOf(res: Response): KeyHolder | null {
  return callOf(res).holder ?? null;
}

/** `limit` (1 to 1,000, default `rows`) and `offset` of a list. */
export function pageOf(req: Request, rows?: number): Page {
  return validate(pageQuerySchema(rows), req.query, 'query');
}

function part(req: Request, name: string): string {
  const value = req.params[name];
  return typeof value === 'string' ? value : '';
}

/** An id of the path. The gateway makes the ids, so a malformed one is 404. */
function idOf(req: Request, parameter: string, what: Kind): string {
  const id = part(req, parameter);
  if (!/^[\w-]{1,64}$/.test(id)) throw absent(what);
  return id;
}

/** The account of the API key, else that of the path. */
export function accountId(req: Request, res: Response): string {
  return managerOf(res)?.accountId ?? idOf(req, 'id', 'account');
}

export const keyId = (req: Request) => idOf(req, 'keyId', 'key');
export const webhookId = (req: Request) => idOf(req, 'webhookId', 'webhook');
export const administratorId = (req: Request) => idOf(req, 'administratorId', 'administrator');

/** The buyer's answer of the path. */
export function answerId(req: Request): number {
  const id = part(req, 'answerId');
  if (!/^[1-9]\d{0,14}$/.test(id)) throw absent('answer');
  return Number(id);
}

/** The taxpayer of the path. One that the API key does not serve is 404. */
export function rnc(req: Request, res: Response): string {
  const text = part(req, 'rnc');
  if (!isRnc(text) || !seesTaxpayer(managerOf(res), text)) throw absent('taxpayer');
  return text;
}

/** The object, or 404. */
export function found<T>(value: T | null, what: Kind): T {
  if (value === null) throw absent(what);
  return value;
}

type Kind = 'account' | 'administrator' | 'taxpayer' | 'certificate' | 'logo' | 'key' | 'answer' | 'webhook';

function absent(what: Kind): ApiError {
  const where = what === 'account' || what === 'administrator' ? '' : ' in this account';
  return new ApiError(404, 'not_found', `There is no such ${what}${where}.`);
}

/** The time of expiry; one that has passed is 422. */
export function expiryOf(text: string | null | undefined, now: Date): Date | null {
  if (text === null || text === undefined) return null;
  const time = new Date(text);
  if (time > now) return time;
  throw new InvalidRequest([
    { loc: ['body', 'expires_at'], msg: 'The time of expiry has passed; name a later one.', type: 'past' },
  ]);
}

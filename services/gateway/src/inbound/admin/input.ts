import { type ActedBy, type AuditAct, pageQuerySchema } from '@ecf/contracts';
import { isRnc, toIsoDominican } from '@ecf/domain';
import { parseJson } from '@ecf/ecf-xml';
import { ApiError, InvalidRequest } from '@ecf/service-kit/errors';
import { jsonBody, readBody, requestIdOf, requestOf, validate } from '@ecf/service-kit/http';
import { multipartBoundary, multipartType } from '@ecf/service-kit/multipart';
import type { Request, RequestHandler, Response } from 'express';
import multer from 'multer';
import type { ActProofs } from '../../core/act-proofs.js';
import { seesTaxpayer } from '../../core/own-rights.js';
import type { AccountStore, AuditLog, KeyHolder, Page } from '../../core/ports.js';
import { callOf } from '../edge.js';

/** Reads a JSON body of the administration, by the rules of all JSON bodies: a duplicate key is refused. */
export const json: RequestHandler = jsonBody(1_048_576, (body) => parseJson(body, Number));

/** The API key that changes settings of its account; null for an administrator. */
export function managerOf(res: Response): KeyHolder | null {
  return callOf(res).holder ?? null;
}

/** The actor, for the audit log: an administrator, or an API key. */
export function actedBy(req: Request, res: Response): ActedBy {
  const { administrator, holder } = callOf(res);
  return { actor: administrator?.name ?? `api_key:${holder?.keyId}`, request_id: requestIdOf(req) };
}

/** Runs an act in another service, with who does it. */
export type Acting = <T>(req: Request, res: Response, act: (by: ActedBy) => Promise<T>) => Promise<T>;

export interface ActingOptions {
  store: Pick<AccountStore, 'requireValidActor'>;
  audit: Pick<AuditLog, 'append' | 'last' | 'appeared'>;
  proofs: Pick<ActProofs, 'prove'>;
  clock: () => Date;
}

/**
 * Waits, for a short time, until the event of the act is in the audit log, so that the administrator finds it there. The act does not
 * depend on it.
 */
export function actingIn({ store, audit, proofs }: ActingOptions): Acting {
  return async (req, res, act) => {
    const by = actedBy(req, res);
    await store.requireValidActor(by);
    const after = await audit.last();
    const result = await act({ ...by, proof: proofs.prove(by) });
    await audit.appeared(after, by);
    return result;
  };
}

/** Runs an act in a service that keeps no acts itself, with its entry in the audit log. */
export type Recorded = <T>(
  req: Request,
  res: Response,
  act: Pick<AuditAct, 'action' | 'target' | 'details'>,
  run: () => Promise<T>,
) => Promise<T>;

/**
 * Writes the audit entry before the act, so that every act has one, also after a crash. A second entry says that the
 * act failed.
 */
export function recordedIn({ store, audit, clock }: Omit<ActingOptions, 'proofs'>): Recorded {
  return async (req, res, act, run) => {
    const by = actedBy(req, res);
    await store.requireValidActor(by);
    const record = (details: AuditAct['details']) =>
      audit.append([{ at: toIsoDominican(clock()), ...by, ...act, details }]);
    await record(act.details);
    return run().catch(async (error) => {
      await record({ ...act.details, not_started: error instanceof ApiError ? error.code : 'unconfirmed' });
      throw error;
    });
  };
}

/** `limit` (1 to 1,000, default `rows`) and `offset` of a list. */
export function pageOf(req: Request, rows?: number): Page {
  return validate(pageQuerySchema(rows), req.query, 'query');
}

function part(req: Request, name: string): string {
  const value = req.params[name];
  return typeof value === 'string' ? value : '';
}

/** The account of the API key, else that of the path. The gateway makes the ids, so a malformed one is 404. */
export function accountId(req: Request, res: Response): string {
  const manager = managerOf(res);
  if (manager !== null) return manager.accountId;
  const id = part(req, 'id');
  if (!/^[\w-]{1,64}$/.test(id)) throw absent('account');
  return id;
}

/** The key of the path. */
export function keyId(req: Request): string {
  const id = part(req, 'keyId');
  if (!/^[\w-]{1,64}$/.test(id)) throw absent('key');
  return id;
}

/** The buyer's answer of the path. */
export function answerId(req: Request): number {
  const id = part(req, 'answerId');
  if (!/^[1-9]\d{0,14}$/.test(id)) throw absent('answer');
  return Number(id);
}

/** The webhook of the path. */
export function webhookId(req: Request): string {
  const id = part(req, 'webhookId');
  if (!/^[\w-]{1,64}$/.test(id)) throw absent('webhook');
  return id;
}

/** The administrator of the path. */
export function administratorId(req: Request): string {
  const id = part(req, 'administratorId');
  if (!/^[\w-]{1,64}$/.test(id)) throw absent('administrator');
  return id;
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

type Kind = 'account' | 'administrator' | 'taxpayer' | 'certificate' | 'key' | 'answer' | 'webhook';

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

const upload = multer({
  storage: multer.memoryStorage(),
  // A name such as `x[4294967294]` makes an array of that length.
  limits: { fileSize: 1_048_576, files: 1, fields: 4, parts: 6, fieldSize: 4_096, fieldArrayIndexLimit: 6 },
});

/** The largest certificate, with the password and the lines around them. */
const MAX_FORM_BYTES = 2 * 1_048_576;

const readParts = upload.single('certificate');

/** Reads the parts `certificate` and `password`; another content type than multipart is 415, a malformed body 400. */
export const certificateParts: RequestHandler = async (req, res, next) => {
  const boundary = multipartBoundary(req.headers['content-type'], 'the parts certificate and password');
  const body = await readBody(req, { maxBytes: MAX_FORM_BYTES });
  const form = requestOf(body, { ...req.headers, 'content-type': multipartType(boundary) });
  readParts(form, res, (error?: unknown) => {
    Object.assign(req, { body: form.body, file: form.file });
    if (error === undefined || error instanceof multer.MulterError || error instanceof ApiError) return next(error);
    next(
      new ApiError(400, 'bad_request', `The multipart body cannot be read: ${(error as Error).message}.`, {
        cause: error,
      }),
    );
  });
};

/** The two parts; either missing is 422. */
export function uploaded(req: Request): { file: Uint8Array; password: string } {
  const password: unknown = req.body?.password;
  const missing = [
    ...(req.file === undefined ? ['certificate'] : []),
    ...(typeof password === 'string' ? [] : ['password']),
  ];
  if (req.file === undefined || typeof password !== 'string')
    throw new InvalidRequest(
      missing.map((name) => ({ loc: ['body', name], msg: 'This part is required, once.', type: 'missing' })),
    );
  return { file: req.file.buffer, password };
}

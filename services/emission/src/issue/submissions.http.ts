import { referenceSchema } from '@ecf/contracts';
import { JsonRefused, parseJson } from '@ecf/ecf-xml';
import {
  type CountedRate,
  callerSignal,
  limitBody,
  rateLimitHeaders,
  readBody,
  type ServiceRoute,
  withListed,
} from '@ecf/http';
import { identityOf } from '@ecf/http/identity';
import { ApiError, InvalidRequest } from '@ecf/kit';
import { accountCaller, type Caller } from '@ecf/taxpayer-replica';
import type { Request, RequestHandler, Response } from 'express';
import type { Admission } from './admission.http.js';
import type { JsonSubmission } from './json-submission.js';
import {
  IDEMPOTENCY_KEY,
  readContingency,
  readSubmissionForm,
  requireJson,
  SubmissionParameters,
} from './submission-form.http.js';
import type { SubmitJson } from './submit-json.js';
import type { SignedSubmission, SubmitSigned } from './submit-signed.js';

export interface SubmissionRoutes {
  readonly submitJson: SubmitJson;
  readonly submitSigned: SubmitSigned;
  readonly admission: Pick<Admission, 'run'>;
  /** Counts a document of an account; null = no limit is set. */
  readonly countDocument: (accountId: string) => Promise<CountedRate | null>;
  readonly maxBodyBytes: number;
}

/** The routes that take one document. */
export function submissionRoutes(options: SubmissionRoutes): readonly ServiceRoute[] {
  const { submitJson, submitSigned, admission } = options;
  const before = [limitDocuments(options.countDocument), limitBody(options.maxBodyBytes)] as const;
  const answering =
    <Submission extends { readonly caller: Caller }>(
      read: (req: Request, res: Response) => Promise<Submission>,
      submit: (submission: Submission) => Promise<object>,
    ) =>
    async (req: Request, res: Response) => {
      const submission = await read(req, res);
      const answer = await admission.run(submission.caller, () => submit(submission));
      res.setHeader('cache-control', 'no-store');
      res.json(answer);
    };
  return [
    ['post', '/fe_Submit', 'account', ...before, answering(jsonSubmission, submitJson)],
    ['post', '/submit_ecf', 'account', ...before, answering(signedSubmission, submitSigned.ecf)],
    ['post', '/submit_fc', 'account', ...before, answering(signedSubmission, submitSigned.rfce)],
  ];
}

/** Refuses the document of an account above its limit, before its body is read. */
function limitDocuments(countDocument: SubmissionRoutes['countDocument']): RequestHandler {
  return async (req, res, next) => {
    const counted = await countDocument(identityOf(req).account_id);
    if (counted !== null) {
      const headers = withListed(res, rateLimitHeaders('account', counted));
      if (counted.exceeded)
        throw new ApiError(
          429,
          'rate_limited',
          `More than ${counted.quota} documents of this account a second; wait and repeat, or send a batch.`,
          { headers },
        );
      res.set(headers);
    }
    next();
  };
}

async function jsonSubmission(req: Request, res: Response): Promise<JsonSubmission> {
  const identity = identityOf(req);
  const parameters = new SubmissionParameters(req);
  const dryRun = parameters.validate();
  const refusesWarnings = parameters.refusesWarnings();
  parameters.check();
  const idempotencyKey = idempotencyKeyOf(req);
  const ownReference = ownReferenceOf(req);
  const mayWait = readContingency(req);
  const { data, certificate } = await readSubmissionForm(req, res);
  return {
    caller: accountCaller(identity),
    env: identity.env,
    data,
    certificate,
    dryRun,
    ownReference,
    idempotencyKey,
    mayWait,
    refusesWarnings,
    batchLine: null,
    batchAt: null,
    watchReading: null,
    signal: callerSignal(res),
  };
}

async function signedSubmission(req: Request, res: Response): Promise<SignedSubmission> {
  const identity = identityOf(req);
  const token = authorityToken(req);
  const parameters = new SubmissionParameters(req);
  const dryRun = parameters.validate();
  parameters.check();
  const ownReference = ownReferenceOf(req);
  requireJson(req.headers['content-type']);
  const body = parsed(await readBody(req));
  const xml = typeof body === 'object' && body !== null ? (body as { xml?: unknown }).xml : undefined;
  // Numbers of the body come as their text.
  if (typeof xml !== 'string' || /^(-?\d[\d.eE+-]*)?$/.test(xml.trim())) {
    const type = xml === undefined ? 'missing' : 'string';
    throw invalid(['body', 'xml'], 'the body must be {"xml": "<signed document>"}', type);
  }
  const { env } = identity;
  return { caller: accountCaller(identity), env, xml, token, ownReference, dryRun, signal: callerSignal(res) };
}

/** The body of a signed document has one value; a few more are tolerated. A million would occupy the event loop. */
const MAX_VALUES = 1_000;

/** Parses the body of a signed document as JSON and keeps numbers as text. 400 names the place of an error. */
function parsed(body: Buffer): unknown {
  try {
    return parseJson(body, (stated) => stated, MAX_VALUES);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    const code = error.code === 'not_utf8' ? 'not_utf8' : 'invalid_json';
    throw new ApiError(400, code, error.message, { cause: error });
  }
}

/** Reads the header x-token, with or without a scheme in front. */
function authorityToken(req: Request): string {
  const header = req.headers['x-token'];
  const token = typeof header === 'string' ? header.replace(/^bearer\s+/i, '').trim() : '';
  if (token === '')
    throw invalid(['header', 'x-token'], "the authority's token, from /obtain_token, is required", 'missing');
  return token;
}

function idempotencyKeyOf(req: Request): string | null {
  const key = req.headers['idempotency-key'];
  if (key === undefined) return null;
  if (typeof key === 'string' && IDEMPOTENCY_KEY.test(key)) return key;
  throw invalid(
    ['header', 'idempotency-key'],
    'an idempotency-key has 1 to 255 printable characters',
    'idempotency_key',
  );
}

/** The header `x-reference`. */
function ownReferenceOf(req: Request): string | null {
  const reference = req.headers['x-reference'];
  if (reference === undefined) return null;
  const { data, success } = referenceSchema.safeParse(reference);
  if (success) return data;
  throw invalid(['header', 'x-reference'], 'a reference has 1 to 100 printable ASCII characters', 'reference');
}

function invalid(loc: readonly string[], msg: string, type: string): InvalidRequest {
  return new InvalidRequest([{ loc: [...loc], msg, type }]);
}

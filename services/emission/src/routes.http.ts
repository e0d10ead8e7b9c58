import {
  ARCHIVE_OPERATIONS,
  type ArchiveOperations,
  type ContingencyList,
  EMISSION_OPERATIONS,
  type EmissionOperations,
  FOLLOW_UP_OPERATIONS,
  type FollowUpOperations,
  MASTER_KEY_OPERATIONS,
  MAX_BATCH_BYTES,
  type MasterKeyOperations,
  RESOLUTION_OPERATIONS,
  type ResolutionOperations,
  referenceSchema,
} from '@ecf/contracts';
import { isRnc, toIsoDominican } from '@ecf/domain';
import { ApiError, InvalidRequest } from '@ecf/service-kit/errors';
import {
  callerSignal,
  createServiceApp,
  limitBody,
  RequestParameters,
  readBody,
  type ServiceAppOptions,
  type ServiceRoute,
} from '@ecf/service-kit/http';
import { internalOperationRoutes } from '@ecf/service-kit/internal';
import { type CountedRate, rateLimitHeaders, withListed } from '@ecf/service-kit/rate-limits';
import { identityOf } from '@ecf/service-kit/security';
import { accountCaller } from '@ecf/taxpayer-replica';
import type { Express, Request, RequestHandler, Response } from 'express';
import {
  type Batches,
  batchResults,
  cancelBatch,
  createBatch,
  findBatch,
  IDEMPOTENCY_KEY,
  listBatches,
} from './batches/batches.http.js';
import { parsed } from './body.http.js';
import {
  type Cancellations,
  cancellationXml,
  createCancellation,
  findCancellation,
  listCancellations,
} from './cancellation/cancellations.http.js';
import type { ContingencyStore } from './contingency/contingency.js';
import type { ObtainToken } from './credentials/obtain-token.js';
import { mapErrors } from './errors.http.js';
import type { Admission } from './issue/admission.http.js';
import {
  readContingency,
  readSubmissionForm,
  requireJson,
  SubmissionParameters,
} from './issue/submission-form.http.js';
import type { SubmitJson } from './issue/submit-json.js';
import type { SubmitSigned } from './issue/submit-signed.js';

export interface HttpOptions extends ServiceAppOptions {
  readonly admission: Pick<Admission, 'run'>;
  readonly submitJson: SubmitJson;
  readonly submitSigned: SubmitSigned;
  readonly obtainToken: ObtainToken;
  /** Counts a document of an account; null = no limit is set. */
  readonly countDocument: (accountId: string) => Promise<CountedRate | null>;
  readonly cancellations: Cancellations;
  readonly batches: Batches;
  readonly waiting: Pick<ContingencyStore, 'list'>;
  readonly internal: EmissionOperations;
  readonly followUps: FollowUpOperations;
  readonly resolution: ResolutionOperations;
  readonly stored: ArchiveOperations;
  readonly masterKeys: MasterKeyOperations;
}

/** Public routes of the service and their callers. Routes for other services come from the contracts. */
function routeTable(options: HttpOptions): readonly ServiceRoute[] {
  const { cancellations, batches } = options;
  const about = (handler: typeof createCancellation) => (req: Request, res: Response) =>
    handler(cancellations, req, res);
  const ofBatches = (handler: typeof createBatch) => (req: Request, res: Response) => handler(batches, req, res);
  const limited = limitBody(options.maxBodyBytes);
  const counted = limitDocuments(options.countDocument);
  return [
    ['post', '/fe_Submit', 'account', counted, limited, answering(options, submitJson)],
    ['post', '/submit_ecf', 'account', counted, limited, answering(options, submitEcf)],
    ['post', '/submit_fc', 'account', counted, limited, answering(options, submitFc)],
    ['get', '/obtain_token', 'account', answering(options, obtainToken)],
    ['post', '/batches', 'account', ofBatches(createBatch)],
    ['get', '/batches', 'account', ofBatches(listBatches)],
    ['get', '/contingency', 'account', answering(options, listWaiting)],
    ['get', '/batches/:batch_id', 'account', ofBatches(findBatch)],
    ['get', '/batches/:batch_id/results', 'account', ofBatches(batchResults)],
    ['post', '/batches/:batch_id/cancel', 'account', ofBatches(cancelBatch)],
    ['post', '/anecf', 'account', limited, about(createCancellation)],
    ['get', '/anecf', 'account', about(listCancellations)],
    ['get', '/anecf/:submission_id', 'account', about(findCancellation)],
    ['get', '/anecf/:submission_id/xml', 'account', about(cancellationXml)],
  ];
}

type Handler = (options: HttpOptions, req: Request, res: Response) => Promise<unknown>;

/** The HTTP app of emission. Every call carries the identity that the gateway signed. */
export function createEmissionApp(options: HttpOptions): Express {
  // The largest body is that of a batch; the other routes have their own limit.
  const maxBodyBytes = Math.max(options.maxBodyBytes, MAX_BATCH_BYTES);
  return createServiceApp(
    { ...options, maxBodyBytes },
    {
      routes: routeTable(options),
      internal: [
        internalOperationRoutes(EMISSION_OPERATIONS, options.internal, options.identities),
        internalOperationRoutes(FOLLOW_UP_OPERATIONS, options.followUps, options.identities),
        internalOperationRoutes(RESOLUTION_OPERATIONS, options.resolution, options.identities),
        internalOperationRoutes(ARCHIVE_OPERATIONS, options.stored, options.identities),
        internalOperationRoutes(MASTER_KEY_OPERATIONS, options.masterKeys, options.identities),
      ],
      mapErrors,
    },
  );
}

/** Refuses the document of an account above its limit, before its body is read. */
function limitDocuments(countDocument: HttpOptions['countDocument']): RequestHandler {
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

/** `GET /contingency` */
async function listWaiting({ waiting }: HttpOptions, req: Request) {
  const parameters = new RequestParameters(req);
  const { after, limit } = parameters.pageAfter();
  parameters.check();
  const { account_id: accountId, env, taxpayers = null } = identityOf(req);
  const { total, documents } = await waiting.list({ accountId, env, taxpayers, after: after ?? 0, limit });
  return {
    count: documents.length,
    total,
    next: documents.length === limit ? String(documents.at(-1)?.id) : null,
    documents: documents.map(({ encf, issuerRnc, signedAt, deadline }) => ({
      encf,
      issuer_rnc: issuerRnc,
      env,
      signed_at: toIsoDominican(signedAt),
      deadline: deadline && toIsoDominican(deadline),
    })),
  } satisfies ContingencyList;
}

function answering(options: HttpOptions, handler: Handler) {
  return async (req: Request, res: Response) => {
    const answer = JSON.stringify(await handler(options, req, res));
    res.setHeader('content-type', 'application/json; charset=utf-8');
    res.setHeader('cache-control', 'no-store');
    res.end(answer);
  };
}

async function submitJson(options: HttpOptions, req: Request, res: Response) {
  const identity = identityOf(req);
  const parameters = new SubmissionParameters(req);
  const dryRun = parameters.validate();
  const refusesWarnings = parameters.refusesWarnings();
  parameters.check();
  const idempotencyKey = idempotencyKeyOf(req);
  const ownReference = ownReferenceOf(req);
  const mayWait = readContingency(req);
  const { data, certificate } = await readSubmissionForm(req, res);
  const { env } = identity;
  const submission = {
    caller: accountCaller(identity),
    env,
    data,
    certificate,
    dryRun,
    ownReference,
    idempotencyKey,
    mayWait,
    refusesWarnings,
    batchLine: null,
    watchReading: null,
    signal: callerSignal(res),
  };
  return options.admission.run(submission.caller, () => options.submitJson(submission));
}

async function submitEcf(options: HttpOptions, req: Request, res: Response) {
  const submission = await signedSubmission(req, res);
  return options.admission.run(submission.caller, () => options.submitSigned.ecf(submission));
}

async function submitFc(options: HttpOptions, req: Request, res: Response) {
  const submission = await signedSubmission(req, res);
  return options.admission.run(submission.caller, () => options.submitSigned.rfce(submission));
}

async function signedSubmission(req: Request, res: Response) {
  const identity = identityOf(req);
  const token = authorityToken(req);
  const dryRun = validateOnly(req);
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

async function obtainToken(options: HttpOptions, req: Request) {
  const identity = identityOf(req);
  const rnc = req.headers['rnc-issuing'];
  if (rnc !== undefined && (typeof rnc !== 'string' || !isRnc(rnc))) {
    throw invalid(['header', 'rnc-issuing'], 'an RNC has 9 or 11 digits', 'rnc');
  }
  return options.obtainToken({ caller: accountCaller(identity), env: identity.env, issuerRnc: rnc ?? null });
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

function validateOnly(req: Request): boolean {
  const parameters = new SubmissionParameters(req);
  const dryRun = parameters.validate();
  parameters.check();
  return dryRun;
}

function invalid(loc: readonly string[], msg: string, type: string): InvalidRequest {
  return new InvalidRequest([{ loc: [...loc], msg, type }]);
}

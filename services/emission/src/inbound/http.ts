import {
  ARCHIVE_OPERATIONS,
  type ArchiveOperations,
  EMISSION_OPERATIONS,
  type EmissionOperations,
  FOLLOW_UP_OPERATIONS,
  type FollowUpOperations,
  RESOLUTION_OPERATIONS,
  type ResolutionOperations,
  SIGNING_OPERATIONS,
  type SigningOperations,
} from '@ecf/contracts';
import { isRnc } from '@ecf/domain';
import {
  createHttpApp,
  healthRoutes,
  InvalidRequest,
  identityOf,
  internalOperationRoutes,
  type Logger,
  type Readiness,
  requireIdentity,
} from '@ecf/service-kit';
import type { Express, Request, RequestHandler, Response } from 'express';
import type { ObtainToken } from '../core/obtain-token.js';
import type { SubmitJson } from '../core/submit-json.js';
import type { SubmitSigned } from '../core/submit-signed.js';
import { parsed, readBody } from './body.js';
import { callerOf } from './caller.js';
import {
  type Cancellations,
  cancellationXml,
  createCancellation,
  findCancellation,
  listCancellations,
} from './cancellation-routes.js';
import { mapErrors } from './error-mapping.js';
import { readSubmissionForm, requireJson } from './submission-form.js';

export interface HttpOptions {
  readonly submitJson: SubmitJson;
  readonly submitSigned: SubmitSigned;
  readonly obtainToken: ObtainToken;
  readonly cancellations: Cancellations;
  readonly internal: EmissionOperations;
  readonly followUps: FollowUpOperations;
  readonly signing: SigningOperations;
  readonly resolution: ResolutionOperations;
  readonly stored: ArchiveOperations;
  readonly ready: () => Promise<Readiness>;
  readonly identityKey: Uint8Array;
  readonly maxBodyBytes: number;
  readonly logger: Logger;
  readonly clock: () => Date;
}

/** Every route of the service, and who may call it; beside them the questions of other services, as the contracts name them. */
const ROUTES = [
  { method: 'post', path: '/fe_Submit', callers: ['account'], handler: submitJson },
  { method: 'post', path: '/submit_ecf', callers: ['account'], handler: submitEcf },
  { method: 'post', path: '/submit_fc', callers: ['account'], handler: submitFc },
  { method: 'get', path: '/obtain_token', callers: ['account'], handler: obtainToken },
] as const;

/** Those about cancellations, which answer by themselves. */
const CANCELLATION_ROUTES = [
  { method: 'post', path: '/anecf', handler: createCancellation },
  { method: 'get', path: '/anecf', handler: listCancellations },
  { method: 'get', path: '/anecf/:submission_id', handler: findCancellation },
  { method: 'get', path: '/anecf/:submission_id/xml', handler: cancellationXml },
] as const;

type Handler = (options: HttpOptions, req: Request, res: Response) => Promise<unknown>;

/** The HTTP side of emission. Every call carries the identity that the gateway signed. */
export function createEmissionApp(options: HttpOptions): Express {
  return createHttpApp({
    logger: options.logger,
    maxBodyBytes: options.maxBodyBytes,
    routes(app) {
      for (const { method, path, callers, handler } of ROUTES) {
        const guard = requireIdentity({ key: options.identityKey, clock: options.clock, kinds: callers });
        app[method](path, guard, answering(options, handler));
      }
      for (const { method, path, handler } of CANCELLATION_ROUTES) {
        const guard = requireIdentity({ key: options.identityKey, clock: options.clock, kinds: ['account'] });
        app[method](path, guard, (req, res) => handler(options.cancellations, req, res));
      }
      app.use(healthRoutes(options.ready));
      app.use(internalOperationRoutes(EMISSION_OPERATIONS, options.internal, options));
      app.use(internalOperationRoutes(FOLLOW_UP_OPERATIONS, options.followUps, options));
      app.use(internalOperationRoutes(SIGNING_OPERATIONS, options.signing, options));
      app.use(internalOperationRoutes(RESOLUTION_OPERATIONS, options.resolution, options));
      app.use(internalOperationRoutes(ARCHIVE_OPERATIONS, options.stored, options));
      app.use(mapErrors);
    },
  });
}

function answering(options: HttpOptions, handler: Handler): RequestHandler {
  return async (req, res) => {
    const answer = JSON.stringify(await handler(options, req, res));
    res.setHeader('content-type', 'application/json; charset=utf-8');
    res.setHeader('cache-control', 'no-store');
    res.end(answer);
  };
}

async function submitJson(options: HttpOptions, req: Request, res: Response) {
  const identity = identityOf(req);
  const dryRun = validateOnly(req);
  const body = await readBody(req, res);
  const { data, certificate } = readSubmissionForm(body, req.headers['content-type']);
  return options.submitJson({ caller: callerOf(identity), env: identity.env, data, certificate, dryRun });
}

async function submitEcf(options: HttpOptions, req: Request, res: Response) {
  return options.submitSigned.ecf(await signedSubmission(req, res));
}

async function submitFc(options: HttpOptions, req: Request, res: Response) {
  return options.submitSigned.rfce(await signedSubmission(req, res));
}

async function signedSubmission(req: Request, res: Response) {
  const identity = identityOf(req);
  const token = authorityToken(req);
  const dryRun = validateOnly(req);
  requireJson(req.headers['content-type']);
  const body = parsed(await readBody(req, res));
  const xml = typeof body === 'object' && body !== null ? (body as { xml?: unknown }).xml : undefined;
  // Numbers of the body come as their text.
  if (typeof xml !== 'string' || /^\s*(-?\d[\d.eE+-]*)?\s*$/.test(xml)) {
    const type = xml === undefined ? 'missing' : 'string';
    throw invalid(['body', 'xml'], 'the body must be {"xml": "<signed document>"}', type);
  }
  return { caller: callerOf(identity), env: identity.env, xml, token, dryRun };
}

async function obtainToken(options: HttpOptions, req: Request) {
  const identity = identityOf(req);
  const rnc = req.headers['rnc-issuing'];
  if (rnc !== undefined && (typeof rnc !== 'string' || !isRnc(rnc))) {
    throw invalid(['header', 'rnc-issuing'], 'an RNC has 9 or 11 digits', 'rnc');
  }
  return options.obtainToken({ caller: callerOf(identity), env: identity.env, issuerRnc: rnc ?? null });
}

/** The header x-token; a scheme in front of it is tolerated. */
function authorityToken(req: Request): string {
  const header = req.headers['x-token'];
  const token = typeof header === 'string' ? header.replace(/^bearer\s+/i, '').trim() : '';
  if (token === '')
    throw invalid(['header', 'x-token'], "the authority's token, from /obtain_token, is required", 'missing');
  return token;
}

function validateOnly(req: Request): boolean {
  const value = req.query.validate;
  if (value === undefined || value === 'false' || value === '0') return false;
  if (value === 'true' || value === '1') return true;
  throw invalid(['query', 'validate'], 'true or false', 'boolean');
}

function invalid(loc: readonly string[], msg: string, type: string): InvalidRequest {
  return new InvalidRequest([{ loc: [...loc], msg, type }]);
}

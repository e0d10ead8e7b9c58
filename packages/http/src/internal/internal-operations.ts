import {
  ERROR_CODES,
  type ErrorBody,
  type ErrorCode,
  type InternalHandlers,
  type InternalOperation,
  type ServiceName,
} from '@ecf/contracts';
import { ApiError, InvalidRequest, traceHeaders } from '@ecf/kit';
import express from 'express';
import { jsonBody } from '../body/json-body.js';
import { IDENTITY_HEADER, type Identities, requireService } from '../identity/identity.js';
import { validate } from '../validate.js';

type Operations = Readonly<Record<string, InternalOperation>>;

const MAX_QUESTION_BYTES = 1_048_576;

/** The routes of a set of internal operations. Each accepts calls of the services that it names as callers. */
export function internalOperationRoutes<T extends Operations>(
  operations: T,
  handlers: InternalHandlers<T>,
  identities: Identities,
): express.Router {
  const router = express.Router();
  for (const [name, { path, callers, request }] of Object.entries(operations)) {
    const handle = handlers[name] as (request: unknown) => Promise<unknown>;
    router.post(path, requireService(identities, callers), jsonBody(MAX_QUESTION_BYTES), async (req, res) => {
      res.setHeader('cache-control', 'no-store');
      res.json(await handle(validate(request, req.body, 'body')));
    });
  }
  return router;
}

export interface InternalClientOptions {
  /** Address of the service that answers. */
  url: string;
  owner: ServiceName;
  /** The identities of the calling service. */
  identities: Identities;
  /** Milliseconds to wait for an answer; default 10000. */
  timeoutMs?: number;
}

/**
 * Calls a service of another process. A refusal becomes the same {@link ApiError} as there; a service that does
 * not answer is 503 `service_unavailable`.
 */
export function createInternalClient<T extends Operations>(
  operations: T,
  options: InternalClientOptions,
): InternalHandlers<T> {
  async function call(operation: InternalOperation, request: unknown): Promise<unknown> {
    let response: Response;
    let body: unknown;
    const url = new URL(operation.path, options.url);
    const identity = await options.identities.sign(
      { kind: 'service', request_id: '' },
      { audience: options.owner, method: 'POST', path: url.pathname },
    );
    try {
      response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', [IDENTITY_HEADER]: identity, ...traceHeaders() },
        body: JSON.stringify(request),
        signal: AbortSignal.timeout(options.timeoutMs ?? 10_000),
        redirect: 'error',
      });
      body = await response.json();
    } catch (cause) {
      throw unavailable(options.owner, cause);
    }
    if (!response.ok) throw refusal(options.owner, response, body);
    return operation.answer.parse(body);
  }

  const calls = Object.entries(operations).map(([name, operation]) => [
    name,
    (request: unknown) => call(operation, request),
  ]);
  return Object.fromEntries(calls) as InternalHandlers<T>;
}

/** {@link createInternalClient} for an owner that the deployment may lack: then every call is 503. */
export function clientOf<T extends Operations>(
  operations: T,
  owner: ServiceName,
  url: string | undefined,
  options: Omit<InternalClientOptions, 'url' | 'owner'>,
): InternalHandlers<T> {
  if (url !== undefined) return createInternalClient(operations, { ...options, url, owner });
  const refuse = async () => {
    throw new ApiError(503, 'service_unavailable', `The service ${owner} is not part of this deployment.`);
  };
  return Object.fromEntries(Object.keys(operations).map((operation) => [operation, refuse])) as never;
}

function refusal(owner: string, response: Response, body: unknown): Error {
  const { code, message, items, faults } = (body ?? {}) as Partial<ErrorBody>;
  const entry = typeof code === 'string' && code in ERROR_CODES ? ERROR_CODES[code as ErrorCode] : undefined;
  if (entry?.status !== response.status) return unavailable(owner, new Error(`${owner} answered ${response.status}`));
  if (response.status === 422)
    return new InvalidRequest(items ?? [], { code: code as ErrorCode, cause: new Error(`${owner} refused the call`) });
  const retryAfter = response.headers.get('retry-after');
  return new ApiError(response.status, code as ErrorCode, String(message), {
    ...(faults === undefined ? {} : { faults }),
    ...(retryAfter === null ? {} : { headers: { 'retry-after': retryAfter } }),
  });
}

function unavailable(owner: string, cause: unknown): ApiError {
  return new ApiError(
    503,
    'service_unavailable',
    `The service ${owner} cannot be reached at the moment; repeat shortly.`,
    {
      cause,
    },
  );
}

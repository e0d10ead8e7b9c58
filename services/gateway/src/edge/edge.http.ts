import type { BlockList } from 'node:net';
import type { AdminOperation, Operation, ServiceName } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import { limitBody, operationBodyTooLarge, requestIdOf } from '@ecf/http';
import type { Identity, PublicCaller } from '@ecf/http/identity';
import { ApiError } from '@ecf/kit';
import express, { type Request, type RequestHandler, type Response, type Router } from 'express';
import type { Access } from '../access/access.js';
import type { KeyHolder, KeyUses } from '../access/ports.js';
import type { SignedInAdministrator } from '../administrators/ports.js';
import { type ConsoleSessions, sessionSecret } from '../console/sessions.js';
import { keyedEnvironment, publicEnvironment, requireEnvironment, requireServed } from './environment.js';
import { methodNotAllowed } from './other-methods.js';
import type { RateLimit } from './ports.js';
import { namedQuery } from './query-names.js';
import type { Router as RoutingTable } from './routing.js';
import { requireScope } from './scopes.js';
import { senderAddress } from './sender-address.http.js';
import type { Upstream } from './upstream.http.js';

export interface EdgeOptions {
  routes: RoutingTable<Operation>;
  access: Access;
  sessions: Pick<ConsoleSessions, 'signedIn'>;
  keyUses: Pick<KeyUses, 'used'>;
  /** Keyed by the id of the API key. */
  perKey: RateLimit;
  /** Keyed by address. */
  perSender: RateLimit;
  maxBodyBytes: number;
  trustedProxies: BlockList;
  defaultEnv: Environment;
  /** False if calls for eCF are refused. */
  servesProduction: boolean;
  upstreams: Partial<Record<ServiceName, Upstream>>;
  clock: () => Date;
}

/** The steps of every operation of the interface. Requests for other addresses reach the gateway's own routes. */
export function edge(options: EdgeOptions): Router {
  return express
    .Router()
    .use(
      findOperation(options),
      admit(options),
      nameQuery,
      limitBodyOf(options.maxBodyBytes),
      identify(options),
      forward(options.upstreams),
    );
}

/** Facts about a request that the steps collect. */
export interface Call {
  /** Address of the sender, behind trusted proxies. */
  sender?: string;
  operation?: Operation;
  /** Path and query for the owner's routes. */
  url?: string;
  /** The environment that the path names. */
  prefix?: Environment | null;
  /** Null for public operations. */
  holder?: KeyHolder | null;
  /** An operation of the administration, and who calls it. */
  adminOperation?: AdminOperation;
  administrator?: SignedInAdministrator;
  env?: Environment;
  caller?: Identity | PublicCaller;
}

export function callOf(res: Response): Call {
  res.locals.call ??= {};
  return res.locals.call as Call;
}

/** Looks the request up in the routing table: 405 for another method of a known address. */
function findOperation({ routes, perSender }: Pick<EdgeOptions, 'routes' | 'perSender'>): RequestHandler {
  return async (req, res, next) => {
    const queryAt = req.url.indexOf('?');
    const path = queryAt < 0 ? req.url : req.url.slice(0, queryAt);
    const routed = routes.route(req.method, path);
    if (routed.kind === 'none') return next('router');
    const call = callOf(res);
    if (routed.kind === 'method_not_allowed') {
      res.set(await perSender.pass(call.sender ?? ''));
      throw methodNotAllowed(req.method, routed.allow);
    }
    call.operation = routed.operation;
    call.prefix = routed.prefix;
    call.url = queryAt < 0 ? routed.path : routed.path + req.url.slice(queryAt);
    next();
  };
}

/** Bounds the body by the limit of the operation. */
function limitBodyOf(maxBodyBytes: number): RequestHandler {
  return (req, res, next) => {
    const ofOperation = callOf(res).operation?.maxBodyBytes;
    const limit = ofOperation === undefined ? limitBody(maxBodyBytes) : limitBody(ofOperation, operationBodyTooLarge);
    limit(req, res, next);
  };
}

type AdmitOptions = Pick<EdgeOptions, 'access' | 'sessions' | 'keyUses' | 'perKey' | 'perSender' | 'clock'>;

/**
 * Finds the holder of the API key and counts the request towards the rate of the key, or of the sender of a public call.
 * Checks the scope of the key before any object is looked up.
 */
function admit({ access, sessions, keyUses, perKey, perSender, clock }: AdmitOptions): RequestHandler {
  return async (req, res, next) => {
    const call = callOf(res);
    const sender = call.sender ?? '';
    call.holder = null;
    if (call.operation?.access === 'key') {
      call.holder = await holderOf(req, sender, access, sessions);
      keyUses.used(call.holder.keyId, clock());
      res.set(await perKey.pass(call.holder.keyId));
      requireScope(call.holder.scopes, call.operation);
    } else res.set(await perSender.pass(sender));
    next();
  };
}

/** The holder of the API key; without one, of the session of the console. */
async function holderOf(
  req: Request,
  sender: string,
  access: Access,
  sessions: EdgeOptions['sessions'],
): Promise<KeyHolder> {
  const key = header(req, 'x-api-key') || undefined;
  const secret = key === undefined ? sessionSecret(req) : null;
  if (secret !== null) {
    const signedIn = await sessions.signedIn(secret, sender);
    if (signedIn.kind === 'account') return signedIn.holder;
  }
  return access.holderOf(key, sender);
}

/** Checks the names in the query of an operation with a key. Senders of public calls do not know our names. */
const nameQuery: RequestHandler = (_req, res, next) => {
  const { operation, url = '' } = callOf(res);
  const queryAt = url.indexOf('?');
  if (operation?.access === 'key' && queryAt >= 0) {
    const query = namedQuery(operation.id, url.slice(queryAt + 1));
    callOf(res).url = query === '' ? url.slice(0, queryAt) : `${url.slice(0, queryAt)}?${query}`;
  }
  next();
};

type EnvironmentOptions = Pick<EdgeOptions, 'defaultEnv' | 'servesProduction'>;

/** Chooses the environment and replaces the key by the identity of its holder: the owner sees no key. */
function identify(options: EnvironmentOptions): RequestHandler {
  return (req, res, next) => {
    const call = callOf(res);
    call.caller = call.holder ? keyCaller(req, call.holder, call.operation, options) : publicCaller(req, call, options);
    if (call.operation?.withoutEnvironment !== true) call.env = call.caller.env;
    delete req.headers['x-api-key'];
    delete req.headers.cookie;
    next();
  };
}

function keyCaller(
  req: Request,
  holder: KeyHolder,
  operation: Operation | undefined,
  { servesProduction }: EnvironmentOptions,
): Identity {
  const { env, given } = environmentOf(req, holder, operation, servesProduction);
  const {
    keyId: key_id,
    accountId: account_id,
    environments,
    scopes,
    taxpayers,
    refuseWarnings,
    taxpayersRevision,
  } = holder;
  return {
    kind: 'account',
    account_id,
    key_id,
    environments: environments.filter((one) => one !== 'eCF' || servesProduction),
    scopes: [...scopes],
    ...(taxpayers === null ? {} : { taxpayers: [...taxpayers] }),
    ...(servesProduction ? {} : { production_refused: true }),
    ...(refuseWarnings ? { refuse_warnings: true } : {}),
    taxpayers_revision: taxpayersRevision,
    env,
    env_given: given,
    request_id: requestIdOf(req),
  };
}

/** The environment of a call with a key. 401 or 422 for one that the key or the deployment does not serve. */
function environmentOf(
  req: Request,
  { environments }: Pick<KeyHolder, 'environments'>,
  operation: Operation | undefined,
  servesProduction: boolean,
): { env: Environment; given: boolean } {
  // The operation concerns the account: no service reads this environment.
  if (operation?.withoutEnvironment === true) return { env: environments[0] ?? 'TesteCF', given: false };
  const { env, given } = keyedEnvironment(header(req, 'env'));
  const mayBeInBody = operation?.environmentInBody === true;
  // A key of production alone is for eCF, also if the body names it.
  const isForProduction = mayBeInBody && !given && environments.every((one) => one === 'eCF');
  requireServed(isForProduction ? 'eCF' : env, servesProduction);
  // If the body names the environment, the owner checks that the key allows it.
  if (given || !mayBeInBody) requireEnvironment(environments, env);
  return { env, given };
}

function publicCaller(
  req: Request,
  { prefix = null, sender = '' }: Call,
  { defaultEnv, servesProduction }: EnvironmentOptions,
): PublicCaller {
  const env = publicEnvironment(prefix, header(req, 'env'), defaultEnv);
  requireServed(env, servesProduction);
  return { kind: 'public', env, sender: sender.slice(0, 64), request_id: requestIdOf(req) };
}

/** Passes the request to the service that owns the operation. */
function forward(upstreams: EdgeOptions['upstreams']): RequestHandler {
  return (req, res, next) => {
    const { operation, url = req.url, sender, caller } = callOf(res);
    const upstream = operation && upstreams[operation.owner];
    if (upstream === undefined || caller === undefined) throw notDeployed(operation);
    req.url = url;
    req.headers['x-forwarded-for'] = sender;
    return upstream.forward(caller, req, res, next);
  };
}

/** Resolves the address of the sender behind trusted proxies, for limits and the access log. */
export function findSender(trustedProxies: BlockList): RequestHandler {
  return (req, res, next) => {
    callOf(res).sender = senderAddress(req.socket.remoteAddress, req.headers['x-forwarded-for'], trustedProxies);
    next();
  };
}

/** Counts a request towards the rate of its sender. */
export function limitSender(perSender: RateLimit): RequestHandler {
  return async (_req, res, next) => {
    res.set(await perSender.pass(callOf(res).sender ?? ''));
    next();
  };
}

function header(req: Request, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

function notDeployed(operation: Operation | undefined): ApiError {
  return new ApiError(
    503,
    'service_unavailable',
    `The service ${operation?.owner}, which answers ${operation?.method} ${operation?.path}, is not part of this deployment or has not started.`,
  );
}

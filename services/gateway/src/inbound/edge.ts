import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BlockList } from 'node:net';
import type { Operation, ServiceName } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import { ApiError, limitBody, requestIdOf } from '@ecf/service-kit/http';
import { type Caller, IDENTITY_LIFE_SECONDS, signIdentity } from '@ecf/service-kit/security';
import type { RequestHandler } from 'express';
import type { Access } from '../core/access.js';
import { keyedEnvironment, publicEnvironment, requireEnvironment } from '../core/environment.js';
import type { RateLimit } from '../core/rate-limit.js';
import type { Routed, Router } from '../core/routing.js';
import { senderAddress } from '../core/sender-address.js';
import type { Upstream } from '../core/upstream.js';

export interface EdgeOptions {
  router: Router;
  access: Access;
  upstreams: Partial<Record<ServiceName, Upstream>>;
  perKey: RateLimit;
  /** By address. */
  perSender: RateLimit;
  /** Of the public routes, by address: that of the sender and that of all senders together. */
  publicCalls: RateLimit;
  trustedProxies: BlockList;
  defaultEnv: Environment;
  identityKey: Uint8Array;
  maxBodyBytes: number;
  clock: () => Date;
}

/** What the access log and the metrics say of a request. */
export interface Seen {
  operation?: string;
  accountId?: string;
  env?: Environment;
  /** Address of the sender, past trusted proxies. */
  sender?: string;
  /** Whether it counted towards a rate, or was over it. */
  counted?: boolean;
}

const SEEN = Symbol('ecf.seen');

/** What became known of a request on its way. */
export function seenOf(req: IncomingMessage): Seen {
  const carrier = req as IncomingMessage & { [SEEN]?: Seen };
  carrier[SEEN] ??= {};
  return carrier[SEEN];
}

/**
 * The way of every operation: route, body limit, key, environment, rate, signed identity, owner. Requests for anything else
 * go on to the gateway's own routes.
 */
export function edge(options: EdgeOptions): RequestHandler {
  const bodyLimit = limitBody(options.maxBodyBytes, 'few');
  return (req, res, next) => {
    const queryAt = req.url.indexOf('?');
    const path = queryAt < 0 ? req.url : req.url.slice(0, queryAt);
    const routed = options.router.route(req.method, path);
    if (routed.kind === 'none') return next();
    const sender = noteSender(options, req);
    const refuse = (error: unknown) => next(countedRefusal(options, req, sender, error));
    if (routed.kind === 'method_not_allowed') return refuse(methodNotAllowed(req.method, routed.allow));
    seenOf(req).operation = routed.operation.id;
    const url = queryAt < 0 ? routed.path : routed.path + req.url.slice(queryAt);
    bodyLimit(req, res, (error?: unknown) => {
      if (error !== undefined) return refuse(error);
      answer(options, routed, { url, sender }, req, res).catch(refuse);
    });
  };
}

/** What the gateway refuses before the request counted towards any rate counts towards that of its sender, who may be over it. */
function countedRefusal(
  { perSender }: Pick<EdgeOptions, 'perSender'>,
  req: IncomingMessage,
  sender: string,
  error: unknown,
): unknown {
  if (seenOf(req).counted === true || !(error instanceof ApiError) || error.status >= 500) return error;
  try {
    perSender.pass(sender);
    return error;
  } catch (overRate) {
    return overRate;
  }
}

/** Counts a request towards the rate of its sender, as those for public operations are. */
export function limitSender(options: Pick<EdgeOptions, 'perSender' | 'trustedProxies'>): RequestHandler {
  return (req, _res, next) => {
    options.perSender.pass(noteSender(options, req));
    next();
  };
}

/** The address of who sent a request, past trusted proxies; the access log tells it too. */
export function noteSender(options: Pick<EdgeOptions, 'trustedProxies'>, req: IncomingMessage): string {
  const sender = senderAddress(req.socket.remoteAddress, req.headers['x-forwarded-for'], options.trustedProxies);
  seenOf(req).sender = sender;
  return sender;
}

async function answer(
  options: EdgeOptions,
  routed: Extract<Routed, { kind: 'operation' }>,
  { url, sender }: { url: string; sender: string },
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const { operation, prefix } = routed;
  const caller =
    operation.access === 'key'
      ? await keyHolder(options, operation, sender, req)
      : publicCaller(options, prefix, sender, req);
  const upstream = options.upstreams[operation.owner];
  if (upstream === undefined) throw notDeployed(operation);
  await upstream.forward(req, res, { url, caller, identity: () => signIdentity(caller, options.identityKey), sender });
}

async function keyHolder(
  options: EdgeOptions,
  operation: Operation,
  sender: string,
  req: IncomingMessage,
): Promise<Caller> {
  const key = req.headers['x-api-key'];
  const given = typeof key === 'string' && key !== '' ? key : undefined;
  const found = options.access.holderOf(given, sender);
  const holder = found instanceof Promise ? await found : found;
  const seen = seenOf(req);
  seen.accountId = holder.accountId;
  seen.counted = true;
  options.perKey.pass(holder.keyId);
  const { env, given: named } = keyedEnvironment(header(req, 'env'));
  // A body may name the environment here; its owner, who reads the body, then asks whether the key allows it.
  if (named || operation.environmentInBody !== true) requireEnvironment(holder.environments, env);
  seen.env = env;
  return {
    kind: 'account',
    account_id: holder.accountId,
    environments: [...holder.environments],
    env,
    env_given: named,
    taxpayers_revision: holder.taxpayersRevision,
    ...stamp(options, req),
  };
}

function publicCaller(options: EdgeOptions, prefix: Environment | null, sender: string, req: IncomingMessage): Caller {
  seenOf(req).counted = true;
  options.publicCalls.pass(sender);
  const env = publicEnvironment(prefix, header(req, 'env'), options.defaultEnv);
  seenOf(req).env = env;
  return { kind: 'public', env, sender: sender.slice(0, 64), ...stamp(options, req) };
}

function stamp(options: EdgeOptions, req: IncomingMessage): { request_id: string; iat: number; exp: number } {
  const iat = Math.floor(options.clock().getTime() / 1_000);
  return { request_id: requestIdOf(req), iat, exp: iat + IDENTITY_LIFE_SECONDS };
}

function header(req: IncomingMessage, name: string): string | undefined {
  const value = req.headers[name];
  return Array.isArray(value) ? value.join(', ') : value;
}

/** 405 with the methods that there are. */
export function methodNotAllowed(method: string, allow: readonly string[]): ApiError {
  return new ApiError(
    405,
    'method_not_allowed',
    `${method} is not a method of this address; use ${allow.join(' or ')}.`,
    {
      headers: { allow: [...new Set(allow)].join(', ') },
    },
  );
}

function notDeployed(operation: Operation): ApiError {
  return new ApiError(
    503,
    'service_unavailable',
    `The service ${operation.owner}, which answers ${operation.method} ${operation.path}, is not part of this deployment or has not started.`,
  );
}

import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { environmentSchema, SCOPES } from '@ecf/contracts';
import type { RequestHandler } from 'express';
import { z } from 'zod';
import { ApiError, InvalidRequest } from '../http/errors.js';

/** The header that carries the signed identity between gateway and services. */
export const IDENTITY_HEADER = 'x-ecf-identity';
/** Seconds that an identity lives: long enough for a slow upload, short enough to be useless in a log. */
export const IDENTITY_LIFE_SECONDS = 120;

const lifeSchema = { request_id: z.string(), iat: z.number().int(), exp: z.number().int() };
const accountSchema = z.object({
  kind: z.literal('account'),
  account_id: z.string().min(1),
  key_id: z.string().optional(),
  environments: z.array(environmentSchema),
  scopes: z.array(z.enum(SCOPES)).readonly().optional(),
  taxpayers: z.array(z.string()).readonly().optional(),
  env: environmentSchema,
  env_given: z.boolean(),
  taxpayers_revision: z.number().int(),
  ...lifeSchema,
});
const publicSchema = z.object({
  kind: z.literal('public'),
  env: environmentSchema,
  sender: z.string().max(64).optional(),
  ...lifeSchema,
});
const serviceSchema = z.object({ kind: z.literal('service'), service: z.string().min(1), ...lifeSchema });
const callerSchema = z.discriminatedUnion('kind', [accountSchema, publicSchema, serviceSchema]);

/**
 * A caller with a valid API key, `key_id`. `scopes` are those of the key; absent = all. `taxpayers` are the RNCs that the key
 * is limited to; absent = all of the account. `env` is the environment that counts (header `env`, else TesteCF); `env_given` is false
 * where the header was absent, so that a body's `authority_environment` may count instead ({@link effectiveEnvironment}).
 * `taxpayers_revision` is the latest revision of the account's taxpayers that the gateway has committed.
 */
export type Identity = z.infer<typeof accountSchema>;
/**
 * A caller of a public route: no account; `env` is prefix, header or the deployment's default. `sender` is the network
 * address the call came from, trusted proxies resolved, for limits per sender.
 */
export type PublicCaller = z.infer<typeof publicSchema>;
/** Another service of the deployment, on internal routes. */
export type ServiceCaller = z.infer<typeof serviceSchema>;
export type Caller = Identity | PublicCaller | ServiceCaller;

/** The key of the identity's signature, where no IDENTITY_KEY is configured: derived from the master key. */
export function identityKeyFrom(masterKey: Uint8Array): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(0), 'ecf internal identity v1', 32));
}

/** Signs an identity (HMAC-SHA256) as the value of {@link IDENTITY_HEADER}. Times are seconds since 1970. */
export function signIdentity(caller: Caller, key: Uint8Array): string {
  const payload = Buffer.from(JSON.stringify(caller), 'utf8').toString('base64url');
  return `${payload}.${createHmac('sha256', key).update(payload).digest('base64url')}`;
}

/** Reads and checks a signed identity; null if it is missing, forged, expired or malformed. */
export function verifyIdentity(value: string | undefined, key: Uint8Array, now: Date): Caller | null {
  const dot = value?.indexOf('.') ?? -1;
  if (value === undefined || dot < 1) return null;
  const payload = value.slice(0, dot);
  const given = Buffer.from(value.slice(dot + 1), 'base64url');
  const expected = createHmac('sha256', key).update(payload).digest();
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  let caller: Caller;
  try {
    caller = callerSchema.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')));
  } catch {
    return null;
  }
  const seconds = now.getTime() / 1000;
  return seconds < caller.exp && seconds > caller.iat - IDENTITY_LIFE_SECONDS ? caller : null;
}

const CALLER = Symbol('ecf.caller');
type Identified = IncomingMessage & { [CALLER]?: Caller };

/** Refuses every request without a valid signed identity of one of the given kinds (401 `invalid_identity`). */
export function requireIdentity(options: {
  key: Uint8Array;
  clock: () => Date;
  kinds?: readonly Caller['kind'][];
}): RequestHandler {
  const kinds = options.kinds ?? ['account'];
  return (req, _res, next) => {
    const header = req.headers[IDENTITY_HEADER];
    const caller = verifyIdentity(typeof header === 'string' ? header : undefined, options.key, options.clock());
    if (caller === null || !kinds.includes(caller.kind))
      throw new ApiError(401, 'invalid_identity', 'This service answers only calls that come through the gateway.');
    (req as Identified)[CALLER] = caller;
    next();
  };
}

/** The caller that {@link requireIdentity} accepted, of whatever kind. */
export function callerOf(req: IncomingMessage): Caller {
  const caller = (req as Identified)[CALLER];
  if (caller === undefined) throw new TypeError('requireIdentity stands before this handler');
  return caller;
}

/** The account that calls. */
export function identityOf(req: IncomingMessage): Identity {
  const caller = callerOf(req);
  if (caller.kind !== 'account') throw new TypeError(`an account was expected, not ${caller.kind}`);
  return caller;
}

/** Refuses an environment that the key was not issued for. */
export function requireEnvironment(identity: Identity, env: Identity['env']): void {
  if (!identity.environments.includes(env))
    throw new ApiError(
      401,
      'environment_not_allowed',
      `This key was not issued for ${env}; use a key of that environment.`,
    );
}

/**
 * The environment of a request whose body carries `authority_environment`: header `env`, else the body's value, else
 * TesteCF. Both present and different: 422. The key must allow it: 401 otherwise.
 */
export function effectiveEnvironment(identity: Identity, fromBody: Identity['env'] | undefined): Identity['env'] {
  if (identity.env_given && fromBody !== undefined && fromBody !== identity.env)
    throw new InvalidRequest([
      {
        loc: ['body', 'authority_environment'],
        msg: `authority_environment says ${fromBody}, the header env says ${identity.env}; send one of them, or both alike`,
        type: 'environment_mismatch',
      },
    ]);
  const env = identity.env_given ? identity.env : (fromBody ?? identity.env);
  requireEnvironment(identity, env);
  return env;
}

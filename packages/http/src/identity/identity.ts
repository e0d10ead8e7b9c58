import type { IncomingMessage } from 'node:http';
import { environmentSchema, SCOPES, type ServiceName } from '@ecf/contracts';
import { ApiError, InvalidRequest } from '@ecf/kit';
import type { RequestHandler } from 'express';
import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import type { ServiceKeys } from './service-keys.js';

/** The header that carries the signed identity between gateway and services. */
export const IDENTITY_HEADER = 'x-ecf-identity';
/** Seconds that an identity lives. It is checked once, at the head of the request. */
const LIFE_SECONDS = 60;
/** Seconds that the clocks of two processes may differ. */
const CLOCK_TOLERANCE_SECONDS = 10;

const accountSchema = z.object({
  kind: z.literal('account'),
  account_id: z.string().min(1),
  key_id: z.string().optional(),
  environments: z.array(environmentSchema),
  scopes: z.array(z.enum(SCOPES)).readonly().optional(),
  taxpayers: z.array(z.string()).readonly().optional(),
  production_refused: z.literal(true).optional(),
  refuse_warnings: z.literal(true).optional(),
  env: environmentSchema,
  env_given: z.boolean(),
  taxpayers_revision: z.number().int(),
  request_id: z.string(),
});
const publicSchema = z.object({
  kind: z.literal('public'),
  env: environmentSchema,
  sender: z.string().max(64).optional(),
  request_id: z.string(),
});
const serviceSchema = z.object({ kind: z.literal('service'), request_id: z.string() });
const claimsSchema = z.discriminatedUnion('kind', [accountSchema, publicSchema, serviceSchema]);

/**
 * A caller with a valid API key, `key_id`. `scopes` are those of the key; absent = all. `taxpayers` are the RNCs that
 * the key is limited to; absent = all of the account. `production_refused`: the deployment does not serve eCF.
 * `refuse_warnings`: the default of the key for documents with warnings. `env` is
 * the environment that counts (header `env`, else TesteCF); `env_given` is false where the header was absent, so that a
 * body's `authority_environment` may count instead ({@link effectiveEnvironment}). `taxpayers_revision` is the latest
 * revision of the account's taxpayers that the gateway has committed.
 */
export type Identity = z.infer<typeof accountSchema>;
/**
 * A caller of a public route: no account; `env` is prefix, header or the deployment's default. `sender` is the network
 * address the call came from, trusted proxies resolved, for limits per sender.
 */
export type PublicCaller = z.infer<typeof publicSchema>;
/** Another service of the deployment, on internal routes. */
export type ServiceCaller = z.infer<typeof serviceSchema> & { service: ServiceName };
export type Caller = Identity | PublicCaller | ServiceCaller;

/** The call that an identity is signed for; the identity is invalid for any other call. */
export interface SignedCall {
  /** The service that is called. */
  readonly audience: ServiceName;
  readonly method: string;
  /** The address; its query is ignored. */
  readonly path: string;
}

/** Signs and verifies who calls. */
export interface Identities {
  /** The service that signs. */
  readonly service: ServiceName;
  /** The value of {@link IDENTITY_HEADER} for a call of another service: a JWT (EdDSA), valid for 60 seconds. */
  sign(caller: Identity | PublicCaller | Omit<ServiceCaller, 'service'>, call: SignedCall): Promise<string>;
  /** The caller of a request to this service; null if the identity is missing, forged, expired, or of another call. */
  verify(token: string | undefined, call: Omit<SignedCall, 'audience'>): Promise<Caller | null>;
}

/** Identities with the keys of a service. Only the gateway signs for accounts and for callers of public routes. */
export function createIdentities({ keys, clock }: { keys: ServiceKeys; clock: () => Date }): Identities {
  return {
    service: keys.service,
    sign(caller, { audience, ...call }) {
      const now = Math.floor(clock().getTime() / 1_000);
      return new SignJWT({ ...caller, operation: operationOf(call) })
        .setProtectedHeader({ alg: 'EdDSA', kid: keys.keyId })
        .setIssuer(keys.service)
        .setAudience(audience)
        .setIssuedAt(now)
        .setExpirationTime(now + LIFE_SECONDS)
        .sign(keys.privateKey);
    },
    async verify(token, call) {
      try {
        const { payload, protectedHeader } = await jwtVerify(token ?? '', ({ kid }) => publicKey(keys, kid).key, {
          algorithms: ['EdDSA'],
          audience: keys.service,
          maxTokenAge: LIFE_SECONDS,
          clockTolerance: CLOCK_TOLERANCE_SECONDS,
          currentDate: clock(),
        });
        const { service } = publicKey(keys, protectedHeader.kid);
        if (payload.iss !== service || payload.operation !== operationOf(call)) return null;
        const claims = claimsSchema.parse(payload);
        if (claims.kind === 'service') return { ...claims, service };
        return service === 'gateway' ? claims : null;
      } catch (error) {
        if (error instanceof errors.JOSEError || error instanceof z.ZodError) return null;
        throw error;
      }
    },
  };
}

function publicKey({ publicKeys }: ServiceKeys, keyId: string | undefined) {
  const found = publicKeys.get(keyId ?? '');
  if (found === undefined) throw new errors.JWKSNoMatchingKey();
  return found;
}

function operationOf({ method, path }: Omit<SignedCall, 'audience'>): string {
  return `${method} ${path.split('?', 1)[0]}`;
}

const CALLER = Symbol('ecf.caller');
type Identified = IncomingMessage & { [CALLER]?: Caller };

/** Names the caller of a request that stays in this process, where nothing needs a signature. */
export function identify(req: IncomingMessage, caller: Caller): void {
  (req as Identified)[CALLER] = caller;
}

/**
 * Refuses every request that no caller of the given kinds has signed (401 `invalid_identity`), except one that
 * {@link identify} named in this process.
 */
export function requireIdentity(
  identities: Pick<Identities, 'verify'>,
  kinds: readonly Caller['kind'][] = ['account'],
): RequestHandler {
  return requireCaller(identities, ({ kind }) => kinds.includes(kind));
}

/** Refuses every request that none of the named services has signed (401 `invalid_identity`). */
export function requireService(
  identities: Pick<Identities, 'verify'>,
  services: readonly ServiceName[],
): RequestHandler {
  return requireCaller(identities, (caller) => caller.kind === 'service' && services.includes(caller.service));
}

function requireCaller(identities: Pick<Identities, 'verify'>, may: (caller: Caller) => boolean): RequestHandler {
  return async (req, _res, next) => {
    const header = req.headers[IDENTITY_HEADER];
    const caller =
      (req as Identified)[CALLER] ??
      (await identities.verify(typeof header === 'string' ? header : undefined, {
        method: req.method,
        path: req.originalUrl,
      }));
    if (caller === null || !may(caller))
      throw new ApiError(
        401,
        'invalid_identity',
        'This service answers only calls that come through the gateway. If they do, compare SERVICE_PUBLIC_KEYS and the clocks.',
      );
    identify(req, caller);
    next();
  };
}

/** The caller of a request, if it has been accepted already. */
export function callerIfKnown(req: IncomingMessage): Caller | undefined {
  return (req as Identified)[CALLER];
}

/** The caller that {@link requireIdentity} accepted, of whatever kind. */
export function callerOf(req: IncomingMessage): Caller {
  const caller = (req as Identified)[CALLER];
  if (caller === undefined) throw new TypeError('requireIdentity must run before this handler');
  return caller;
}

/** The account that calls. */
export function identityOf(req: IncomingMessage): Identity {
  const caller = callerOf(req);
  if (caller.kind !== 'account') throw new TypeError(`an account was expected, not ${caller.kind}`);
  return caller;
}

/** 422 for production (eCF) in a deployment that uses a simulator of the authority and does not serve eCF. */
export function environmentNotServed(loc: readonly [place: string, name: string]): InvalidRequest {
  const msg =
    'This deployment uses a simulator of the authority and does not serve eCF; use TesteCF or CerteCF, or have AUTHORITY_URL unset.';
  return new InvalidRequest([{ loc: [...loc], msg, type: 'environment' }], { code: 'environment_not_served' });
}

/** Refuses an environment that the key was not issued for. */
function requireEnvironment(identity: Identity, env: Identity['env']): void {
  if (!identity.environments.includes(env))
    throw new ApiError(
      401,
      'environment_not_allowed',
      `This key was not issued for ${env}; use a key of that environment.`,
    );
}

/**
 * The environment of a request whose body carries `authority_environment`: header `env`, else the body's value, else
 * TesteCF. Both present and different: 422. The deployment must serve it (422 otherwise), and the key allow it (401).
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
  if (env === 'eCF' && identity.production_refused) throw environmentNotServed(['body', 'authority_environment']);
  requireEnvironment(identity, env);
  return env;
}

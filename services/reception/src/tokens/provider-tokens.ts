import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '@ecf/domain';
import type { CertificateFacts } from '@ecf/xml-signing';
import { decodeProtectedHeader, jwtVerify, SignJWT } from 'jose';
import { ReceptionError } from '../errors.js';
import type { TokenKeys } from './ports.js';
import { ALGORITHM, createProviderKeys, SKEW_SECONDS, type TokenSettings } from './provider-keys.js';

const ISSUER = 'ecf-reception';
/** The claim under which the authority's own tokens name the certificate's holder. */
const NAME_CLAIM = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name';

export interface IssuedToken {
  readonly token: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/**
 * Bearer tokens for providers that signed a seed. A token names the certificate's holder, not the issuer of documents: only
 * the authority knows who may act for an issuer.
 */
export function createProviderTokens(
  ports: { keys: TokenKeys; clock: () => Date },
  settings: TokenSettings,
  pause: (ms: number) => Promise<unknown> = delay,
) {
  const keys = createProviderKeys(ports, settings, pause);

  async function issue(certificate: CertificateFacts, env: Environment): Promise<IssuedToken> {
    const key = await keys.signing();
    const issued = Math.floor(ports.clock().getTime() / 1000);
    const expires = issued + settings.lifeSeconds;
    const holder = certificate.holderId ?? `certificate:${certificate.fingerprint}`;
    const token = await new SignJWT({ [NAME_CLAIM]: holder, env })
      .setProtectedHeader({ alg: ALGORITHM, kid: key.kid, typ: 'JWT' })
      .setSubject(holder)
      .setIssuer(ISSUER)
      .setAudience(env)
      .setJti(randomUUID())
      .setIssuedAt(issued)
      .setNotBefore(issued)
      .setExpirationTime(expires)
      .sign(key.privateKey);
    return { token, issuedAt: new Date(issued * 1000), expiresAt: new Date(expires * 1000) };
  }

  /**
   * The holder that a header `Authorization: Bearer <token>` proves (the scheme in any case).
   * Throws ReceptionError `token_refused`; `overloaded` where too many wait for the keys to be read.
   */
  async function verify(authorization: string | undefined, env: Environment): Promise<string> {
    const token = /^\s*bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw refused('This receiver requires Authorization: Bearer with a token that it issued.');
    try {
      const key = await keys.named(decodeProtectedHeader(token).kid ?? '');
      if (key === null) throw refused('The token was not issued here, or its key has been retired.');
      const { payload } = await jwtVerify(token, key.publicKey, {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        audience: env,
        currentDate: ports.clock(),
        clockTolerance: SKEW_SECONDS,
        requiredClaims: ['exp', 'sub'],
      });
      return payload.sub as string;
    } catch (error) {
      if (error instanceof ReceptionError || !isTokenError(error)) throw error;
      throw refused('The token is expired, forged, or of another environment.', error);
    }
  }

  return { issue, verify, waiting: keys.waiting };
}

export type ProviderTokens = ReturnType<typeof createProviderTokens>;

function isTokenError(error: unknown): boolean {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return name === 'TypeError' || (typeof code === 'string' && code.startsWith('ERR_J'));
}

function refused(message: string, cause?: unknown): ReceptionError {
  return new ReceptionError('token_refused', message, 'token_refused', cause === undefined ? {} : { cause });
}

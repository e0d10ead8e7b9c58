import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Environment } from '@ecf/domain';

const NAME_CLAIM = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name';
const ISSUER = 'DGII.FE';
const AUDIENCE = 'USUARIOS.DGII.FE';
const LIFETIME_SECONDS = 3600;
const HEADER = encode({ alg: 'HS256', typ: 'JWT' });
/** How many tokens whose signature was checked are kept: callers send the same one again and again. */
const REMEMBERED = 1000;

export interface IssuedToken {
  readonly token: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/**
 * The authority's tokens: JWT with HS256, good for an hour and for all services of one environment. They name the
 * certificate's holder, not a taxpayer. Each environment has its own key, so none accepts another's token. Source: claims of
 * the sample in the technical description p.12.
 */
export class Tokens {
  readonly #secret: Buffer;
  readonly #keys = new Map<Environment, Buffer>();
  readonly #checked = new Map<string, { readonly holder: string; readonly expiresAt: number }>();

  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  issue(env: Environment, holder: string, id: string, now: Date): IssuedToken {
    const nbf = Math.floor(now.getTime() / 1000);
    const exp = nbf + LIFETIME_SECONDS;
    const claims = encode({ [NAME_CLAIM]: holder, jti: id, nbf, exp, iss: ISSUER, aud: AUDIENCE });
    const content = `${HEADER}.${claims}`;
    return {
      token: `${content}.${this.#sign(env, content).toString('base64url')}`,
      issuedAt: new Date(nbf * 1000),
      expiresAt: new Date(exp * 1000),
    };
  }

  /** The holder a valid token names; null for a token that is foreign, changed, expired or of another environment. */
  holder(env: Environment, authorization: string | undefined, now: Date): string | null {
    const token = /^\s*bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) return null;
    const key = `${env} ${token}`;
    let known = this.#checked.get(key);
    if (!known) {
      const read = this.#read(env, token);
      if (!read) return null;
      known = read;
      if (this.#checked.size >= REMEMBERED) this.#checked.clear();
      this.#checked.set(key, known);
    }
    return known.expiresAt > now.getTime() ? known.holder : null;
  }

  #read(env: Environment, token: string): { holder: string; expiresAt: number } | null {
    const [header, claims, signature, ...rest] = token.split('.');
    if (header !== HEADER || !claims || !signature || rest.length > 0) return null;
    const expected = this.#sign(env, `${header}.${claims}`);
    const given = Buffer.from(signature, 'base64url');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
    const content = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as Record<string, unknown>;
    const holder = content[NAME_CLAIM];
    return typeof holder === 'string' ? { holder, expiresAt: Number(content.exp) * 1000 } : null;
  }

  #sign(env: Environment, content: string): Buffer {
    let key = this.#keys.get(env);
    if (!key) {
      key = createHmac('sha256', this.#secret).update(env).digest();
      this.#keys.set(env, key);
    }
    return createHmac('sha256', key).update(content).digest();
  }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

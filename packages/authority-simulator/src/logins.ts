import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Environment } from '@ecf/domain';

/** How long a seed may be answered. The authority publishes no figure; receivers in the field use this one. */
const SEED_LIFETIME_MS = 5 * 60_000;

/** Seeds that wait for their signature: each is good for one answer, in the place that gave it. */
export class Seeds {
  readonly #waiting = new Map<string, { readonly scope: string; readonly expiresAt: number }>();
  readonly #randomBytes: (length: number) => Uint8Array;

  constructor(randomBytes: (length: number) => Uint8Array) {
    this.#randomBytes = randomBytes;
  }

  /** @param scope the environment or service that gives the seed */
  issue(scope: string, now: Date): string {
    for (const [value, seed] of this.#waiting) {
      if (seed.expiresAt > now.getTime()) break;
      this.#waiting.delete(value);
    }
    const value = Buffer.from(this.#randomBytes(96)).toString('base64');
    this.#waiting.set(value, { scope, expiresAt: now.getTime() + SEED_LIFETIME_MS });
    return value;
  }

  /** Uses a seed up. False: it is unknown, of another scope, used before or too old. */
  redeem(scope: string, value: string, now: Date): boolean {
    const seed = this.#waiting.get(value);
    if (!seed || seed.scope !== scope) return false;
    this.#waiting.delete(value);
    return seed.expiresAt > now.getTime();
  }
}

const NAME_CLAIM = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name';
const ISSUER = 'DGII.FE';
const AUDIENCE = 'USUARIOS.DGII.FE';
const TOKEN_LIFETIME_SECONDS = 3600;
const HEADER = encode({ alg: 'HS256', typ: 'JWT' });
/** How many tokens whose signature was checked are kept: callers send the same one again and again. */
const REMEMBERED_TOKENS = 1000;

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
    const exp = nbf + TOKEN_LIFETIME_SECONDS;
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
      if (this.#checked.size >= REMEMBERED_TOKENS) this.#checked.clear();
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

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '@ecf/domain';
import type { CertificateFacts } from '@ecf/xml-signing';
import {
  type CryptoKey,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  jwtVerify,
  SignJWT,
} from 'jose';
import { ReceptionError } from '../errors.js';
import type { TokenKey, TokenKeys } from '../ports.js';

const ALGORITHM = 'ES256';
const ISSUER = 'ecf-reception';
/** The claim under which the authority's own tokens name the certificate's holder. */
const NAME_CLAIM = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name';
/** An unknown key id makes the service read the keys again, at most this often: anybody can invent key ids. */
const REREAD_MS = 2_000;
/** Tokens of unknown keys that wait for the keys to be read again. */
const MAX_WAITING = 256;
const SKEW_SECONDS = 30;

export interface TokenSettings {
  /** Seconds that a token lives. */
  readonly lifeSeconds: number;
  /** Milliseconds after which a new key signs. */
  readonly rotationMs: number;
}

export interface IssuedToken {
  readonly token: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

interface UsableKey {
  readonly kid: string;
  readonly createdAt: Date;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
}

/**
 * Bearer tokens for providers that signed a seed. A token names the certificate's holder, not the issuer of documents: only
 * the authority knows who may act for an issuer. Keys rotate, and all instances share them.
 */
export class ProviderTokens {
  #keys: UsableKey[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  /** The next reading of the keys, from the wait for its time to its end. */
  #rereading: Promise<void> | null = null;
  /** Whether that reading has begun, so that a key made since may be missing from it. */
  #begun = false;
  #waiting = 0;

  constructor(
    private readonly ports: { keys: TokenKeys; clock: () => Date },
    private readonly settings: TokenSettings,
    private readonly pause: (ms: number) => Promise<unknown> = delay,
  ) {}

  async issue(certificate: CertificateFacts, env: Environment): Promise<IssuedToken> {
    const key = await this.#signingKey();
    const issued = Math.floor(this.ports.clock().getTime() / 1000);
    const expires = issued + this.settings.lifeSeconds;
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
   * Throws ReceptionError `token_refused`; `unavailable` where too many wait for the keys to be read.
   */
  async verify(authorization: string | undefined, env: Environment): Promise<string> {
    const token = /^\s*bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1];
    if (token === undefined) throw refused('This receiver asks for Authorization: Bearer with a token of its own.');
    try {
      const key = await this.#key(decodeProtectedHeader(token).kid ?? '');
      if (key === null) throw refused('The token was not issued here, or its key has been retired.');
      const { payload } = await jwtVerify(token, key.publicKey, {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        audience: env,
        currentDate: this.ports.clock(),
        clockTolerance: SKEW_SECONDS,
        requiredClaims: ['exp', 'sub'],
      });
      return payload.sub as string;
    } catch (error) {
      if (error instanceof ReceptionError || !isTokenError(error)) throw error;
      throw refused('The token is expired, forged, or of another environment.', error);
    }
  }

  /** An unknown key may be another instance's latest. All waiting tokens share one reading that starts after they came. */
  async #key(kid: string): Promise<UsableKey | null> {
    const known = () => this.#keys.find((key) => key.kid === kid && this.#lives(key)) ?? null;
    if (known() !== null) return known();
    if (this.#waiting >= MAX_WAITING) {
      throw new ReceptionError(
        'unavailable',
        'Too many tokens wait for their keys; send the request again shortly.',
        'token.busy',
      );
    }
    this.#waiting += 1;
    try {
      const late = this.#begun;
      await this.#reread();
      if (late && known() === null) await this.#reread();
      return known();
    } finally {
      this.#waiting -= 1;
    }
  }

  #reread(): Promise<void> {
    this.#rereading ??= this.#readInTime().finally(() => {
      this.#rereading = null;
      this.#begun = false;
    });
    return this.#rereading;
  }

  async #readInTime(): Promise<void> {
    const left = this.#readAt + REREAD_MS - this.ports.clock().getTime();
    if (left > 0) await this.pause(Math.min(left, REREAD_MS));
    this.#begun = true;
    await this.#read();
  }

  async #signingKey(): Promise<UsableKey> {
    const now = this.ports.clock().getTime();
    const newest = this.#keys[0];
    if (newest !== undefined && now - newest.createdAt.getTime() < this.settings.rotationMs) return newest;
    const fresh = await makeKey(new Date(now));
    const oldest = new Date(now - this.#keptMs());
    await this.ports.keys.rotate(fresh, new Date(now - this.settings.rotationMs), oldest);
    await this.#read();
    const key = this.#keys[0];
    if (key === undefined) throw new Error('no key to sign tokens with');
    return key;
  }

  async #read(): Promise<void> {
    const known = new Map(this.#keys.map((key) => [key.kid, key]));
    this.#keys = await Promise.all((await this.ports.keys.all()).map((key) => known.get(key.kid) ?? usable(key)));
    this.#readAt = this.ports.clock().getTime();
  }

  #lives(key: UsableKey): boolean {
    return this.ports.clock().getTime() - key.createdAt.getTime() < this.#keptMs();
  }

  /** A key signs until it is rotated out; its last tokens live on for their own time. */
  #keptMs(): number {
    return this.settings.rotationMs + (this.settings.lifeSeconds + 2 * SKEW_SECONDS) * 1000;
  }
}

async function makeKey(createdAt: Date): Promise<TokenKey> {
  const pair = await generateKeyPair(ALGORITHM, { extractable: true });
  const [publicJwk, privateJwk] = await Promise.all([exportJWK(pair.publicKey), exportJWK(pair.privateKey)]);
  return { kid: randomUUID(), createdAt, publicJwk: { ...publicJwk }, privateJwk: { ...privateJwk } };
}

async function usable(key: TokenKey): Promise<UsableKey> {
  const load = async (jwk: Record<string, unknown>) => (await importJWK(jwk as JWK, ALGORITHM)) as CryptoKey;
  const [privateKey, publicKey] = await Promise.all([load(key.privateJwk), load(key.publicJwk)]);
  return { kid: key.kid, createdAt: key.createdAt, privateKey, publicKey };
}

function isTokenError(error: unknown): boolean {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return name === 'TypeError' || (typeof code === 'string' && code.startsWith('ERR_J'));
}

function refused(message: string, cause?: unknown): ReceptionError {
  return new ReceptionError('token_refused', message, 'token_refused', cause === undefined ? {} : { cause });
}

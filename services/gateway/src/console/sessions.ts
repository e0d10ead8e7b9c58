import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { SESSION_COOKIE } from '@ecf/contracts';
import { ApiError } from '@ecf/kit';
import type { Access } from '../access/access.js';
import { hashApiKey } from '../access/api-key-text.js';
import type { KeyHolder } from '../access/ports.js';
import type { SignedInAdministrator } from '../administrators/ports.js';
import { HOLDER_OF_ADMIN_TOKEN, hashAdminToken, type SignIn } from '../administrators/sign-in.js';
import type { FailureLimit } from '../edge/ports.js';
import type { ConsoleCredential, ConsoleSessionStore } from './ports.js';

/** Who is signed in to the console. */
export type SignedIn =
  | { readonly kind: 'account'; readonly holder: KeyHolder }
  | { readonly kind: 'administrator'; readonly administrator: SignedInAdministrator };

export interface BegunSession {
  /** For the cookie. */
  readonly secret: string;
  readonly signedIn: SignedIn;
}

/** Sessions of the console: a cookie that takes the place of an API key, or of the token of an administrator. */
export interface ConsoleSessions {
  /** Begins a session. Rejects as a call with the key would. */
  beginWithApiKey(key: string, sender: string): Promise<BegunSession>;
  /** Null if the token is not valid. */
  beginWithAdminToken(token: string, sender: string): Promise<BegunSession | null>;
  /** Rejects with 401 if the session, its key or its token has ended. */
  signedIn(secret: string, sender: string): Promise<SignedIn>;
  end(secret: string): Promise<void>;
}

export interface ConsoleSessionOptions {
  store: Omit<ConsoleSessionStore, 'clean'>;
  access: Access;
  /** Null without ADMIN_TOKEN, and on a listener that does not serve the administration. */
  administration: { signIn: SignIn; adminToken: string } | null;
  /** Keyed by address: bounds the sessions that a sender guesses. */
  unknownSessions: FailureLimit;
  clock: () => Date;
}

/** Keeps the hash of the key instead of the key, so that a session ends with its key. */
export function createConsoleSessions(options: ConsoleSessionOptions): ConsoleSessions {
  const { store, access, administration, unknownSessions, clock } = options;

  async function begin(signedIn: SignedIn, credentialOf: (secret: string) => ConsoleCredential): Promise<BegunSession> {
    const secret = randomBytes(32).toString('base64url');
    await store.add(sha256(secret), credentialOf(secret), clock());
    return { secret, signedIn };
  }

  async function administratorOf(
    secret: string,
    { kind, credential }: ConsoleCredential,
    sender: string,
  ): Promise<SignedInAdministrator | null> {
    if (administration === null) return null;
    const { signIn, adminToken } = administration;
    if (kind === 'administrator') return signIn.withHash(credential, sender);
    return timingSafeEqual(credential, hmac(secret, adminToken)) ? HOLDER_OF_ADMIN_TOKEN : null;
  }

  return {
    async beginWithApiKey(key, sender) {
      const holder = await access.holderOf(key, sender);
      return begin({ kind: 'account', holder }, () => ({ kind: 'api_key', credential: hashApiKey(key) }));
    },
    async beginWithAdminToken(token, sender) {
      const administrator = (await administration?.signIn.withToken(token, sender)) ?? null;
      if (administrator === null) return null;
      const hasToken = administrator.id !== null;
      return begin({ kind: 'administrator', administrator }, (secret) =>
        hasToken
          ? { kind: 'administrator', credential: hashAdminToken(token) }
          : { kind: 'admin_token', credential: hmac(secret, token) },
      );
    },
    async signedIn(secret, sender) {
      await unknownSessions.check(sender);
      const session = await store.use(sha256(secret), clock());
      if (session === null) {
        await unknownSessions.failed(sender);
        throw ended();
      }
      if (session.kind === 'api_key')
        return { kind: 'account', holder: await access.holderOfHash(session.credential, sender) };
      const administrator = await administratorOf(secret, session, sender);
      if (administrator === null) throw ended();
      return { kind: 'administrator', administrator };
    },
    end: (secret) => store.remove(sha256(secret)),
  };
}

/**
 * The secret of the session's cookie. Null without one, and for a request that another site made: browsers state the site in
 * `Sec-Fetch-Site`, or without TLS in `Origin`. Source: W3C Fetch Metadata; SameSite=Strict of the cookie is the first protection.
 */
export function sessionSecret({ method = 'GET', headers }: IncomingMessage): string | null {
  const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
  const secret = cookies.find((cookie) => cookie.startsWith(`${SESSION_COOKIE}=`))?.slice(SESSION_COOKIE.length + 1);
  if (!secret) return null;
  const reads = method === 'GET' || method === 'HEAD';
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || (site === 'none' && reads) ? secret : null;
  return reads || (headers.origin ?? '').replace(/^https?:\/\//, '') === headers.host ? secret : null;
}

function ended(): ApiError {
  return new ApiError(401, 'session_ended', 'The session has ended; sign in again at /console/.');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function hmac(secret: string, text: string): Buffer {
  return createHmac('sha256', secret).update(text).digest();
}

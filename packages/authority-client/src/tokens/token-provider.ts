import type { Environment } from '@ecf/domain';
import type { SigningCertificate } from '@ecf/xml-signing';
import { LRUCache } from 'lru-cache';
import { type Answer, isUnanswered, isUnusable } from '../answers/answer.js';
import type { IssuedToken } from '../answers/verdicts.js';
import type { AuthorityClient } from '../client.js';
import { LoginError, logIn } from '../login.js';
import type { TokenCache } from './token-cache.js';

interface AuthorityToken {
  token: string;
  expiresAt: Date;
}

export interface TokenRequest {
  env: Environment;
  /** Owner of the certificate; no token is shared between accounts. */
  account: string;
  /** The taxpayer in whose name the certificate logs in. */
  rnc: string;
  certificate: SigningCertificate;
}

export interface TokenProvider {
  /** @throws LoginError */
  get(request: TokenRequest): Promise<AuthorityToken>;
  /** After a 401: forgets exactly this token, not one that came since. */
  invalidate(request: TokenKey & { token: string }): Promise<void>;
}

/** The key of a token. The certificate's fingerprint, never its holder's name: names are not checked by a CA. */
export interface TokenKey {
  env: Environment;
  account: string;
  certificate: Pick<SigningCertificate, 'fingerprint'>;
}

interface TokenProviderOptions {
  client: Pick<AuthorityClient, 'requestSeed' | 'validateSeed'>;
  cache: TokenCache;
  clock: () => Date;
  /** Milliseconds of a clock that never goes back, for pauses; default `performance.now`. */
  elapsed?: () => number;
  /** Default: seed, signature and validation at the authority. */
  logIn?: (request: TokenRequest) => Promise<Answer<IssuedToken>>;
  /** Called before each login. If it rejects, the seed is not signed and the login fails with its error. */
  beforeLogin?: (request: TokenRequest) => Promise<void>;
  /** Default 10 minutes: a token with less left is renewed in the background. At most a quarter of its lifetime. */
  renewBeforeMs?: number;
  /** Default 2 minutes: a token with less left is not given out any more. At most a tenth of its lifetime. */
  leastRemainingMs?: number;
  /** Default 10 s: during it callers get the same permanent refusal, and a failed renewal is not repeated. */
  pauseMs?: number;
}

/** Assumed where the authority's dates cannot be read. Published is one hour (contract section 2.2). */
const DEFAULT_LIFETIME_MS = 10 * 60_000;

/** A pause that was dropped costs another login. */
const MOST_PAUSES = 10_000;

interface Entry extends AuthorityToken {
  lifetimeMs: number;
}

/** Tokens over a cache that several processes may share; one login at a time per key, among all of them. */
export function createTokenProvider(options: TokenProviderOptions): TokenProvider {
  const { cache, clock } = options;
  const elapsed = options.elapsed ?? (() => performance.now());
  const renewBeforeMs = options.renewBeforeMs ?? 10 * 60_000;
  const leastRemainingMs = options.leastRemainingMs ?? 2 * 60_000;
  const pauseMs = options.pauseMs ?? 10_000;
  const { beforeLogin } = options;
  const logInNow = options.logIn ?? ((request) => logIn(options.client, request.env, request.certificate, request.rnc));
  const inFlight = new Map<string, Promise<AuthorityToken>>();
  const loggingIn = new Map<string, Promise<Entry>>();
  const pauses = new LRUCache<string, { until: number; refusal: LoginError | null }>({ max: MOST_PAUSES });

  return {
    get(request) {
      const key = cacheKey(request);
      return shared(inFlight, key, () => cachedOrNew(key, request));
    },
    async invalidate(request) {
      const key = cacheKey(request);
      const text = await cache.get(key);
      if (text !== null && parseEntry(text)?.token === request.token) await cache.remove(key, text);
    },
  };

  async function cachedOrNew(key: string, request: TokenRequest): Promise<AuthorityToken> {
    const entry = await servingEntry(key);
    if (entry !== null) {
      if (isToRenew(entry)) renew(key, request);
      return publicPart(entry);
    }
    const pause = currentPause(key);
    if (pause?.refusal) throw pause.refusal;
    return publicPart(await newToken(key, request));
  }

  /** The cached token, while enough of its life is left to be given out. */
  async function servingEntry(key: string): Promise<Entry | null> {
    const text = await cache.get(key);
    const entry = text === null ? null : parseEntry(text);
    return entry !== null && remaining(entry) > Math.min(leastRemainingMs, entry.lifetimeMs / 10) ? entry : null;
  }

  function isToRenew(entry: Entry): boolean {
    return remaining(entry) <= Math.min(renewBeforeMs, entry.lifetimeMs / 4);
  }

  function remaining(entry: Entry): number {
    return entry.expiresAt.getTime() - clock().getTime();
  }

  /** In the background: the present token stays in use, whatever the result. */
  function renew(key: string, request: TokenRequest): void {
    if (currentPause(key)) return;
    newToken(key, request).catch(() => undefined);
  }

  function newToken(key: string, request: TokenRequest): Promise<Entry> {
    return shared(loggingIn, key, () =>
      cache.alone === undefined ? logInAndKeep(key, request) : cache.alone(key, () => keptByAnother(key, request)),
    );
  }

  /** Another process may have logged in while this one waited for the lock. */
  async function keptByAnother(key: string, request: TokenRequest): Promise<Entry> {
    const entry = await servingEntry(key);
    return entry !== null && !isToRenew(entry) ? entry : logInAndKeep(key, request);
  }

  async function logInAndKeep(key: string, request: TokenRequest): Promise<Entry> {
    const started = clock().getTime();
    try {
      await beforeLogin?.(request);
      const entry = entryOf(await logInNow(request), started);
      await cache.set(key, serialiseEntry(entry), Math.max(1, entry.expiresAt.getTime() - clock().getTime()));
      pauses.delete(key);
      return entry;
    } catch (error) {
      const refusal = error instanceof LoginError && !error.retryable ? error : null;
      pauses.set(key, { until: elapsed() + pauseMs, refusal });
      throw error;
    }
  }

  function currentPause(key: string): { refusal: LoginError | null } | null {
    const pause = pauses.get(key);
    if (pause && pause.until > elapsed()) return pause;
    pauses.delete(key);
    return null;
  }
}

/** All callers of a key share the promise in flight. */
function shared<T>(running: Map<string, Promise<T>>, key: string, start: () => Promise<T>): Promise<T> {
  const present = running.get(key);
  if (present) return present;
  const promise = start().finally(() => running.delete(key));
  running.set(key, promise);
  return promise;
}

function cacheKey({ env, account, certificate }: TokenKey): string {
  return `authority-token:${env}:${encodeURIComponent(account)}:${certificate.fingerprint}`;
}

function publicPart({ token, expiresAt }: Entry): AuthorityToken {
  return { token, expiresAt };
}

function entryOf(answer: Answer<IssuedToken>, started: number): Entry {
  switch (answer.outcome) {
    case 'verdict': {
      const lifetimeMs = answer.verdict.lifetimeMs ?? DEFAULT_LIFETIME_MS;
      return { token: answer.verdict.token, expiresAt: new Date(started + lifetimeMs), lifetimeMs };
    }
    case 'refused':
      throw new LoginError('login_refused', `the authority refused the login: ${answer.reason}`, {
        reason: answer.reason,
      });
    case 'unauthorized':
      throw new LoginError('login_refused', 'the authority refused the login: status 401');
    case 'unknown': {
      const unreadable = isUnusable(answer);
      const pause = answer.retryAfterMs === undefined ? {} : { retryAfterMs: answer.retryAfterMs };
      const limit = answer.limit === undefined ? {} : { limit: answer.limit };
      const details = { ...pause, ...limit, isUnanswered: isUnanswered(answer) };
      throw unreadable
        ? new LoginError('authority_unreadable', `the login answered no token: ${answer.detail}`, details)
        : new LoginError('authority_unreachable', `no login at the authority: ${answer.detail}`, details);
    }
  }
}

function serialiseEntry(entry: Entry): string {
  return JSON.stringify({
    token: entry.token,
    expires_at: entry.expiresAt.toISOString(),
    lifetime_ms: entry.lifetimeMs,
  });
}

/** Null for a text that this module did not write. */
function parseEntry(text: string): Entry | null {
  try {
    const { token, expires_at, lifetime_ms } = JSON.parse(text) as Record<string, unknown>;
    const expiresAt = new Date(String(expires_at));
    if (typeof token !== 'string' || typeof lifetime_ms !== 'number' || Number.isNaN(expiresAt.getTime())) return null;
    return { token, expiresAt, lifetimeMs: lifetime_ms };
  } catch {
    return null;
  }
}

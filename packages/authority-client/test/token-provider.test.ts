import type { SigningCertificate } from '@ecf/xml-signing';
import { describe, expect, it } from '@jest/globals';
import {
  type Answer,
  type AuthorityClient,
  createTokenProvider,
  type IssuedToken,
  inMemoryTokenCache,
  type TokenRequest,
} from '../src/index.js';
import { LoginError } from '../src/login.js';

const HOUR = 3_600_000;
const MINUTE = 60_000;

function certificate(fingerprint: string): SigningCertificate {
  return { fingerprint } as SigningCertificate;
}

const request: TokenRequest = {
  env: 'TesteCF',
  account: 'account-1',
  rnc: '131000001',
  certificate: certificate('f1'),
};

/** A provider whose logins wait until the test ends them. */
function scene(options: Partial<Parameters<typeof createTokenProvider>[0]> = {}) {
  let now = Date.parse('2026-06-23T12:00:00Z');
  let elapsed = 0;
  const clock = () => new Date(now);
  const cache = inMemoryTokenCache(clock);
  const logins: { request: TokenRequest; end: (answer: Answer<IssuedToken>) => void }[] = [];
  const provider = createTokenProvider({
    client: {} as AuthorityClient,
    cache,
    clock,
    elapsed: () => elapsed,
    logIn: (request) => new Promise((end) => logins.push({ request, end })),
    ...options,
  });
  return {
    cache,
    logins,
    provider,
    clock,
    later: (ms: number) => {
      now += ms;
      elapsed += ms;
    },
    /** The clock changes; no time passes. */
    setClock: (ms: number) => {
      now += ms;
    },
  };
}

function issued(token: string, lifetimeMs: number | null = HOUR): Answer<IssuedToken> {
  const raw = { status: 200, contentType: null, body: '', truncated: false };
  return { outcome: 'verdict', verdict: { token, lifetimeMs }, raw };
}

const refused: Answer<IssuedToken> = {
  outcome: 'refused',
  code: 'login_refused',
  reason: 'Firma del certificado invalida',
  raw: null,
};

function unknown(cause: 'timeout' | 'not_a_verdict' | 'circuit_open', retryAfterMs?: number): Answer<IssuedToken> {
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  return { outcome: 'unknown', cause, reachedAuthority: 'maybe', detail: 'why', ...wait, raw: null };
}

/** Runs the continuations of resolved promises. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('a token', () => {
  it('is requested once for many callers, and then cached', async () => {
    const { provider, logins } = scene();
    const waiting = Array.from({ length: 50 }, () => provider.get(request));
    await settle();
    expect(logins).toHaveLength(1);
    logins[0]!.end(issued('t1'));
    const tokens = await Promise.all(waiting);
    expect(new Set(tokens.map(({ token }) => token))).toEqual(new Set(['t1']));
    expect(tokens[0]!.expiresAt).toEqual(new Date('2026-06-23T13:00:00Z'));
    expect(await provider.get(request)).toEqual(tokens[0]);
    expect(logins).toHaveLength(1);
  });

  it('is requested once while callers arrive at every moment of a login', async () => {
    const { provider, logins } = scene();
    const waiting: Promise<unknown>[] = [];
    for (let i = 0; i < 20; i += 1) {
      waiting.push(provider.get(request));
      await Promise.resolve();
      if (i === 10) logins[0]!.end(issued('t1'));
    }
    await Promise.all(waiting);
    expect(logins).toHaveLength(1);
  });

  it.each([
    ['environment', { ...request, env: 'eCF' as const }],
    ['account', { ...request, account: 'account-2' }],
    ['certificate', { ...request, certificate: certificate('f2') }],
  ])('is never shared between two of the same %s kind', async (_, other) => {
    const { provider, logins } = scene();
    const [first, second] = [provider.get(request), provider.get(other)];
    await settle();
    expect(logins.map((login) => login.request)).toEqual([request, other]);
    logins[0]!.end(issued('t1'));
    logins[1]!.end(issued('t2'));
    expect([(await first).token, (await second).token]).toEqual(['t1', 't2']);
  });

  it('is renewed in the background before it ends, while the old one still serves', async () => {
    const { provider, logins, later } = scene();
    const first = provider.get(request);
    await settle();
    logins[0]!.end(issued('t1'));
    await first;
    later(49 * MINUTE);
    expect((await provider.get(request)).token).toBe('t1');
    expect(logins).toHaveLength(1);
    later(2 * MINUTE);
    expect((await provider.get(request)).token).toBe('t1');
    expect((await provider.get(request)).token).toBe('t1');
    expect(logins).toHaveLength(2);
    logins[1]!.end(issued('t2'));
    await settle();
    expect((await provider.get(request)).token).toBe('t2');
  });

  it('serves on when the renewal fails, which is not repeated immediately', async () => {
    const { provider, logins, later } = scene();
    const first = provider.get(request);
    await settle();
    logins[0]!.end(issued('t1'));
    await first;
    later(52 * MINUTE);
    await provider.get(request);
    logins[1]!.end(unknown('timeout'));
    await settle();
    expect((await provider.get(request)).token).toBe('t1');
    expect(logins).toHaveLength(2);
    later(11_000);
    expect((await provider.get(request)).token).toBe('t1');
    expect(logins).toHaveLength(3);
  });

  it('is not given out in its last minutes', async () => {
    const { provider, logins, later } = scene();
    const first = provider.get(request);
    await settle();
    logins[0]!.end(issued('t1'));
    await first;
    later(58 * MINUTE + 1);
    const next = provider.get(request);
    await settle();
    expect(logins).toHaveLength(2);
    logins[1]!.end(issued('t2'));
    expect((await next).token).toBe('t2');
  });

  it('of a short life is used for most of it', async () => {
    const { provider, logins, later } = scene();
    const first = provider.get(request);
    await settle();
    logins[0]!.end(issued('t1', MINUTE));
    await first;
    later(40_000);
    expect((await provider.get(request)).token).toBe('t1');
    expect(logins).toHaveLength(1);
    later(10_000);
    expect((await provider.get(request)).token).toBe('t1');
    expect(logins).toHaveLength(2);
  });

  it('without readable dates is not trusted for long', async () => {
    const { provider, logins } = scene();
    const first = provider.get(request);
    await settle();
    logins[0]!.end(issued('t1', null));
    expect((await first).expiresAt).toEqual(new Date('2026-06-23T12:10:00Z'));
  });
});

describe('a failed login', () => {
  it('fails for all waiting callers with the same error, and is not cached', async () => {
    const { provider, logins } = scene();
    const waiting = Promise.allSettled(Array.from({ length: 5 }, () => provider.get(request)));
    await settle();
    logins[0]!.end(unknown('timeout', 3_000));
    const reasons = (await waiting).map((result) => (result.status === 'rejected' ? result.reason : null));
    expect(reasons[0]).toBeInstanceOf(LoginError);
    expect(reasons[0]).toMatchObject({ code: 'authority_unreachable', retryable: true, retryAfterMs: 3_000 });
    expect(new Set(reasons).size).toBe(1);
    const again = provider.get(request);
    await settle();
    expect(logins).toHaveLength(2);
    logins[1]!.end(issued('t1'));
    expect((await again).token).toBe('t1');
  });

  it('refused for good, is answered again for a short while without asking', async () => {
    const { provider, logins, later, setClock } = scene();
    const first = provider.get(request);
    await settle();
    logins[0]!.end(refused);
    await expect(first).rejects.toMatchObject({
      code: 'login_refused',
      retryable: false,
      reason: 'Firma del certificado invalida',
    });
    // A change of the clock neither shortens nor extends the pause.
    for (const hours of [0, 10, -20]) {
      setClock(hours * HOUR);
      await expect(provider.get(request)).rejects.toMatchObject({ code: 'login_refused' });
    }
    expect(logins).toHaveLength(1);
    // Another certificate of the account is not affected.
    provider.get({ ...request, certificate: certificate('f2') }).catch(() => undefined);
    await settle();
    expect(logins).toHaveLength(2);
    later(10_001);
    const again = provider.get(request);
    await settle();
    logins[2]!.end(issued('t1'));
    expect((await again).token).toBe('t1');
  });

  it.each([
    [unknown('timeout'), 'authority_unreachable'],
    [unknown('circuit_open'), 'authority_unreachable'],
    [unknown('not_a_verdict'), 'authority_unreadable'],
    [{ outcome: 'unauthorized', raw: null } as Answer<IssuedToken>, 'login_refused'],
  ])('%j is %s', async (answer, code) => {
    const { provider, logins } = scene();
    const first = provider.get(request);
    await settle();
    logins[0]!.end(answer);
    await expect(first).rejects.toMatchObject({ code });
  });

  it('that throws is passed on and leaves nothing behind', async () => {
    let calls = 0;
    const { provider } = scene({
      logIn: async () => {
        calls += 1;
        if (calls === 1) throw new Error('the key is gone');
        return issued('t1');
      },
    });
    await expect(provider.get(request)).rejects.toThrow('the key is gone');
    expect((await provider.get(request)).token).toBe('t1');
  });
});

describe('after a 401', () => {
  it('only this token is dropped', async () => {
    const { provider, logins } = scene();
    const first = provider.get(request);
    await settle();
    logins[0]!.end(issued('t1'));
    await first;
    await provider.invalidate({ ...request, token: 't1' });
    const next = provider.get(request);
    await settle();
    expect(logins).toHaveLength(2);
    logins[1]!.end(issued('t2'));
    await next;
    // A late 401 of the old token does not affect the new one.
    await provider.invalidate({ ...request, token: 't1' });
    expect((await provider.get(request)).token).toBe('t2');
    expect(logins).toHaveLength(2);
  });
});

describe('the cache', () => {
  it('holds text that another process can read', async () => {
    const { provider, logins, cache, clock } = scene();
    const first = provider.get(request);
    await settle();
    logins[0]!.end(issued('t1'));
    await first;
    const other = createTokenProvider({
      client: {} as AuthorityClient,
      cache,
      clock,
      logIn: () => Promise.reject(new Error('not needed')),
    });
    expect(await other.get(request)).toEqual(await first);
  });

  it('with foreign content is overwritten', async () => {
    const { provider, logins, cache } = scene();
    for (const text of ['nonsense', '{}', '{"token":1,"expires_at":"x","lifetime_ms":1}']) {
      await cache.set('authority-token:TesteCF:account-1:f1', text, HOUR);
      const next = provider.get(request);
      await settle();
      logins.at(-1)!.end(issued('t1'));
      expect((await next).token).toBe('t1');
    }
    expect(logins).toHaveLength(3);
  });

  it('in memory forgets expired tokens and removes only the given one', async () => {
    let now = 0;
    const cache = inMemoryTokenCache(() => new Date(now));
    await cache.set('k', 'a', 100);
    await cache.remove('k', 'b');
    expect(await cache.get('k')).toBe('a');
    await cache.remove('k', 'a');
    expect(await cache.get('k')).toBeNull();
    await cache.set('k', 'a', 100);
    now = 100;
    expect(await cache.get('k')).toBeNull();
  });

  it('in memory keeps 10,000 tokens and drops the one that was used least recently', async () => {
    const cache = inMemoryTokenCache(() => new Date(0));
    for (let n = 0; n < 10_000; n += 1) await cache.set(`k${n}`, 'token', 100);
    await cache.get('k0');
    await cache.set('k10000', 'token', 100);
    const kept = await Promise.all(['k0', 'k1', 'k2', 'k10000'].map((key) => cache.get(key)));
    expect(kept).toEqual(['token', null, 'token', 'token']);
  });
});

describe('a provider without a shared cache', () => {
  it('remembers 10,000 refused logins and repeats only the one that was refused first', async () => {
    const logins: string[] = [];
    const { provider } = scene({
      logIn: async ({ account }) => {
        logins.push(account);
        return refused;
      },
    });
    const refusal = (n: number) => expect(provider.get({ ...request, account: `a${n}` })).rejects.toThrow(LoginError);
    for (let n = 0; n <= 10_000; n += 1) await refusal(n);
    logins.length = 0;
    for (const n of [10_000, 1, 0]) await refusal(n);
    expect(logins).toEqual(['a0']);
  });
});

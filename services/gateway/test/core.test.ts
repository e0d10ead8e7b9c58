import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { senderNetwork, senderSite } from '@ecf/http';
import { ApiError, ConfigError } from '@ecf/kit';
import { createMetrics } from '@ecf/kit/telemetry';
import { CuttableProxy, redis } from '@ecf/test-servers';
import { silentLogger, TEST_SERVICE_KEYS } from '@ecf/test-support/services';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createAccess } from '../src/access/access.js';
import { createInProcessAccessRevision } from '../src/access/access-revision.js';
import { hashApiKey, hintOf, looksLikeApiKey, makeApiKey } from '../src/access/api-key-text.js';
import type { KeyHolder } from '../src/access/ports.js';
import { gatewaySettings, readGatewayConfig } from '../src/config.js';
import { keyedEnvironment, publicEnvironment } from '../src/edge/environment.js';
import type { FailureLimit, RateLimit } from '../src/edge/ports.js';
import { createProxyWarning } from '../src/edge/proxy-warning.http.js';
import { openRateLimits } from '../src/edge/rate-limits.redis.js';
import { readTrustedProxies, senderAddress } from '../src/edge/sender-address.http.js';

describe('API keys', () => {
  it('carry 256 random bits and the environments they are for', () => {
    const key = makeApiKey(['TesteCF'], () => Buffer.alloc(32, 7));
    expect(key).toBe(`ecf_test_${Buffer.alloc(32, 7).toString('base64url')}`);
    expect(makeApiKey(['eCF'])).toMatch(/^ecf_live_/);
    expect(looksLikeApiKey(key)).toBe(true);
    expect(looksLikeApiKey(`${key}x`)).toBe(false);
    expect(hashApiKey(key)).toHaveLength(32);
    expect(hintOf(key)).toBe('ecf_test_Bwc…');
  });
});

describe('access', () => {
  const holder: KeyHolder = {
    keyId: 'k',
    accountId: 'a',
    environments: ['TesteCF'],
    scopes: ['read'],
    taxpayers: null,
    refuseWarnings: false,
    expiresAt: null,
    taxpayersRevision: 3,
  };
  const key = makeApiKey(['TesteCF']);

  function setUp(found: KeyHolder | null = holder, failures = Number.POSITIVE_INFINITY, clock = () => new Date()) {
    const revision = createInProcessAccessRevision();
    let lookUps = 0;
    const failed = new Map<string, number>();
    const state = { found, revision: 5 };
    revision.note(5);
    const store = {
      find: async () => {
        lookUps += 1;
        const seen = { holder: state.found, revision: state.revision };
        await new Promise((resolve) => setImmediate(resolve));
        return seen;
      },
    };
    const tooMany = () => Promise.reject(new ApiError(429, 'rate_limited', 'too many'));
    const limit: FailureLimit = {
      check: async (sender) => ((failed.get(sender) ?? 0) < failures ? undefined : tooMany()),
      async failed(sender) {
        if ((failed.get(sender) ?? 0) >= failures) return tooMany();
        failed.set(sender, (failed.get(sender) ?? 0) + 1);
      },
    };
    return {
      access: createAccess(store, revision, limit, clock, { failed: () => undefined }),
      revision,
      state,
      failed,
      lookUps: () => lookUps,
    };
  }

  it('refuses a key from the moment of its expiry, also a remembered one', async () => {
    const expiresAt = new Date('2027-01-01T00:00:00Z');
    let now = new Date(expiresAt.getTime() - 1);
    const { access, lookUps } = setUp({ ...holder, expiresAt }, 5, () => now);
    expect(await access.holderOf(key, 's')).toMatchObject({ keyId: 'k' });
    now = expiresAt;
    await expect(access.holderOf(key, 's')).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
    expect(lookUps()).toBe(1);
  });

  it('remembers a key while nothing changes', async () => {
    const { access, lookUps } = setUp();
    expect(await access.holderOf(key, 's')).toEqual(holder);
    expect(await access.holderOf(key, 's')).toEqual(holder);
    expect(lookUps()).toBe(1);
  });

  it('forgets at the first change', async () => {
    const { access, revision, state } = setUp();
    await access.holderOf(key, 's');
    Object.assign(state, { found: null, revision: 6 });
    revision.note(6);
    await expect(Promise.resolve(access.holderOf(key, 's'))).rejects.toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    });
  });

  it('queries every time while it is unknown whether a change was committed', async () => {
    const { access, revision, lookUps } = setUp();
    await access.holderOf(key, 's');
    revision.forget();
    await access.holderOf(key, 's');
    await access.holderOf(key, 's');
    expect(lookUps()).toBe(3);
  });

  it('does not look up what cannot be a key, and remembers unknown ones', async () => {
    const { access, lookUps } = setUp(null);
    for (const bad of [undefined, '', 'x', 'ecf_test_short', `${key}; DROP TABLE`])
      await expect(access.holderOf(bad, 's')).rejects.toMatchObject({ status: 401, code: 'invalid_api_key' });
    await expect(access.holderOf(key, 's')).rejects.toThrow('unknown or revoked');
    await expect(access.holderOf(key, 's')).rejects.toThrow('unknown or revoked');
    expect(lookUps()).toBe(1);
  });

  it('looks up no more keys for a sender that failed too often; its known keys and other senders still pass', async () => {
    const { access, state, revision, failed, lookUps } = setUp(holder, 5);
    await access.holderOf(key, 's');
    state.found = null;
    const madeUp = (sender: string) => access.holderOf(makeApiKey(['TesteCF']), sender).catch(({ code }) => code);
    for (let i = 0; i < 5; i += 1) expect(await madeUp('s')).toBe('invalid_api_key');
    for (let i = 0; i < 50; i += 1) expect(await madeUp('s')).toBe('rate_limited');
    expect(lookUps()).toBe(6);
    expect(await access.holderOf('x', 's').catch(({ code }) => code)).toBe('rate_limited');
    expect(await madeUp('another')).toBe('invalid_api_key');
    Object.assign(state, { found: holder, revision: 6 });
    revision.note(6);
    expect(await access.holderOf(key, 's')).toEqual(holder);
    failed.clear();
    state.found = null;
    expect(await madeUp('s')).toBe('invalid_api_key');
  });

  it('uses no look-up from before a change for a later request', async () => {
    const { access, state, revision } = setUp();
    const early = access.holderOf(key, 's');
    await Promise.resolve();
    Object.assign(state, { found: null, revision: 6 });
    revision.note(6);
    await early.catch(() => undefined);
    await expect(access.holderOf(key, 's')).rejects.toMatchObject({ code: 'invalid_api_key' });
  });

  it('forgets no holder for invalid keys', async () => {
    const { access, state, lookUps } = setUp();
    await access.holderOf(key, 's');
    state.found = null;
    for (let i = 0; i < 11_000; i += 1)
      await Promise.resolve(access.holderOf(makeApiKey(['TesteCF']), 's')).catch(() => undefined);
    expect(await access.holderOf(key, 's')).toEqual(holder);
    expect(lookUps()).toBe(11_001);
  });
});

describe('environments', () => {
  it('of keyed calls are the header or TesteCF', () => {
    expect(keyedEnvironment(undefined)).toEqual({ env: 'TesteCF', given: false });
    expect(keyedEnvironment('eCF')).toEqual({ env: 'eCF', given: true });
    for (const bad of ['', 'ECF', 'ecf', 'TesteCF, eCF', 'Testecf'])
      expect(() => keyedEnvironment(bad)).toThrow('one of TesteCF, CerteCF, eCF');
  });

  it('of public calls are prefix, header, default', () => {
    expect(publicEnvironment('CerteCF', 'eCF', 'TesteCF')).toBe('CerteCF');
    expect(publicEnvironment('CerteCF', 'nonsense', 'TesteCF')).toBe('CerteCF');
    expect(publicEnvironment(null, 'eCF', 'TesteCF')).toBe('eCF');
    expect(publicEnvironment(null, undefined, 'CerteCF')).toBe('CerteCF');
    for (const text of ['ECF', 'ecf', ' eCF ']) expect(publicEnvironment(null, text, 'TesteCF')).toBe('eCF');
    for (const text of ['', ' ', 'production', 'TesteCF, eCF', 'prod\u00f1'])
      expect(publicEnvironment(null, text, 'CerteCF')).toBe('CerteCF');
  });
});

describe('the rate limits', () => {
  afterEach(() => void jest.useRealTimers());
  const open = (settings: Partial<Parameters<typeof openRateLimits>[0]>) =>
    openRateLimits(
      { SANDBOX: false, RATE_LIMIT_PER_KEY: 0, RATE_LIMIT_PER_SENDER: 0, ...settings },
      { logger: silentLogger, metrics: createMetrics() },
    );
  const passed = async (limit: RateLimit, callers: string[]) => {
    const passes = await Promise.allSettled(callers.map((caller) => limit.pass(caller)));
    return passes.filter(({ status }) => status === 'fulfilled').length;
  };

  it('allow the rate of a second, then state when to retry', async () => {
    const { perKey } = open({ RATE_LIMIT_PER_KEY: 5 });
    jest.useFakeTimers();
    expect(await passed(perKey, Array(20).fill('k'))).toBe(5);
    await expect(perKey.pass('k')).rejects.toMatchObject({
      status: 429,
      code: 'rate_limited',
      headers: { 'retry-after': '1', ratelimit: '"key";r=0;t=1', 'ratelimit-policy': '"key";q=5;w=1' },
    });
    expect(await perKey.pass('another')).toEqual({ ratelimit: '"key";r=4;t=1', 'ratelimit-policy': '"key";q=5;w=1' });
    jest.advanceTimersByTime(1_000);
    expect(await passed(perKey, Array(20).fill('k'))).toBe(5);
  });

  it('of a sender count an IPv6 /64 as one', async () => {
    const { perSender } = open({ RATE_LIMIT_PER_SENDER: 3 });
    expect(
      await passed(perSender, ['2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:2:3::1', '2001:db8:1:2::9']),
    ).toBe(3);
    expect(await passed(perSender, ['2001:db8:1:3::1', '192.0.2.1', '192.0.2.2'])).toBe(3);
  });

  it('of failed sign-ins stop a sender after twenty in a second, and count nothing in a sandbox', async () => {
    const { unknownKeys } = open({});
    for (let i = 0; i < 20; i += 1) {
      await unknownKeys.check('s');
      await unknownKeys.failed('s');
    }
    await expect(unknownKeys.check('s')).rejects.toMatchObject({ code: 'rate_limited' });
    await expect(unknownKeys.failed('s')).rejects.toMatchObject({ code: 'rate_limited' });
    await unknownKeys.check('another');
    const sandbox = open({ SANDBOX: true }).unknownKeys;
    for (let i = 0; i < 50; i += 1) await sandbox.failed('s');
    await sandbox.check('s');
  });

  it('of 0 are none', async () => {
    const { perKey } = open({});
    expect(await passed(perKey, Array(1_000).fill('k'))).toBe(1_000);
    expect(await perKey.pass('k')).toEqual({});
  });

  it('are counted in Redis for all gateways, and by each gateway while Redis is unavailable', async () => {
    const server = await redis();
    if (server === null) return;
    const link = await CuttableProxy.start({
      host: new URL(server.url).hostname,
      port: Number(new URL(server.url).port),
    });
    const REDIS_URL = `redis://127.0.0.1:${link.port}`;
    const gateways = [1, 2].map(() => open({ REDIS_URL, RATE_LIMIT_PER_KEY: 10 }));
    const areCountedTogether = async () => {
      const probe = randomUUID();
      const headers = await Promise.all(gateways.map(({ perKey }) => perKey.pass(probe)));
      return headers.some(({ ratelimit }) => ratelimit === '"key";r=8;t=1');
    };
    /** How many of twenty calls each gateway passes. On a busy machine they take more than one window of a second. */
    const passes = async () => {
      const key = randomUUID();
      return Promise.all(gateways.map(({ perKey }) => passed(perKey, Array(20).fill(key))));
    };
    while (!(await areCountedTogether())) await delay(20);
    const areLimitedTogether = async () => (await passes()).reduce((sum, count) => sum + count) === 10;
    while (!(await areLimitedTogether())) await delay(20);
    await link.cut();
    const areLimitedAlone = async () => (await passes()).every((count) => count === 10);
    while (!(await areLimitedAlone())) await delay(20);
    // A client of Redis that is closed without a connection keeps a timer of two seconds.
    await link.restore();
    while (!(await areCountedTogether())) await delay(20);
    for (const gateway of gateways) gateway.close();
    await link.cut();
    await server.stop();
  });
});

describe('the sender of a request', () => {
  const trusted = readTrustedProxies(['10.0.0.0/8', 'loopback', 'fd00::/8']);
  if (trusted === null) throw new Error('these are networks');

  it.each([
    ['203.0.113.9', undefined, '203.0.113.9'],
    ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['::ffff:10.1.2.3', '198.51.100.1, 10.9.9.9', '198.51.100.1'],
    ['127.0.0.1', '6.6.6.6, 198.51.100.1', '198.51.100.1'],
    ['fd00::1', '2001:db8::7', '2001:db8::7'],
    ['10.1.2.3', '[2001:db8::7]:4711', '2001:db8::7'],
    ['10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
    ['10.1.2.3', 'unknown', '10.1.2.3'],
    ['10.1.2.3', ['6.6.6.6', '198.51.100.1'], '198.51.100.1'],
    [undefined, undefined, ''],
  ])('at %s with %j is %s', (peer, forwarded, expected) =>
    expect(senderAddress(peer, forwarded, trusted)).toBe(expected),
  );

  it('counts an IPv6 network as one', () => {
    expect(senderNetwork('2001:db8:1:2:3:4:5:6')).toBe(senderNetwork('2001:db8:1:2::9'));
    expect(senderNetwork('2001:db8::1')).toBe('2001:db8:0:0');
    expect(senderNetwork('2001:0DB8::1')).toBe('2001:db8:0:0');
    expect(senderNetwork('203.0.113.9')).toBe('203.0.113.9');
    expect(senderSite('2001:db8:1:2::9')).toBe(senderSite('2001:db8:1:3::9'));
  });

  it('is the IPv4 address that an IPv6 address contains, in every notation', () => {
    const spelt = ['::ffff:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:FFFF:C000:0201', '64:ff9b::192.0.2.1'];
    for (const address of [...spelt, '64:ff9b::c000:201', '64:ff9b:0:0::c000:0201'])
      expect([senderNetwork(address), senderSite(address)]).toEqual(['192.0.2.1', '192.0.2.1']);
    expect(senderNetwork('64:ff9b:1::192.0.2.1')).toBe('64:ff9b:1:0');
    expect(senderNetwork('::c000:201')).toBe('0:0:0:0');
    expect(senderAddress('::ffff:a01:203', '198.51.100.1', trusted)).toBe('198.51.100.1');
  });

  it('refuses malformed lists of proxies', () => {
    for (const bad of ['proxy.example', '10.0.0.0/33', '10.0.0.0/x', '::1/129', '10.0.0'])
      expect(readTrustedProxies([bad])).toBeNull();
  });
});

describe('the configuration', () => {
  const least = {
    DATABASE_URL: 'postgresql://u:p@127.0.0.1/gateway',
    MASTER_KEY: Buffer.alloc(32).toString('base64'),
    ...TEST_SERVICE_KEYS.gateway,
  };

  function problems(env: Record<string, string>): Record<string, string> {
    try {
      readGatewayConfig(env);
    } catch (error) {
      if (error instanceof ConfigError) return Object.fromEntries(error.problems.map((p) => [p.variable, p.message]));
    }
    return {};
  }

  it('of a sandbox has defaults for all but the database and the key', () => {
    expect(readGatewayConfig({ ...least, SANDBOX: 'true' })).toMatchObject({
      PORT: 8080,
      HOST: '127.0.0.1',
      DEFAULT_ENV: 'TesteCF',
      RATE_LIMIT_PER_KEY: 0,
    });
    expect(readGatewayConfig({ ...least, DEFAULT_ENV: 'eCF' })).toMatchObject({
      RATE_LIMIT_PER_KEY: 200,
      RATE_LIMIT_PER_SENDER: 200,
    });
    expect(readGatewayConfig({ ...least, DEFAULT_ENV: 'eCF', RATE_LIMIT_PER_KEY: '0' })).toMatchObject({
      RATE_LIMIT_PER_KEY: 0,
    });
  });

  it('names every wrong variable and its allowed values, and repeats no value', () => {
    const found = problems({
      PORT: '99999',
      MASTER_KEY: 'c2hvcnQ=',
      SERVICE_PRIVATE_KEY: 'c2hvcnQ=',
      SERVICE_PUBLIC_KEYS: `sales:${'c2hvcnQ='}`,
      ADMIN_TOKEN: 'short',
      LOG_LEVEL: 'loud',
      SANDBOX: 'maybe',
      EMISSION_URL: 'ftp://x',
    });
    expect(found).toEqual({
      PORT: 'is not allowed; allowed: a whole number from 0 to 65535',
      DATABASE_URL: 'is required; allowed: an address with postgresql:// or postgres://',
      MASTER_KEY: 'is not allowed; allowed: 32 bytes in base64, or several such keys separated by commas',
      SERVICE_PRIVATE_KEY: 'is not allowed; allowed: an Ed25519 key (PKCS #8, DER) in base64',
      SERVICE_PUBLIC_KEYS:
        'is not allowed; allowed: service:key, separated by commas; a key is Ed25519 (SPKI, DER) in base64',
      ADMIN_TOKEN: 'is not allowed; allowed: text of at least 16 characters',
      DEFAULT_ENV: 'is required outside the sandbox; allowed: TesteCF, CerteCF, eCF',
      LOG_LEVEL: 'is not allowed; allowed: trace, debug, info, warn, error, fatal, silent',
      SANDBOX: 'is not allowed; allowed: true or false',
      EMISSION_URL: 'is not allowed; allowed: an address with http:// or https://',
    });
    expect(problems(least)).toEqual({ DEFAULT_ENV: 'is required outside the sandbox; allowed: TesteCF, CerteCF, eCF' });
    expect(problems({ ...least, SANDBOX: 'true', TRUSTED_PROXIES: 'everyone' })).toHaveProperty('TRUSTED_PROXIES');
  });

  it('is documented, setting by setting', () => {
    for (const schema of Object.values(gatewaySettings.shape)) expect(schema.meta()?.setting).toBeDefined();
  });
});

describe('a proxy that is not trusted', () => {
  const watch = () => {
    let now = 0;
    const warned: string[] = [];
    const logger = { warn: (fields: { sender: string }) => void warned.push(fields.sender) };
    const note = createProxyWarning(logger as never, () => new Date(now));
    const many = (address: string, count = 150) => {
      for (let i = 0; i < count; i += 1) note(address);
    };
    const pass = (ms: number) => {
      now += ms;
    };
    return { many, warned, pass };
  };

  it.each(['10.1.2.3', '172.16.0.9', '192.168.1.1', '127.0.0.1', '::1', 'fd00::1'])(
    'is warned of once an hour where all requests come from %s',
    (address) => {
      const { many, warned, pass } = watch();
      many(address, 99);
      expect(warned).toEqual([]);
      many(address);
      many(address);
      expect(warned).toEqual([address]);
      pass(3_600_000);
      many(address);
      expect(warned).toEqual([address, address]);
    },
  );

  it('is warned of where few requests come in an hour, too', () => {
    const { many, warned, pass } = watch();
    for (let hours = 0; hours < 4; hours += 1) {
      expect(warned).toEqual([]);
      many('10.1.2.3', 25);
      pass(3_600_000);
    }
    expect(warned).toEqual(['10.1.2.3']);
  });

  it('is not where requests come from several addresses, or from a public one', () => {
    const { many, warned } = watch();
    many('10.1.2.3', 50);
    many('10.1.2.4');
    expect(warned).toEqual([]);
    const other = watch();
    other.many('203.0.113.7');
    expect(other.warned).toEqual([]);
  });
});

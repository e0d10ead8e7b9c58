import { ConfigError } from '@ecf/service-kit/config';
import { senderNetwork, senderSite } from '@ecf/service-kit/http';
import { describe, expect, it, jest } from '@jest/globals';
import { gatewaySettings, readGatewayConfig } from '../src/config.js';
import { createAccess } from '../src/core/access.js';
import { hashApiKey, hintOf, looksLikeApiKey, makeApiKey } from '../src/core/api-keys.js';
import { keyedEnvironment, publicEnvironment } from '../src/core/environment.js';
import { createSenderFailureLimit } from '../src/core/failure-limit.js';
import type { KeyHolder } from '../src/core/ports.js';
import { createRateLimit, createSenderRateLimit, createSharedRateLimit } from '../src/core/rate-limit.js';
import { readTrustedProxies, senderAddress } from '../src/core/sender-address.js';
import { createInProcessAccessRevision } from '../src/outbound/access-revision.in-process.js';
import { createPostgresAccessRevision } from '../src/outbound/access-revision.postgres.js';

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
  const holder: KeyHolder = { keyId: 'k', accountId: 'a', environments: ['TesteCF'], taxpayersRevision: 3 };
  const key = makeApiKey(['TesteCF']);

  function setUp(found: KeyHolder | null = holder, perSecond = 0) {
    let now = 0;
    const advance = (ms: number) => {
      now += ms;
    };
    const limit = createSenderFailureLimit(
      perSecond,
      () => now,
      () => undefined,
    );
    const revision = createInProcessAccessRevision();
    let [lookUps, atOnce, mostAtOnce] = [0, 0, 0];
    const state = { found, revision: 5, broken: false };
    revision.note(5);
    const store = {
      find: async () => {
        lookUps += 1;
        atOnce += 1;
        mostAtOnce = Math.max(mostAtOnce, atOnce);
        const seen = { holder: state.found, revision: state.revision };
        await new Promise((resolve) => setImmediate(resolve));
        atOnce -= 1;
        if (state.broken) throw new Error('away');
        return seen;
      },
    };
    const access = createAccess(store, revision, limit);
    return { access, revision, state, advance, lookUps: () => lookUps, mostAtOnce: () => mostAtOnce };
  }

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

  it('asks every time while it is not known whether a change was committed', async () => {
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
      expect(() => access.holderOf(bad, 's')).toThrow();
    await expect(Promise.resolve(access.holderOf(key, 's'))).rejects.toThrow('unknown or revoked');
    expect(() => access.holderOf(key, 's')).toThrow('unknown or revoked');
    expect(lookUps()).toBe(1);
  });

  it('looks up made-up keys of a sender at a bounded rate; its good keys, and other senders, are not limited', async () => {
    const { access, state, revision, advance, lookUps } = setUp(holder, 5);
    await access.holderOf(key, 's');
    state.found = null;
    const madeUp = async (sender: string) => {
      try {
        await access.holderOf(makeApiKey(['TesteCF']), sender);
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    for (let i = 0; i < 5; i += 1) expect(await madeUp('s')).toBe('invalid_api_key');
    for (let i = 0; i < 50; i += 1) expect(await madeUp('s')).toBe('rate_limited');
    expect(lookUps()).toBe(6);
    expect(await madeUp('another')).toBe('invalid_api_key');
    advance(200);
    expect([await madeUp('s'), await madeUp('s')]).toEqual(['invalid_api_key', 'rate_limited']);
    Object.assign(state, { found: holder, revision: 6 });
    revision.note(6);
    for (let i = 0; i < 50; i += 1) expect(await access.holderOf(key, 's')).toEqual(holder);
    // What comes together is counted before it is looked up, and leaves no debt.
    state.found = null;
    advance(60_000);
    const before = lookUps();
    await Promise.all(Array.from({ length: 1_000 }, () => madeUp('s')));
    expect(lookUps() - before).toBe(5);
    advance(200);
    expect(await madeUp('s')).toBe('invalid_api_key');
  });

  it('looks up any number of good keys of a sender, few at a time', async () => {
    const { access, lookUps, mostAtOnce } = setUp(holder, 5);
    const keys = Array.from({ length: 300 }, () => makeApiKey(['TesteCF']));
    const found = await Promise.all(keys.map((one) => access.holderOf(one, 's')));
    expect(found).toEqual(Array(300).fill(holder));
    expect([lookUps(), mostAtOnce()]).toEqual([300, 5]);
  });

  it('lets nobody wait for look-ups that fail: the failure of the database is theirs', async () => {
    const { access, state } = setUp(holder, 2);
    state.broken = true;
    const keys = Array.from({ length: 50 }, () => makeApiKey(['TesteCF']));
    const all = keys.map((one) => Promise.resolve(access.holderOf(one, 's')).catch((error) => error.message));
    expect(await Promise.all(all)).toEqual(Array(50).fill('away'));
    state.broken = false;
    expect(await access.holderOf(key, 's')).toEqual(holder);
  });

  it('bounds what an IPv6 /48 has looked up in all', async () => {
    const { access, lookUps } = setUp(null, 5);
    const networks = Array.from({ length: 60 }, (_, i) => `2001:db8:1:${i.toString(16)}::1`);
    const tries = networks.map((one) =>
      Promise.resolve(access.holderOf(makeApiKey(['TesteCF']), one)).catch((error) => error.code),
    );
    expect((await Promise.all(tries)).filter((code) => code === 'invalid_api_key')).toHaveLength(20);
    expect(lookUps()).toBe(20);
  });

  it('looks up a key that a sender uses many times at once a single time, good or not', async () => {
    const { access, state, revision, lookUps } = setUp(null, 5);
    const uses = () =>
      Promise.all(
        Array.from({ length: 100 }, async () => {
          try {
            return await access.holderOf(key, 's');
          } catch (error) {
            return (error as { code: string }).code;
          }
        }),
      );
    expect(await uses()).toEqual(Array(100).fill('invalid_api_key'));
    expect(lookUps()).toBe(1);
    Object.assign(state, { found: holder, revision: 6 });
    revision.note(6);
    expect(await uses()).toEqual(Array(100).fill(holder));
    expect(lookUps()).toBe(2);
  });

  it('tells nobody what was looked up before they asked, where something changed since', async () => {
    const { access, state, revision, lookUps } = setUp();
    const early = access.holderOf(key, 's');
    Object.assign(state, { found: null, revision: 6 });
    revision.note(6);
    const late = Array.from({ length: 20 }, () => Promise.resolve(access.holderOf(key, 's')).catch(({ code }) => code));
    expect(await early).toEqual(holder);
    expect(await Promise.all(late)).toEqual(Array(20).fill('invalid_api_key'));
    expect(lookUps()).toBe(2);
  });

  it('forgets no holder for keys that are none', async () => {
    const { access, state, lookUps } = setUp();
    await access.holderOf(key, 's');
    state.found = null;
    for (let i = 0; i < 11_000; i += 1)
      await Promise.resolve(access.holderOf(makeApiKey(['TesteCF']), 's')).catch(() => undefined);
    expect(await access.holderOf(key, 's')).toEqual(holder);
    expect(lookUps()).toBe(11_001);
  });
});

describe('the access revision of several gateways', () => {
  it('is asked in a query that began after the call, shared by those who wait together', async () => {
    let queries = 0;
    const pending: ((revision: number) => void)[] = [];
    const database = {
      query: async () => {
        queries += 1;
        const revision = await new Promise<number>((resolve) => pending.push(resolve));
        return { rows: [{ revision }], rowCount: 1 };
      },
    };
    const revision = createPostgresAccessRevision(database as never);
    const first = revision.current();
    const later = [revision.current(), revision.current(), revision.current()];
    expect(queries).toBe(1);
    pending.shift()?.(1);
    expect(await first).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(queries).toBe(2);
    pending.shift()?.(2);
    expect(await Promise.all(later)).toEqual([2, 2, 2]);
  });

  it('recovers after a failed query', async () => {
    let fail = true;
    const database = {
      query: async () => {
        if (fail) throw new Error('away');
        return { rows: [{ revision: 9 }], rowCount: 1 };
      },
    };
    const revision = createPostgresAccessRevision(database as never);
    const both = [revision.current(), revision.current()].map((answer) =>
      Promise.resolve(answer).catch(() => 'failed'),
    );
    expect(await both[0]).toBe('failed');
    fail = false;
    await both[1];
    expect(await revision.current()).toBe(9);
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

describe('the rate limit', () => {
  it('lets a second’s worth through at once, then the rate', () => {
    let now = 0;
    const limit = createRateLimit(100, () => now);
    const passed = () => {
      let count = 0;
      try {
        for (; count < 1_000; count += 1) limit.pass('k');
      } catch (error) {
        expect(error).toMatchObject({ status: 429, code: 'rate_limited', headers: { 'retry-after': '1' } });
      }
      return count;
    };
    expect(passed()).toBe(100);
    now = 500;
    expect(passed()).toBe(50);
    now = 60_000;
    expect(passed()).toBe(100);
    expect(() => limit.pass('another')).not.toThrow();
  });

  it('takes back what came to nothing', () => {
    const limit = createRateLimit(5, () => 0);
    for (let i = 0; i < 50; i += 1) {
      limit.pass('k');
      limit.giveBack('k');
    }
    for (let i = 0; i < 5; i += 1) limit.pass('k');
    expect(() => limit.pass('k')).toThrow('More than 5 requests');
  });

  it('never stops a caller that keeps to the rate', () => {
    let now = 0;
    const limit = createRateLimit(100, () => now);
    for (let i = 0; i < 2_000; i += 1, now += 10) expect(() => limit.pass('k')).not.toThrow();
  });

  it('of a sender counts an IPv6 /48 as four senders at most, and takes back what comes to nothing', () => {
    let now = 0;
    const limit = createSenderRateLimit(5, () => now);
    const refused = (addresses: string[]) =>
      addresses.filter((address) => {
        try {
          limit.pass(address);
          return false;
        } catch {
          return true;
        }
      });
    const networks = (count: number) => Array.from({ length: count }, (_, i) => `2001:db8:1:${i.toString(16)}::1`);
    expect(refused(Array(7).fill('2001:db8:1:f::1'))).toHaveLength(2);
    expect(refused(networks(15))).toEqual([]);
    expect(refused(networks(15))).toHaveLength(15);
    for (let i = 0; i < 3; i += 1) limit.giveBack(`2001:db8:1:${i}::1`);
    expect(refused(networks(15))).toHaveLength(12);
    expect(refused(['2001:db8:2::1', ...Array(5).fill('192.0.2.1')])).toEqual([]);
    now = 60_000;
    // What the /48 was refused is no loss of the /64.
    expect(refused(networks(20))).toEqual([]);
    expect(refused(Array(9).fill('2001:db8:1:0::1'))).toHaveLength(9);
    now += 200;
    expect(refused(Array(9).fill('2001:db8:1:0::1'))).toHaveLength(5);
  });

  it('of 0 is none', () => {
    const limit = createRateLimit(0, () => 0);
    expect(() => {
      for (let i = 0; i < 10_000; i += 1) limit.pass('k');
    }).not.toThrow();
  });
});

describe('the rate limit of all senders', () => {
  const passed = (limit: { pass(sender: string): void }, senders: readonly string[]) =>
    senders.filter((sender) => {
      try {
        limit.pass(sender);
        return true;
      } catch (error) {
        expect(error).toMatchObject({ status: 503, code: 'service_unavailable', headers: { 'retry-after': '1' } });
        return false;
      }
    });

  it('holds for all together, and keeps a part for those who send little', () => {
    let now = 0;
    const limit = createSharedRateLimit(100, () => now);
    const flood = Array.from({ length: 300 }, (_, i) => `greedy ${i % 3}`);
    expect(passed(limit, flood)).toHaveLength(76);
    expect(passed(limit, ['a', 'b', 'c', 'a', ...flood])).toEqual(['a', 'b', 'c', 'a']);
    now = 60_000;
    const many = Array.from({ length: 120 }, (_, i) => `new ${i}`);
    expect(passed(limit, many)).toHaveLength(100);
  });

  it('lets those who send less than the greedy through, all of it, and the greedy the rest', () => {
    const limit = (() => {
      let now = 0;
      const shared = createSharedRateLimit(1_000, () => now);
      return {
        pass: shared.pass,
        advance: () => {
          now += 5;
        },
      };
    })();
    const senders = { greedy: [0, 0], small: [0, 0] };
    // Four seconds: ten with 200 requests a second each, ten with 20; the last two are counted.
    for (let turn = 0; turn < 800; turn += 1, limit.advance()) {
      const flood = Array.from({ length: 10 }, (_, i) => `greedy ${i}`);
      const modest = turn % 10 === 0 ? Array.from({ length: 10 }, (_, i) => `small ${i}`) : [];
      for (const sender of [...flood, ...modest]) {
        const [tried, had] = [1, passed(limit, [sender]).length];
        if (turn < 400) continue;
        const sum = sender.startsWith('greedy') ? senders.greedy : senders.small;
        sum[0] = (sum[0] ?? 0) + tried;
        sum[1] = (sum[1] ?? 0) + had;
      }
    }
    expect(senders.small).toEqual([400, 400]);
    expect(senders.greedy[1]).toBeGreaterThan(1_500);
    expect(senders.greedy[1]).toBeLessThan(1_700);
  });

  it('of one a second lets one a second through', () => {
    let now = 0;
    const limit = createSharedRateLimit(1, () => now);
    let count = 0;
    for (; now < 120_000; now += 1_000) count += passed(limit, ['only', 'only']).length;
    expect(count).toBe(120);
  });

  it('looks through nothing, however many senders there were', () => {
    const limit = createSharedRateLimit(1_000_000, () => 0);
    passed(
      limit,
      Array.from({ length: 20_000 }, (_, i) => `first ${i}`),
    );
    const scans = jest.spyOn(Map.prototype, Symbol.iterator);
    try {
      passed(
        limit,
        Array.from({ length: 500 }, (_, i) => `then ${i}`),
      );
      expect(scans).not.toHaveBeenCalled();
    } finally {
      scans.mockRestore();
    }
  });

  it('of 0 is none', () => {
    const limit = createSharedRateLimit(0, () => 0);
    expect(() => {
      for (let i = 0; i < 10_000; i += 1) limit.pass('k');
    }).not.toThrow();
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

  it('is the IPv4 address that an IPv6 address stands for, however it is spelt', () => {
    const spelt = ['::ffff:192.0.2.1', '::ffff:c000:201', '0:0:0:0:0:FFFF:C000:0201', '64:ff9b::192.0.2.1'];
    for (const address of [...spelt, '64:ff9b::c000:201', '64:ff9b:0:0::c000:0201'])
      expect([senderNetwork(address), senderSite(address)]).toEqual(['192.0.2.1', '192.0.2.1']);
    expect(senderNetwork('64:ff9b:1::192.0.2.1')).toBe('64:ff9b:1:0');
    expect(senderNetwork('::c000:201')).toBe('0:0:0:0');
    expect(senderAddress('::ffff:a01:203', '198.51.100.1', trusted)).toBe('198.51.100.1');
  });

  it('refuses lists of proxies that are none', () => {
    for (const bad of ['proxy.example', '10.0.0.0/33', '10.0.0.0/x', '::1/129', '10.0.0'])
      expect(readTrustedProxies([bad])).toBeNull();
  });
});

describe('the configuration', () => {
  const least = { DATABASE_URL: 'postgresql://u:p@127.0.0.1/gateway', MASTER_KEY: Buffer.alloc(32).toString('base64') };

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
      RATE_LIMIT_ALL_SENDERS: 1_000,
    });
    expect(readGatewayConfig({ ...least, DEFAULT_ENV: 'eCF', RATE_LIMIT_PER_KEY: '0' })).toMatchObject({
      RATE_LIMIT_PER_KEY: 0,
    });
  });

  it('names every variable at fault and what is allowed, and repeats no value', () => {
    const found = problems({
      PORT: '99999',
      MASTER_KEY: 'c2hvcnQ=',
      ADMIN_TOKEN: 'short',
      LOG_LEVEL: 'loud',
      SANDBOX: 'maybe',
      EMISSION_URL: 'ftp://x',
    });
    expect(found).toEqual({
      PORT: 'is not allowed; allowed: a whole number from 0 to 65535',
      DATABASE_URL: 'is required; allowed: an address with postgresql:// or postgres://',
      MASTER_KEY: 'is not allowed; allowed: 32 bytes in base64',
      ADMIN_TOKEN: 'is not allowed; allowed: text of at least 16 characters',
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

import { type Answer, createTokenProvider, type IssuedToken } from '@ecf/authority-client';
import { createMasterKeys } from '@ecf/kit';
import { openSharedCache, type SharedCache } from '@ecf/kit/cache';
import { createLogger, createMetrics } from '@ecf/kit/telemetry';
import { type RedisServer, redis } from '@ecf/test-servers';
import type { SigningCertificate } from '@ecf/xml-signing';
import { afterAll, describe, expect, it } from '@jest/globals';

const server: RedisServer | null = await redis();
const opened: SharedCache[] = [];

afterAll(async () => {
  for (const cache of opened) await cache.close();
  await server?.stop();
});

/** The tokens of one instance; `logins` counts those of all instances. */
async function instance(logins: { count: number; atOnce: number; most: number }) {
  const metrics = createMetrics();
  const parts = {
    sealingKeys: createMasterKeys([Buffer.alloc(32, 1)]),
    logger: createLogger({ service: 'test', level: 'silent' }),
    // Redis may be slow on a busy machine; an instance must not log in by itself because of that.
    commandMs: 20_000,
    leaseMs: 60_000,
  };
  const cache = openSharedCache({ REDIS_URL: server?.url }, { ...parts, metrics }) as SharedCache;
  opened.push(cache);
  while (!/^ecf_shared_cache_up 1$/m.test(await metrics.render()))
    await new Promise((resolve) => setTimeout(resolve, 20));
  return createTokenProvider({
    client: {} as never,
    cache,
    clock: () => new Date(),
    async logIn(): Promise<Answer<IssuedToken>> {
      logins.count += 1;
      logins.atOnce += 1;
      logins.most = Math.max(logins.most, logins.atOnce);
      await new Promise((resolve) => setTimeout(resolve, 50));
      logins.atOnce -= 1;
      const raw = { status: 200, contentType: null, body: '', truncated: false };
      return { outcome: 'verdict', verdict: { token: `token ${logins.count}`, lifetimeMs: 3_600_000 }, raw };
    },
  });
}

const request = (fingerprint: string) => ({
  env: 'TesteCF' as const,
  account: 'account',
  rnc: '131000001',
  certificate: { fingerprint } as SigningCertificate,
});

(server === null ? describe.skip : describe)('tokens of several instances', () => {
  it('fifty callers at three instances make one login', async () => {
    const logins = { count: 0, atOnce: 0, most: 0 };
    const instances = [await instance(logins), await instance(logins), await instance(logins)];
    const tokens = await Promise.all(
      Array.from({ length: 50 }, (_, i) => instances[i % 3]?.get(request('one certificate'))),
    );
    expect(new Set(tokens.map((one) => one?.token))).toEqual(new Set(['token 1']));
    expect(logins).toMatchObject({ count: 1, most: 1 });
  });

  it('all instances forget a token that the authority refused', async () => {
    const logins = { count: 0, atOnce: 0, most: 0 };
    const [one, other] = [await instance(logins), await instance(logins)];
    const { token } = await one.get(request('refused'));
    expect((await other.get(request('refused'))).token).toBe(token);
    await one.invalidate({ ...request('refused'), token });
    expect((await other.get(request('refused'))).token).not.toBe(token);
    expect(logins.count).toBe(2);
  });

  const control = server?.control ?? null;
  (control === null ? it.skip : it)('without the server every instance logs in for itself', async () => {
    const logins = { count: 0, atOnce: 0, most: 0 };
    const instances = [await instance(logins), await instance(logins)];
    await control?.kill();
    await Promise.all(instances.flatMap((each) => [each.get(request('alone')), each.get(request('alone'))]));
    expect(logins.count).toBe(2);
    await control?.restart();
  });
});
